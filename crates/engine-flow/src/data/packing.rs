//! Which variables are related to each other: packs (paper 4, algorithm 2; see [`domains::packs`]).
//!
//! Packs of shared cells come from the statements of all templates, in which locals are replaced by what they are known to be equal to: `t = x; u = y; if (t < u)` relates
//! `x` and `y`. The packs of a template come from its statements with locals, also beside shared cells.

use super::invariants::Annotation;
use super::setup::Setup;
use domains::{Memory, Packing, Packs, Statement, Variable};
use std::collections::{BTreeMap, BTreeSet};

/// The most variables in a pack. A step costs the cube of it.
const LARGEST: usize = 6;
/// The most packs of shared cells, and of each template beside these.
const MOST: usize = 200;

/// Guards of locals, with the shared cells that these are copied from or to in their place, and beside them: what holds of the copies once held of the cells, or will.
fn beside_copies(
    statements: &[Statement<Variable>],
    is_shared: impl Fn(&Variable) -> bool,
) -> (Vec<Statement<Variable>>, Vec<Statement<Variable>>) {
    let mut copies: BTreeMap<Variable, BTreeSet<Variable>> = BTreeMap::new();
    for statement in statements {
        let Statement::Assignment(variables) = statement else { continue };
        let (cells, locals): (Vec<Variable>, Vec<Variable>) = variables.iter().partition(|it| is_shared(it));
        if let ([cell], [local]) = (cells.as_slice(), locals.as_slice()) {
            copies.entry(*local).or_default().insert(*cell);
        }
    }
    let (mut shared, mut mixed) = (Vec::new(), Vec::new());
    for statement in statements {
        let Statement::Guard(variables) = statement else { continue };
        if variables.len() < 2 || variables.iter().any(&is_shared) {
            continue;
        }
        let cells: BTreeSet<Variable> =
            variables.iter().filter_map(|local| copies.get(local)).flatten().copied().collect();
        if !cells.is_empty() {
            mixed.push(Statement::Guard(variables.union(&cells).copied().collect()));
            shared.push(Statement::Guard(cells));
        }
    }
    (shared, mixed)
}

/// The variables of a setup, related to each other. Nothing if there is nothing to relate.
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
    for statements in &mut others {
        let (cells, mixed) = beside_copies(statements, is_shared);
        shared.extend(cells);
        statements.extend(mixed);
    }
    let packing = Packing { largest: LARGEST, mixed: true };
    let lists = |statements: Vec<Statement<Variable>>| -> Vec<Vec<Variable>> {
        let packs = Packs::new(packing, statements, |variable| !is_shared(&variable));
        packs.ids().take(MOST).map(|pack| packs.variables(pack).to_vec()).collect()
    };
    let shared = lists(shared);
    let others: Vec<_> = others.into_iter().map(lists).collect();
    if shared.is_empty() && others.iter().all(Vec::is_empty) {
        return None;
    }
    let mut memory = setup.memory.clone();
    memory.relate(&shared, &others).then_some(memory)
}
