//! Tries the points-to sets of C files on executions: says where one touches what the sets leave out.

use checker::try_points_to;
use frontend_c::{Options, Source, read};
use ir::passes::{self, Lowering};
use verdict::Budget;

fn main() {
    for name in std::env::args().skip(1) {
        let text = std::fs::read(&name).expect("a file");
        match read(&[Source { name: name.clone(), text }], &Options::default()) {
            Ok(program) => {
                let lowering = Lowering { races: true, ..Lowering::default() };
                let program = passes::concrete(&program, lowering);
                match try_points_to(&program, &Budget::seconds(20.0)) {
                    Ok(()) => println!("{name}: inside"),
                    Err(error) => println!("{name}: {error}"),
                }
            }
            Err(errors) => println!("{name}: {errors:?}"),
        }
    }
}
