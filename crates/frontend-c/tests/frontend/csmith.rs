//! Random programs (`csmith`) compute the same checksum here as compiled by gcc. Without these tools installed
//! the test does nothing. `THREADPROOF_CSMITH_COUNT` says how many programs to try.

use crate::runner::{Ended, run};
use frontend_c::{Options, Source, read};
use ir::IntType;
use std::path::Path;
use std::process::Command;

/// In place of csmith's own: keeps the checksum in a variable.
const PLATFORM: &str = "#define PLATFORM_GENERIC_H
extern int printf(const char *, ...);
unsigned int checksum_result;
static void platform_main_begin(void) {}
static void platform_main_end(unsigned int crc, int flag) { checksum_result = crc; }
";
const INCLUDE: &str = "/usr/include/csmith";

fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn random_programs_agree_with_gcc() {
    let count =
        std::env::var("THREADPROOF_CSMITH_COUNT").ok().and_then(|text| text.parse().ok()).unwrap_or(3);
    if !Path::new(INCLUDE).exists() || output(Command::new("gcc").arg("--version")).is_none() {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("csmith");
    std::fs::create_dir_all(&folder).expect("a folder for the programs");
    let platform = folder.join("platform.h");
    std::fs::write(&platform, PLATFORM).expect("a writable folder");
    let mut compared = 0;
    for seed in 1..=10 * count {
        if compared == count {
            break;
        }
        let file = folder.join(format!("program{seed}.c"));
        let executable = folder.join(format!("program{seed}"));
        let seed = seed.to_string();
        let options = [
            "--seed",
            &seed,
            "--no-packed-struct",
            "--no-argc",
            "--max-funcs",
            "5",
            "--max-block-depth",
            "3",
        ];
        let Some(text) = output(Command::new("csmith").args(options)) else { return };
        std::fs::write(&file, &text).expect("a writable folder");
        output(Command::new("gcc").args(["-w", "-O0", "-I", INCLUDE, "-o"]).arg(&executable).arg(&file))
            .expect("gcc");
        // Some of csmith's programs run for ever.
        let Some(printed) = output(Command::new("timeout").arg("1").arg(&executable)) else { continue };
        let expected = printed.trim().trim_start_matches("checksum = ");
        let expected = u32::from_str_radix(expected, 16).expect("a checksum");
        let source = Source { name: file.display().to_string(), text: text.into_bytes() };
        let options = Options {
            include_dirs: vec![INCLUDE.into()],
            includes: vec![platform.clone()],
            ..Options::default()
        };
        let program = read(&[source], &options).unwrap_or_else(|problems| panic!("{}", problems[0]));
        let run = run(&program, 300_000);
        if run.ended == Ended::TooLong {
            continue;
        }
        assert_eq!(run.ended, Ended::Finished, "seed {seed}");
        assert_eq!(run.global("checksum_result", IntType::U32), Some(expected.into()), "seed {seed}");
        compared += 1;
    }
}
