//! BenchExec understands our tool-info module: it finds the program, builds its command lines and reads its
//! answers.

use std::path::Path;
use std::process::Command;

#[test]
fn the_tool_info_module_works() {
    let root = crate::root();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("benchexec");
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
    let answers = [
        ("true", "verdict: true\n", "true"),
        ("false", "data race on `x`\n\nverdict: false(no-data-race)\n", "false(no-data-race)"),
        ("unknown", "verdict: unknown(races: out of time)\n", "unknown"),
        ("nothing", "\n", "ERROR"),
    ];
    let mut outputs = Vec::new();
    for (name, text, _) in answers {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("it can be written");
        outputs.push(path);
    }
    let program = Path::new(env!("CARGO_BIN_EXE_threadproof"));
    let output = Command::new(root.join("target/benchexec/bin/python"))
        .args(["-m", "benchexec.test_tool_info", ".threadproof", "--no-container", "--tool-directory"])
        .arg(program.parent().expect("it is in a folder"))
        .arg("--tool-output")
        .args(&outputs)
        .env("PYTHONPATH", root.join("contrib/benchexec"))
        .output()
        .expect("BenchExec is installed: cargo xtask setup");
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && !said.contains("Error"), "{said}");
    for part in ["'--property', 'PROPERTY.PRP'", "'--data-model', 'ILP32'", "'--timeout', '855'"] {
        assert!(said.contains(part), "no {part} in {said}");
    }
    for (name, _, expected) in answers {
        let after = said.split(&format!("benchexec/{name}”")).nth(1);
        let result = after.and_then(|after| after.split('“').nth(1)).and_then(|rest| rest.split('”').next());
        assert_eq!(result, Some(expected), "{name} in {said}");
    }
}
