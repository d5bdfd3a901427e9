//! The names of locks that threads hold: `count_lock`, `pool->jobs.lock`.

use ir::passes::PointsTo;
use ir::{Expr, Program, Storage, Target, Targets, TemplateId};
use verdict::{LockBase, LockFact};

/// The names of some locks, each once. Locals in them are the procedure's.
pub(super) fn locks(
    program: &Program,
    points_to: Option<&PointsTo>,
    template: TemplateId,
    locks: &[LockFact],
) -> Vec<String> {
    super::without_repetitions(locks.iter().map(|fact| lock(program, points_to, template, fact)).collect())
}

/// The name of a lock.
pub(super) fn lock(
    program: &Program,
    points_to: Option<&PointsTo>,
    template: TemplateId,
    lock: &LockFact,
) -> String {
    let reading = if lock.shared { " (for reading)" } else { "" };
    let name = match lock.base {
        LockBase::Object(object) => {
            short(program, Target { object, first: lock.offset, stride: 0, count: 1 })
        }
        LockBase::Local(local) => {
            let found = program.templates.get(template).and_then(|code| code.locals.get(local));
            let source = found.map(|local| local.name.as_str()).filter(|name| !ir::names::is_made_up(name));
            let source = source.filter(|name| !name.is_empty());
            let targets = points_to.map(|points_to| points_to.targets(template, &Expr::Local(local)));
            let mut names: Vec<String> = match &targets {
                Some(Targets::Of(targets)) => {
                    targets.iter().map(|target| through(program, source, *target, lock.offset)).collect()
                }
                Some(Targets::Any) | None => Vec::new(),
            };
            names.sort();
            names.dedup();
            match (names.as_slice(), source) {
                ([name], _) => name.clone(),
                (_, Some(source)) if lock.offset == 0 => format!("*{source}"),
                (_, Some(source)) => format!("{source} + {} bytes", lock.offset),
                ([name, ..], None) => format!("{name} or the like"),
                ([], None) => "a lock".to_owned(),
            }
        }
    };
    name + reading
}

/// The name of a lock at an offset from a pointer's target. A pointer of the source gives the best name.
fn through(program: &Program, pointer: Option<&str>, target: Target, offset: u64) -> String {
    let lock = Target { first: target.first.wrapping_add(offset), ..target };
    let name = short(program, lock);
    let whole = target.first == 0 && target.stride == 0;
    let path = name.split_once("->").map(|(_, path)| path);
    let member = match program.objects.get(target.object) {
        Some(object) if object.storage != Storage::Site => name.strip_prefix(&format!("{}.", object.name)),
        Some(_) | None => path,
    };
    match (pointer, member) {
        (Some(pointer), Some(member)) if whole => format!("{pointer}->{member}"),
        (Some(_) | None, _) => name,
    }
}

/// The name of a cell, without where it is allocated.
fn short(program: &Program, cell: Target) -> String {
    match program.site_use(cell.object) {
        Some(used) if cell.stride == 0 => ir::names::in_allocated(used, cell.first),
        Some(_) | None => ir::names::location(program, cell),
    }
}
