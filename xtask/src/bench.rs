//! Measurements: `cargo xtask bench races DIR | drivers DIR | growth | spec | families | family NAME N safe|unsafe`. See `bench/README.md`.

mod families;
mod growth;
mod measure;
mod samples;
mod spec;

/// Runs one of the benchmarks.
pub fn run(words: &[&str]) -> Result<(), String> {
    match words {
        ["races", folder] => samples::races(folder.as_ref()),
        ["drivers", folder] => samples::drivers(folder.as_ref()),
        ["growth"] => growth::growth(),
        ["spec"] => spec::spec(),
        ["families"] => families::families(),
        ["family", family, threads, version] => families::print(family, threads, version),
        _ => Err("usage: cargo xtask bench races DIR | drivers DIR | growth | spec | families | family NAME N safe|unsafe".to_owned()),
    }
}
