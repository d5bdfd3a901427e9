//! Uniqueness of threads and objects: one program for each part of the rule.

use crate::passes::Unique;
use crate::program::Program;
use crate::text::parse;

fn program(text: &str) -> Program {
    let program = parse(&format!("program lp64\n{text}")).expect("the text is right");
    assert_eq!(crate::check::check(&program), Ok(()));
    program
}

/// Whether the second template is unique in a program whose first one has this code.
fn is_unique(starts: &str, code: &str) -> bool {
    let worker = "template worker() { locations 2 end l1 l0 -> l1: }";
    let program = program(&format!("{starts}\n{worker}\ntemplate main() {{ {code} }}"));
    let unique = Unique::of(&program);
    *unique.templates.iter().next().expect("there is a worker")
}

#[test]
fn a_thread_that_is_started_once() {
    let once = "locations 2 end l1 l0 -> l1: spawn worker()";
    assert!(is_unique("start main 1", once));
    assert!(!is_unique("start main 2", once));
    assert!(!is_unique("start main any", once));
    assert!(!is_unique("start main 1 start worker 1", once));
    assert!(is_unique("start main 1 start worker 1", "locations 2 end l1 l0 -> l1:"));
    assert!(!is_unique("start main 1", "locations 3 end l2 l0 -> l1: spawn worker() l1 -> l0: l1 -> l2:"));
}

#[test]
fn a_thread_that_is_started_on_one_of_several_paths() {
    let branches = "locations 3 end l2 l0 -> l1: spawn worker() l0 -> l2: spawn worker() l1 -> l2:";
    assert!(is_unique("start main 1", branches));
    assert!(!is_unique("start main 2", branches));
    // One after the other, on one edge, and in a loop.
    assert!(!is_unique(
        "start main 1",
        "locations 3 end l2 l0 -> l1: spawn worker() l1 -> l2: spawn worker()"
    ));
    assert!(!is_unique("start main 1", "locations 2 end l1 l0 -> l1: spawn worker(); spawn worker()"));
    let again = "locations 3 end l2 l0 -> l1: spawn worker() l0 -> l2: spawn worker() l1 -> l0:";
    assert!(!is_unique("start main 1", again));
}

#[test]
fn starts_by_different_templates() {
    let program = program(
        "start main 1 start other 1
        template worker() { locations 2 end l1 l0 -> l1: }
        template main() { locations 2 end l1 l0 -> l1: spawn worker() }
        template other() { locations 2 end l1 l0 -> l1: spawn worker() }",
    );
    assert_eq!(Unique::of(&program).templates.iter().copied().collect::<Vec<bool>>(), [false, true, true]);
}

#[test]
fn memory_that_is_allocated_on_one_of_several_paths() {
    let single = |size: u32, code: &str| {
        let text = format!("start main 1\nsite heap: i32\ntemplate main() {{ local p: u64 {code} }}");
        let program = program(&text.replace("SIZE", &format!("{size}u64")));
        *Unique::of(&program).objects.iter().next().expect("there is a site")
    };
    let branches = "locations 3 end l2
        l0 -> l1: p := allocate heap SIZE l0 -> l2: p := allocate heap SIZE l1 -> l2:";
    assert!(single(4, branches));
    assert!(!single(8, branches));
    let both = "locations 3 end l2 l0 -> l1: p := allocate heap SIZE l1 -> l2: p := allocate heap SIZE";
    assert!(!single(4, both));
    assert!(single(4, "locations 2 end l1 l0 -> l1: p := allocate heap SIZE"));
    assert!(!single(4, "locations 2 end l1 l0 -> l0: p := allocate heap SIZE l0 -> l1:"));
}
