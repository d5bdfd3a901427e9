//! Right claims are accepted, forged ones are not.

use super::offsets::{HUGE, Offsets, Run};
use super::{test, test_claim, test_view};
use frontend_c::{Options, Source, read};
use ir::passes::points_to::claim::{Claim, ClaimedBytes, ClaimedPlace};
use ir::passes::{self, Lowering, PointsTo, before_calls};
use ir::{DataModel, Lhs, LocalId, ObjectId, Program, Target, Targets, TemplateId};
use std::path::{Path, PathBuf};
use verdict::{Budget, Views};

fn lowered(name: &str, text: &str) -> Option<Program> {
    lowered_for(name, text, Lowering { races: true, bounds: true, ..Lowering::default() })
}

fn lowered_for(name: &str, text: &str, lowering: Lowering) -> Option<Program> {
    let data_model = if text.contains("ILP32") { DataModel::Ilp32 } else { DataModel::Lp64 };
    let nesc = text.contains("--nesc");
    let options = Options { data_model, nesc, ..Options::default() };
    let program = read(&[Source { name: name.to_owned(), text: text.into() }], &options).ok()?;
    Some(passes::concrete(&program, lowering))
}

fn of(text: &str) -> Program {
    lowered("test.c", text).expect("it is a program")
}

/// The annotated programs, in order.
fn programs() -> Vec<PathBuf> {
    fn below(folder: &Path, found: &mut Vec<PathBuf>) {
        for path in std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()) {
            match path.is_dir() {
                true => below(&path, found),
                false if path.extension().is_some_and(|extension| extension == "c") => found.push(path),
                false => {}
            }
        }
    }
    let mut found = Vec::new();
    below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs"), &mut found);
    found.sort();
    assert!(found.len() > 1000, "the test programs are missing");
    found
}

fn refusal(program: &Program, points_to: &PointsTo, claim: &Claim) -> Option<String> {
    test_claim(program, (points_to, claim), None, &Budget::unlimited()).expect("no limit").err()
}

/// The sets of all test programs are closed, and so are those of some of their views.
#[test]
fn sets_of_test_programs_are_closed() {
    let budget = Budget::unlimited();
    let (mut tested, mut refused) = (0, Vec::new());
    for (number, file) in programs().into_iter().enumerate() {
        let text = std::fs::read_to_string(&file).expect("test programs are text");
        let Some(program) = lowered("test.c", &text) else { continue };
        let mut check = |view: &str, program: &Program, base: Option<&Program>| {
            tested += 1;
            let points_to = PointsTo::of(program);
            let said = match base {
                Some(base) => test_view(program, &points_to, base, &budget),
                None => test(program, &points_to, &budget),
            };
            if let Err(wrong) = said.expect("no limit") {
                refused.push(format!("{} {view}: {wrong}", file.display()));
            }
        };
        check("lowered", &program, None);
        if number % 8 == 0 {
            check("before calls", &before_calls(&program), None);
            let views = Views::from(program);
            for races in [false, true] {
                let Ok(view) = views.sliced(races, &budget) else { continue };
                let base = views.inlined(&budget).ok();
                check("view", view, base);
                check("words", view.words(&budget).expect("no limit"), base);
            }
        }
    }
    assert!(tested > 1000, "{tested}");
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// A view that knows less than the program before it keeps the targets of that program, and no others.
#[test]
fn a_view_has_the_targets_of_its_program() {
    let budget = Budget::unlimited();
    let text = "#include <pthread.h>\n\
        struct each { pthread_t id; int in, out; } all[3];\n\
        void *run(void *p) { struct each *e = p; e->out = e->in + 1; return 0; }\n\
        int main(void) { int n = 2, j; for (j = 0; j < n; j++) { all[j].in = 1;\n\
        pthread_create(&all[j / 2].id, 0, run, &all[0]); }\n\
        for (j = 0; j < n - 1; j++) {} return 0; }";
    let views = Views::from(lowered_for("test.c", text, Lowering::default()).expect("it is a program"));
    let base = views.inlined(&budget).expect("it is small");
    let view = views.sliced(false, &budget).expect("it is small").program();
    let points_to = PointsTo::of(view);
    let said = test_view(view, &points_to, base, &budget).expect("no limit");
    assert_eq!(said, Ok(()));
    assert!(test(view, &points_to, &budget).expect("no limit").is_err(), "the view knows as much");
    // Targets that are elsewhere are none of that program.
    let mut forged = view.clone();
    let edges = forged.templates.iter_mut().flat_map(|code| code.edges.iter_mut());
    for op in edges.flat_map(|edge| &mut edge.ops) {
        for lhs in op.targets_mut() {
            if let Lhs::Memory(place) = lhs
                && let Targets::Of(targets) = &place.targets
            {
                let moved = targets.iter().map(|target| Target { first: target.first + 1, ..*target });
                place.targets = Targets::Of(moved.collect());
            }
        }
    }
    assert_ne!(&forged, view);
    let said = test_view(&forged, &PointsTo::of(&forged), base, &budget).expect("no limit");
    assert!(said.is_err(), "forged targets are accepted");
}

/// Something that has a set.
#[derive(Clone, Copy)]
enum Holder {
    Local(TemplateId, LocalId),
    Cell(ObjectId, usize),
    Results,
    Input(usize),
}

fn holders(claim: &Claim) -> Vec<Holder> {
    let mut found = vec![Holder::Results];
    for (template, locals) in claim.locals.enumerate() {
        found.extend(locals.ids().map(|local| Holder::Local(template, local)));
    }
    for (object, cells) in claim.cells.enumerate() {
        found.extend((0..cells.len()).map(|cell| Holder::Cell(object, cell)));
    }
    found.extend((0..claim.inputs.len()).map(Holder::Input));
    found
}

fn set_of(claim: &mut Claim, holder: Holder) -> &mut usize {
    match holder {
        Holder::Local(template, local) => &mut claim.locals[template][local],
        Holder::Cell(object, cell) => &mut claim.cells[object][cell].set,
        Holder::Results => &mut claim.results,
        Holder::Input(number) => &mut claim.inputs[number],
    }
}

/// Whether a place is every offset of the object that another one is in, or a progression that has its only
/// offset.
fn covers(whole: &ClaimedPlace, part: &ClaimedPlace) -> bool {
    let (
        ClaimedPlace::Bytes { object, first, strides },
        ClaimedPlace::Bytes { object: other, first: at, strides: steps },
    ) = (whole, part)
    else {
        return false;
    };
    let has = |(stride, count): (u64, Option<u64>)| {
        let distance = at.checked_sub(*first).filter(|distance| distance % stride == 0);
        distance.is_some_and(|distance| count.is_none_or(|count| distance / stride < count))
    };
    object == other
        && whole != part
        && match strides.as_slice() {
            [(1, None)] => *first == 0,
            [progression] => steps.is_empty() && has(*progression),
            _ => false,
        }
}

/// All claims that lack one place of one set. That an input may be itself goes without saying, and so does a
/// place that another one of the set covers.
fn with_one_place_less(claim: &Claim) -> impl Iterator<Item = Claim> + '_ {
    holders(claim).into_iter().flat_map(move |holder| {
        let places = claim.sets[*set_of(&mut claim.clone(), holder)].clone();
        let is_itself = |index: &usize| match (holder, &claim.places[places[*index] as usize]) {
            (Holder::Input(this), ClaimedPlace::Input { number, moved }) => {
                this == *number as usize && !moved
            }
            _ => false,
        };
        let place = |index: usize| &claim.places[places[index] as usize];
        let is_covered = |index: &usize| (0..places.len()).any(|other| covers(place(other), place(*index)));
        let is_needed = |index: &usize| !is_itself(index) && !is_covered(index);
        let indices: Vec<usize> = (0..places.len()).filter(is_needed).collect();
        indices.into_iter().map(move |index| {
            let (mut forged, mut fewer) = (claim.clone(), places.clone());
            fewer.remove(index);
            forged.sets.push(fewer);
            *set_of(&mut forged, holder) = forged.sets.len() - 1;
            forged
        })
    })
}

/// Each address is needed where it is: a claim without one of them is refused.
#[test]
fn a_place_less_is_refused() {
    let programs = [
        // Assignments, loads, stores, and members.
        "struct pair { int *one; int *two; } pair; int x, y; int *read;
         int main(void) { struct pair *at = &pair; at->one = &x; at->two = &y; read = at->two; return *read; }",
        // Copies of memory.
        "#include <string.h>
         struct pair { int *one; int *two; } from, to; int x, y; int *read;
         int main(void) { from.one = &x; from.two = &y; memcpy(&to, &from, sizeof to); read = to.two; return *read; }",
        // Calls through pointers, arguments and results.
        "int x; int *same(int *a) { return a; } int *(*f)(int *) = same; int *read;
         int main(void) { read = f(&x); return *read; }",
        // Threads, what they are given and what they give back.
        "#include <pthread.h>
         int x; void *run(void *a) { return a; }
         int main(void) { pthread_t t; void *r; pthread_create(&t, 0, run, &x); pthread_join(t, &r); return *(int *)r; }",
        // Allocations, arrays, and moves.
        "#include <stdlib.h>
         int *a[4]; int x; int main(int n, char **v) { int **p = malloc(8); *p = &x; a[2] = *p; return **(a + 2); }",
        // First values, of constants as well.
        "int x, y; int *const table[] = {&x, &y}; int *here = &y; int *read;
         int main(int n, char **v) { read = n ? table[n > 1] : here; return *read; }",
        // Inputs that are compared.
        "extern unsigned long __VERIFIER_nondet_ulong(void); int x; int *read;
         int main(void) { unsigned long i = __VERIFIER_nondet_ulong(); if (i == (unsigned long)&x) read = (int *)i; return *read; }",
        // By their difference from an address.
        "extern unsigned long __VERIFIER_nondet_ulong(void); int x; int *read;
         int main(void) { unsigned long i = __VERIFIER_nondet_ulong(); if ((unsigned long)&x - i == 4) read = (int *)(i + 4); return *read; }",
    ];
    for text in programs {
        let program = of(text);
        let points_to = PointsTo::of(&program);
        let claim = points_to.claim(&program);
        assert_eq!(refusal(&program, &points_to, &claim), None, "{text}");
        let forged: Vec<Claim> = with_one_place_less(&claim).collect();
        assert!(forged.len() >= 4, "{text}");
        let accepted = forged.iter().filter(|forged| refusal(&program, &points_to, forged).is_none()).count();
        assert_eq!(accepted, 0, "of {}: {text}", forged.len());
    }
}

/// Of claims that lack one place, for some test programs, nearly all are refused. Others may be closed as
/// well: the place is part of another one.
#[test]
fn most_claims_with_a_place_less_are_refused() {
    let (mut refused, mut all) = (0, 0);
    for file in programs().into_iter().step_by(11) {
        let text = std::fs::read_to_string(&file).expect("test programs are text");
        let Some(program) = lowered("test.c", &text) else { continue };
        let points_to = PointsTo::of(&program);
        let claim = points_to.claim(&program);
        for forged in with_one_place_less(&claim).take(40) {
            all += 1;
            refused += usize::from(refusal(&program, &points_to, &forged).is_some());
        }
    }
    println!("{refused} of {all} refused");
    assert!(all > 200 && refused * 100 >= all * 98, "{refused} of {all}");
}

/// A claim in which a local of `main` has these places alone.
fn forged(program: &Program, claim: &Claim, local: &str, places: Vec<ClaimedPlace>) -> Claim {
    let mut forged = claim.clone();
    let (template, code) = program.templates.enumerate().find(|(_, code)| code.name == "main").expect("main");
    let (local, _) = code.locals.enumerate().find(|(_, found)| found.name == local).expect("the local");
    let first = forged.places.len() as u32;
    forged.sets.push((first..first + places.len() as u32).collect());
    forged.places.extend(places);
    forged.locals[template][local] = forged.sets.len() - 1;
    forged
}

fn bytes(program: &Program, object: &str, first: u64, strides: Vec<(u64, Option<u64>)>) -> ClaimedPlace {
    let (object, _) =
        program.objects.enumerate().find(|(_, found)| found.name == object).expect("the object");
    ClaimedPlace::Bytes { object, first, strides }
}

/// What the analysis once got wrong is refused.
#[test]
fn old_mistakes_are_refused() {
    // A pointer to a structure is not one into its first member: it may move into the next one.
    let program = of("struct { int a[2]; int b; } s; extern int __VERIFIER_nondet_int(void);
        int main(void) { char *p = (char *)&s; char *q = p + 8; *q = 1;
          int *w = s.a; w = w + __VERIFIER_nondet_int(); *w = 1; return 0; }");
    let points_to = PointsTo::of(&program);
    let claim = points_to.claim(&program);
    assert_eq!(refusal(&program, &points_to, &claim), None);
    let in_array = || bytes(&program, "s", 0, vec![(4, Some(2))]);
    assert!(refusal(&program, &points_to, &forged(&program, &claim, "q", vec![in_array()])).is_some());
    // A walk may leave its array.
    assert!(refusal(&program, &points_to, &forged(&program, &claim, "w", vec![in_array()])).is_some());
    let all = vec![bytes(&program, "s", 0, vec![(4, Some(3))])];
    assert_eq!(
        refusal(&program, &points_to, &forged(&program, &claim, "w", all)),
        None,
        "it stays in its object"
    );
    // What is subtracted is still there.
    let program = of("int x, y; int main(void) { unsigned long a = (unsigned long)&x, b = (unsigned long)&y;
          unsigned long d = a - b; unsigned long e = a - d; *(int *)e = 1; return 0; }");
    let points_to = PointsTo::of(&program);
    let claim = points_to.claim(&program);
    assert_eq!(refusal(&program, &points_to, &claim), None);
    assert!(refusal(&program, &points_to, &forged(&program, &claim, "d", vec![])).is_some());
    let of_x = vec![bytes(&program, "x", 0, vec![(1, None)])];
    assert!(refusal(&program, &points_to, &forged(&program, &claim, "e", of_x)).is_some());
}

/// A claim may tell parts of addresses from addresses, as long as no part is followed.
#[test]
fn parts_that_are_followed_are_refused() {
    let apart = "char a[8]; long far; unsigned low; int main(void) { char *p = a; char *q = p + 3;
          far = q - p; low = (unsigned)(unsigned long)q; *q = 1; return 0; }";
    let joined = "char a[8]; unsigned low, high; int main(void) { unsigned long n = (unsigned long)a;
          low = (unsigned)n; high = (unsigned)(n >> 32);
          char *q = (char *)((unsigned long)high << 32 | low); *q = 1; return 0; }";
    let copied = "char a[8]; char *from = a, *to; int main(void) { char *f = (char *)&from, *t = (char *)&to;
          unsigned long i; for (i = 0; i < sizeof to; i++) t[i] = f[i]; char *q = to; *q = 1; return 0; }";
    let called = "void f(void) {} unsigned n; int main(void) { n = (unsigned)(unsigned long)f;
          void (*g)(void) = (void (*)(void))(unsigned long)n; g(); return 0; }";
    for (text, follows) in [(apart, false), (joined, true), (copied, true), (called, true)] {
        let program = of(text);
        let points_to = PointsTo::of(&program);
        let claim = points_to.claim(&program);
        assert_eq!(refusal(&program, &points_to, &claim), None, "{text}");
        assert_eq!(claim.tells_parts, !follows, "{text}");
        // The same sets under the other rule.
        let other = Claim { tells_parts: follows, ..claim.clone() };
        assert!(refusal(&program, &points_to, &other).is_some(), "{text}");
        // A part that is not in its set.
        if !follows {
            let refused = with_one_place_less(&claim).filter(|less| {
                let parts = |claim: &Claim| -> usize {
                    let is_part = |place: &&u32| claim.places[**place as usize] == ClaimedPlace::Part;
                    let sets = claim.cells.iter().flatten().map(|cell| &claim.sets[cell.set]);
                    sets.map(|set| set.iter().filter(is_part).count()).sum()
                };
                parts(less) < parts(&claim) && refusal(&program, &points_to, less).is_some()
            });
            assert!(refused.count() >= 2, "{text}");
        }
        // Where that is assumed, parts may be followed.
        let mut foreign = program.clone();
        foreign.foreign_numbers = true;
        let points_to = PointsTo::of(&foreign);
        let claim = points_to.claim(&foreign);
        assert!(claim.tells_parts);
        assert_eq!(refusal(&foreign, &points_to, &claim), None, "{text}");
        assert_eq!(refusal(&program, &points_to, &claim).is_some(), follows, "{text}");
    }
}

/// Claims of another form are refused.
#[test]
fn claims_about_cells_are_tested() {
    let program = of("struct { int *a; int *b; } s; int x; int main(void) { s.b = &x; return *s.b; }");
    let points_to = PointsTo::of(&program);
    let claim = points_to.claim(&program);
    assert_eq!(refusal(&program, &points_to, &claim), None);
    let (object, _) = program.objects.enumerate().find(|(_, object)| object.name == "s").expect("s");
    // Bytes that are in no cell.
    let mut fewer = claim.clone();
    fewer.cells[object].pop();
    assert!(refusal(&program, &points_to, &fewer).is_some());
    let mut shorter = claim.clone();
    shorter.cells[object][1].bytes[0].length = 4;
    assert!(refusal(&program, &points_to, &shorter).is_some());
    // An address that is taken.
    let mut untaken = claim.clone();
    untaken.taken_objects.clear();
    assert!(refusal(&program, &points_to, &untaken).is_some());
    // Of another program.
    let mut other = claim;
    other.cells.push(Vec::new());
    assert!(refusal(&program, &points_to, &other).is_some());
}

#[test]
fn copies_of_few_bytes_stay_among_few_elements() {
    let run = |first, length, strides: &[(u64, u64)]| {
        Run::new(&ClaimedBytes { first, length, strides: strides.to_vec() }).expect("some bytes")
    };
    let (family, zeros) = (run(0, 2, &[(16, 1 << 58)]), run(16, 1, &[(24, 1 << 58), (1, 8)]));
    let is_copied = |to: i128, size: Option<i128>| {
        let (from, to) = (Offsets::one(0), Offsets::one(to));
        family.is_copied((&from, HUGE), &zeros, (&to, HUGE), size)
    };
    assert!(!is_copied(8, Some(16)), "the first two bytes are copied to others");
    assert!(is_copied(16, Some(16)), "they are copied to these");
    assert!(is_copied(8, Some(48)) && is_copied(8, None), "those of the third element are copied to some");
}
