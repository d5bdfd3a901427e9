//! Input that was made to break things: an error or a program, and never a crash.

use frontend_c::{Options, Source, read};

fn survives(name: &str, text: impl Into<Vec<u8>>) {
    let result = read(&[Source { name: "hostile.c".to_owned(), text: text.into() }], &Options::default());
    if let Err(problems) = &result {
        assert!(!problems.is_empty() && problems.len() <= 50, "{name}: {} problems", problems.len());
        assert!(problems[0].to_string().contains("hostile.c:"), "{name}: {}", problems[0]);
    }
}

fn within_main(body: &str) -> String {
    format!("int main(void) {{ int x = 1, y = 2; int *p = &x; {body} return x; }}")
}

#[test]
fn deep_nesting() {
    survives("parentheses", within_main(&format!("x = {}1{};", "(".repeat(10_000), ")".repeat(10_000))));
    survives("blocks", within_main(&format!("{}{}", "{".repeat(10_000), "}".repeat(10_000))));
    survives("sums", within_main(&format!("x = {};", vec!["x"; 90_000].join("+"))));
    survives("too long a sum", within_main(&format!("x = {};", vec!["x"; 500_000].join("+"))));
    survives("negations", within_main(&format!("x = {}x;", "!".repeat(100_000))));
    survives("conditionals", within_main(&format!("x = {}1;", "x ? y : ".repeat(30_000))));
    survives("assignments", within_main(&format!("{}1;", "x = ".repeat(50_000))));
    survives("commas", within_main(&format!("x = ({}1);", "x++, ".repeat(30_000))));
    survives("loops", within_main(&format!("{};", "while (x) ".repeat(20_000))));
    survives("conjunctions", within_main(&format!("if ({}) y = 1;", vec!["x"; 50_000].join("&&"))));
    survives("elses", within_main(&format!("{};", "if (x) y = 1; else ".repeat(20_000))));
    survives(
        "cases",
        within_main(&format!(
            "switch (x) {{ {} ; }}",
            (0..10_000).map(|i| format!("case {i}:")).collect::<String>()
        )),
    );
    survives(
        "macro calls",
        format!("#define F(x) (x)\nint main(void) {{ return {}1{}; }}", "F(".repeat(5000), ")".repeat(5000)),
    );
    survives("range", "int a[2000000000] = { [0 ... 1999999999] = 1 }; int main(void) { return a[5]; }");
    survives("dimensions", format!("int a{}; int main(void) {{}}", "[1]".repeat(100_000)));
}

#[test]
fn large_files() {
    survives("one line", within_main(&"x=1;".repeat(500_000)));
    survives("one name", format!("int {}; int main(void) {{}}", "a".repeat(10 << 20)));
    survives(
        "initialiser",
        format!("int a[] = {{ {} }}; int main(void) {{ return a[0]; }}", "1,".repeat(300_000)),
    );
}

#[test]
fn garbage() {
    let mut random = testkit::random::Random::new(1);
    survives("bytes", (0..1 << 20).map(|_| random.bits() as u8).collect::<Vec<u8>>());
    survives("nothing", "");
    survives("zeros", vec![0; 1000]);
    survives(
        "macros",
        "#define A B B B B\n#define B C C C C\n#define C D D D D\n#define D E E E E\n#define E A A A A\nA",
    );
    survives("self", "#include \"hostile.c\"\nint main(void) {}");
    let text = within_main("for (int i = 0; i < 3; i++) { switch (i) { case 1: y = ({ int z = 3; z; }); } }");
    for length in (0..text.len()).step_by(7) {
        survives("truncated", &text.as_bytes()[..length]);
    }
}

#[test]
fn endless_recursion_can_be_read() {
    survives("recursion", "int f(int x) { return f(x + 1); } int main(void) { return f(0); }");
}
