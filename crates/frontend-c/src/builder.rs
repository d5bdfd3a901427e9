//! Builds one template, statement by statement.
//!
//! A builder has a current location, or none after a jump. Code that is emitted without one is unreachable;
//! it goes to a fresh location without incoming edges, so callers need no special case. The builder knows
//! nothing of C.

use ir::{Expr, IntType, Lhs, LocalId, LocationId, LocationKind, Op, Span, Template};

/// A template under construction.
pub struct Builder {
    /// The template so far.
    pub template: Template,
    /// The span that new edges get.
    pub span: Span,
    current: Option<LocationId>,
    atomic: u32,
    temporaries: u32,
}

impl Builder {
    /// A template with an entry location and nothing else.
    pub fn new(name: &str, span: Span) -> Self {
        let mut template = Template { name: name.to_owned(), span, ..Template::default() };
        let entry = template.location(LocationKind::Normal, false);
        template.entry = entry;
        Self { template, span, current: Some(entry), atomic: 0, temporaries: 0 }
    }
    /// The current location; a fresh, unreachable one after a jump.
    pub fn here(&mut self) -> LocationId {
        match self.current {
            Some(location) => location,
            None => {
                let location = self.label();
                self.current = Some(location);
                location
            }
        }
    }
    /// Whether the current location is reachable so far.
    pub fn is_reachable(&self) -> bool {
        self.current.is_some()
    }
    /// A fresh location, to jump to or to [`place`](Self::place). Atomic inside an atomic region.
    pub fn label(&mut self) -> LocationId {
        let atomic = self.atomic > 0;
        self.template.location(LocationKind::Normal, atomic)
    }
    /// Continues at `label`; falls through to it from the current location, if there is one.
    pub fn place(&mut self, label: LocationId) {
        if let Some(from) = self.current {
            self.template.edge(from, label, vec![], self.span);
        }
        self.current = Some(label);
    }
    /// Continues at `label` without falling through from the current location.
    pub fn continue_at(&mut self, label: LocationId) {
        self.current = Some(label);
    }
    /// Emits `op` and continues after it.
    pub fn emit(&mut self, op: Op) {
        let (from, to) = (self.here(), self.label());
        self.template.edge(from, to, vec![op], self.span);
        self.current = Some(to);
    }
    /// Jumps.
    pub fn jump(&mut self, to: LocationId) {
        let from = self.here();
        self.template.edge(from, to, vec![], self.span);
        self.current = None;
    }
    /// Adds an edge with `op` from the current location to `to`, without leaving the location.
    pub fn alternative(&mut self, op: Op, to: LocationId) {
        let from = self.here();
        self.template.edge(from, to, vec![op], self.span);
    }
    /// Ends the current location: all its edges were added, and nothing falls through.
    pub fn leave(&mut self) {
        self.current = None;
    }
    /// Jumps to one of two locations by a Boolean condition.
    pub fn branch(&mut self, condition: Expr, yes: LocationId, no: LocationId) {
        self.alternative(Op::Assume(condition.clone()), yes);
        self.alternative(Op::Assume(condition.not()), no);
        self.leave();
    }
    /// Ends here in a location of that kind.
    pub fn stop(&mut self, kind: LocationKind) {
        let location = self.template.location(kind, false);
        self.jump(location);
    }
    /// A fresh temporary.
    pub fn temporary(&mut self, ty: IntType) -> LocalId {
        self.temporaries += 1;
        let name = format!("%{}", self.temporaries);
        self.template.local(name, ty, self.span)
    }
    /// Assigns a value.
    pub fn set(&mut self, lhs: Lhs, value: Expr) {
        self.emit(Op::set(lhs, value));
    }
    /// A fresh local that holds the value.
    pub fn save(&mut self, value: Expr, ty: IntType) -> LocalId {
        let local = self.temporary(ty);
        self.set(Lhs::Local(local), value);
        local
    }
    /// Enters an atomic region; they nest. Locations made until [`atomic_end`](Self::atomic_end) are atomic.
    pub fn atomic_begin(&mut self) {
        self.atomic += 1;
        let inside = self.label();
        self.place(inside);
    }
    /// Leaves an atomic region. Leaving one that was not entered changes nothing.
    pub fn atomic_end(&mut self) {
        self.atomic = self.atomic.saturating_sub(1);
        let outside = self.label();
        self.place(outside);
    }
    /// The number of open atomic regions.
    pub fn atomic_depth(&self) -> u32 {
        self.atomic
    }
    /// Sets the number of open atomic regions at the current location: control may come from elsewhere than
    /// the last statement.
    pub fn set_atomic_depth(&mut self, depth: u32) {
        self.atomic = depth;
    }
    /// Whether new locations are atomic.
    pub fn is_atomic(&self) -> bool {
        self.atomic > 0
    }
}
