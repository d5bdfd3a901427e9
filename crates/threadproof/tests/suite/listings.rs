//! What `--show invariants` prints for the programs in `tests/listings`; update with `UPDATE_EXPECT=1`.

use assert_cmd::Command;
use std::path::{Path, PathBuf};
use testkit::annotation;

/// The listing of a program, run beside it.
fn listing(file: &Path) -> String {
    let text = std::fs::read_to_string(file).expect("listed programs are text");
    let mut command = Command::cargo_bin("threadproof").expect("the program is built");
    command.args(["verify", "--engine", "flow", "--show", "invariants"]).args(annotation::arguments(&text));
    command.arg(file.file_name().expect("a program has a name"));
    let output = command.current_dir(file.parent().expect("a program is in a folder")).output();
    let output = output.expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("listings are text")
}

#[test]
fn listings_are_as_recorded() {
    let folder = crate::root().join("tests/listings");
    let files = std::fs::read_dir(folder).expect("the folder is there").flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|it| it == "c")).collect();
    files.sort();
    assert!(files.len() >= 6, "the listed programs are missing");
    for file in files {
        let text = listing(&file);
        // Names that the tool made up have no place there.
        let made_up = |word: &str| word.starts_with('%') && word.len() > 1;
        assert!(!text.split_whitespace().any(made_up), "{text}");
        expect_test::expect_file![file.with_extension("txt")].assert_eq(&text);
    }
}
