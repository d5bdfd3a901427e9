//! Chooses statements and expressions of wide programs.

use super::super::lines::{Node, line};
use super::{Cell, Manners, Writer};

/// Where a statement stands.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// How many blocks may still be nested.
    pub depth: usize,
    /// Whether other threads are kept out.
    pub protected: bool,
    /// Whether the statement may wait.
    pub may_wait: bool,
}

/// Integer types with interesting values.
const TYPES: [(&str, &[&str]); 12] = [
    ("int", &["2147483647", "(-2147483647 - 1)", "-1"]),
    ("signed char", &["127", "-128"]),
    ("unsigned char", &["255", "128"]),
    ("char", &["127", "-1"]),
    ("short", &["32767", "-32768"]),
    ("unsigned short", &["65535", "32768"]),
    ("unsigned", &["4294967295u", "2147483648u"]),
    ("long", &["9223372036854775807l", "-1l"]),
    ("unsigned long", &["18446744073709551615ul", "4294967296ul"]),
    ("long long", &["(-9223372036854775807ll - 1)", "-1ll"]),
    ("unsigned long long", &["18446744073709551615ull"]),
    ("_Bool", &["1"]),
];

impl Writer {
    pub(super) fn any_type(&mut self) -> &'static str {
        // Half of all variables are plain.
        if self.random.once_in(3) { "int" } else { self.random.pick(&TYPES).0 }
    }

    pub(super) fn any_cell(&mut self) -> Cell {
        let index = self.random.below(self.cells.len());
        self.cells[index].clone()
    }

    pub(super) fn any_local(&mut self) -> Cell {
        let index = self.random.below(self.locals.len());
        self.locals[index].clone()
    }

    fn extreme_of(&mut self, ty: &str) -> &'static str {
        let (_, values) = TYPES.iter().find(|(name, _)| *name == ty).copied().unwrap_or(TYPES[0]);
        self.random.pick(values)
    }

    pub(super) fn operand(&mut self) -> String {
        match self.random.below(7) {
            0 | 1 => self.random.pick(&["0", "1", "2", "3", "1"]).to_owned(),
            2 if self.extremes => {
                let ty = self.any_cell().ty;
                self.extreme_of(&ty).to_owned()
            }
            2..=4 => self.any_local().name,
            _ => self.any_cell().name,
        }
    }

    pub(super) fn expression(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.once_in(3) {
            return self.operand();
        }
        let (left, right) = (self.expression(depth - 1), self.operand());
        match self.random.below(if self.extremes { 13 } else { 8 }) {
            0 | 1 => format!("({left} + {right})"),
            2 => format!("({left} - {right})"),
            3 => format!("({left} {} {right})", self.random.pick(&["&", "|", "^"])),
            4 => format!("({left} {} {right})", self.random.pick(&["==", "<", "!=", ">="])),
            5 => format!("({left} {} {right})", self.random.pick(&["&&", "||"])),
            6 => format!("({}){left}", self.any_type()),
            7 => format!("({left} {} 2)", self.random.pick(&["%", "/", "&"])),
            8 => format!("({left} * {right})"),
            9 => format!("({left} {} {right})", self.random.pick(&["/", "%"])),
            10 => format!("({left} {} ({right} & 7))", self.random.pick(&["<<", ">>"])),
            11 => format!("(- {left})"),
            _ => format!("({left} ? {right} : ~{right})"),
        }
    }

    /// Something about the one cell that the program is about.
    fn about(&mut self, target: &Cell) -> String {
        let name = &target.name;
        match self.random.below(8) {
            0..=3 => format!("{name} == {}", self.random.pick(&["0", "0", "1"])),
            4 => format!("{name} != {}", self.random.pick(&["1", "2", "3"])),
            5 if self.extremes => format!("{name} != {}", self.extreme_of(&target.ty)),
            5 => format!("{name} >= 0"),
            6 => format!("{name} <= {}", self.random.pick(&["0", "1", "2"])),
            _ => format!("{name} == {}", self.any_local().name),
        }
    }

    pub(super) fn condition(&mut self) -> String {
        if let Some(target) = self.target.clone()
            && !self.random.once_in(4)
        {
            return self.about(&target);
        }
        let left = if self.random.once_in(3) { self.any_local().name } else { self.any_cell().name };
        let sign = self.random.pick(&["==", "!=", "<", "<=", ">=", "!="]);
        let right = if self.random.once_in(4) { self.expression(1) } else { self.operand() };
        format!("{left} {sign} {right}")
    }

    /// One to as many statements; half as many where threads do little.
    pub(super) fn block(&mut self, most: usize, place: Place) -> Vec<Node> {
        let mut nodes = Vec::new();
        let most = if self.brief { most.div_ceil(2) } else { most };
        for _ in 0..1 + self.random.below(most) {
            nodes.extend(self.statement(place));
        }
        nodes
    }

    fn statement(&mut self, place: Place) -> Vec<Node> {
        if !self.actions.is_empty() && self.random.below(20) < if self.target.is_some() { 14 } else { 9 } {
            let index = self.random.below(self.actions.len());
            let action = self.actions[index];
            self.bound.clone_from(&self.bindings[index]);
            match action.strip_prefix('!') {
                Some(_) if !place.may_wait => {}
                _ if place.depth == 0 && action.contains("$b") => {}
                Some(action) => return self.lines_at(action, place),
                None => return self.mannered(place, |writer, place| writer.lines_at(action, place)),
            }
        }
        self.mannered(place, Self::plain)
    }

    /// What is done to shared variables, as the manners have it.
    fn mannered(&mut self, place: Place, write: impl FnOnce(&mut Self, Place) -> Vec<Node>) -> Vec<Node> {
        if place.protected || self.manners == Manners::Rude || self.random.once_in(20) {
            return write(self, place);
        }
        let made = write(self, Place { protected: true, may_wait: false, ..place });
        let (open, close) = match self.manners {
            Manners::Atomic => ("__VERIFIER_atomic_begin();", "__VERIFIER_atomic_end();"),
            Manners::Locked | Manners::Rude => ("pthread_mutex_lock(&m0);", "pthread_mutex_unlock(&m0);"),
        };
        vec![Node::Block(open.to_owned(), made, close.to_owned())]
    }

    fn plain(&mut self, place: Place) -> Vec<Node> {
        let inner = Place { depth: place.depth.saturating_sub(1), ..place };
        let text = match self.random.below(20) {
            0 | 1 => "$l = $e;",
            2 | 3 => "assert($q);",
            4 | 5 if place.depth > 0 => {
                let opening = self.expand("if ($q) {");
                let yes = self.block(2, inner);
                let mut made = vec![Node::Block(opening, yes, "}".to_owned())];
                if self.random.once_in(3) {
                    let no = self.block(1, inner);
                    made.push(Node::Block("else {".to_owned(), no, "}".to_owned()));
                }
                return made;
            }
            6 if place.depth > 0 => {
                let opening = self.expand("for (int k$k = 0; k$k < 2«¦ && $q»; k$k++) {");
                let body = self.block(1, Place { depth: 0, ..inner });
                return vec![Node::Block(opening, body, "}".to_owned())];
            }
            7 | 8 if place.may_wait && place.depth > 0 && self.manners == Manners::Rude => {
                let mutex = self.random.pick(&["m0", "m0", "m1"]);
                let inside = Place { protected: true, may_wait: self.random.once_in(4), ..inner };
                let body = self.block(2, inside);
                let open = format!("pthread_mutex_lock(&{mutex});");
                return vec![Node::Block(open, body, format!("pthread_mutex_unlock(&{mutex});"))];
            }
            9 => "$c «+=¦-=¦|=¦^=¦&=» «1¦2¦$o»;",
            10 => "($c)«++¦--»;",
            11 => "$c = $l;",
            12 => "$l = $c;",
            13 => "$l = __VERIFIER_nondet_«bool¦bool¦int»();",
            14 if self.random.once_in(3) => "__VERIFIER_assume($q);",
            15 if self.extremes => "$c «*=¦<<=¦-=¦%=» ($o & 3);",
            _ => "$c = «$n¦$e»;",
        };
        vec![line(self.expand(text))]
    }
}
