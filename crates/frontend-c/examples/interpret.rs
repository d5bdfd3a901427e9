//! Runs a single-threaded program and prints global variables at its end: `interpret [-m32|-m64] [-Idir]
//! [-DX] [-includefile] [--steps=n] file... name...`. Names begin with `:`; one that ends in `*n` stands for
//! the first n words of an array.

#[path = "../tests/frontend/runner.rs"]
mod runner;

use frontend_c::{Options, Source, read};
use ir::{DataModel, IntType};

fn main() {
    let mut options = Options::default();
    let (mut sources, mut names, mut most) = (Vec::new(), Vec::new(), 100_000_000);
    for argument in std::env::args().skip(1) {
        if argument == "-m32" {
            options.data_model = DataModel::Ilp32;
        } else if argument == "-m64" {
            options.data_model = DataModel::Lp64;
        } else if let Some(path) = argument.strip_prefix("-include") {
            options.includes.push(path.into());
        } else if let Some(folder) = argument.strip_prefix("-I") {
            options.include_dirs.push(folder.into());
        } else if let Some(define) = argument.strip_prefix("-D") {
            options.defines.push(define.to_owned());
        } else if let Some(steps) = argument.strip_prefix("--steps=") {
            most = steps.parse().expect("a number");
        } else if let Some(name) = argument.strip_prefix(':') {
            names.push(name.to_owned());
        } else {
            let text = std::fs::read(&argument).expect("a readable file");
            sources.push(Source { name: argument, text });
        }
    }
    let program = match read(&sources, &options) {
        Ok(program) => program,
        Err(problems) => {
            problems.iter().for_each(|problem| println!("{problem}"));
            std::process::exit(1);
        }
    };
    for assumption in program.assumptions.iter().filter(|assumption| assumption.limits_proof) {
        println!("{}: {}", assumption.span.line, assumption.text);
    }
    let run = runner::run(&program, most);
    println!("{:?} after {} steps, unknown values used: {}", run.ended, run.steps, run.unknown);
    for name in names {
        if let Some((array, count)) = name.split_once('*') {
            for index in 0..count.parse().expect("a number") {
                let value = run.global_at(array, 4 * index, IntType::U32);
                println!("{}", value.map_or("?".to_owned(), |value| value.to_string()));
            }
            continue;
        }
        match run.global(&name, IntType::I32) {
            Some(value) => println!("{name} = {value}"),
            None => println!("{name}: there is no such global"),
        }
    }
}
