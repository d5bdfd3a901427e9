//! Which variables are related to each other: packs (paper 4, algorithm 2; see [`domains::packs`]).
//!
//! Packs of shared cells come from the statements of all templates, with locals replaced by equal
//! expressions: `t = x; u = y; if (t < u)` relates `x` and `y`. The packs of a template come from its
//! statements with locals, possibly together with shared cells.

use super::invariants::Annotation;
use super::setup::{Setup, Subject};
use domains::{Memory, Packing, Packs, Statement, Variable};
use std::collections::{BTreeMap, BTreeSet};

/// The most variables in a pack. A step costs the cube of it.
const LARGEST: usize = 8;
/// The most packs of shared cells, and the most further packs of each template.
const MOST: usize = 200;

/// The shared cells that each local is copied from or to, or compared with.
fn copies(
    statements: &[Statement<Variable>],
    is_shared: impl Fn(&Variable) -> bool,
) -> BTreeMap<Variable, BTreeSet<Variable>> {
    let mut copies: BTreeMap<Variable, BTreeSet<Variable>> = BTreeMap::new();
    for statement in statements {
        let variables = statement.variables();
        let (cells, locals): (Vec<Variable>, Vec<Variable>) = variables.iter().partition(|it| is_shared(it));
        if let ([cell], [local]) = (cells.as_slice(), locals.as_slice()) {
            copies.entry(*local).or_default().insert(*cell);
        }
    }
    copies
}

/// Guards of locals, with the locals replaced by the shared cells that they are copied from or to: a relation
/// of the copies held for the cells before, or will hold.
fn in_place_of_copies(
    statements: &[Statement<Variable>],
    copies: &BTreeMap<Variable, BTreeSet<Variable>>,
) -> Vec<Statement<Variable>> {
    let guards = statements.iter().filter(|statement| matches!(statement, Statement::Guard(_)));
    guards
        .map(|guard| {
            let cells = guard.variables().iter().filter_map(|local| copies.get(local)).flatten();
            Statement::Guard(cells.copied().collect())
        })
        .collect()
}

/// Shared cells, beside locals that these are copied from or to: a relation goes from the ones to the others
/// one by one. If there is no room for all, without those that the front end made up, or those of which two
/// or more of the cells are copies.
fn beside_copies(
    cells: &[Variable],
    copies: &BTreeMap<Variable, BTreeSet<Variable>>,
    is_named: impl Fn(Variable) -> bool,
) -> Option<Statement<Variable>> {
    let with_copies_of = |(least, named): (usize, bool)| -> BTreeSet<Variable> {
        let related = copies.iter().filter(|(local, of)| {
            cells.iter().filter(|cell| of.contains(cell)).count() >= least && (!named || is_named(**local))
        });
        related.map(|(local, _)| *local).chain(cells.iter().copied()).collect()
    };
    let fits = |all: &BTreeSet<Variable>| all.len() > cells.len() && all.len() <= LARGEST;
    [(1, false), (1, true), (2, false)].into_iter().map(with_copies_of).find(fits).map(Statement::Guard)
}

/// The variables of a setup, related to each other. `None` when there is nothing to relate.
pub fn related<'a>(setup: &Setup<'a, '_>, annotation: &Annotation) -> Option<Memory<'a>> {
    let program = setup.model.program;
    let mut shared: Vec<Statement<Variable>> = Vec::new();
    let mut others: Vec<Vec<Statement<Variable>>> = Vec::new();
    let is_shared = |variable: &Variable| setup.memory.is_shared(*variable);
    for (template, code) in program.templates.enumerate() {
        let mut of_template = Vec::new();
        for (edge, what) in code.edges.enumerate() {
            let node = setup.model.node(template, what.source);
            for statement in setup.scope(template).statements(edge, &annotation.equal[node]) {
                let all = statement.variables().iter().all(is_shared);
                if all { &mut shared } else { &mut of_template }.push(statement);
            }
        }
        others.push(of_template);
    }
    let copies: Vec<_> = others.iter().map(|statements| copies(statements, is_shared)).collect();
    for (statements, copies) in others.iter().zip(&copies) {
        shared.extend(in_place_of_copies(statements, copies));
    }
    let packing = Packing { largest: LARGEST, mixed: true };
    let lists = |statements: Vec<Statement<Variable>>| -> Vec<Vec<Variable>> {
        let packs = Packs::new(packing, statements, |variable| !is_shared(&variable));
        packs.ids().take(MOST).map(|pack| packs.variables(pack).to_vec()).collect()
    };
    let mut shared = lists(shared);
    // The data flow of packs is that of writes alone, which may say more of a cell that is tested, too.
    let mut tested: Vec<Variable> = Vec::new();
    for definition in setup.definitions.iter().filter(|definition| !definition.writes) {
        if let Subject::Cell(cell) = definition.subject
            && !tested.contains(&cell)
            && setup.memory.cell(cell).is_some_and(|cell| cell.strong)
        {
            tested.push(cell);
        }
    }
    shared.extend(tested.into_iter().take(MOST).map(|cell| vec![cell]));
    for (code, (statements, copies)) in program.templates.iter().zip(others.iter_mut().zip(&copies)) {
        let is_named = |variable: Variable| {
            setup.as_local(variable).is_some_and(|local| !code.locals[local].name.starts_with('%'))
        };
        statements.extend(shared.iter().filter_map(|pack| beside_copies(pack, copies, is_named)));
    }
    let others: Vec<_> = others.into_iter().map(lists).collect();
    if shared.is_empty() && others.iter().all(Vec::is_empty) {
        return None;
    }
    let mut memory = setup.memory.clone();
    memory.relate(&shared, &others).then_some(memory)
}
