//! A bounded run of what `cargo xtask mutate` does: changed proofs of each kind, which no broken program may
//! have, and the form of evidence.

use fuzz::mutation::campaign::Campaign;
use fuzz::mutation::{Fate, Json, Try, check_text, corpus, kind_of, written};
use std::collections::BTreeMap;
use std::path::PathBuf;
use testkit::random::Random;
use verdict::EvidenceFile;

/// Programs that have a broken twin, each with an engine that proves it soon.
const PROGRAMS: [(&str, &str); 8] = [
    ("algorithms/peterson.c", "explicit"),
    ("context/conditional-lock.c", "context"),
    ("modular/counter.c", "horn"),
    ("modular/test-and-set.c", "horn"),
    ("predicates/mutex.c", "states"),
    ("product/hand-over.c", "horn"),
    ("queries/relay.c", "queries"),
    ("relations/two-counters.c", "flow"),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The programs, and who proves them.
fn twins() -> (Vec<(PathBuf, PathBuf)>, Vec<&'static str>) {
    let all = corpus::twins(&root().join("tests/programs"));
    let of = |(name, engine): &(&str, &'static str)| {
        let twin = all.iter().find(|(right, _)| right.ends_with(name));
        (twin.unwrap_or_else(|| panic!("{name} is missing")).clone(), *engine)
    };
    PROGRAMS.iter().map(of).unzip()
}

fn fail(name: &str, one: &Try, program: &ir::Program) {
    panic!("{name}: {:?}\n{}\n{}", one.fate, one.text, ir::text::print(program));
}

#[test]
fn changed_proofs_are_refused() {
    let (twins, engines) = twins();
    let papers = root().join("tests/programs/papers");
    let (figure, specification) =
        (papers.join("abstract-threads-figure2.c"), root().join("tests/specifications/figure3.tspec"));
    let campaign = Campaign {
        twins,
        engines,
        specifications: vec![(figure, specification)],
        random: 0,
        seed: 18,
        count: 450,
        each: 60,
        proving: 15.0,
        checking: 5.0,
        jobs: 1,
        report: fail,
        progress: |_| (),
    };
    let figures = campaign.run();
    for (kind, found) in &figures {
        assert_eq!((found.accepted, found.crashed), (0, 0), "{kind}: {found:?}");
    }
    let refused: u64 = figures.values().map(|found| found.refused).sum();
    assert!(figures.len() >= 5 && refused > 200, "most kinds of proofs are changed: {figures:?}");
}

/// How many pieces of each shape are tried.
const EACH_SHAPE: usize = 3;

/// The numbers of the first pieces of each shape: those that the same fields lead to, whatever their places
/// in lists, are read by the same code.
fn of_each_shape(file: &Json) -> Vec<usize> {
    fn visit(piece: &Json, shape: &str, number: &mut usize, found: &mut BTreeMap<String, Vec<usize>>) {
        let known = found.entry(shape.to_owned()).or_default();
        if known.len() < EACH_SHAPE {
            known.push(*number);
        }
        *number += 1;
        match piece {
            Json::Word(_) | Json::Text(_) => {}
            Json::List(list) => {
                list.iter().for_each(|inner| visit(inner, &format!("{shape}[]"), number, found));
            }
            Json::Object(fields) => {
                for (name, value) in fields {
                    visit(value, &format!("{shape}.{name}"), number, found);
                }
            }
        }
    }
    let mut found = BTreeMap::new();
    visit(file, "", &mut 0, &mut found);
    found.into_values().flatten().collect()
}

/// A field that nobody knows is refused wherever it is.
#[test]
fn the_form_of_evidence_is_closed() {
    let mut random = Random::new(1);
    let mut kinds = Vec::new();
    let (twins, engines) = twins();
    let pairs = twins.iter().zip(engines).flat_map(|(twin, engine)| {
        corpus::pairs(twin, &mut random).into_iter().map(move |pair| (pair, engine)).collect::<Vec<_>>()
    });
    for (pair, engine) in pairs {
        for proof in corpus::proofs(&pair, Some(engine), 15.0) {
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
            for number in of_each_shape(&file) {
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
