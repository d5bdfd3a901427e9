//! Tests that the points-to sets of C files are closed, in all views of their programs, and how long that
//! takes.

use checker::test_points_to;
use frontend_c::{Options, Source, read};
use ir::Program;
use ir::passes::{self, Lowering, PointsTo};
use std::time::Instant;
use verdict::{Budget, Views};

fn main() {
    let budget = Budget::unlimited();
    let (mut tested, mut refused) = (0, 0);
    let mut test = |name: &str, view: &str, program: &Program| {
        let start = Instant::now();
        let points_to = PointsTo::of(program);
        let solved = start.elapsed();
        let result = test_points_to(program, &points_to, &budget);
        let checked = start.elapsed() - solved;
        tested += 1;
        if checked.as_millis() > 100 {
            println!("{name} {view}: solved in {solved:.2?}, checked in {checked:.2?}");
        }
        if let Err(error) = result.expect("no limit") {
            refused += 1;
            println!("{name} {view}: {error}");
        }
    };
    let (options, names): (Vec<_>, Vec<_>) =
        std::env::args().skip(1).partition(|word| word.starts_with("--"));
    for name in names {
        let text = std::fs::read(&name).expect("a file");
        let program = match read(&[Source { name: name.clone(), text }], &Options::default()) {
            Ok(program) => program,
            Err(errors) => {
                println!("{name}: {errors:?}");
                continue;
            }
        };
        let program = passes::concrete(&program, Lowering { races: true, ..Lowering::default() });
        test(&name, "lowered", &program);
        if options.iter().any(|option| option == "--lowered") {
            continue;
        }
        let views = Views::from(program);
        for races in [false, true] {
            if let Ok(view) = views.sliced(races, &Budget::seconds(20.0)) {
                test(&name, if races { "races" } else { "errors" }, view);
                if let Ok(words) = view.words(&budget) {
                    test(&name, "words", words);
                }
            }
        }
    }
    println!("{refused} of {tested} refused");
}
