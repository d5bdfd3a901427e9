//! Witnesses follow the rules of their published formats: violation witnesses 2.2, correctness witnesses 2.1.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Runs the tool and returns the only entry of the witness that it writes.
fn witness(arguments: &[&str], file: &str) -> Value {
    let document = entries(arguments, file);
    let [entry] = document.as_slice() else { panic!("there is one entry") };
    entry.clone()
}

/// Runs the tool and returns the entries of the witness that it writes.
fn entries(arguments: &[&str], file: &str) -> Vec<Value> {
    let name = format!("{}-{}.yml", file.replace(['/', '.'], "_"), arguments.join(""));
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&path);
    assert_cmd::Command::cargo_bin("threadproof")
        .expect("the program is built")
        .current_dir(crate::root())
        .arg("verify")
        .args(arguments)
        .arg("--witness")
        .arg(&path)
        .arg(file)
        .output()
        .expect("the program runs");
    let text = std::fs::read_to_string(&path).expect("there is a witness");
    let document: Value = serde_saphyr::from_str(&text).expect("it is YAML");
    document.as_array().expect("it is a list of entries").clone()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_else(|| panic!("`{key}` is a text in {value}"))
}

fn only_keys(value: &Value, allowed: &[&str]) {
    for key in value.as_object().expect("a mapping").keys() {
        assert!(allowed.contains(&key.as_str()), "`{key}` is not in the format");
    }
}

fn check_metadata(entry: &Value, kind: &str, version: &str, file: &str, specification: &str) {
    only_keys(entry, &["entry_type", "metadata", "content"]);
    assert_eq!(text(entry, "entry_type"), kind);
    let metadata = &entry["metadata"];
    only_keys(metadata, &["format_version", "uuid", "creation_time", "producer", "task"]);
    assert_eq!(text(metadata, "format_version"), version);
    let uuid: Vec<usize> = text(metadata, "uuid").split('-').map(str::len).collect();
    assert_eq!(uuid, [8, 4, 4, 4, 12]);
    let time = text(metadata, "creation_time");
    assert!(time.len() == 20 && time.ends_with('Z') && &time[10..11] == "T", "{time}");
    assert_eq!(text(&metadata["producer"], "name"), "Threadproof");
    assert!(!text(&metadata["producer"], "version").is_empty());
    let task = &metadata["task"];
    only_keys(task, &["input_files", "input_file_hashes", "specification", "data_model", "language"]);
    assert_eq!(task["input_files"], serde_json::json!([file]));
    let hash = text(&task["input_file_hashes"], file);
    assert!(hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{hash}");
    assert_eq!(text(task, "specification"), specification);
    assert!(["ILP32", "LP64"].contains(&text(task, "data_model")));
    assert_eq!(text(task, "language"), "C");
}

/// A location is a line with code in an input file, and names the function that it is in.
fn check_location(location: &Value, file: &str) -> u64 {
    only_keys(location, &["file_name", "line", "column", "function"]);
    assert_eq!(text(location, "file_name"), file);
    let line = location["line"].as_u64().expect("a number");
    let source = std::fs::read_to_string(crate::root().join(file)).expect("the file is there");
    let code = source.lines().nth(line as usize - 1).expect("the line is there").trim();
    assert!(!code.is_empty() && !code.starts_with('#'), "line {line}: {code}");
    assert!(source.contains(text(location, "function")));
    line
}

fn check_constraint(constraint: &Value, formats: &[&str]) {
    only_keys(constraint, &["value", "format"]);
    assert!(!text(constraint, "value").is_empty());
    assert!(formats.contains(&text(constraint, "format")));
}

/// Checks a violation witness; returns the threads and lines of its targets, and how many segments there are
/// before.
fn check_violation(
    entry: &Value,
    file: &str,
    specification: &str,
    race: bool,
) -> (BTreeSet<(u64, u64)>, usize) {
    check_metadata(entry, "violation_sequence", "2.2", file, specification);
    let segments = entry["content"].as_array().expect("a list of segments");
    let mut targets = BTreeSet::new();
    for (index, segment) in segments.iter().enumerate() {
        only_keys(segment, &["segment"]);
        let waypoints = segment["segment"].as_array().expect("a list of waypoints");
        let is_last = index + 1 == segments.len();
        let follow = if is_last && race { 2 } else { 1 };
        assert_eq!(waypoints.len(), follow, "each segment has its waypoints to follow and no more");
        for waypoint in waypoints {
            only_keys(waypoint, &["waypoint"]);
            let waypoint = &waypoint["waypoint"];
            only_keys(waypoint, &["type", "action", "thread_id", "constraint", "location"]);
            assert_eq!(text(waypoint, "action"), "follow");
            let thread = waypoint["thread_id"].as_u64().expect("a number");
            let line = check_location(&waypoint["location"], file);
            let kind = text(waypoint, "type");
            assert_eq!(kind == "target", is_last, "the last segment has the targets");
            match kind {
                "target" => {
                    assert!(waypoint.get("constraint").is_none());
                    targets.insert((thread, line));
                }
                "assumption" => check_constraint(&waypoint["constraint"], &["c_expression"]),
                "function_return" => check_constraint(&waypoint["constraint"], &["ext_c_expression"]),
                other => panic!("`{other}` is no type of waypoint"),
            }
        }
    }
    (targets, segments.len() - 1)
}

#[test]
fn a_race_has_two_targets() {
    let file = "examples/counter.c";
    let entry = witness(&["--check", "races"], file);
    let (targets, before) = check_violation(&entry, file, "CHECK( init(main()), LTL(G ! data-race) )", true);
    assert_eq!(targets, BTreeSet::from([(1, 8), (2, 8)]));
    assert!(before >= 1);
}

#[test]
fn inputs_and_turns_lead_to_a_failing_assertion() {
    let file = "tests/programs/inputs/give-way-broken.c";
    let entry = witness(&["--check", "assertions", "--engine", "symbolic"], file);
    let specification = "CHECK( init(main()), LTL(G ! call(reach_error())) )";
    let (targets, before) = check_violation(&entry, file, specification, false);
    assert_eq!(targets.len(), 1);
    assert!(targets.iter().all(|(_, line)| *line == 19));
    assert!(before >= 4, "two inputs and at least two turns");
    let text = entry.to_string();
    assert_eq!(text.matches("\\\\result == ").count(), 2);
}

#[test]
fn a_proof_becomes_invariants() {
    let file = "examples/counter-locked.c";
    let entry = witness(&["--check", "assertions"], file);
    let specification = "CHECK( init(main()), LTL(G ! call(reach_error())) )";
    check_metadata(&entry, "invariant_set", "2.1", file, specification);
    let content = entry["content"].as_array().expect("a list");
    assert!(!content.is_empty());
    for element in content {
        only_keys(element, &["invariant"]);
        let invariant = &element["invariant"];
        only_keys(invariant, &["type", "location", "value", "format"]);
        assert!(["location_invariant", "loop_invariant"].contains(&text(invariant, "type")));
        assert_eq!(text(invariant, "format"), "c_expression");
        check_location(&invariant["location"], file);
        assert!(text(invariant, "value").contains("counter"));
    }
}

/// What a mutex protects holds whenever nobody has it; a ghost variable says whether somebody does.
#[test]
fn what_a_mutex_protects_is_said_with_a_ghost_variable() {
    let file = "tests/programs/witnesses/protected.c";
    let entries = entries(&["--check", "assertions"], file);
    let [ghosts, invariants] = entries.as_slice() else { panic!("two entries: {entries:?}") };
    let specification = "CHECK( init(main()), LTL(G ! call(reach_error())) )";
    check_metadata(ghosts, "ghost_instrumentation", "2.1", file, specification);
    check_metadata(invariants, "invariant_set", "2.1", file, specification);
    let content = &ghosts["content"];
    only_keys(content, &["ghost_variables", "ghost_updates"]);
    let [variable] = content["ghost_variables"].as_array().expect("a list").as_slice() else {
        panic!("one ghost variable: {content}");
    };
    only_keys(variable, &["name", "type", "scope", "initial"]);
    assert_eq!(
        [text(variable, "name"), text(variable, "type"), text(variable, "scope")],
        ["lock_locked", "int", "global"]
    );
    check_constraint(&variable["initial"], &["c_expression"]);
    let source = std::fs::read_to_string(crate::root().join(file)).expect("the file is there");
    let mut changed = 0;
    for update in content["ghost_updates"].as_array().expect("a list") {
        only_keys(update, &["location", "updates"]);
        let line = check_location(&update["location"], file);
        let [change] = update["updates"].as_array().expect("a list").as_slice() else { panic!("one change") };
        only_keys(change, &["variable", "value", "format"]);
        let code = source.lines().nth(line as usize - 1).expect("the line is there");
        let expected = if code.contains("pthread_mutex_lock(&lock)") { "1" } else { "0" };
        assert!(code.contains("lock(&lock)"), "{code}");
        assert_eq!((text(change, "variable"), text(change, "value")), ("lock_locked", expected));
        changed += 1;
    }
    assert_eq!(changed, source.matches("lock(&lock)").count());
    let said: Vec<&str> = invariants["content"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|element| text(&element["invariant"], "value"))
        .collect();
    assert!(said.iter().any(|value| value.contains("(lock_locked == 1 || ((count == 0)))")), "{said:?}");
    assert!(said.iter().any(|value| value.contains("lock_locked == 1")), "{said:?}");
}

/// The lines of a preprocessed file are those of the file, not those that it says they come from.
#[test]
fn preprocessed_files_have_their_own_lines() {
    let source = std::fs::read_to_string(crate::root().join("examples/counter.c")).expect("it is there");
    let plain: String =
        source.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    let header = "typedef unsigned long pthread_t;\nextern int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);\n\
        extern int pthread_join(pthread_t, void **);\nextern void __assert_fail(const char *, const char *, unsigned, const char *);\n\
        void assert(int);\n# 100 \"elsewhere.c\"\n";
    let path: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("preprocessed.i");
    std::fs::write(&path, format!("{header}{plain}")).expect("it can be written");
    let file = path.to_string_lossy().into_owned();
    let entry = witness(&["--check", "races"], &file);
    let (targets, _) = check_violation(&entry, &file, "CHECK( init(main()), LTL(G ! data-race) )", true);
    let text = std::fs::read_to_string(&path).expect("it is there");
    let racing = text.lines().position(|line| line.contains("counter = counter + 1")).expect("it is there");
    assert!(targets.iter().all(|(_, line)| *line == racing as u64 + 1), "{targets:?}");
}
