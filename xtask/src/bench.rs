//! Measurements: `cargo xtask bench paper N [SAMPLES] | all SAMPLES | summary | races DIR | drivers DIR |
//! real DIR | growth | size | passes [FILE…] | families | family NAME N safe|unsafe`. See `bench/README.md`.

mod families;
mod growth;
mod measure;
mod papers;
mod passes;
mod plot;
mod real;
mod samples;
mod size;
mod spec;

/// Runs one of the benchmarks.
pub fn run(words: &[&str]) -> Result<(), String> {
    match words {
        ["paper", number] => papers::paper(number, None),
        ["paper", number, samples] => papers::paper(number, Some(samples.as_ref())),
        ["all", samples] => papers::all(samples.as_ref()),
        ["summary"] => papers::summary(),
        ["races", folder] => samples::races(folder.as_ref()),
        ["drivers", folder] => samples::drivers(folder.as_ref()),
        ["real", folder] => real::real(folder.as_ref()),
        ["growth"] => growth::growth(),
        ["size"] => size::size(),
        ["passes", files @ ..] => passes::passes(files),
        ["families"] => families::families(),
        ["family", family, threads, version] => families::print(family, threads, version),
        _ => Err("usage: cargo xtask bench paper N [SAMPLES] | all SAMPLES | summary | races DIR | drivers DIR | real DIR | growth | size | passes [FILE…] | families | family NAME N safe|unsafe".to_owned()),
    }
}
