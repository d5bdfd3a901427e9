//! Code that runs before and after `main`: constructors, functions registered by `atexit`, destructors.
//!
//! Constructors run by rising priority, those without one last; with the same priority, they run in the order
//! of the files and of their definitions, as with linkers. At the end of the program (`main` returns, or
//! `exit` is called) the registered functions run, the newest first, then the destructors in the reverse
//! order of constructors. Meanwhile other threads continue to run. A second thread that calls `exit` waits
//! for the end.
//!
//! The code for the end is one procedure, which exists only if there is something to do.

use crate::function::Function;
use crate::library::Argument;
use crate::link::Declared;
use crate::lowering::Lowering;
use ir::{
    BinaryOp, Callee, Expr, Initial, IntType, Layout, Lhs, LocationKind, Object, ObjectId, Op, Place, Span,
    Storage, Targets, Template, Waiting,
};
use rucc_sema::{DeclKind, Priority};

/// The object that points to the newest registered function.
const REGISTERED: &str = "%atexit";
/// Sections of pointers to functions that a loader calls.
const CALLED_SECTIONS: [&str; 6] =
    [".init_array", ".preinit_array", ".fini_array", ".ctors", ".dtors", ".init"];

/// When a constructor runs: those with a number first.
fn rank(priority: Priority) -> (bool, u16) {
    match priority {
        Priority::Numbered(number) => (false, number),
        Priority::Unnumbered => (true, 0),
    }
}

/// The functions that run before `main`, or those that run after it, in order.
fn implicit_calls(lowering: &Lowering<'_>, before: bool) -> Vec<Declared> {
    let mut found = Vec::new();
    for (unit_index, unit) in lowering.units.iter().enumerate() {
        for &declaration in unit.tree.top_level() {
            let function = &unit.tree[declaration];
            if function.kind != DeclKind::Function || function.body.is_none() {
                continue;
            }
            let priority = if before { function.startup.before } else { function.startup.after };
            if let Some(priority) = priority {
                found.push((rank(priority), lowering.resolve(unit_index, declaration)));
            }
        }
    }
    // Stable: functions with the same priority keep their order.
    found.sort_by_key(|(rank, _)| *rank);
    let mut found: Vec<Declared> = found.into_iter().map(|(_, declared)| declared).collect();
    if !before {
        found.reverse();
    }
    found
}

/// Generates the procedure that runs at the end of the program, if there is something to do; says whether
/// there is.
pub fn lower_exit(lowering: &mut Lowering<'_>) -> bool {
    let destructors = implicit_calls(lowering, false);
    let registered = registered(lowering);
    if destructors.is_empty() && registered.is_none() {
        return false;
    }
    let template =
        lowering.program.templates.push(Template { name: "exit".to_owned(), ..Template::default() });
    let mut function = Function::new(lowering, 0, "exit", template);
    function.run_at_exit(registered, &destructors);
    let finished = function.builder.template;
    lowering.program.templates[template] = finished;
    for (within, location) in std::mem::take(&mut lowering.exits) {
        let code = &mut lowering.program.templates[within];
        code.locations[location].kind = LocationKind::Normal;
        let end = code.location(LocationKind::Halt, false);
        code.locations[end].waiting = std::mem::take(&mut code.locations[location].waiting);
        let span = code.edges.iter().rfind(|edge| edge.target == location).map(|edge| edge.span);
        let call = Op::Call(Callee::Procedure(template), vec![], None);
        code.edge(location, end, vec![call], span.unwrap_or_default());
    }
    let mut locations = lowering.program.templates.iter().flat_map(|template| template.locations.iter());
    if lowering.links.starts_with_main() && !locations.any(|location| location.kind == LocationKind::Exit) {
        return true;
    }
    let text = "unsupported: what is to run at the end of the program does not run when its last thread ends";
    lowering.assume_everywhere(text.to_owned(), Span::default(), true);
    true
}

fn registered(lowering: &Lowering<'_>) -> Option<ObjectId> {
    lowering.program.objects.enumerate().find(|(_, object)| object.name == REGISTERED).map(|(id, _)| id)
}

impl Function<'_, '_> {
    /// Calls the functions that run before `main`.
    pub fn constructors(&mut self) {
        for declared in implicit_calls(self.global, true) {
            let unit = &self.global.units[declared.unit];
            if !unit.tree[unit.tree[declared.declaration].params].is_empty() {
                self.unsupported("a constructor with parameters");
                continue;
            }
            let template = self.global.template(declared, false);
            self.builder.emit(Op::Call(Callee::Procedure(template), vec![], None));
        }
        for (index, unit) in self.global.units.iter().enumerate() {
            if let Some(span) = unit.openmp {
                let span = self.global.span(index, span);
                let text =
                    "OpenMP is not supported: its pragmas are ignored, as by compilers without -fopenmp";
                self.global.assume(text.to_owned(), span, true);
            }
            if !unit.tree.file_asms().is_empty() {
                self.unsupported("assembly outside of functions");
            }
            if unit.has_preferred_alignments {
                self.unsupported("__alignof__ with 32 bits");
            }
            if unit.has_second_names {
                self.unsupported("a pragma that gives something a second name");
            }
            for &declaration in unit.tree.top_level() {
                let Some(section) = unit.tree.section(declaration) else { continue };
                let bytes = unit.tree[section].bytes(&unit.session.target);
                let name = String::from_utf8_lossy(&bytes).into_owned();
                if CALLED_SECTIONS.iter().any(|called| name.starts_with(called)) {
                    let text = format!("unsupported: what is in the section '{name}' does not run");
                    let span = self.builder.span;
                    self.global.assume(text, span, true);
                }
            }
        }
    }
    /// Ends the program, as `exit` and the end of `main` do.
    pub fn exit_program(&mut self, how: Waiting) {
        let location = self.builder.template.location(LocationKind::Halt, false);
        self.builder.template.locations[location].waiting = how;
        self.builder.jump(location);
        self.global.exits.push((self.template, location));
    }
    /// `atexit`: adds a function to those that run at the end.
    pub fn register_at_exit(&mut self, handler: &Argument) {
        let pointer = self.pointer();
        let width = pointer.bytes();
        let span = self.builder.span;
        let object = |name: &str, storage, count: u64| Object {
            name: name.to_owned(),
            storage,
            size: count * width,
            align: 16,
            layout: Layout::Array { element: Box::new(Layout::Scalar(pointer)), count, stride: width },
            initial: if count == 1 { Initial::Values(vec![]) } else { Initial::Unknown },
            span,
            role: ir::ObjectRole::Program,
        };
        let newest = match registered(self.global) {
            Some(found) => found,
            None => self.global.program.objects.push(object(REGISTERED, Storage::Static, 1)),
        };
        let site = self.global.program.objects.push(object("registered by atexit", Storage::Site, 2));
        let handler = self.cast(handler.value.clone(), pointer);
        let handler = self.freeze(handler);
        let node = self.builder.temporary(pointer);
        let size = self.address_constant(2 * width);
        self.builder.emit(Op::Allocate { site, size, zeroed: false, result: Lhs::Local(node) });
        self.builder.atomic_begin();
        let head = self.exit_cell(Expr::Address(newest, 0));
        let (next, held) = (self.exit_cell(Expr::Local(node)), self.exit_cell(self.after(node)));
        self.builder.set(Lhs::Memory(held), handler);
        self.builder.set(Lhs::Memory(next), Expr::load(head.clone()));
        self.builder.set(Lhs::Memory(head), Expr::Local(node));
        self.builder.atomic_end();
    }
    fn exit_cell(&self, address: Expr) -> Place {
        Place { address, ty: self.pointer(), atomic: true, targets: Targets::Any }
    }
    fn after(&self, node: ir::LocalId) -> Expr {
        let pointer = self.pointer();
        let width = self.address_constant(pointer.bytes());
        Expr::binary(BinaryOp::Add, pointer, Expr::Local(node), width)
    }
    /// The body of the procedure that runs at the end.
    fn run_at_exit(&mut self, registered: Option<ObjectId>, destructors: &[Declared]) {
        let pointer = self.pointer();
        // Only the first thread that arrives here continues.
        let begun = self.global.program.objects.push(Object {
            name: "%exit".to_owned(),
            storage: Storage::Static,
            size: 4,
            align: 16,
            layout: Layout::Scalar(IntType::U32),
            initial: Initial::Values(vec![]),
            span: Span::default(),
            role: ir::ObjectRole::Program,
        });
        let word =
            Place { address: Expr::Address(begun, 0), ty: IntType::U32, atomic: true, targets: Targets::Any };
        let is_first =
            Expr::binary(BinaryOp::Eq, IntType::U32, Expr::load(word.clone()), Expr::int(0, IntType::U32));
        let from = self.builder.here();
        self.builder.leave();
        self.builder.atomic_begin();
        let inside = self.builder.here();
        let span = self.builder.span;
        self.builder.template.edge(from, inside, vec![Op::Assume(is_first)], span);
        self.builder.set(Lhs::Memory(word), Expr::int(1, IntType::U32));
        self.builder.atomic_end();
        if let Some(newest) = registered {
            let head = self.exit_cell(Expr::Address(newest, 0));
            let (again, some, done) = (self.label(), self.label(), self.label());
            let node = self.builder.temporary(pointer);
            let routine = self.builder.temporary(pointer);
            self.place(again);
            self.builder.set(Lhs::Local(node), Expr::load(head.clone()));
            let is_some = Expr::binary(BinaryOp::Ne, pointer, Expr::Local(node), self.address_constant(0));
            self.branch(is_some, some, done);
            self.join(some);
            let (next, held) = (self.exit_cell(Expr::Local(node)), self.exit_cell(self.after(node)));
            self.builder.set(Lhs::Local(routine), Expr::load(held));
            self.builder.set(Lhs::Memory(head), Expr::load(next));
            self.builder.emit(Op::Call(Callee::Pointer(Expr::Local(routine)), vec![], None));
            self.jump(again);
            self.join(done);
        }
        for declared in destructors {
            let template = self.global.template(*declared, false);
            self.builder.emit(Op::Call(Callee::Procedure(template), vec![], None));
        }
        self.leave_function();
    }
}
