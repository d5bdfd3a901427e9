//! Several files, and what makes a program unreadable.

use crate::{read_files, runner};
use frontend_c::{Options, Source, read};
use ir::diagnostic::Kind;
use ir::{DataModel, IntType};

fn complaint(files: &[&str]) -> String {
    read_files(files, DataModel::Lp64).err().map_or("none".to_owned(), |problems| problems[0].to_string())
}

#[test]
fn files_share_external_names_and_keep_static_ones() {
    let program = read_files(
        &[
            "extern int shared; int other(int); static int mine = 5; int result; static int f(void) { return mine; }
             int main(void) { result = shared + other(1) + f(); }",
            "int shared = 100; static int mine = 1000; static int f(void) { return mine; } int other(int x) { return x + f(); }",
        ],
        DataModel::Lp64,
    )
    .unwrap();
    assert!(program.assumptions.is_empty(), "{:?}", program.assumptions);
    let run = runner::run(&program, 1000);
    assert_eq!(run.global("result", IntType::I32), Some(1106));
}

#[test]
fn tentative_and_weak_definitions_give_way() {
    let program = read_files(
        &[
            "int x; int __attribute__((weak)) f(void) { return 1; } int result; int main(void) { result = x * 10 + f(); }",
            "int x = 7; int f(void) { return 2; }",
        ],
        DataModel::Lp64,
    )
    .unwrap();
    assert_eq!(runner::run(&program, 1000).global("result", IntType::I32), Some(72));
}

#[test]
fn duplicates_and_missing_mains_are_told_with_their_place() {
    assert_eq!(
        complaint(&["int x = 1;\nint main(void) { return x; }", "\nint x = 2;"]),
        "file2.c:2:5: error: duplicate definition of 'x', first defined at file1.c:1; leave one out, or make it static"
    );
    assert!(
        complaint(&["int main(void) {}", "int main(void) {}"])
            .contains("file2.c:1:5: error: duplicate definition of 'main'")
    );
    assert!(
        complaint(&["int x;"]).starts_with("file1.c:1:1: error: there is no function 'main'; add the file")
    );
}

#[test]
fn errors_are_told_with_their_place() {
    assert!(complaint(&["int main(void) {\n  return y;\n}"]).starts_with("file1.c:2:10: error: "));
    assert!(complaint(&["int main(void) {\n  foo_t x;\n}"]).starts_with("file1.c:2:3: error: "));
    assert!(complaint(&["#include \"no such file.h\"\nint main(void) {}"]).starts_with("file1.c:1:"));
    assert!(complaint(&["int main(void) { return 0;"]).starts_with("file1.c:1:"));
    let problems = read_files(&["int f(int) { return 1 }"], DataModel::Lp64).unwrap_err();
    assert_eq!(problems[0].kind, Kind::Text);
}

#[test]
fn macros_and_standards_are_passed_on() {
    let source =
        Source { name: "a.c".to_owned(), text: b"int result; int main(void) { result = N; }".to_vec() };
    let options = Options { defines: vec!["N=42".to_owned()], ..Options::default() };
    let program = read(std::slice::from_ref(&source), &options).unwrap();
    assert_eq!(runner::run(&program, 100).global("result", IntType::I32), Some(42));
    let options = Options { standard: Some("fortran".to_owned()), ..options };
    assert!(read(&[source], &options).is_err());
}
