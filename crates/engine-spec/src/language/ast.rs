//! The parts of a specification as they are written. Spans have a line and a column; the file is always the
//! same.

use ir::{Count, Span};

/// A whole file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct File {
    /// Its parts, in order.
    pub items: Vec<Item>,
}

/// A part of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Item {
    /// `let NAME = expression;`
    Let(Name, Expression),
    /// `always expression;`: in all states of all threads.
    Always(Expression),
    /// `start expression;`: what holds when the second thread starts.
    Start(Expression),
    /// `thread NAME runs FUNCTION times COUNT { … }`
    Thread(Thread),
}

/// A name with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it stands.
    pub at: Span,
}

/// An abstract thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// Its name.
    pub name: Name,
    /// The function of the program.
    pub function: Name,
    /// How many there are at most.
    pub count: Count,
    /// `always expression;`: in all its states.
    pub always: Vec<Expression>,
    /// Its states.
    pub states: Vec<State>,
    /// Its transitions.
    pub transitions: Vec<Transition>,
}

/// `[start] state NAME [asserts expression];`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct State {
    /// Its name.
    pub name: Name,
    /// Whether threads start in it.
    pub initial: bool,
    /// What must hold in it.
    pub assertion: Option<Expression>,
}

/// `NAME -> NAME [changes expression, …] [: expression];`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transition {
    /// The state that it leaves.
    pub source: Name,
    /// The state that it leads to.
    pub target: Name,
    /// What may change.
    pub changes: Vec<Expression>,
    /// What must hold of the values before and after it.
    pub condition: Option<Expression>,
}

/// An expression with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expression {
    /// What it is.
    pub kind: Kind,
    /// Where its first or most telling sign stands.
    pub at: Span,
}

/// What an expression is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A number, and whether it is unsigned (`u`) and how many `l` stand after it.
    Number(i128, bool, u8),
    /// A variable or a shorthand.
    Name(String),
    /// `e.member`
    Member(Box<Expression>, String),
    /// `e[index]`
    Element(Box<Expression>, Box<Expression>),
    /// `e'`: after the step.
    Primed(Box<Expression>),
    /// `-e`, `!e` or `~e`
    Unary(char, Box<Expression>),
    /// Two operands and a sign.
    Binary(Sign, Box<(Expression, Expression)>),
    /// `c ? a : b`
    Conditional(Box<(Expression, Expression, Expression)>),
}

/// The signs between two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // each is what C calls it
pub enum Sign {
    Implies,
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    Different,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Sign {
    /// All signs, as they are written, with how strongly they bind. Where one begins another, the longer one
    /// comes first.
    pub const ALL: [(Self, &'static str, u8); 19] = [
        (Self::Implies, "==>", 1),
        (Self::Or, "||", 2),
        (Self::And, "&&", 3),
        (Self::Equal, "==", 7),
        (Self::Different, "!=", 7),
        (Self::ShiftLeft, "<<", 9),
        (Self::ShiftRight, ">>", 9),
        (Self::LessOrEqual, "<=", 8),
        (Self::GreaterOrEqual, ">=", 8),
        (Self::Less, "<", 8),
        (Self::Greater, ">", 8),
        (Self::BitOr, "|", 4),
        (Self::BitXor, "^", 5),
        (Self::BitAnd, "&", 6),
        (Self::Add, "+", 10),
        (Self::Subtract, "-", 10),
        (Self::Multiply, "*", 11),
        (Self::Divide, "/", 11),
        (Self::Remainder, "%", 11),
    ];
    /// As it is written.
    pub fn text(self) -> &'static str {
        Self::ALL.iter().find(|(sign, _, _)| *sign == self).map_or("", |(_, text, _)| text)
    }
    /// How strongly it binds.
    pub fn strength(self) -> u8 {
        Self::ALL.iter().find(|(sign, _, _)| *sign == self).map_or(0, |(_, _, strength)| *strength)
    }
}
