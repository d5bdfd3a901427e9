//! Declarations, procedures and statements. See `expressions.rs` for the rest of the grammar.
//!
//! Nesting is bounded ([`DEEPEST`]), so that neither this parser nor anything that walks its result needs a
//! deep stack. Semicolons before `end`, `fi`, `od`, `else`, `elsif` and `}` and after `fi` and `od` may be
//! left out.

use crate::ast::{Declaration, Expr, Name, Procedure, Program, Statement, StatementKind};
use crate::diagnostic::{Position, Problem};
use crate::lexer::{Token, tokens};

/// The deepest nesting of expressions, and of statements.
pub const DEEPEST: usize = 150;

/// Reads a program.
pub fn parse(text: &str) -> Result<Program, Problem> {
    let mut parser = Parser { tokens: tokens(text)?, next: 0, depth: 0 };
    parser.program()
}

/// Words that are no names of variables, labels or procedures.
const KEYWORDS: [&str; 34] = [
    "decl",
    "bool",
    "void",
    "begin",
    "end",
    "skip",
    "goto",
    "return",
    "assume",
    "assert",
    "enforce",
    "constrain",
    "schoose",
    "abortif",
    "if",
    "then",
    "else",
    "elsif",
    "fi",
    "while",
    "do",
    "od",
    "start_thread",
    "end_thread",
    "atomic_begin",
    "atomic_end",
    "lock",
    "unlock",
    "broadcast",
    "wait",
    "print",
    "T",
    "F",
    "dfs",
];

/// The words, and how far the parser is.
pub(crate) struct Parser {
    tokens: Vec<(Token, Position)>,
    next: usize,
    depth: usize,
}

type Parsed<T> = Result<T, Problem>;

impl Parser {
    pub(crate) fn peek(&self) -> &Token {
        &self.tokens[self.next].0
    }
    pub(crate) fn peek_after(&self, distance: usize) -> &Token {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.next + distance).min(last)].0
    }
    pub(crate) fn at(&self) -> Position {
        self.tokens[self.next].1
    }
    pub(crate) fn advance(&mut self) -> Token {
        let token = self.tokens[self.next].0.clone();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }
    pub(crate) fn problem<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err(Problem::new(self.at(), message))
    }
    pub(crate) fn unexpected<T>(&self, wanted: &str) -> Parsed<T> {
        let found = match self.peek() {
            Token::Word(text) | Token::Number(text) => format!("`{text}`"),
            Token::Symbol(text) => format!("`{text}`"),
            Token::End => "the end of the file".to_owned(),
        };
        self.problem(format!("expected {wanted}, found {found}"))
    }
    pub(crate) fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.peek(), Token::Symbol(found) if *found == symbol)
    }
    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(found) if found == word)
    }
    pub(crate) fn accept(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        if found {
            self.advance();
        }
        found
    }
    pub(crate) fn accept_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }
    pub(crate) fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.accept(symbol) { Ok(()) } else { self.unexpected(&format!("`{symbol}`")) }
    }
    /// Runs a part of the grammar that contains itself.
    pub(crate) fn nested<T>(&mut self, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEEPEST {
            return self.problem(format!("nested more than {DEEPEST} deep"));
        }
        self.depth += 1;
        let result = part(self);
        self.depth -= 1;
        result
    }
    pub(crate) fn name(&mut self, what: &str) -> Parsed<Name> {
        let at = self.at();
        match self.peek() {
            Token::Word(text) if !KEYWORDS.contains(&text.as_str()) => {
                let text = text.clone();
                self.advance();
                Ok(Name { text, at })
            }
            _ => self.unexpected(what),
        }
    }
    fn label(&mut self) -> Parsed<Name> {
        let at = self.at();
        match self.peek() {
            Token::Number(text) => {
                let text = text.clone();
                self.advance();
                Ok(Name { text, at })
            }
            _ => self.name("a label"),
        }
    }
    fn names(&mut self, what: &str) -> Parsed<Vec<Name>> {
        let mut names = vec![self.name(what)?];
        while self.accept(",") {
            names.push(self.name(what)?);
        }
        Ok(names)
    }

    fn program(&mut self) -> Parsed<Program> {
        let mut program = Program::default();
        loop {
            if *self.peek() == Token::End {
                return Ok(program);
            } else if self.is_word("decl") {
                self.declarations(&mut program.globals)?;
            } else {
                program.procedures.push(self.procedure()?);
            }
        }
    }

    /// `decl x, y := 1;` The semicolon may be missing.
    fn declarations(&mut self, found: &mut Vec<Declaration>) -> Parsed<()> {
        while self.accept_word("decl") {
            loop {
                self.accept_word("bool");
                let name = self.name("the name of a variable")?;
                let has_value = self.accept(":=") || self.accept("=");
                let initial = if has_value { Some(self.expression()?) } else { None };
                found.push(Declaration { name, initial });
                if !self.accept(",") {
                    break;
                }
            }
            self.accept(";");
        }
        Ok(())
    }

    fn procedure(&mut self) -> Parsed<Procedure> {
        let mut returns = 0;
        if self.accept_word("bool") {
            returns = 1;
            if self.accept("<") {
                returns = match self.advance() {
                    Token::Number(digits) => digits.parse().ok().filter(|count| (1..=64).contains(count)),
                    _ => None,
                }
                .map_or_else(|| self.problem("a procedure returns 1 to 64 values"), Ok)?;
                self.expect(">")?;
            }
        } else {
            self.accept_word("void");
        }
        self.accept_word("dfs");
        let name = self.name("a declaration or a procedure")?;
        self.expect("(")?;
        let mut parameters = Vec::new();
        let nothing = self.is_word("void") && *self.peek_after(1) == Token::Symbol(")");
        if !self.is_symbol(")") && !nothing {
            loop {
                self.accept_word("bool");
                parameters.push(self.name("the name of a parameter")?);
                if !self.accept(",") {
                    break;
                }
            }
        } else {
            self.accept_word("void");
        }
        self.expect(")")?;
        let braces = self.accept("{");
        if !braces && !self.accept_word("begin") {
            return self.unexpected("`begin`");
        }
        let mut locals = Vec::new();
        self.declarations(&mut locals)?;
        let mut enforce = None;
        if self.accept_word("enforce") {
            enforce = Some(self.expression()?);
            self.accept(";");
        }
        let mut body = self.statements()?;
        // Some write declarations after the first statements' comments or labels only; more of them may
        // follow.
        while self.is_word("decl") {
            self.declarations(&mut locals)?;
            body.extend(self.statements()?);
        }
        if braces {
            self.expect("}")?;
        } else if !self.accept_word("end") {
            return self.unexpected("a statement or `end`");
        }
        self.accept(";");
        Ok(Procedure { name, returns, parameters, locals, enforce, body })
    }

    /// Statements up to a word that none begins with.
    fn statements(&mut self) -> Parsed<Vec<Statement>> {
        let mut found = Vec::new();
        loop {
            match self.peek() {
                Token::Word(word)
                    if matches!(word.as_str(), "end" | "fi" | "od" | "else" | "elsif" | "decl") =>
                {
                    return Ok(found);
                }
                Token::Symbol("}") | Token::End => return Ok(found),
                Token::Symbol(";") => {
                    self.advance();
                }
                Token::Word(_) | Token::Number(_) | Token::Symbol(_) => found.push(self.statement()?),
            }
        }
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let mut labels = Vec::new();
        while matches!(self.peek(), Token::Word(_) | Token::Number(_))
            && *self.peek_after(1) == Token::Symbol(":")
        {
            labels.push(self.label()?);
            self.advance();
        }
        let at = self.at();
        let ends = match self.peek() {
            Token::Word(word) => matches!(word.as_str(), "end" | "fi" | "od" | "else" | "elsif"),
            Token::Symbol(symbol) => *symbol == "}" || *symbol == ";",
            Token::Number(_) | Token::End => false,
        };
        if ends && !labels.is_empty() {
            return Ok(Statement { labels, kind: StatementKind::Skip, at });
        }
        let kind = self.nested(Self::statement_kind)?;
        let is_block = matches!(kind, StatementKind::If(..) | StatementKind::While(..));
        if !self.accept(";") && !is_block {
            let closes = match self.peek() {
                Token::Word(word) => matches!(word.as_str(), "end" | "fi" | "od" | "else" | "elsif"),
                Token::Symbol(symbol) => *symbol == "}",
                Token::Number(_) | Token::End => false,
            };
            if !closes {
                return self.unexpected("`;`");
            }
        }
        Ok(Statement { labels, kind, at })
    }

    fn statement_kind(&mut self) -> Parsed<StatementKind> {
        let Token::Word(word) = self.peek().clone() else { return self.unexpected("a statement") };
        let simple = match word.as_str() {
            "skip" => Some(StatementKind::Skip),
            "end_thread" => Some(StatementKind::EndThread),
            "atomic_begin" => Some(StatementKind::AtomicBegin),
            "atomic_end" => Some(StatementKind::AtomicEnd),
            "wait" => Some(StatementKind::Wait),
            "broadcast" => Some(StatementKind::Broadcast),
            _ => None,
        };
        if let Some(kind) = simple {
            self.advance();
            return Ok(kind);
        }
        match word.as_str() {
            "goto" => {
                self.advance();
                let mut labels = vec![self.label()?];
                while self.accept(",") {
                    labels.push(self.label()?);
                }
                Ok(StatementKind::Goto(labels))
            }
            "return" => {
                self.advance();
                let ends =
                    self.is_symbol(";") || self.is_symbol("}") || self.is_word("end") || self.is_word("fi");
                let values = if ends || self.is_word("else") { Vec::new() } else { self.expressions()? };
                Ok(StatementKind::Return(values))
            }
            "assume" => self.condition().map(StatementKind::Assume),
            "assert" => self.condition().map(StatementKind::Assert),
            "abortif" => self.condition().map(StatementKind::AbortIf),
            "constrain" => self.condition().map(StatementKind::Constrain),
            "print" => {
                self.advance();
                self.expect("(")?;
                let values = if self.is_symbol(")") { Vec::new() } else { self.expressions()? };
                self.expect(")")?;
                Ok(StatementKind::Print(values))
            }
            "lock" | "unlock" => {
                self.advance();
                let parenthesis = self.accept("(");
                let name = self.name("a lock")?;
                if parenthesis {
                    self.expect(")")?;
                }
                Ok(if word == "lock" { StatementKind::Lock(name) } else { StatementKind::Unlock(name) })
            }
            "start_thread" => {
                self.advance();
                if self.accept_word("goto") {
                    return Ok(StatementKind::StartAt(self.label()?));
                }
                if matches!(self.peek(), Token::Number(_)) || *self.peek_after(1) != Token::Symbol("(") {
                    return Ok(StatementKind::StartAt(self.label()?));
                }
                let callee = self.name("a procedure")?;
                Ok(StatementKind::StartCall(callee, self.arguments()?))
            }
            "thread_create" if *self.peek_after(2) == Token::Symbol("&") => {
                self.advance();
                self.expect("(")?;
                self.expect("&")?;
                let callee = self.name("a procedure")?;
                self.expect(")")?;
                Ok(StatementKind::StartCall(callee, Vec::new()))
            }
            "call" if matches!(self.peek_after(1), Token::Word(_)) => {
                self.advance();
                let callee = self.name("a procedure")?;
                Ok(StatementKind::Call { targets: Vec::new(), callee, arguments: self.arguments()? })
            }
            "if" => self.conditional(),
            "while" => self.repetition(),
            "sync" if *self.peek_after(1) == Token::Symbol(";") => {
                self.problem("`sync` has no agreed meaning and is not supported")
            }
            _ => self.assignment_or_call(),
        }
    }

    /// A keyword and a condition.
    fn condition(&mut self) -> Parsed<Expr> {
        self.advance();
        self.expression()
    }

    pub(crate) fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        self.expect("(")?;
        let arguments = if self.is_symbol(")") { Vec::new() } else { self.expressions()? };
        self.expect(")")?;
        Ok(arguments)
    }

    fn assignment_or_call(&mut self) -> Parsed<StatementKind> {
        if matches!(self.peek(), Token::Word(_)) && *self.peek_after(1) == Token::Symbol("(") {
            let callee = self.name("a statement")?;
            let arguments = self.arguments()?;
            return Ok(StatementKind::Call { targets: Vec::new(), callee, arguments });
        }
        let targets = self.names("a statement")?;
        if !self.accept(":=") && !self.accept("=") {
            return self.unexpected("`:=`");
        }
        self.accept_word("call");
        if matches!(self.peek(), Token::Word(word) if !KEYWORDS.contains(&word.as_str()))
            && *self.peek_after(1) == Token::Symbol("(")
        {
            let callee = self.name("a procedure")?;
            return Ok(StatementKind::Call { targets, callee, arguments: self.arguments()? });
        }
        let at = self.at();
        let values = self.expressions()?;
        if values.len() != targets.len() {
            let (values, targets) = (values.len(), targets.len());
            return Err(Problem::new(at, format!("{values} values for {targets} variables")));
        }
        let constrain = if self.accept_word("constrain") { Some(self.expression()?) } else { None };
        Ok(StatementKind::Assign { targets, values, constrain })
    }

    /// `if e then … elsif … else … fi`, or with braces and single statements as in C.
    fn conditional(&mut self) -> Parsed<StatementKind> {
        self.advance();
        let condition = self.expression()?;
        if !self.is_word("then") {
            let first = self.block()?;
            let otherwise = if self.accept_word("else") { self.block()? } else { Vec::new() };
            return Ok(StatementKind::If(vec![(condition, first)], otherwise));
        }
        self.advance();
        let mut branches = vec![(condition, self.statements()?)];
        let mut otherwise = Vec::new();
        loop {
            if self.accept_word("elsif") {
                let condition = self.expression()?;
                if !self.accept_word("then") {
                    return self.unexpected("`then`");
                }
                branches.push((condition, self.statements()?));
            } else if self.accept_word("else") {
                otherwise = self.statements()?;
                if !self.accept_word("fi") {
                    return self.unexpected("a statement or `fi`");
                }
                break;
            } else if self.accept_word("fi") {
                break;
            } else {
                return self.unexpected("a statement or `fi`");
            }
        }
        Ok(StatementKind::If(branches, otherwise))
    }

    fn repetition(&mut self) -> Parsed<StatementKind> {
        self.advance();
        let condition = self.expression()?;
        if !self.accept_word("do") {
            return Ok(StatementKind::While(condition, self.block()?));
        }
        let body = self.statements()?;
        if !self.accept_word("od") {
            return self.unexpected("a statement or `od`");
        }
        Ok(StatementKind::While(condition, body))
    }

    /// Statements in braces, or one, or none.
    fn block(&mut self) -> Parsed<Vec<Statement>> {
        if self.accept("{") {
            let body = self.statements()?;
            self.expect("}")?;
            return Ok(body);
        }
        if self.accept(";") {
            return Ok(Vec::new());
        }
        Ok(vec![self.statement()?])
    }
}
