//! From a Boolean program to the common representation.
//!
//! Each statement is one step, as in paper 3, table 2: an assignment reads and writes all its variables at
//! once. So all accesses to shared variables are marked `atomic`, and steps are never split. Where the
//! dialects differ or are unclear, these rules apply.
//!
//! 1. A variable without an initial value may have any value at first (Boppo's own regressions say so; the
//!    paper's text says 0).
//! 2. Execution starts with `main`. Without `main`, or with `init`: `init` runs first and ends, then `main`
//!    or one thread for each `thread0`, `thread1`, …; with [`Options::any_copies`] any number of threads for
//!    each of them (Getafix, Duet).
//! 3. A call after a label `ASYNC_n` starts a thread. `start_thread goto L` starts one at `L` with a copy of
//!    the local variables.
//! 4. `enforce e` excludes executions in which a thread takes a step of the procedure while `e` does not
//!    hold.
//! 5. `constrain(e)` as a statement gives all visible variables any values for which `e` holds.
//! 6. `x$` is the variable `x` of each other thread that is in the same procedure: an assignment to it
//!    assigns in all of them, and a constraint with it must hold for all of them.
//! 7. `atomic`, if it is the first global variable and `at` the first local one of a `threadN`: threads with
//!    `at` unset wait while `atomic` is set (Getafix).
//! 8. A lock is held by the thread that took it; `unlock` by another blocks (paper 3, rule 9).

use crate::Options;
use crate::ast::{Declaration, Expr, Name, Program, Statement, StatementKind};
use crate::diagnostic::{Position, Problem};
use crate::procedure::ProcedureLowering;
use indexmap::IndexMap;
use ir::{
    Assignment, Assumption, Callee, Count, Initial, IntType, Layout, Lhs, LocationKind, Object, ObjectId, Op,
    Place, Rhs, Span, Storage, SyncKind, Template, TemplateId,
};
use std::collections::BTreeSet;

/// What a procedure looks like from outside.
pub(crate) struct Signature {
    pub template: TemplateId,
    pub parameters: usize,
    pub returns: usize,
    /// The labels at which `start_thread goto` starts threads, in order.
    pub starts: Vec<String>,
    /// How many arguments the template takes: with `starts`, the local variables and the start label too.
    pub arguments: usize,
    pub waits: bool,
}

/// What lowering a procedure needs to know of the program.
pub(crate) struct World<'a> {
    pub program: &'a Program,
    pub options: &'a Options,
    pub globals: IndexMap<String, ObjectId>,
    pub locks: IndexMap<String, ObjectId>,
    pub signatures: IndexMap<String, Signature>,
    /// Whether steps of `threadN` wait for `atomic`.
    pub atomic_flag: bool,
}

pub(crate) fn span(at: Position) -> Span {
    Span { file: 0, line: at.line, column: at.column }
}

/// A cell of a shared variable.
pub(crate) fn cell(object: ObjectId) -> Place {
    Place { atomic: true, ..Place::cell(object, 0, IntType::BOOL) }
}

/// Lowers a program.
pub fn lower(program: &Program, file: &str, options: &Options) -> Result<ir::Program, Problem> {
    let mut result = ir::Program { files: vec![file.to_owned()], ..ir::Program::default() };
    let locks = lock_names(program);
    let mut world = World {
        program,
        options,
        globals: IndexMap::new(),
        locks: IndexMap::new(),
        signatures: IndexMap::new(),
        atomic_flag: false,
    };
    for declaration in &program.globals {
        global(declaration, &locks, &mut world, &mut result)?;
    }
    signatures(program, &mut world)?;
    let start = Start::of(program, &world)?;
    let named_threads = matches!(&start, Start::Init { threads, .. } if !threads.is_empty());
    world.atomic_flag =
        named_threads && program.globals.first().is_some_and(|first| first.name.text == "atomic");
    for procedure in &program.procedures {
        let template = ProcedureLowering::new(&world, procedure)
            .run(matches!(&start, Start::Main(main) if *main == procedure.name.text))?;
        result.templates.push(template);
    }
    match start {
        Start::Main(main) => result.start.push((world.signatures[&main].template, Count::Exactly(1))),
        Start::Init { init, threads } => {
            let template = starter(&world, &init, &threads, &mut result);
            result.start.push((result.templates.push(template), Count::Exactly(1)));
        }
    }
    Ok(result)
}

/// How execution begins.
enum Start {
    /// With this procedure, which nobody calls.
    Main(String),
    /// With a procedure that runs to its end, if there is one, and then these, all at once.
    Init { init: Vec<String>, threads: Vec<String> },
}

impl Start {
    fn of(program: &Program, world: &World<'_>) -> Result<Self, Problem> {
        let has = |name: &str| world.signatures.contains_key(name);
        let mut called: BTreeSet<&str> = BTreeSet::new();
        for procedure in &program.procedures {
            each_statement(&procedure.body, &mut |statement| match &statement.kind {
                StatementKind::Call { callee, .. } | StatementKind::StartCall(callee, _) => {
                    called.insert(&callee.text);
                }
                _ => {}
            });
        }
        let is_numbered = |name: &&String| {
            name.strip_prefix("thread")
                .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
        };
        let threads: Vec<String> = if has("main") {
            vec!["main".to_owned()]
        } else {
            world.signatures.keys().filter(is_numbered).cloned().collect()
        };
        if threads.is_empty() {
            let at =
                program.procedures.first().map_or(Position { line: 1, column: 1 }, |first| first.name.at);
            return Err(Problem::new(at, "there is no procedure `main`, nor `thread0` and so on"));
        }
        for name in &threads {
            let procedure = program.procedures.iter().find(|procedure| procedure.name.text == *name);
            if let Some(procedure) =
                procedure.filter(|procedure| name != "main" && !procedure.parameters.is_empty())
            {
                return Err(Problem::new(
                    procedure.name.at,
                    format!("`{name}` starts as a thread, so it has no parameters"),
                ));
            }
        }
        let init = has("init") && !called.contains("init");
        if has("main") && !init && !called.contains("main") && !world.options.any_copies {
            return Ok(Self::Main("main".to_owned()));
        }
        let init = if init { vec!["init".to_owned()] } else { Vec::new() };
        Ok(Self::Init { init, threads })
    }
}

fn lock_names(program: &Program) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for procedure in &program.procedures {
        each_statement(&procedure.body, &mut |statement| {
            if let StatementKind::Lock(name) | StatementKind::Unlock(name) = &statement.kind {
                found.insert(name.text.clone());
            }
        });
    }
    found
}

/// Calls `visit` on all statements, outer ones first.
pub(crate) fn each_statement<'a>(statements: &'a [Statement], visit: &mut dyn FnMut(&'a Statement)) {
    for statement in statements {
        visit(statement);
        match &statement.kind {
            StatementKind::If(branches, otherwise) => {
                for (_, body) in branches {
                    each_statement(body, visit);
                }
                each_statement(otherwise, visit);
            }
            StatementKind::While(_, body) => each_statement(body, visit),
            _ => {}
        }
    }
}

fn global(
    declaration: &Declaration,
    locks: &BTreeSet<String>,
    world: &mut World<'_>,
    result: &mut ir::Program,
) -> Result<(), Problem> {
    let Name { text, at } = &declaration.name;
    if world.globals.contains_key(text) || world.locks.contains_key(text) {
        return Err(Problem::new(*at, format!("`{text}` is declared twice")));
    }
    let is_lock = locks.contains(text);
    let initial = match &declaration.initial {
        Some(Expr::Constant(value)) if !is_lock => {
            Initial::Values(vec![(0, IntType::BOOL, ir::Expr::bool(*value))])
        }
        None | Some(Expr::Choice | Expr::Constant(false)) => Initial::Values(Vec::new()),
        Some(_) => {
            return Err(Problem::new(*at, format!("the initial value of `{text}` is no constant")));
        }
    };
    let (layout, size) =
        if is_lock { (Layout::Sync(SyncKind::Spin), 4) } else { (Layout::Scalar(IntType::BOOL), 1) };
    let name = text.clone();
    let object = Object {
        name,
        storage: Storage::Static,
        size,
        align: size,
        layout,
        initial,
        span: span(*at),
        role: ir::ObjectRole::Program,
    };
    let id = result.objects.push(object);
    if is_lock { &mut world.locks } else { &mut world.globals }.insert(text.clone(), id);
    Ok(())
}

fn signatures(program: &Program, world: &mut World<'_>) -> Result<(), Problem> {
    for (index, procedure) in program.procedures.iter().enumerate() {
        let (mut starts, mut waits): (Vec<String>, bool) = (Vec::new(), false);
        each_statement(&procedure.body, &mut |statement| match &statement.kind {
            StatementKind::StartAt(label) if !starts.contains(&label.text) => starts.push(label.text.clone()),
            StatementKind::Wait => waits = true,
            _ => {}
        });
        let parameters = procedure.parameters.len();
        let arguments = if starts.is_empty() { parameters } else { parameters + procedure.locals.len() + 1 };
        let template = TemplateId(index as u32);
        let signature =
            Signature { template, parameters, returns: procedure.returns, starts, arguments, waits };
        let Name { text, at } = &procedure.name;
        if world.signatures.insert(text.clone(), signature).is_some() {
            return Err(Problem::new(*at, format!("there are two procedures `{text}`")));
        }
    }
    Ok(())
}

/// The globals that hold anything at first.
pub(crate) fn open_globals(world: &World<'_>) -> Vec<ObjectId> {
    let open =
        world.program.globals.iter().filter(|global| matches!(global.initial, None | Some(Expr::Choice)));
    open.filter_map(|global| world.globals.get(&global.name.text).copied()).collect()
}

/// The template that starts threads once `init` has ended.
fn starter(world: &World<'_>, init: &[String], threads: &[String], result: &mut ir::Program) -> Template {
    let at = Span { file: 0, line: 1, column: 1 };
    let mut template = Template { name: "start".to_owned(), span: at, ..Template::default() };
    let mut here = template.location(LocationKind::Normal, false);
    template.entry = here;
    let mut step = |template: &mut Template, op: Vec<Op>| {
        let next = template.location(LocationKind::Normal, false);
        template.edge(here, next, op, at);
        here = next;
        next
    };
    let pairs = open_globals(world).into_iter().map(|object| (Lhs::Memory(cell(object)), Rhs::Any)).collect();
    step(&mut template, vec![Op::Assign(Assignment { pairs, constraint: None })]);
    for name in init {
        let signature = &world.signatures[name];
        let zeros = vec![ir::Expr::bool(false); signature.arguments];
        step(&mut template, vec![Op::Call(Callee::Procedure(signature.template), zeros, None)]);
    }
    let spawn = |name: &String| {
        let signature = &world.signatures[name];
        let zeros = vec![ir::Expr::bool(false); signature.arguments];
        Op::Spawn(Callee::Procedure(signature.template), zeros, None)
    };
    let first = init.first().map_or(String::new(), |name| format!("`{name}` runs first, then "));
    let names: Vec<String> = threads.iter().map(|name| format!("`{name}`")).collect();
    let how_many = if world.options.any_copies { "any number of threads" } else { "one thread" };
    let text = format!("{first}{how_many} for each of {}", names.join(", "));
    result.assumptions.push(Assumption { text, span: at, limits_proof: false });
    if world.atomic_flag {
        let text = "while `atomic` is set, only threads with `at` set run".to_owned();
        result.assumptions.push(Assumption { text, span: at, limits_proof: false });
    }
    if world.options.any_copies {
        let hub = step(&mut template, Vec::new());
        for name in threads {
            template.edge(hub, hub, vec![spawn(name)], at);
        }
    } else {
        let mut last = template.entry;
        for name in threads {
            last = step(&mut template, vec![spawn(name)]);
        }
        template.locations[last].kind = LocationKind::End;
    }
    template
}
