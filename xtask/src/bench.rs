//! Measurements of the `flow` engine: `cargo xtask bench races DIR | drivers DIR | growth`. See `bench/README.md`.

mod growth;
mod measure;
mod samples;

/// Runs one of the benchmarks.
pub fn run(words: &[&str]) -> Result<(), String> {
    match words {
        ["races", folder] => samples::races(folder.as_ref()),
        ["drivers", folder] => samples::drivers(folder.as_ref()),
        ["growth"] => growth::growth(),
        _ => Err("usage: cargo xtask bench races DIR | drivers DIR | growth".to_owned()),
    }
}
