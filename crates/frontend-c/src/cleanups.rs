//! Functions that run when variables go out of scope (`__attribute__((cleanup(f)))`).
//!
//! Where control leaves the block of such a variable, its function is called with the variable's address:
//! for variables in the reverse order of their declarations, and after the value of a `return` is evaluated.
//! That is exact at the end of a block and for `break`, `continue` and `return`. A jump to or from a place
//! where such a variable is alive, also to a `case` label, is not supported.

use crate::function::Function;
use rucc_sema::DeclId;

/// The variables of a function that are alive and have a function to run.
#[derive(Clone, Default, Debug)]
pub struct Cleanups {
    /// Each variable with its function, in the order of declaration.
    alive: Vec<(DeclId, DeclId)>,
    /// How many there were at each statement that `break` leaves.
    at_breaks: Vec<usize>,
    /// The same for `continue`.
    at_continues: Vec<usize>,
    /// The same for each `switch`.
    at_switches: Vec<usize>,
}

/// What a `break`, `continue` or `case` belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Around {
    /// A loop.
    Loop,
    /// A `switch`.
    Switch,
}

impl Cleanups {
    /// How many variables are alive.
    pub fn count(&self) -> usize {
        self.alive.len()
    }
    /// Enters a loop or a `switch`.
    pub fn enter(&mut self, around: Around) {
        let count = self.count();
        self.at_breaks.push(count);
        match around {
            Around::Loop => self.at_continues.push(count),
            Around::Switch => self.at_switches.push(count),
        }
    }
    /// Leaves it.
    pub fn leave(&mut self, around: Around) {
        self.at_breaks.pop();
        match around {
            Around::Loop => self.at_continues.pop(),
            Around::Switch => self.at_switches.pop(),
        };
    }
}

impl Function<'_, '_> {
    /// A variable was declared.
    pub fn clean_up_later(&mut self, variable: DeclId) {
        if let Some(function) = self.unit.tree[variable].cleanup {
            self.cleanups.alive.push((variable, function));
        }
    }
    /// Calls the functions of all variables but the first ones, which stay alive.
    fn clean_up_to(&mut self, count: usize) {
        let ending = self.cleanups.alive.split_off(count);
        for &(variable, function) in ending.iter().rev() {
            if self.builder.is_reachable() {
                self.call_with_address(function, variable);
            }
        }
        self.cleanups.alive.extend(ending);
    }
    /// The end of a block, at whose start so many variables were alive.
    pub fn end_block(&mut self, count: usize) {
        self.clean_up_to(count);
        self.cleanups.alive.truncate(count);
    }
    /// Before control returns.
    pub fn clean_up_all(&mut self) {
        self.clean_up_to(0);
    }
    /// Before a `break`.
    pub fn clean_up_before_break(&mut self) {
        if let Some(&count) = self.cleanups.at_breaks.last() {
            self.clean_up_to(count);
        }
    }
    /// Before a `continue`.
    pub fn clean_up_before_continue(&mut self) {
        if let Some(&count) = self.cleanups.at_continues.last() {
            self.clean_up_to(count);
        }
    }
    /// At a `goto` or a label.
    pub fn refuse_jump(&mut self) {
        if self.cleanups.count() > 0 {
            self.unsupported("a jump where a variable with a cleanup function is alive");
        }
    }
    /// At a `case` or `default` label.
    pub fn refuse_case(&mut self) {
        if self.cleanups.at_switches.last().is_some_and(|count| *count != self.cleanups.count()) {
            self.unsupported("a case label where a variable with a cleanup function is alive");
        }
    }
    /// The end of a statement expression, whose value is evaluated later than its last statement.
    pub fn end_statement_expression(&mut self, count: usize) {
        if self.cleanups.count() > count {
            self.unsupported("a variable with a cleanup function in a statement expression");
            self.cleanups.alive.truncate(count);
        }
    }
}
