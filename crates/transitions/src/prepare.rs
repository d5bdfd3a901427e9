//! Prepares programs for [`crate::System`]: calls inlined, irrelevant code removed, locks as words.

use ir::{Callee, Op, Program, Span};
use verdict::{Analysed, Budget, Exhausted, NoView, Reason, View, Views};

/// Engines that turn all steps into formulas do not try programs with more edges than this.
pub const MOST_EDGES: usize = 4_000;

/// Checks that a program has at most [`MOST_EDGES`] edges; otherwise returns why an engine does not try it.
pub fn require_few_edges(program: &Program, engine: &str) -> Result<(), Reason> {
    match program.templates.iter().map(|code| code.edges.len()).sum::<usize>() > MOST_EDGES {
        true => Err(Reason::TooLarge(format!("{engine}: the program has more than {MOST_EDGES} steps"))),
        false => Ok(()),
    }
}

/// Checks that no assumption about a program may hide behaviour; otherwise returns why nothing is proved of
/// it.
pub fn require_all_behaviours(program: &Program) -> Result<(), Reason> {
    match program.limiting_assumption() {
        Some(assumption) => Err(Reason::NotSupported(assumption.text.clone(), assumption.span)),
        None => Ok(()),
    }
}

/// Why a program cannot be prepared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotReady {
    /// There is no view of it.
    NoView(NoView),
    /// A call, or the start of a thread, whose target is not known.
    Unresolved(Span),
}

impl NotReady {
    /// The reason for an engine to have no verdict.
    pub fn reason(self, engine: &str) -> Reason {
        match self {
            Self::NoView(why) => why.reason(engine),
            Self::Unresolved(span) => {
                Reason::NotSupported("a call or start that is not resolved".to_owned(), span)
            }
        }
    }
}

impl From<Exhausted> for NotReady {
    fn from(exhausted: Exhausted) -> Self {
        Self::NoView(NoView::Exhausted(exhausted))
    }
}

impl From<NoView> for NotReady {
    fn from(why: NoView) -> Self {
        Self::NoView(why)
    }
}

/// The prepared view of a program for errors or for races. If an assumption of the result has `limits_proof`,
/// nothing may be proved of it.
pub fn prepare<'v>(program: &'v Views, races: bool, budget: &Budget) -> Result<&'v Analysed, NotReady> {
    finish(program.sliced(races, budget)?, budget)
}

/// The same, but with all code, and each source line keeps its own steps.
pub fn prepare_whole<'v>(program: &'v Views, budget: &Budget) -> Result<&'v Analysed, NotReady> {
    finish(program.listed(budget)?, budget)
}

fn finish<'v>(view: &'v View, budget: &Budget) -> Result<&'v Analysed, NotReady> {
    let words = view.words(budget)?;
    match unresolved(words) {
        Some(span) => Err(NotReady::Unresolved(span)),
        None => {
            // Formulas need these; here they are computed within the limit.
            words.points_to(budget)?;
            Ok(words)
        }
    }
}

/// The position of a remaining call, or of a start whose target is not known.
pub fn unresolved(program: &Program) -> Option<Span> {
    let mut edges = program.templates.iter().flat_map(|code| code.edges.iter());
    let open = |op: &Op| matches!(op, Op::Call(..) | Op::Spawn(Callee::Pointer(_), ..));
    edges.find(|edge| edge.ops.iter().any(open)).map(|edge| edge.span)
}
