//! Measures the analysis on C files: times, sizes, and what is known of shared locations. With `OPEN=n` in
//! the environment: the first n open locations of each file; with `PRINT=1`, the program; with `LISTS=1`,
//! what is known of threads by number; with `CHECK=1`, what the checker says.

use engine_summaries::analysis::Analysis;
use engine_summaries::model::Model;
use engine_summaries::races::{Sample, locations};
use frontend_c::{Options, Source, read};
use ir::Program;
use ir::passes::{self, Lowering, PointsTo};
use std::time::Instant;
use verdict::Budget;

fn describe(program: &Program, sample: &Sample) -> String {
    let code = &program.templates[sample.template];
    let alike = &sample.alike;
    let kind = &program.templates[alike.kind].name;
    let name = |kind: &ir::TemplateId| program.templates[*kind].name.clone();
    let absent: Vec<String> = alike.absent.iter().map(name).collect();
    format!(
        "{} {}{} line {} by {kind} locks {:?} {:?} fresh {} absent {absent:?} [{}]",
        code.name,
        if alike.atomic { "atomic " } else { "" },
        if alike.write { "write" } else { "read" },
        code.edges[sample.edge].span.line,
        sample.locks,
        alike.locks,
        alike.fresh,
        code.edges[sample.edge]
            .ops
            .iter()
            .map(|op| format!("{op:?}").chars().take(160).collect::<String>())
            .collect::<String>(),
    )
}

fn main() {
    let shown: usize = std::env::var("OPEN").ok().and_then(|shown| shown.parse().ok()).unwrap_or(0);
    let (mut all, mut all_open) = (0, 0);
    for name in std::env::args().skip(1) {
        let start = Instant::now();
        let text = std::fs::read(&name).expect("a file");
        let lines = text.iter().filter(|byte| **byte == b'\n').count();
        let options = Options::default();
        let program = match read(&[Source { name: name.clone(), text }], &options) {
            Ok(program) => program,
            Err(errors) => {
                println!("{name}: {errors:?}");
                continue;
            }
        };
        let lowering = Lowering { races: true, ..Lowering::default() };
        let program = passes::interrupts::run_to_completion(&passes::concrete(&program, lowering));
        let read_time = start.elapsed().as_secs_f64();
        let edges: usize = program.templates.iter().map(|template| template.edges.len()).sum();
        if std::env::var("PRINT").is_ok() {
            println!("{}", ir::text::print(&program));
        }
        let budget = Budget::seconds(300.0);
        let start = Instant::now();
        let Some(points_to) = PointsTo::until(&program, budget.deadline) else { continue };
        let points = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let model = Model::new(&program, &points_to);
        let modelled = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let Ok(analysis) = Analysis::run(&model, &budget) else {
            println!("{name}: out of time");
            continue;
        };
        let annotated = start.elapsed().as_secs_f64();
        if std::env::var("LISTS").is_ok() {
            for number in analysis.reached() {
                let context = &analysis.contexts[number as usize];
                for (location, facts) in context.facts.enumerate() {
                    let Some(facts) = facts else { continue };
                    if !facts.started.is_empty() || !facts.order.is_empty() {
                        let name = &program.templates[context.template].name;
                        println!("{name} {location}: {:?} {:?}", facts.started, facts.order);
                    }
                }
            }
            println!("distinct {:?}", analysis.distinct(false));
        }
        let start = Instant::now();
        let Ok(found) = locations(&analysis, &budget) else { continue };
        let compared = start.elapsed().as_secs_f64();
        let open: Vec<_> = found.iter().filter(|location| !location.open.is_empty()).collect();
        let short = name.rsplit('/').next().unwrap_or(&name);
        let ownable = model.ownable.iter().filter(|ownable| **ownable).count();
        println!(
            "{short}: {lines} lines {} templates {edges} edges {} objects ({ownable} ownable) {} kinds; read {read_time:.2} points-to {points:.2} model {modelled:.2} annotate {annotated:.2} races {compared:.2}; {} contexts {} steps; shared {} open {} ({:.0}%)",
            program.templates.len(),
            program.objects.len(),
            model.kinds.len(),
            analysis.reached().len(),
            analysis.steps(),
            found.len(),
            open.len(),
            100.0 * (found.len() - open.len()) as f64 / found.len().max(1) as f64
        );
        if std::env::var("CHECK").is_ok() {
            let start = Instant::now();
            let proof = engine_summaries::engine::proof(analysis);
            match checker::locations(&program.clone().into(), &proof, &Budget::seconds(300.0)) {
                Ok(listed) => {
                    let is_open = |location: &&verdict::SharedLocation| {
                        !matches!(location.status, verdict::LocationStatus::RaceFree(_))
                    };
                    let open = listed.locations.iter().filter(is_open).count();
                    let seconds = start.elapsed().as_secs_f64();
                    let all = listed.locations.len();
                    println!("  checked in {seconds:.2}: {} of {all} race-free", all - open);
                }
                Err(error) => println!("  REFUSED: {error}"),
            }
        }
        all += found.len();
        all_open += open.len();
        for location in open.iter().take(shown) {
            let object = &program.objects[location.cell.object];
            println!(
                "  OPEN {} {:?} +{} stride {} count {} bytes {} line {}: {} pairs of {}",
                object.name,
                object.storage,
                location.cell.first,
                location.cell.stride,
                location.cell.count,
                location.bytes,
                object.span.line,
                location.open.len(),
                location.samples.len()
            );
            for (one, other) in location.open.iter().take(2) {
                println!("    {}", describe(&program, &location.samples[*one]));
                println!("    {}", describe(&program, &location.samples[*other]));
            }
        }
    }
    println!("all: shared {all} open {all_open}");
}
