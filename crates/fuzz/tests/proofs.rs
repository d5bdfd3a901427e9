//! A bounded run of what `cargo xtask mutate` does: changed proofs of each kind, which no broken program may have, and the form of evidence.

use fuzz::mutation::campaign::Campaign;
use fuzz::mutation::{Fate, Json, Try, check_text, corpus, kind_of, written};
use std::path::PathBuf;
use testkit::random::Random;
use verdict::EvidenceFile;

/// Programs for which engines find proofs of all kinds soon, each with a broken twin.
const PROGRAMS: [&str; 9] = [
    "modular/test-and-set.c",
    "modular/counter.c",
    "predicates/mutex.c",
    "predicates/turn.c",
    "product/two-sums.c",
    "product/hand-over.c",
    "queries/relay.c",
    "queries/region.c",
    "context/conditional-lock.c",
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn twins() -> Vec<(PathBuf, PathBuf)> {
    let all = corpus::twins(&root().join("tests/programs"));
    let wanted = |path: &PathBuf| PROGRAMS.iter().any(|name| path.ends_with(name));
    let found: Vec<_> = all.iter().filter(|(right, _)| wanted(right)).cloned().collect();
    assert!(found.len() >= 4, "the test programs are missing: {found:?}");
    found
}

fn fail(name: &str, one: &Try, program: &ir::Program) {
    panic!("{name}: {:?}\n{}\n{}", one.fate, one.text, ir::text::print(program));
}

#[test]
fn changed_proofs_are_refused() {
    let campaign = Campaign {
        twins: twins(),
        specifications: corpus::specifications(
            &root().join("tests/specifications"),
            &root().join("tests/programs/papers"),
        ),
        random: 12,
        seed: 18,
        count: 3_000,
        each: 25,
        proving: 3.0,
        checking: 2.0,
        jobs: 1,
        report: fail,
    };
    let figures = campaign.run();
    let kinds: Vec<&String> = figures.keys().collect();
    assert!(kinds.len() >= 6, "proofs of most kinds are changed: {kinds:?}");
    for (kind, found) in &figures {
        assert_eq!((found.accepted, found.crashed), (0, 0), "{kind}: {found:?}");
    }
    let refused: u64 = figures.values().map(|found| found.refused).sum();
    assert!(refused > 300, "some have the form of proofs: {figures:?}");
}

/// A field that nobody knows is refused wherever it is, and so is a file without one of its fields.
#[test]
fn the_form_of_evidence_is_closed() {
    let mut random = Random::new(1);
    let mut kinds = Vec::new();
    for pair in twins().iter().flat_map(|twin| corpus::pairs(twin, &mut random)) {
        for proof in corpus::proofs(&pair, 3.0) {
            let kind = kind_of(&proof);
            if kinds.contains(&kind) {
                continue;
            }
            let Some(file) = written(pair.check, &proof) else { panic!("{kind} cannot be written") };
            assert_eq!(
                check_text(&file.to_string(), &pair.right, pair.check, 60.0),
                Fate::Accepted,
                "{kind}"
            );
            for number in 0..file.size().min(3_000) {
                let mut more = file.clone();
                let Some(Json::Object(fields)) = more.piece(number) else { continue };
                // What has one field is a case of several, and has one field only.
                fields.push(("more".to_owned(), Json::Word("null".to_owned())));
                assert!(EvidenceFile::read(&more.to_string()).is_err(), "{kind}: a field more at {number}");
            }
            kinds.push(kind);
        }
    }
    assert!(kinds.len() >= 5, "{kinds:?}");
}
