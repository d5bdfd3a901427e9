//! Random small Boolean programs, as text.

use super::Random;

/// What a program may contain.
#[derive(Clone, Copy, Default, Debug)]
pub struct Features {
    /// Locks.
    pub locks: bool,
    /// Atomic regions.
    pub atomic: bool,
    /// Calls, without recursion.
    pub calls: bool,
    /// Calls, with recursion.
    pub recursion: bool,
    /// Waiting and broadcasting.
    pub waits: bool,
    /// Variables of other threads.
    pub others: bool,
    /// What dialects add: choices between conditions, ends of executions and of threads, constraints on all
    /// variables, jumps, invariants of procedures, threads with an argument.
    pub dialects: bool,
}

struct Writer<'r> {
    random: &'r mut Random,
    features: Features,
    text: String,
    labels: u32,
    local: bool,
    can_start_at: bool,
    in_procedure: bool,
}

const GLOBALS: [&str; 2] = ["g", "h"];
const LOCALS: [&str; 2] = ["a", "b"];

/// A program.
pub fn program(random: &mut Random, features: Features) -> String {
    let mut text = String::from("decl g := 0, h;\n");
    if features.locks {
        text += "decl m;\n";
    }
    let mut writer =
        Writer { random, features, text, labels: 0, local: true, can_start_at: true, in_procedure: false };
    writer.text += "void main() begin\n decl a := 0, b;\n";
    let loops = !features.others && writer.random.below(3) == 0;
    if loops {
        writer.text += " start: start_thread worker();\n if * then goto start; fi;\n";
    } else if !features.others {
        writer.text += " start_thread worker();\n";
    }
    writer.statements(3, 2);
    writer.text += "end\n";
    writer.can_start_at = false;
    writer.text += "void worker() begin\n decl a := 0, b := 0;\n";
    if features.dialects && writer.random.below(3) == 0 {
        let invariant = writer.random.pick(&["g | !a", "!(g & h)", "a => h", "h | b | !g"]);
        writer.text += &format!(" enforce {invariant};\n");
    }
    writer.statements(4, 2);
    writer.text += "end\n";
    if features.dialects {
        writer.text += "void helper(a) begin\n decl b := 1;\n";
        writer.statements(2, 1);
        writer.text += "end\n";
    }
    if features.calls || features.recursion {
        writer.in_procedure = true;
        writer.text += "bool f(a) begin\n decl b := 0;\n";
        writer.statements(2, 1);
        writer.text += " return ";
        let value = writer.expression(2);
        writer.text += &format!("{value};\nend\n");
    }
    writer.text
}

impl Writer<'_> {
    fn variable(&mut self) -> &'static str {
        if self.local && self.random.below(2) == 0 {
            self.random.pick(&LOCALS)
        } else {
            self.random.pick(&GLOBALS)
        }
    }

    fn expression(&mut self, depth: u32) -> String {
        match self.random.below(if depth == 0 { 5 } else { 10 }) {
            0 => "*".to_owned(),
            1 => self.random.pick(&["T", "F"]).to_owned(),
            2..=4 => self.variable().to_owned(),
            5 | 6 => format!("!({})", self.expression(depth - 1)),
            _ => {
                let sign = self.random.pick(&["&", "|", "=", "!=", "^", "=>"]);
                format!("({} {sign} {})", self.expression(depth - 1), self.expression(depth - 1))
            }
        }
    }

    fn assignment(&mut self) -> String {
        let others = self.features.others && self.random.below(2) == 0;
        let first = self.variable();
        let mut text = format!("{first} := {}", self.expression(2));
        if self.random.below(3) == 0 {
            let second = self.variable();
            if second != first {
                text = format!("{first}, {second} := {}, {}", self.expression(1), self.expression(1));
            }
        }
        if others {
            let value = self.random.pick(&["a$", "!a$", "g", "*", "a & b$", "!b$ | g"]);
            text = format!("{first}, a$ := {}, {value}", self.expression(1));
            if self.random.below(3) == 0 {
                let condition = self.random.pick(&["('a$ | b$)", "(a$ = 'a)", "('g | !'a$) & !b"]);
                return format!("{text} constrain {condition}");
            }
            return text;
        }
        if self.random.below(4) == 0 {
            let prime = format!("'{first}");
            let other = self.variable();
            let sign = self.random.pick(&["|", "=", "!="]);
            text = format!("{text} constrain ({prime} {sign} {other})");
        }
        text
    }

    fn statements(&mut self, count: usize, depth: u32) {
        for _ in 0..=self.random.below(count) {
            self.statement(depth);
        }
    }

    /// A statement of some dialect.
    fn dialect(&mut self) -> String {
        match self.random.below(7) {
            0 => format!("abortif({})", self.expression(1)),
            1 => {
                let (target, first, second) = (self.variable(), self.expression(1), self.expression(1));
                format!("{target} := schoose[{first}, {second}]")
            }
            2 => {
                let condition =
                    self.random.pick(&["('g = g) & ('h != a)", "'a => g", "('h & !'a) | b", "'g != 'h"]);
                format!("constrain({condition})")
            }
            3 => {
                self.labels += 2;
                let (one, two) = (self.labels - 1, self.labels);
                let (first, second) = (self.assignment(), self.assignment());
                format!("goto j{one}, j{two};\n j{one}: {first};\n j{two}: {second}")
            }
            4 if self.can_start_at => format!("start_thread helper({})", self.expression(1)),
            5 if self.random.below(3) == 0 => format!("if {} then end_thread; fi", self.expression(1)),
            _ => {
                let (target, expression) = (self.variable(), self.expression(1));
                format!("{target} := {expression} ? {} : {}", self.expression(1), self.expression(1))
            }
        }
    }

    fn statement(&mut self, depth: u32) {
        if self.features.dialects && self.random.below(5) == 0 {
            let text = self.dialect();
            self.text += &format!(" {text};\n");
            return;
        }
        let kind = self.random.below(if depth == 0 { 12 } else { 16 });
        let text = match kind {
            0..=3 => self.assignment(),
            4 | 5 => format!("assume({})", self.expression(2)),
            6 | 7 => format!("assert({} | {})", self.expression(1), self.expression(1)),
            8 if self.can_start_at => {
                self.labels += 1;
                let label = format!("s{}", self.labels);
                let statement = self.assignment();
                format!("start_thread goto {label};\n {statement};\n {label}: skip")
            }
            8 if self.features.locks => {
                let inside = self.assignment();
                format!("lock m;\n {inside};\n unlock m")
            }
            9 if self.features.atomic => {
                let (first, second) = (self.assignment(), self.assignment());
                format!("atomic_begin;\n {first};\n assume({});\n {second};\n atomic_end", self.expression(1))
            }
            10 if self.features.waits => self.random.pick(&["wait", "broadcast"]).to_owned(),
            11 if (self.features.calls && !self.in_procedure) || self.features.recursion => {
                format!("{} := f({})", self.variable(), self.expression(1))
            }
            8..=11 => self.assignment(),
            12 | 13 => {
                let condition = self.expression(2);
                self.text += &format!(" if {condition} then\n");
                self.statements(2, depth - 1);
                if self.random.below(2) == 0 {
                    self.text += " else\n";
                    self.statements(2, depth - 1);
                }
                "fi".to_owned()
            }
            _ => {
                let condition = self.expression(1);
                self.text += &format!(" while {condition} do\n");
                self.statements(2, depth - 1);
                "od".to_owned()
            }
        };
        self.text += &format!(" {text};\n");
    }
}
