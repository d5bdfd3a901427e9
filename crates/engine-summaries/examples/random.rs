//! Asks the engine and the checker about random programs, and compares with naive exploration: `random
//! COUNT SEED`. With a third argument: only programs in which loops start threads with an element each.

use engine_summaries::{Summaries, annotate};
use frontend_c::{Options, Source, read};
use ir::passes::{self, Lowering};
use testkit::oracle::{Bounds, Observed, explore};
use testkit::random::wide::Wide;
use verdict::{Budget, Engine, Proof, Property, Silent, Task, Verdict, Views};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<u64>().ok());
    let (count, seed) = (number(1).unwrap_or(100), number(2).unwrap_or(0));
    let mut seen = (0, 0, 0, 0, 0);
    for number in seed..seed + count {
        let text = Wide::new(number).lines.text();
        if arguments.len() > 3 && !text.contains("struct E ") {
            continue;
        }
        let source = Source { name: "random.c".to_owned(), text: text.clone().into_bytes() };
        let Ok(program) = read(&[source], &Options::default()) else { continue };
        let program =
            Views::from(passes::concrete(&program, Lowering { races: true, ..Lowering::default() }));
        if program.has_broadcasts() {
            continue;
        }
        seen.0 += 1;
        let budget = Budget::seconds(5.0);
        let task = Task { program: &program, property: &Property::NoRace };
        // The annotation holds, whether or not it excludes all races.
        if let Ok(annotation) = annotate(task, &budget) {
            match checker::locations(&program, &annotation, &Budget::seconds(10.0)) {
                Ok(_) => seen.1 += 1,
                Err(error) => println!("seed {number}: the annotation is refused: {error}\n{text}"),
            }
            let proof = Proof::Summaries(Box::new(annotation));
            let tried = checker::try_on_executions(&program, &Property::NoRace, &proof, &budget);
            let tried = tried.map_err(|error| error.to_string());
            // That there is a race is no claim of an annotation.
            if let Err(error) = tried
                && !error.contains("the property is not violated")
            {
                println!("seed {number}: an execution leaves the annotation: {error}");
            }
        }
        let Verdict::Safe(proof) = Summaries.verify(task, &budget, &Silent) else { continue };
        seen.2 += 1;
        match checker::check_proof(&program, &Property::NoRace, &proof, &Budget::seconds(10.0)) {
            Ok(()) => seen.3 += 1,
            Err(error) => println!("seed {number}: refused: {error}"),
        }
        let oracle =
            explore(&program, &Property::NoRace, Bounds { private_first: true, ..Bounds::states(20_000) });
        match oracle {
            Observed::Violation => println!("seed {number}: WRONG\n{text}"),
            Observed::Nothing => seen.4 += 1,
            Observed::Partial | Observed::Bounded => {}
        }
    }
    let (programs, annotated, proved, accepted, agreed) = seen;
    println!(
        "{programs} programs: {annotated} annotations and {accepted} of {proved} proofs accepted, {agreed} with all states seen"
    );
}
