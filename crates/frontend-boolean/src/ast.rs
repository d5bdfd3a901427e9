//! Boolean programs as they are written (paper 3, figures 1 and 2, and the dialects of Bebop, Boppo, SatAbs,
//! Boom, Getafix and Cuba).
//!
//! Positions are not part of a program's identity: two programs that differ in layout only are equal.

use crate::diagnostic::Position;

/// A name with the place where it stands.
#[derive(Clone, Debug, Eq)]
pub struct Name {
    /// The text.
    pub text: String,
    /// Where.
    pub at: Position,
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Program {
    /// The shared variables.
    pub globals: Vec<Declaration>,
    /// The procedures.
    pub procedures: Vec<Procedure>,
}

/// A variable. Without an initial value it holds anything at first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// What it is called.
    pub name: Name,
    /// What it holds at first.
    pub initial: Option<Expr>,
}

/// A procedure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Procedure {
    /// What it is called.
    pub name: Name,
    /// How many values it returns.
    pub returns: usize,
    /// Its parameters.
    pub parameters: Vec<Name>,
    /// Its local variables.
    pub locals: Vec<Declaration>,
    /// What holds in every state in which control is in it; executions that break it are left out.
    pub enforce: Option<Expr>,
    /// Its statements.
    pub body: Vec<Statement>,
}

/// A statement with its labels.
#[derive(Clone, Debug, Eq)]
pub struct Statement {
    /// All labels that stand before it.
    pub labels: Vec<Name>,
    /// What it does.
    pub kind: StatementKind,
    /// Where it begins (after its labels).
    pub at: Position,
}

impl PartialEq for Statement {
    fn eq(&self, other: &Self) -> bool {
        self.labels == other.labels && self.kind == other.kind
    }
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// Nothing, in one step.
    Skip,
    /// Continues at one of these labels.
    Goto(Vec<Name>),
    /// Ends the procedure with these values.
    Return(Vec<Expr>),
    /// Assigns all values at once; blocks where the constraint does not hold.
    Assign {
        /// Different variables.
        targets: Vec<Name>,
        /// As many values.
        values: Vec<Expr>,
        /// A condition on old and new values.
        constrain: Option<Expr>,
    },
    /// Gives all visible variables any new values for which the condition holds.
    Constrain(Expr),
    /// Calls a procedure.
    Call {
        /// Where its results go; none if they are dropped.
        targets: Vec<Name>,
        /// Which one.
        callee: Name,
        /// One for each parameter.
        arguments: Vec<Expr>,
    },
    /// Continues only where the condition holds.
    Assume(Expr),
    /// An error where the condition does not hold.
    Assert(Expr),
    /// Ends the execution where the condition holds.
    AbortIf(Expr),
    /// The first branch whose condition holds, or the last list.
    If(Vec<(Expr, Vec<Statement>)>, Vec<Statement>),
    /// Repeats while the condition holds.
    While(Expr, Vec<Statement>),
    /// Starts a thread at a label of this procedure, with a copy of the local variables.
    StartAt(Name),
    /// Starts a thread that runs a procedure.
    StartCall(Name, Vec<Expr>),
    /// Ends the thread.
    EndThread,
    /// From here on no other thread runs.
    AtomicBegin,
    /// From here on others run again.
    AtomicEnd,
    /// Takes a lock.
    Lock(Name),
    /// Gives a lock back; blocks if the thread does not hold it.
    Unlock(Name),
    /// Waits until another thread broadcasts.
    Wait,
    /// Wakes all other threads that wait.
    Broadcast,
    /// Prints values: no effect.
    Print(Vec<Expr>),
}

/// A Boolean expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// `T` or `F`.
    Constant(bool),
    /// `*`: either value, again each time.
    Choice,
    /// A variable.
    Variable(Variable),
    /// `!`.
    Not(Box<Expr>),
    /// `&` or `|` of two or more operands.
    Many(Connective, Vec<Expr>),
    /// The other binary operators.
    Binary(BinaryOperator, Box<(Expr, Expr)>),
    /// `c ? a : b`.
    Conditional(Box<(Expr, Expr, Expr)>),
    /// `schoose[a, b]`: true if `a` holds, else false if `b` holds, else either.
    Schoose(Box<(Expr, Expr)>),
}

/// An occurrence of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name, with a trailing `$` where that is written: the variable of each other thread.
    pub name: Name,
    /// Whether it is primed: its value after the step.
    pub next: bool,
}

/// Associative operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connective {
    /// `&`.
    And,
    /// `|`.
    Or,
}

/// Binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOperator {
    /// `=`.
    Equal,
    /// `!=`.
    Different,
    /// `^`.
    Xor,
    /// `=>`.
    Implies,
}

impl Expr {
    /// The direct operands.
    pub fn operands(&self) -> Vec<&Expr> {
        match self {
            Self::Constant(_) | Self::Choice | Self::Variable(_) => vec![],
            Self::Not(operand) => vec![operand],
            Self::Many(_, operands) => operands.iter().collect(),
            Self::Binary(_, pair) | Self::Schoose(pair) => vec![&pair.0, &pair.1],
            Self::Conditional(three) => vec![&three.0, &three.1, &three.2],
        }
    }
    /// Calls `visit` on all variables in it.
    pub fn variables<'a>(&'a self, visit: &mut dyn FnMut(&'a Variable)) {
        if let Self::Variable(variable) = self {
            visit(variable);
        }
        for operand in self.operands() {
            operand.variables(visit);
        }
    }
}
