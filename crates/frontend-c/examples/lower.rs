//! Lowers each file by itself and tells what could not be lowered: `lower [-m32|-m64] [-Idir] file...`.

use frontend_c::{Options, Source, read};
use ir::DataModel;
use std::time::Instant;

fn main() {
    let mut options = Options::default();
    let mut files = Vec::new();
    let mut is_dumped = false;
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "-m32" => options.data_model = DataModel::Ilp32,
            "-m64" => options.data_model = DataModel::Lp64,
            "--dump" => is_dumped = true,
            other => match other.strip_prefix("-I") {
                Some(folder) => options.include_dirs.push(folder.into()),
                None => files.push(argument),
            },
        }
    }
    let (mut good, mut slowest) = (0, 0.0_f64);
    for name in &files {
        let text = match std::fs::read(name) {
            Ok(text) => text,
            Err(problem) => {
                println!("{name}: {problem}");
                continue;
            }
        };
        let start = Instant::now();
        let result = read(&[Source { name: name.clone(), text }], &options);
        let seconds = start.elapsed().as_secs_f64();
        slowest = slowest.max(seconds);
        match result {
            Ok(program) => {
                let unsupported: Vec<&ir::Assumption> =
                    program.assumptions.iter().filter(|assumption| assumption.limits_proof).collect();
                let edges: usize = program.templates.iter().map(|template| template.edges.len()).sum();
                println!(
                    "OK {name}: {} templates, {edges} edges, {} objects, {seconds:.3} s",
                    program.templates.len(),
                    program.objects.len()
                );
                for assumption in unsupported {
                    println!(
                        "  {}:{}: {}",
                        program.files[assumption.span.file as usize], assumption.span.line, assumption.text
                    );
                }
                if is_dumped {
                    for template in &program.templates {
                        println!("{} (entry {})", template.name, template.entry);
                        for (id, edge) in template.edges.enumerate() {
                            println!("  {id} {} -> {}: {:?}", edge.source, edge.target, edge.ops);
                        }
                    }
                }
                good += 1;
            }
            Err(problems) => {
                println!("FAIL {name} {seconds:.3} s");
                for problem in problems.iter().take(5) {
                    println!("  {problem}");
                }
            }
        }
    }
    println!("{good} of {} lowered, slowest {slowest:.3} s", files.len());
}
