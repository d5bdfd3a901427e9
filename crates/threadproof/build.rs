//! Lets an installed program find the solver's library where the build took it from, if it is not beside the
//! program (`cargo install --path`). With `THREADPROOF_RELOCATABLE`, the program names no folder of this
//! machine.

use std::path::{Path, PathBuf};

fn main() {
    println!("cargo:rerun-if-env-changed=THREADPROOF_Z3_DIR");
    println!("cargo:rerun-if-env-changed=THREADPROOF_RELOCATABLE");
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var_os("THREADPROOF_RELOCATABLE").is_some() {
        return;
    }
    let solver = match std::env::var_os("THREADPROOF_Z3_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../third_party/z3"),
    };
    println!("cargo:rustc-link-arg-bins=-Wl,-rpath,{}", solver.join("lib").display());
}
