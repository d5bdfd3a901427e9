//! The checker's own rule for uniqueness agrees with that of the engines, and refuses every other claim.

use super::view::View;
use ir::passes::Unique;
use ir::{Program, TemplateId};
use verdict::{Budget, FlowProof, LocationFacts, Pairs};

const WORKER: &str = "template worker() { locations 2 end l1 l0 -> l1: }";

fn claims(program: &Program, unique: Vec<TemplateId>) -> FlowProof {
    let facts: Vec<Vec<LocationFacts>> =
        program.templates.iter().map(|code| vec![LocationFacts::default(); code.locations.len()]).collect();
    let nodes = facts.iter().map(Vec::len).sum();
    FlowProof {
        unique,
        facts,
        reachable: vec![true; nodes],
        coreachable: Pairs::new(nodes),
        given: Vec::new(),
        families: Vec::new(),
        counters: Vec::new(),
        data: None,
    }
}

#[test]
fn what_there_is_one_of_is_claimed_rightly() {
    let codes = [
        "locations 2 end l1 l0 -> l1: spawn worker()",
        "locations 2 end l1 l0 -> l1:",
        "locations 3 end l2 l0 -> l1: spawn worker() l1 -> l0: l1 -> l2:",
        "locations 3 end l2 l0 -> l1: spawn worker() l0 -> l2: spawn worker() l1 -> l2:",
        "locations 3 end l2 l0 -> l1: spawn worker() l1 -> l2: spawn worker()",
        "locations 2 end l1 l0 -> l1: spawn worker(); spawn worker()",
        "locations 3 end l2 l0 -> l1: spawn worker() l0 -> l2: spawn worker() l1 -> l0:",
        "local p: u64 locations 3 end l2 l0 -> l1: p := allocate heap 4u64 l0 -> l2: p := allocate heap 4u64 l1 -> l2:",
        "local p: u64 locations 3 end l2 l0 -> l1: p := allocate heap 4u64 l1 -> l2: p := allocate heap 4u64",
        "local p: u64 locations 2 end l1 l0 -> l1: p := allocate heap 8u64",
        "local p: u64 locations 2 end l1 l0 -> l0: p := allocate heap 4u64 l0 -> l1:",
        "local p: u64 locations 2 end l1 l0 -> l1: p := allocate heap 4u64",
    ];
    let starts = ["start main 1", "start main 2", "start main any", "start main 1 start worker 1"];
    let (mut accepted, mut refused) = (0, 0);
    for code in codes {
        for start in starts {
            let text =
                format!("program lp64\n{start}\nsite heap: i32\n{WORKER}\ntemplate main() {{ {code} }}");
            let program = verdict::Analysed::from(ir::text::parse(&text).expect("the text is right"));
            let found = Unique::of(&program);
            let unique: Vec<TemplateId> =
                found.templates.enumerate().filter(|(_, unique)| **unique).map(|(id, _)| id).collect();
            let proof = claims(&program, unique.clone());
            let Ok(view) = View::new(&program, &proof, &Budget::unlimited()) else {
                panic!("refused: {text}")
            };
            for (object, single) in found.objects.enumerate() {
                assert_eq!(view.is_single(object), *single, "{text}");
            }
            accepted += unique.len();
            for other in program.templates.ids().filter(|id| !unique.contains(id)) {
                let more: Vec<TemplateId> = unique.iter().copied().chain([other]).collect();
                let proof = claims(&program, more);
                assert!(View::new(&program, &proof, &Budget::unlimited()).is_err(), "{other}: {text}");
                refused += 1;
            }
        }
    }
    assert!(accepted > 30 && refused > 20, "{accepted} {refused}");
}
