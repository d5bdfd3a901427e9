//! The families of programs of paper 5, chapter 9: n threads each, a safe and a broken version. The text of
//! the thesis says what they compute; its programs are not at hand.
//!
//! * `chain`, `ring`: each thread adds its neighbour's variable to its own, twice (figure 7.1 is the ring of
//!   3).
//! * `matrix`: Sum-Matrix, a thread for each row of an n by n matrix of inputs from 0 to 10.
//! * `pascal`: Pascal-Triangle, a thread for each row.
//! * `longest`: Longest-Increasing-Subsequence, a thread for each element of an array of inputs.
//!
//! The two versions differ in the assertion only: the safe one says what is true at most, or exactly; the
//! broken one something else that some execution does not keep.

use super::measure;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The times that each of two neighbours are added in `chain` and `ring`.
const ROUNDS: usize = 2;
/// The largest element of the matrix.
const LARGEST: usize = 10;

/// The names of the families.
pub const FAMILIES: [&str; 5] = ["chain", "ring", "matrix", "pascal", "longest"];

/// A program of a family.
pub fn program(family: &str, threads: usize, safe: bool) -> Option<String> {
    if threads < 2 {
        return None;
    }
    let mut text = String::from(
        "#include <assert.h>\n#include <pthread.h>\nextern int __VERIFIER_nondet_int(void);\nextern void __VERIFIER_assume(int);\n\
         extern void __VERIFIER_atomic_begin(void);\nextern void __VERIFIER_atomic_end(void);\n",
    );
    let before = match family {
        "chain" => neighbours(&mut text, threads, safe, false),
        "ring" => neighbours(&mut text, threads, safe, true),
        "matrix" => matrix(&mut text, threads, safe),
        "pascal" => pascal(&mut text, threads, safe),
        "longest" => longest(&mut text, threads, safe),
        _ => return None,
    };
    let _ = writeln!(text, "int main(void) {{\n  pthread_t t;\n{before}");
    for thread in 0..threads {
        let _ = writeln!(text, "  pthread_create(&t, 0, t{thread}, 0);");
    }
    text.push_str("  return 0;\n}\n");
    Some(text)
}

/// A thread with a body.
fn thread(text: &mut String, number: usize, body: &str) {
    let _ = writeln!(text, "void *t{number}(void *arg) {{\n{body}  return arg;\n}}");
}

fn neighbours(text: &mut String, threads: usize, safe: bool, ring: bool) -> String {
    let most = largest(threads, ring);
    for number in 0..threads {
        let _ = writeln!(text, "_Atomic int v{number} = 1;");
    }
    for number in 0..threads {
        let other = match number + 1 == threads {
            false => format!("v{}", number + 1),
            true if ring => "v0".to_owned(),
            true => "1".to_owned(),
        };
        let mut body = format!(
            "  for (int k = 0; k < {ROUNDS}; k++) {{\n    __VERIFIER_atomic_begin();\n    v{number} = v{number} + {other};\n    __VERIFIER_atomic_end();\n  }}\n"
        );
        if number == 0 {
            let _ = writeln!(body, "  assert(v0 {} {most});", if safe { "<=" } else { "<" });
        }
        thread(text, number, &body);
    }
    String::new()
}

/// The largest value that the first variable has when its thread is done. More is more: only the largest
/// values for the same progress matter.
fn largest(threads: usize, ring: bool) -> u64 {
    let start = (vec![0usize; threads], vec![1u64; threads]);
    let mut layer: BTreeMap<Vec<usize>, Vec<Vec<u64>>> = BTreeMap::from([(start.0, vec![start.1])]);
    let mut most = 0;
    while !layer.is_empty() {
        let mut next: BTreeMap<Vec<usize>, Vec<Vec<u64>>> = BTreeMap::new();
        for (done, vectors) in layer {
            // In a chain, nothing is gained by adding before the neighbour is done.
            let mut movers = (0..threads).filter(|mover| done[*mover] < ROUNDS);
            let movers: Vec<usize> =
                if ring { movers.collect() } else { movers.next_back().into_iter().collect() };
            for mover in movers {
                let mut progress = done.clone();
                progress[mover] += 1;
                for values in &vectors {
                    let mut values = values.clone();
                    values[mover] += match mover + 1 == threads {
                        false => values[mover + 1],
                        true if ring => values[0],
                        true => 1,
                    };
                    if progress[0] == ROUNDS {
                        most = most.max(values[0]);
                    }
                    let known = next.entry(progress.clone()).or_default();
                    let below = |one: &Vec<u64>, other: &Vec<u64>| one.iter().zip(other).all(|(a, b)| a <= b);
                    if !known.iter().any(|other| below(&values, other)) {
                        known.retain(|other| !below(other, &values));
                        known.push(values);
                    }
                }
            }
        }
        layer = next;
    }
    most
}

/// Row i computes `s[i][j] = a[i][j] + … + a[i][n-1] + s[i+1][j]`, from the last column to the first, and
/// waits for each cell of the next row.
fn matrix(text: &mut String, size: usize, safe: bool) -> String {
    let cells = || (0..size).flat_map(|row| (0..size).map(move |column| (row, column)));
    for (row, column) in cells() {
        let _ = writeln!(text, "int a{row}_{column};\n_Atomic int s{row}_{column};");
    }
    for row in 0..size {
        // The first column that is done.
        let _ = writeln!(text, "_Atomic int d{row} = {size};");
    }
    for row in 0..size {
        let mut body = String::from("  int sum = 0;\n");
        for column in (0..size).rev() {
            let _ = writeln!(body, "  sum = sum + a{row}_{column};");
            let below = if row + 1 < size {
                let _ = writeln!(body, "  while (d{} > {column}) {{}}", row + 1);
                format!(" + s{}_{column}", row + 1)
            } else {
                String::new()
            };
            let _ = writeln!(body, "  s{row}_{column} = sum{below};\n  d{row} = {column};");
        }
        if row == 0 {
            let (sign, most) = (if safe { "<=" } else { "<" }, LARGEST * size * size);
            let _ = writeln!(body, "  assert(s0_0 {sign} {most});");
        }
        thread(text, row, &body);
    }
    cells().fold(String::new(), |before, (row, column)| {
        before
            + &format!(
                "  a{row}_{column} = __VERIFIER_nondet_int();\n  __VERIFIER_assume(a{row}_{column} >= 0 && a{row}_{column} <= {LARGEST});\n"
            )
    })
}

/// Row i has i + 1 numbers; each but the first and the last is the sum of two of the row before.
fn pascal(text: &mut String, rows: usize, safe: bool) -> String {
    for row in 0..rows {
        for column in 0..=row {
            let _ = writeln!(text, "_Atomic int p{row}_{column};");
        }
        // How many are done.
        let _ = writeln!(text, "_Atomic int d{row};");
    }
    for row in 0..rows {
        let mut body = String::new();
        for column in 0..=row {
            if column == 0 || column == row {
                let _ = writeln!(body, "  p{row}_{column} = 1;");
            } else {
                let before = row - 1;
                let _ = writeln!(
                    body,
                    "  while (d{before} <= {column}) {{}}\n  p{row}_{column} = p{before}_{} + p{before}_{column};",
                    column - 1
                );
            }
            let _ = writeln!(body, "  d{row} = {};", column + 1);
        }
        if row + 1 == rows {
            let middle = row / 2;
            let number = (0..middle).fold(1, |number, k| number * (row - k) / (k + 1));
            let sign = if safe { "==" } else { "!=" };
            let _ = writeln!(body, "  assert(p{row}_{middle} {sign} {number});");
        }
        thread(text, row, &body);
    }
    String::new()
}

/// Element i finds the longest subsequence that ends at it from those that end at the elements before.
fn longest(text: &mut String, elements: usize, safe: bool) -> String {
    for element in 0..elements {
        let _ = writeln!(text, "int x{element};\n_Atomic int l{element};\n_Atomic int d{element};");
    }
    for element in 0..elements {
        let mut body = String::from("  int best = 1, other;\n");
        for before in 0..element {
            let _ = writeln!(
                body,
                "  while (!d{before}) {{}}\n  other = l{before};\n  if (x{before} < x{element} && other + 1 > best) best = other + 1;"
            );
        }
        let _ = writeln!(body, "  l{element} = best;\n  d{element} = 1;");
        if element + 1 == elements {
            let sign = if safe { "<=" } else { "<" };
            let _ = writeln!(body, "  assert(best {sign} {elements});");
        }
        thread(text, element, &body);
    }
    (0..elements)
        .fold(String::new(), |before, element| before + &format!("  x{element} = __VERIFIER_nondet_int();\n"))
}

/// What must be reached: the family, the number of threads, whether it is safe, the engine if it must be one,
/// and the limit in seconds.
const LIMITS: [(&str, usize, bool, Option<&str>, f64); 10] = [
    ("chain", 8, true, Some("queries"), 20.0),
    ("chain", 12, true, None, 60.0),
    ("ring", 4, true, None, 60.0),
    ("matrix", 7, true, None, 30.0),
    ("matrix", 7, false, None, 5.0),
    ("pascal", 5, true, None, 60.0),
    ("pascal", 5, false, None, 5.0),
    ("longest", 6, true, None, 120.0),
    ("longest", 6, false, None, 30.0),
    ("chain", 8, false, None, 20.0),
];

/// Prints a program of a family.
pub fn print(family: &str, threads: &str, version: &str) -> Result<(), String> {
    let usage = || format!("usage: cargo xtask bench family {} N safe|unsafe", FAMILIES.join("|"));
    let safe = match version {
        "safe" => true,
        "unsafe" => false,
        _ => return Err(usage()),
    };
    let threads = threads.parse().map_err(|_| usage())?;
    print!("{}", program(family, threads, safe).ok_or_else(usage)?);
    Ok(())
}

/// Runs the rows that have a limit, and prints them.
pub fn families() -> Result<(), String> {
    let tool = measure::build()?;
    let file = std::env::temp_dir().join(format!("threadproof-families-{}.c", std::process::id()));
    println!("| family | n | version | engine | verdict | seconds | limit |\n|---|---|---|---|---|---|---|");
    let mut wrong = Vec::new();
    for (family, threads, safe, engine, limit) in LIMITS {
        let text = program(family, threads, safe).ok_or("a family that is not there")?;
        std::fs::write(&file, text).map_err(|error| error.to_string())?;
        let engine = engine.unwrap_or("auto");
        let run = measure::run_engine(&tool, engine, &["--check", "assertions", "--timeout", "200"], &file)?;
        let version = if safe { "safe" } else { "unsafe" };
        let (verdict, seconds) = (run.verdict(), run.seconds);
        println!("| {family} | {threads} | {version} | {engine} | {verdict} | {seconds:.1} | {limit} |");
        let expected = if safe { "true" } else { "false" };
        if !verdict.starts_with(expected) && !verdict.starts_with("unknown") {
            wrong.push(format!("{family} {threads} {version}: {verdict}"));
        }
    }
    let _ = std::fs::remove_file(&file);
    if wrong.is_empty() { Ok(()) } else { Err(format!("wrong: {}", wrong.join(", "))) }
}
