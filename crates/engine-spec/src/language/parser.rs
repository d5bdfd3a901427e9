//! Reads the source form of a specification. The grammar is in `docs/specifications.md`.

use crate::language::ast::{Expression, File, Item, Kind, Name, Sign, State, Thread, Transition};
use crate::language::diagnostic::Problem;
use crate::language::lexer::{Token, tokens};
use ir::{Count, Span};

/// Expressions nest at most this deep.
const DEEPEST: usize = 200;
/// A file has at most so many words and signs.
const MOST_WORDS: usize = 100_000;
/// No thread has more copies, as far as they are counted.
const MOST_COPIES: i128 = 1000;
/// Words that cannot be the names of states and shorthands. The program may call its variables and functions
/// so.
const RESERVED: [&str; 11] =
    ["let", "always", "start", "thread", "runs", "times", "any", "state", "asserts", "changes", "me"];

/// Reads a file.
pub fn parse(text: &str) -> Result<File, Problem> {
    let tokens = tokens(text)?;
    if let Some((_, at)) = tokens.get(MOST_WORDS) {
        return Err(Problem::new(*at, "the file is too long"));
    }
    let mut parser = Parser { tokens, next: 0, depth: 0 };
    let mut file = File::default();
    while *parser.peek() != Token::End {
        file.items.push(parser.item()?);
    }
    Ok(file)
}

struct Parser {
    tokens: Vec<(Token, Span)>,
    next: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.next].0
    }
    fn at(&self) -> Span {
        self.tokens[self.next].1
    }
    fn take(&mut self) -> Token {
        let token = self.peek().clone();
        if token != Token::End {
            self.next += 1;
        }
        token
    }
    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(found) if found == word)
    }
    fn takes_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.next += usize::from(found);
        found
    }
    fn takes(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(found) if *found == sign);
        self.next += usize::from(found);
        found
    }

    fn wrong<T>(&self, wanted: &str) -> Result<T, Problem> {
        let found = match self.peek() {
            Token::Word(word) => format!("`{word}`"),
            Token::Number(value, ..) => format!("`{value}`"),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "the end of the file".to_owned(),
        };
        Err(Problem::new(self.at(), format!("{wanted} is expected here, not {found}")))
    }
    fn expect(&mut self, sign: &'static str) -> Result<(), Problem> {
        if self.takes(sign) { Ok(()) } else { self.wrong(&format!("`{sign}`")) }
    }
    fn expect_word(&mut self, word: &str) -> Result<(), Problem> {
        if self.takes_word(word) { Ok(()) } else { self.wrong(&format!("`{word}`")) }
    }
    fn name(&mut self, what: &str) -> Result<Name, Problem> {
        let at = self.at();
        match self.peek().clone() {
            Token::Word(text) if !RESERVED.contains(&text.as_str()) => {
                self.take();
                Ok(Name { text, at })
            }
            Token::Word(_) | Token::Number(..) | Token::Sign(_) | Token::End => self.wrong(what),
        }
    }

    /// Any word: what the program calls something.
    fn word(&mut self, what: &str) -> Result<Name, Problem> {
        let at = self.at();
        match self.peek().clone() {
            Token::Word(text) => {
                self.take();
                Ok(Name { text, at })
            }
            Token::Number(..) | Token::Sign(_) | Token::End => self.wrong(what),
        }
    }

    fn item(&mut self) -> Result<Item, Problem> {
        if self.takes_word("let") {
            let name = self.name("a name")?;
            self.expect("=")?;
            let value = self.expression()?;
            self.expect(";")?;
            Ok(Item::Let(name, value))
        } else if self.takes_word("always") {
            let value = self.expression()?;
            self.expect(";")?;
            Ok(Item::Always(value))
        } else if self.takes_word("start") {
            let value = self.expression()?;
            self.expect(";")?;
            Ok(Item::Start(value))
        } else if self.takes_word("thread") {
            Ok(Item::Thread(self.thread()?))
        } else {
            self.wrong("`let`, `always`, `start` or `thread`")
        }
    }

    fn thread(&mut self) -> Result<Thread, Problem> {
        let name = self.name("the name of the abstract thread")?;
        self.expect_word("runs")?;
        let function = self.word("the name of a function")?;
        self.expect_word("times")?;
        let at = self.at();
        let count = match self.take() {
            Token::Word(word) if word == "any" => Count::Any,
            Token::Number(copies, ..) if (1..=MOST_COPIES).contains(&copies) => Count::Exactly(copies as u32),
            Token::Number(..) => {
                return Err(Problem::new(
                    at,
                    format!("a number of threads is from 1 to {MOST_COPIES}, or `any`"),
                ));
            }
            Token::Word(_) | Token::Sign(_) | Token::End => {
                return Err(Problem::new(at, "the number of threads is expected here, or `any`"));
            }
        };
        self.expect("{")?;
        let (always, states, transitions) = (Vec::new(), Vec::new(), Vec::new());
        let mut thread = Thread { name, function, count, always, states, transitions };
        while !self.takes("}") {
            if self.takes_word("always") {
                thread.always.push(self.expression()?);
                self.expect(";")?;
            } else if self.is_word("start") || self.is_word("state") {
                thread.states.push(self.state()?);
            } else {
                self.transitions(&mut thread.transitions)?;
            }
        }
        Ok(thread)
    }

    fn state(&mut self) -> Result<State, Problem> {
        let initial = self.takes_word("start");
        self.expect_word("state")?;
        let name = self.name("the name of a state")?;
        let assertion = if self.takes_word("asserts") { Some(self.expression()?) } else { None };
        self.expect(";")?;
        Ok(State { name, initial, assertion })
    }

    /// One transition, or one from each of several states.
    fn transitions(&mut self, found: &mut Vec<Transition>) -> Result<(), Problem> {
        let mut sources = vec![self.name("`always`, `state`, `}` or the name of a state")?];
        while self.takes(",") {
            sources.push(self.name("the name of a state")?);
        }
        self.expect("->")?;
        let target = self.name("the name of a state")?;
        let mut changes = Vec::new();
        if self.takes_word("changes") {
            changes.push(self.postfix()?);
            while self.takes(",") {
                changes.push(self.postfix()?);
            }
        }
        let condition = if self.takes(":") { Some(self.expression()?) } else { None };
        self.expect(";")?;
        for source in sources {
            let (target, changes, condition) = (target.clone(), changes.clone(), condition.clone());
            found.push(Transition { source, target, changes, condition });
        }
        Ok(())
    }

    fn expression(&mut self) -> Result<Expression, Problem> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Problem::new(self.at(), "this expression is nested too deeply"));
        }
        let condition = self.binary(1)?;
        let at = self.at();
        let result = if self.takes("?") {
            let yes = self.expression()?;
            self.expect(":")?;
            let no = self.expression()?;
            Expression { kind: Kind::Conditional(Box::new((condition, yes, no))), at }
        } else {
            condition
        };
        self.depth -= 1;
        Ok(result)
    }

    /// Operands with signs that bind at least so strongly.
    fn binary(&mut self, least: u8) -> Result<Expression, Problem> {
        let mut left = self.unary()?;
        loop {
            let at = self.at();
            let Token::Sign(text) = *self.peek() else { return Ok(left) };
            let known = Sign::ALL.iter().find(|(_, known, _)| *known == text);
            let Some((sign, _, strength)) = known.filter(|(_, _, strength)| *strength >= least) else {
                return Ok(left);
            };
            self.take();
            self.depth += 1;
            if self.depth > DEEPEST {
                return Err(Problem::new(at, "this expression is nested too deeply"));
            }
            // Implications group to the right, all else to the left.
            let right = self.binary(if *sign == Sign::Implies { *strength } else { strength + 1 })?;
            self.depth -= 1;
            left = Expression { kind: Kind::Binary(*sign, Box::new((left, right))), at };
        }
    }

    fn unary(&mut self) -> Result<Expression, Problem> {
        let at = self.at();
        for (sign, text) in [('-', "-"), ('!', "!"), ('~', "~")] {
            if self.takes(text) {
                self.depth += 1;
                if self.depth > DEEPEST {
                    return Err(Problem::new(at, "this expression is nested too deeply"));
                }
                let operand = self.unary()?;
                self.depth -= 1;
                return Ok(Expression { kind: Kind::Unary(sign, Box::new(operand)), at });
            }
        }
        self.postfix()
    }

    fn postfix(&mut self) -> Result<Expression, Problem> {
        let mut result = self.primary()?;
        loop {
            let at = result.at;
            let kind = if self.takes("'") {
                Kind::Primed(Box::new(result))
            } else if self.takes(".") {
                let member = self.word("the name of a member")?;
                Kind::Member(Box::new(result), member.text)
            } else if self.takes("[") {
                let index = self.expression()?;
                self.expect("]")?;
                Kind::Element(Box::new(result), Box::new(index))
            } else {
                return Ok(result);
            };
            result = Expression { kind, at };
        }
    }

    fn primary(&mut self) -> Result<Expression, Problem> {
        let at = self.at();
        if self.takes("(") {
            let inner = self.expression()?;
            self.expect(")")?;
            return Ok(inner);
        }
        match self.peek().clone() {
            Token::Number(value, unsigned, longs) => {
                self.take();
                Ok(Expression { kind: Kind::Number(value, unsigned, longs), at })
            }
            Token::Word(word) => {
                self.take();
                Ok(Expression { kind: Kind::Name(word), at })
            }
            Token::Sign(_) | Token::End => self.wrong("an expression"),
        }
    }
}
