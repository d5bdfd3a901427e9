//! What is in `contrib`, with the real program: editors where they are installed, the action for GitHub, and
//! the hook before commits.

use crate::batch::{Folder, LOCKED, RACE};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_threadproof");

fn contrib(name: &str) -> PathBuf {
    crate::root().join("contrib").join(name)
}

/// Whether a program is installed; says so if it is not.
fn is_installed(name: &str) -> bool {
    let found = Command::new(name).arg("--version").output().is_ok();
    if !found {
        eprintln!("{name} is not installed: what is for it is not tested");
    }
    found
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn the_extension_for_visual_studio_code_shows_what_the_server_finds() {
    if !is_installed("node") {
        return;
    }
    let folder = Folder::new("vscode");
    let mut command = Command::new("node");
    command.args(["--test", "test/extension.test.js"]).env("THREADPROOF", PROGRAM);
    command.env("XDG_CACHE_HOME", folder.path(""));
    let output = command.current_dir(contrib("vscode")).output().expect("it runs");
    let said = text(&output);
    assert!(output.status.success() && said.contains("# pass 2"), "{said}");
}

#[test]
fn the_extension_for_visual_studio_code_is_packaged() {
    if !crate::root().join("target/vsce/node_modules/@vscode/vsce/vsce").exists() || !is_installed("npm") {
        eprintln!("vsce is not installed (cargo xtask setup): the extension is not packaged");
        return;
    }
    let folder = Folder::new("vsix");
    let package = folder.path("threadproof.vsix");
    let mut command = Command::new("npm");
    command.args(["run", "--silent", "package", "--", "--out"]).arg(&package);
    let output = command.current_dir(contrib("vscode")).output().expect("it runs");
    let said = text(&output);
    assert!(output.status.success() && package.is_file(), "{said}");
    for part in ["extension.js", "client.js", "package.json"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("test.js") && !said.contains("WARNING"), "{said}");
}

#[test]
fn neovim_shows_what_the_server_finds() {
    if !is_installed("nvim") {
        return;
    }
    let folder = Folder::new("neovim");
    let settings = format!(
        "vim.g.threadproof_program = [[{PROGRAM}]]\ndofile([[{}]])\n",
        contrib("editors/threadproof.lua").display()
    );
    folder.write("init.lua", &settings).write("a.c", RACE);
    let show = "lua vim.wait(600000, function() return #vim.diagnostic.get(0) > 0 end); \
        for _, found in ipairs(vim.diagnostic.get(0)) do io.stdout:write(found.message .. '\\n') end";
    let mut command = Command::new("nvim");
    command.args(["--headless", "-u", "init.lua", "a.c", "-c", "set filetype=c", "-c", show, "-c", "qall!"]);
    let output = command.current_dir(folder.path("")).env("HOME", folder.path("")).output().expect("it runs");
    assert!(text(&output).contains("data race on `x`"), "{}", text(&output));
}

#[test]
fn emacs_has_links_to_lines() {
    if !is_installed("emacs") {
        return;
    }
    let folder = Folder::new("emacs");
    let script = format!(
        "(setq threadproof-program \"{PROGRAM}\")
        (find-file \"a.c\")
        (let ((output (threadproof-verify)))
          (while (get-buffer-process output) (accept-process-output nil 0.1))
          (with-current-buffer output (goto-char (point-min)) (next-error 1))
          (message \"at %s:%d\" (buffer-name) (line-number-at-pos))
          (with-current-buffer output (next-error 1))
          (message \"at %s:%d\" (buffer-name) (line-number-at-pos)))"
    );
    let race = RACE.replace("{ x = 1;", "{\nx = 1;").replace("; x = 2;", ";\nx = 2;");
    folder.write("try.el", &script).write("a.c", &race);
    let line = |text: &str| race.lines().position(|line| line.starts_with(text)).map_or(0, |line| line + 1);
    let mut command = Command::new("emacs");
    command.args(["--batch", "-l"]).arg(contrib("editors/threadproof.el")).args(["-l", "try.el"]);
    let output = command.current_dir(folder.path("")).output().expect("it runs");
    let said = text(&output);
    for line in [line("x = 1;"), line("x = 2;")] {
        assert!(said.contains(&format!("at a.c:{line}")), "{said}");
    }
}

/// An archive that looks as a release, with the program of this build.
fn release(folder: &Folder) -> PathBuf {
    let content = folder.path("release/threadproof-1-linux/bin");
    std::fs::create_dir_all(&content).expect("a folder can be made");
    std::os::unix::fs::symlink(PROGRAM, content.join("threadproof")).expect("it can be made");
    let archive = folder.path("release.tar.gz");
    let mut command = Command::new("tar");
    command.arg("-C").arg(folder.path("release")).arg("-czf").arg(&archive).arg("threadproof-1-linux");
    assert!(command.status().expect("there is tar").success());
    archive
}

#[test]
fn the_action_downloads_a_release_and_leaves_a_log() {
    let folder = Folder::new("action");
    let archive = release(&folder);
    let hash = Command::new("sha256sum").arg(&archive).output().expect("there is sha256sum");
    let hash = text(&hash).split_whitespace().next().unwrap_or_default().to_owned();
    let run = |files: &str, baseline: &str, hash: &str| {
        folder.write("output", "");
        let url = format!("file://{}", archive.display());
        let output = Command::new(contrib("github/verify.sh"))
            .envs([
                ("THREADPROOF_FILES", files),
                ("THREADPROOF_OPTIONS", "--check races  --timeout 1000"),
                ("THREADPROOF_BASELINE", baseline),
                ("THREADPROOF_VERSION", "1"),
                ("THREADPROOF_URL", &url),
                ("THREADPROOF_SHA256", hash),
                ("THREADPROOF_UNKNOWN", "pass"),
            ])
            .env("GITHUB_OUTPUT", folder.path("output"))
            .env("RUNNER_TEMP", folder.path(""))
            .current_dir(folder.path(""))
            .output()
            .expect("there is bash");
        let said = std::fs::read_to_string(folder.path("output")).expect("it is there");
        let log = said.lines().find_map(|line| line.strip_prefix("sarif=")).map(PathBuf::from);
        (output.status.code(), text(&output), log)
    };
    folder.write("src/a b.c", RACE).write("src/n.h", "");
    let (status, said, log) = run("src/*.c", "", &hash);
    assert_eq!(status, Some(1), "{said}");
    let log = log.expect("there is a log");
    let text = std::fs::read_to_string(&log).expect("it is there");
    assert!(text.contains("data race on `x`"), "{text}");
    std::fs::copy(&log, folder.path("base.sarif")).expect("it is there");
    let (status, said, log) = run("src/*.c", "base.sarif", "");
    assert_eq!(status, Some(0), "{said}");
    let text = std::fs::read_to_string(log.expect("there is a log")).expect("it is there");
    assert!(text.contains("\"baselineState\": \"unchanged\""), "{text}");
    // Another archive than the one that was meant, and no file.
    let (status, said, log) = run("src/*.c", "", &hash.replace(['0', '1', '2', '3'], "f"));
    assert!(status != Some(0) && log.is_none() && said.contains("FAILED"), "{said}");
    let (status, said, _) = run("src/*.cpp $(touch bad)", "", "");
    assert!(status == Some(3) && said.contains("no file matches src/*.cpp"), "{said}");
    assert!(!folder.path("bad").exists());
}

#[test]
fn violations_stop_a_commit_and_open_checks_do_not() {
    let folder = Folder::new("hook");
    let beside = Path::new(PROGRAM).parent().expect("it is in a folder");
    let path = format!("{}:/usr/bin:/bin", beside.display());
    let run = |words: &[&str]| {
        let mut command = Command::new(contrib("pre-commit/threadproof-hook"));
        let output = command.args(words).env("PATH", &path).current_dir(folder.path("")).output();
        let output = output.expect("there is a shell");
        (output.status.code(), text(&output))
    };
    folder.write("race.c", RACE).write("a b.c", LOCKED);
    folder.write("open.c", "int helper(int *);\nint main(void) { int x; return helper(&x); }\n");
    let (status, said) = run(&["--check=races", "a b.c", "open.c"]);
    assert_eq!((status, said.matches("verdict: ").count()), (Some(0), 2), "{said}");
    let (status, said) = run(&["--check=races", "--timeout=1000", "race.c", "a b.c"]);
    assert_eq!((status, said.matches("verdict: ").count()), (Some(1), 2), "{said}");
    assert_eq!(run(&["none.c"]).0, Some(1));
    // What is known does not stop it.
    let (_, report, _) = folder.run(&["verify", "--check", "races", "--format", "json", "race.c"]);
    folder.write(".threadproof-baseline.json", &report);
    assert_eq!(run(&["--check=races", "race.c"]).0, Some(0));
    std::fs::remove_file(folder.path(".threadproof-baseline.json")).expect("it is there");
    // The program that is named is verified once.
    folder.write("threadproof.toml", "files = ['a b.c']\n");
    let (status, said) = run(&["--check=races", "race.c", "open.c"]);
    assert_eq!((status, said.matches("verdict: ").count()), (Some(0), 1), "{said}");
}
