//! Blocks: which location, local and frame object of a function belongs to which block.
//!
//! Only blocks that declare objects in memory, or contain a compound literal, and full expressions with
//! pointers to temporary objects are distinguished; everything else belongs to the enclosing block. Control
//! enters and leaves a block on edges without operations of the block itself, so on an edge from one block
//! into another, all operations belong to the block that is left. `lifetimes.rs` uses this.

use crate::facts::points_into_temporary;
use crate::function::Function;
use ir::ids::Id;
use ir::{LocalId, LocationId, ObjectId, Template};
use rucc_sema::{ExprId, StmtId, StorageDuration};
use std::collections::BTreeMap;

/// The number of a block in its function.
pub type ScopeId = usize;

/// Outside of the function's activation.
pub const OUTSIDE: ScopeId = 0;
/// The function's body, with its parameters.
pub const BODY: ScopeId = 1;

/// Memory of a block that is allocated when its declaration is reached: a variable-length array, or that of
/// `alloca`.
#[derive(Clone, Copy, Debug)]
pub struct Allocated {
    /// Its allocation site.
    pub site: ObjectId,
    /// The local that holds its address.
    pub address: LocalId,
    /// The block that it lives in.
    pub scope: ScopeId,
    /// Whether it is from `alloca`: then it does not end when it is allocated again.
    pub is_alloca: bool,
    /// Whether control may reach the allocation again without leaving the block.
    pub comes_again: bool,
}

/// The blocks of one function.
#[derive(Debug)]
pub struct Scopes {
    /// The enclosing block of each block.
    parents: Vec<ScopeId>,
    locations: Vec<ScopeId>,
    locals: Vec<ScopeId>,
    /// The block of each frame object.
    pub objects: BTreeMap<ObjectId, ScopeId>,
    /// Arrays of variable length, and memory from `alloca`.
    pub allocated: Vec<Allocated>,
    current: ScopeId,
}

impl Default for Scopes {
    fn default() -> Self {
        Self {
            parents: vec![OUTSIDE, OUTSIDE],
            locations: Vec::new(),
            locals: Vec::new(),
            objects: BTreeMap::new(),
            allocated: Vec::new(),
            current: BODY,
        }
    }
}

impl Scopes {
    /// The block that is being lowered.
    pub fn current(&self) -> ScopeId {
        self.current
    }
    /// Assigns everything that was created since the last call to the current block.
    pub fn catch_up(&mut self, template: &Template) {
        self.locations.resize(template.locations.len(), self.current);
        self.locals.resize(template.locals.len(), self.current);
    }
    /// Assigns a location, at which control continues, to the current block.
    fn put(&mut self, template: &Template, location: LocationId) {
        self.catch_up(template);
        self.locations[location.index()] = self.current;
    }
    /// Assigns a location to a block.
    pub fn put_in(&mut self, template: &Template, location: LocationId, scope: ScopeId) {
        self.catch_up(template);
        self.locations[location.index()] = scope;
    }
    /// The block of a location.
    pub fn of_location(&self, location: LocationId) -> ScopeId {
        self.locations.get(location.index()).copied().unwrap_or(BODY)
    }
    /// The block of a local.
    pub fn of_local(&self, local: LocalId) -> ScopeId {
        self.locals.get(local.index()).copied().unwrap_or(BODY)
    }
    /// Whether one block is another, or inside it.
    pub fn is_within(&self, inner: ScopeId, outer: ScopeId) -> bool {
        self.path(inner).contains(&outer)
    }
    /// A block and all around it, innermost first; without [`OUTSIDE`].
    pub fn path(&self, scope: ScopeId) -> Vec<ScopeId> {
        let mut path = Vec::new();
        let mut at = scope;
        while at != OUTSIDE {
            path.push(at);
            at = self.parents[at];
        }
        path
    }
}

impl Function<'_, '_> {
    /// Enters a block, if it is distinguished. Says whether it is.
    pub fn open_scope(&mut self, statement: StmtId) -> bool {
        let declared = self.uses.declared_in(statement);
        let matters = declared.iter().any(|&id| {
            let declaration = &self.unit.tree[id];
            declaration.duration == StorageDuration::Automatic && !self.is_register(id)
        });
        if matters {
            self.open();
        }
        matters
    }
    /// Enters a full expression, if it makes a pointer to an object that ends with it. Says whether it does.
    pub fn open_full_expression(&mut self, id: ExprId) -> bool {
        let matters = self.builder.is_reachable() && points_into_temporary(self.unit, id);
        if matters {
            self.open();
        }
        matters
    }
    fn open(&mut self) {
        self.scopes.catch_up(&self.builder.template);
        self.scopes.parents.push(self.scopes.current);
        self.scopes.current = self.scopes.parents.len() - 1;
        self.step_into_scope();
    }
    /// Leaves the block that was entered last.
    pub fn close_scope(&mut self) {
        self.scopes.catch_up(&self.builder.template);
        self.scopes.current = self.scopes.parents[self.scopes.current];
        self.step_into_scope();
    }
    fn step_into_scope(&mut self) {
        if self.builder.is_reachable() {
            let label = self.label();
            self.place(label);
        }
    }
    /// Says that control continues at a label in the current block.
    pub fn put_in_scope(&mut self, label: LocationId) {
        self.scopes.put(&self.builder.template, label);
    }
}
