//! A bounded run of what `cargo xtask fuzz --universal` does: proofs of each kind that claim everything for
//! no reason, on some broken programs.

use fuzz::mutation::{Fate, corpus, universal};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Folders of test programs that are small, one for each way to be wrong.
const FOLDERS: [&str; 6] = ["context", "modular", "product", "queries", "relations", "summaries"];

#[test]
fn proofs_for_everything_are_refused() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs");
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for folder in FOLDERS {
        let files = corpus::all_files(&root.join(folder));
        assert!(!files.is_empty(), "{folder} has programs");
        for path in files.iter().filter(|path| path.to_string_lossy().ends_with("-broken.c")).take(4) {
            let report = |one: &fuzz::mutation::Try, check: verdict::Check, _: &ir::Program| {
                panic!("{}, {}: {:?}\n{}", path.display(), check.name(), one.fate, one.text);
            };
            for (kind, fate) in universal::try_file(path, 0.3, report) {
                assert!(
                    matches!(fate, Fate::Refused | Fate::OutOfTime | Fate::Malformed),
                    "{kind}: {fate:?}"
                );
                *kinds.entry(kind).or_default() += usize::from(fate == Fate::Refused);
            }
        }
    }
    let names = [
        "Abstraction",
        "Context",
        "Exhaustive",
        "Flow",
        "LockOrder",
        "Modular",
        "NoErrorLocation",
        "OneThread",
        "Product",
        "Queries",
        "Runs of Flow",
        "Spec",
        "States",
        "Summaries",
    ];
    for name in names {
        assert!(kinds.get(name).is_some_and(|refused| *refused > 0), "{name} is tried: {kinds:?}");
    }
}
