//! Chooses programs.

use super::{Cell, Expression, Function, Index, Operator, Random, Source, Statement};
use ir::IntType;

/// The product of all threads' steps, and of the values of inputs, stays below this; with a third thread
/// below the second number, as more orders of stores lead to more different values.
const MAX_PRODUCT: [u64; 2] = [8_000, 2_000];

/// How carefully a program treats its shared variables.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manners {
    /// Anything goes.
    Wild,
    /// Shared variables only under the first lock.
    Locked,
    /// Shared variables only in atomic regions.
    Atomic,
}

impl Source {
    /// The program with this number.
    pub fn new(seed: u64) -> Self {
        let mut budget = 16;
        loop {
            let source = Generator::new(seed).source(budget);
            if budget <= 2 || source.product() <= MAX_PRODUCT[usize::from(source.threads.len() > 2)] {
                return source;
            }
            budget -= 1;
        }
    }

    /// An estimate of the number of states: each thread's steps, and two branches for each input.
    fn product(&self) -> u64 {
        let helpers: Vec<u64> = self.helpers.iter().map(|helper| 1 + steps(&helper.body, &[])).collect();
        let helper_inputs: Vec<u64> = self.helpers.iter().map(|helper| inputs(&helper.body, &[])).collect();
        let mut product = 1u64;
        for thread in &self.threads {
            product = product
                .saturating_mul(2 + steps(&thread.body, &helpers))
                .saturating_mul(1 << inputs(&thread.body, &helper_inputs).min(20));
        }
        product
    }
}

fn operand_steps(expression: &Expression) -> u64 {
    match expression {
        Expression::Number(_) | Expression::Local(_) => 0,
        Expression::Shared(Cell::Pointee(_)) => 2,
        Expression::Shared(Cell::Global(_) | Cell::Element(..)) => 1,
        Expression::Binary(_, pair) => operand_steps(&pair.0) + operand_steps(&pair.1),
        Expression::Not(operand) => operand_steps(operand),
    }
}

/// The most steps that statements take.
fn steps(body: &[Statement], helpers: &[u64]) -> u64 {
    let one = |statement: &Statement| match statement {
        Statement::Set(_, value) | Statement::Store(_, value) => 2 + operand_steps(value),
        Statement::Point(..) | Statement::Input(_) => 1,
        Statement::Assume(condition) | Statement::Assert(condition) => 2 + operand_steps(condition),
        Statement::If(condition, yes, no) => {
            2 + operand_steps(condition) + steps(yes, helpers).max(steps(no, helpers))
        }
        Statement::Repeat(times, _, body) => 2 + *times as u64 * (3 + steps(body, helpers)),
        Statement::While(condition, times, _, body) => {
            2 + *times as u64 * (4 + operand_steps(condition) + steps(body, helpers))
        }
        Statement::Locked(_, body) => 2 + steps(body, helpers),
        // What happens in an atomic region does not interleave.
        Statement::Atomic(body) => 2 + steps(body, helpers) / 2,
        Statement::Call(_, helper, argument) => {
            3 + operand_steps(argument) + helpers.get(*helper).copied().unwrap_or(1)
        }
    };
    body.iter().map(one).sum()
}

/// The most inputs that statements read.
fn inputs(body: &[Statement], helpers: &[u64]) -> u64 {
    let one = |statement: &Statement| match statement {
        Statement::Input(_) => 1,
        Statement::If(_, yes, no) => inputs(yes, helpers).max(inputs(no, helpers)),
        Statement::Repeat(times, _, body) | Statement::While(_, times, _, body) => {
            *times as u64 * inputs(body, helpers)
        }
        Statement::Locked(_, body) | Statement::Atomic(body) => inputs(body, helpers),
        Statement::Call(_, helper, _) => helpers.get(*helper).copied().unwrap_or(0),
        Statement::Set(..)
        | Statement::Store(..)
        | Statement::Point(..)
        | Statement::Assume(_)
        | Statement::Assert(_) => 0,
    };
    body.iter().map(one).sum()
}

struct Generator {
    random: Random,
    source: Source,
    manners: Manners,
    /// The locals of the function so far.
    locals: usize,
    /// How many of them statements may change; the others count the rounds of loops.
    variables: usize,
    /// How many more statements it may have.
    budget: usize,
    helper: bool,
}

/// What a statement may do where it stands.
#[derive(Clone, Copy)]
struct Place {
    depth: usize,
    /// Whether shared variables may be used.
    shared: bool,
    /// Whether locks may be taken and functions called.
    free: bool,
    looping: bool,
}

impl Generator {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let manners = random.pick(&[Manners::Wild, Manners::Wild, Manners::Locked, Manners::Atomic]);
        let source = Source {
            globals: vec![(IntType::I32, random.below(3) as i128)],
            arrays: vec![],
            pointers: vec![],
            locks: 1 + random.below(2),
            helpers: vec![],
            threads: vec![],
            finally: None,
        };
        Self { random, source, manners, locals: 0, variables: 0, budget: 0, helper: false }
    }

    fn source(mut self, budget: usize) -> Source {
        for _ in 0..1 + self.random.below(3) {
            let ty = self.random.pick(&IntType::ALL);
            let value = if ty == IntType::BOOL { self.random.below(2) } else { self.random.below(4) };
            self.source.globals.push((ty, value as i128));
        }
        if self.random.once_in(2) {
            let ty = self.random.pick(&IntType::ALL[1..]);
            self.source.arrays.push(ty);
        }
        if self.random.once_in(2) {
            self.source.pointers.push(0);
        }
        if self.random.once_in(2) {
            self.helper = true;
            let mut helper = self.function(2, 1);
            helper.result = Some(self.value(Place { depth: 1, shared: false, free: false, looping: false }));
            self.helper = false;
            self.source.helpers.push(helper);
        }
        let threads = 2 + usize::from(self.random.once_in(3));
        for _ in 0..threads {
            let budget = (budget / threads).max(1);
            let thread = self.function(budget, 2);
            self.source.threads.push(thread);
        }
        if self.random.once_in(2) {
            // When the others have ended, nothing races; a pointer is as good as any.
            self.locals = 0;
            self.variables = 0;
            let cell = self.cell();
            let bound = Expression::Number(self.random.below(6) as i128);
            let operator = self.random.pick(&[Operator::Less, Operator::LessOrEqual, Operator::Different]);
            self.source.finally =
                Some(Expression::Binary(operator, Box::new((Expression::Shared(cell), bound))));
        }
        self.source
    }

    fn function(&mut self, budget: usize, locals: usize) -> Function {
        self.locals = locals;
        self.variables = locals;
        self.budget = budget;
        let shared = self.manners == Manners::Wild && !self.helper;
        let place = Place { depth: 2, shared, free: !self.helper, looping: false };
        let mut body = Vec::new();
        while self.budget > 0 {
            body.push(self.statement(place));
        }
        Function { locals: self.locals, body, result: None }
    }

    fn block(&mut self, place: Place) -> Vec<Statement> {
        let mut body = vec![self.statement(place)];
        while self.budget > 0 && self.random.once_in(2) {
            body.push(self.statement(place));
        }
        body
    }

    fn local(&mut self) -> usize {
        self.random.below(self.variables.max(1))
    }

    /// A fresh local that counts the rounds of a loop; nothing else changes it.
    fn counter(&mut self) -> usize {
        self.locals += 1;
        self.locals - 1
    }

    fn statement(&mut self, place: Place) -> Statement {
        self.budget = self.budget.saturating_sub(1);
        let inner = Place { depth: place.depth.saturating_sub(1), ..place };
        let compound = place.depth > 0;
        // Where shared variables need protection, mostly protect some: local steps alone are no test.
        let protect = !place.shared && place.free && compound && !self.random.once_in(4);
        loop {
            let choice = if protect { 12 + self.random.below(3) } else { self.random.below(16) };
            return match choice {
                0..3 if place.shared => {
                    let cell = self.cell();
                    Statement::Store(cell, self.stored(place, cell))
                }
                3 if place.shared && !self.source.pointers.is_empty() => {
                    let ints: Vec<usize> = (0..self.source.globals.len())
                        .filter(|global| self.source.globals[*global].0 == IntType::I32)
                        .collect();
                    Statement::Point(self.random.below(self.source.pointers.len()), self.random.pick(&ints))
                }
                4 | 5 => Statement::Set(self.local(), self.value(place)),
                6 if !place.looping && self.random.once_in(2) => Statement::Input(self.local()),
                7 if self.random.once_in(3) => Statement::Assume(self.condition(place)),
                8 if place.shared || self.random.once_in(3) => Statement::Assert(self.condition(place)),
                9 | 10 if compound => {
                    let condition = self.condition(place);
                    let yes = self.block(inner);
                    let no = if self.random.once_in(2) { self.block(inner) } else { vec![] };
                    Statement::If(condition, yes, no)
                }
                11 if compound && !place.looping => {
                    let counter = self.counter();
                    let times = 2;
                    let inner = Place { looping: true, ..inner };
                    if self.random.once_in(2) {
                        Statement::Repeat(times, counter, self.block(inner))
                    } else {
                        let condition = self.condition(place);
                        Statement::While(condition, times, counter, self.block(inner))
                    }
                }
                12 | 13 if place.free && compound && !(protect && self.manners == Manners::Atomic) => {
                    let lock = if self.manners == Manners::Locked {
                        0
                    } else {
                        self.random.below(self.source.locks)
                    };
                    // Only one lock at a time, but for a rare pair in a program without manners.
                    let pair =
                        self.manners == Manners::Wild && self.source.locks == 2 && self.random.once_in(3);
                    let held = Place {
                        shared: self.manners != Manners::Atomic || place.shared,
                        free: false,
                        ..inner
                    };
                    if pair {
                        let body = self.block(Place { depth: 0, ..held });
                        Statement::Locked(lock, vec![Statement::Locked(1 - lock, body)])
                    } else {
                        Statement::Locked(lock, self.block(held))
                    }
                }
                14 if place.free && compound && self.manners != Manners::Locked => {
                    let inner = Place { shared: true, free: false, ..inner };
                    Statement::Atomic(self.block(inner))
                }
                15 if place.free && !self.source.helpers.is_empty() => {
                    let argument = self.operand(Place { shared: false, ..place });
                    Statement::Call(self.local(), self.random.below(self.source.helpers.len()), argument)
                }
                _ => continue,
            };
        }
    }

    fn cell(&mut self) -> Cell {
        match self.random.below(6) {
            0 if !self.source.arrays.is_empty() => {
                let array = self.random.below(self.source.arrays.len());
                let fixed = self.locals == 0 || self.random.once_in(2);
                let index = if fixed {
                    Index::Fixed(self.random.below(super::ARRAY))
                } else {
                    Index::Local(self.local())
                };
                Cell::Element(array, index)
            }
            1 if !self.source.pointers.is_empty() => {
                Cell::Pointee(self.random.below(self.source.pointers.len()))
            }
            _ => Cell::Global(self.random.below(self.source.globals.len())),
        }
    }

    /// What is stored in a cell. Where the address has to be read too, the value is not shared.
    fn stored(&mut self, place: Place, cell: Cell) -> Expression {
        let shared = place.shared && !matches!(cell, Cell::Pointee(_));
        self.value(Place { shared, ..place })
    }

    fn operand(&mut self, place: Place) -> Expression {
        match self.random.below(5) {
            0 => Expression::Number(self.random.below(5) as i128 - 1),
            1 | 2 if place.shared => Expression::Shared(self.cell()),
            _ => Expression::Local(self.random.below(self.locals)),
        }
    }

    fn value(&mut self, place: Place) -> Expression {
        let operators =
            [Operator::Add, Operator::Sub, Operator::Add, Operator::And, Operator::Or, Operator::Xor];
        match self.random.below(4) {
            0 => self.operand(place),
            1 => self.condition(place),
            _ => {
                let operator = self.random.pick(&operators);
                Expression::Binary(operator, Box::new((self.operand(place), self.operand(place))))
            }
        }
    }

    fn condition(&mut self, place: Place) -> Expression {
        let operators = [Operator::Equal, Operator::Different, Operator::Less, Operator::LessOrEqual];
        let operator = self.random.pick(&operators);
        let left = match self.operand(place) {
            Expression::Number(_) => Expression::Local(self.random.below(self.locals)),
            other => other,
        };
        let right = match (&left, self.operand(place)) {
            (Expression::Local(one), Expression::Local(other)) if *one == other => {
                Expression::Number(self.random.below(3) as i128)
            }
            (_, other) => other,
        };
        let comparison = Expression::Binary(operator, Box::new((left, right)));
        if self.random.once_in(5) { Expression::Not(Box::new(comparison)) } else { comparison }
    }
}
