//! Lowers everything that the first function can reach: functions and objects are added when they are first
//! named.

use crate::classes::{self, FunctionClass, UnknownFunction};
use crate::effects::FunctionEffects;
use crate::equal_literals::Literals;
use crate::function::Function;
use crate::library;
use crate::link::{Declared, First, Links};
use crate::memory_orders::Atomics;
use crate::nesc::Nesc;
use crate::own_objects;
use crate::parse::Unit;
use crate::scopes::Scopes;
use crate::start;
use crate::startup;
use crate::variadic;
use ir::Draft;
use ir::passes::allocators::CallUses;
use ir::passes::{PointsTo, callable_with};
use ir::{
    Assumption, BinaryOp, Count, DataModel, Edge, Expr, Initial, IntType, Layout, Lhs, LocationId, Object,
    ObjectId, Op, Program, Rhs, Span, Storage, Template, TemplateId,
};
use rucc_sema::{Definition, Emission, Linkage, StorageDuration};
use rucc_types::{ArrayLen, TypeKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A program under construction.
pub struct Lowering<'u> {
    /// The checked files.
    pub units: &'u [Unit],
    /// The linker's results.
    pub links: &'u Links,
    /// The lowered program so far.
    pub program: Program,
    /// Assumptions about functions that no file defines.
    pub outside: Outside,
    /// Its atomic operations.
    pub atomics: Atomics,
    /// What interrupts need, if the program has them.
    pub nesc: Option<Nesc>,
    /// What functions may do.
    pub function_effects: FunctionEffects,
    /// The blocks of each function.
    pub scopes: BTreeMap<TemplateId, Scopes>,
    templates: FxHashMap<(Declared, bool), TemplateId>,
    objects: FxHashMap<Declared, ObjectId>,
    strings: FxHashMap<(Vec<u8>, u64), ObjectId>,
    /// Where they are written.
    pub literals: Literals,
    constant_objects: BTreeSet<ObjectId>,
    files: FxHashMap<String, u32>,
    work: VecDeque<Work>,
    /// Ends of the program that run exit handlers: a template, and the location where these would start.
    pub exits: Vec<(TemplateId, LocationId)>,
    /// Calls of unknown functions: the caller, the message, the position, and whether the function is
    /// declared pure.
    pub unknown_calls: Vec<(TemplateId, String, Span, bool)>,
    /// Whether an unknown function gives a number that may be the address of something it can name.
    pub gives_names: bool,
    /// The unknown functions that are called.
    pub unknown_functions: Vec<UnknownFunction>,
    /// The tags of structures of which the program may have objects, once they were asked for.
    own_tags: Option<FxHashSet<String>>,
    /// Whether the program takes arguments from lists, once that was asked for.
    takes_arguments: Option<bool>,
    /// Whether it takes unsigned numbers from them that are as wide as a pointer, once that was asked for.
    takes_words: Option<bool>,
    /// What the source uses the results of calls as.
    pub call_uses: CallUses,
    /// Whether the program names variables that other files define.
    names_outside: bool,
    /// The simplifications so far, with the function that contains each, if any.
    noted: Vec<(Option<TemplateId>, Assumption)>,
}

/// What is taken for granted of functions that no file defines.
#[derive(Clone, Debug, Default)]
pub struct Outside {
    /// Whether they change only memory that they get a pointer to.
    pub is_pure: bool,
    /// Whether allocations and similar calls may fail.
    pub failures: bool,
    /// The user's classification of some of them.
    pub functions: Vec<(String, FunctionClass)>,
}

enum Work {
    Function { declared: Declared, template: TemplateId, atomic: bool },
    Initialiser { declared: Declared, object: ObjectId },
}

/// Lowers linked files; again if it turns out that the program can read what it wrote itself, so that all its
/// input is lowered in this light.
pub fn lower<'u>(
    units: &'u [Unit],
    links: &'u Links,
    data_model: DataModel,
    nesc: Option<&[(Declared, bool)]>,
    atomics: Atomics,
    outside: Outside,
    draft: &Draft,
) -> Lowering<'u> {
    let program = Program { data_model, ..Program::default() };
    let lowering = lower_into(program, units, links, nesc, atomics.clone(), outside.clone(), draft);
    if !library::reads_itself(&lowering.program) {
        return lowering;
    }
    let mut program = Program { data_model, ..Program::default() };
    library::comes_back(&mut program);
    lower_into(program, units, links, nesc, atomics, outside, draft)
}

fn lower_into<'u>(
    program: Program,
    units: &'u [Unit],
    links: &'u Links,
    nesc: Option<&[(Declared, bool)]>,
    atomics: Atomics,
    outside: Outside,
    draft: &Draft,
) -> Lowering<'u> {
    let mut lowering = Lowering {
        units,
        links,
        program,
        outside,
        atomics,
        nesc: None,
        function_effects: FunctionEffects::default(),
        scopes: BTreeMap::new(),
        templates: FxHashMap::default(),
        objects: FxHashMap::default(),
        strings: FxHashMap::default(),
        literals: Literals::default(),
        constant_objects: BTreeSet::new(),
        files: FxHashMap::default(),
        work: VecDeque::new(),
        exits: Vec::new(),
        unknown_calls: Vec::new(),
        gives_names: false,
        unknown_functions: Vec::new(),
        own_tags: None,
        takes_arguments: None,
        takes_words: None,
        call_uses: CallUses::default(),
        names_outside: false,
        noted: Vec::new(),
    };
    let main = match &links.first {
        First::Main(main) => lowering.template(*main, false),
        First::Named(found) => start::lower(&mut lowering, found),
    };
    lowering.program.start.push((main, Count::Exactly(1)));
    if let Some(handlers) = nesc {
        lowering.interrupts(handlers);
    }
    lowering.note(None);
    lowering.work_off();
    let runs_after_main = startup::lower_exit(&mut lowering);
    lowering.work_off();
    draft.put(&lowering.program);
    lowering.judge_unknown_calls();
    lowering.know_external_names();
    let mut points_to = crate::lifetimes::end(&mut lowering.program, &lowering.scopes, runs_after_main);
    crate::equal_literals::leave_open(&mut lowering.program, &lowering.literals, &mut points_to);
    crate::literals::protect(&mut lowering.program, &lowering.constant_objects, &mut points_to);
    lowering.doubt_writes_to_mapped(&mut points_to);
    lowering.rewrite_out_of_bounds_addresses();
    lowering.note(None);
    lowering.drop_unreachable_assumptions(points_to);
    lowering
}

impl<'u> Lowering<'u> {
    /// Lowers everything that was named so far.
    fn work_off(&mut self) {
        while let Some(work) = self.work.pop_front() {
            match work {
                Work::Function { declared, template, atomic } => {
                    Function::lower(self, declared, template, atomic);
                    self.note(Some(template));
                }
                Work::Initialiser { declared, object } => {
                    let initial = Function::initial(self, declared, object);
                    self.program.objects[object].initial = initial;
                    self.note(None);
                }
            }
        }
    }
    /// A call of an unknown function has no effect only if the function can name nothing of the program.
    /// Which names of other files the program uses is known only when all of it is lowered.
    fn judge_unknown_calls(&mut self) {
        let is_closed = !self.names_outside && self.links.is_closed(self.units);
        for (within, text, span, is_pure) in std::mem::take(&mut self.unknown_calls) {
            let limits_proof = !is_pure && !is_closed;
            self.noted.push((Some(within), Assumption { text, span, limits_proof }));
        }
    }
    /// Variables and functions that code in other files can name are known there. That counts for results
    /// that do not forbid proofs: results with pointers come with the assumption that they lead nowhere else
    /// than memory of their own, and what such functions were given.
    fn know_external_names(&mut self) {
        if !self.gives_names {
            return;
        }
        let is_external = |declared: &Declared| {
            let declaration = &self.units[declared.unit].tree[declared.declaration];
            declaration.linkage == Linkage::External
        };
        // Thread-local variables have no address that exists from the start. If an unknown function returns
        // one, nothing is proved anyway.
        let is_static = |id: &ObjectId| self.program.objects[*id].storage == Storage::Static;
        let external = self.objects.iter().filter(|(declared, _)| is_external(declared)).map(|(_, id)| *id);
        let mut objects: Vec<ObjectId> = external.filter(is_static).collect();
        objects.sort_unstable();
        let mut templates: Vec<TemplateId> = self
            .templates
            .iter()
            .filter(|((declared, atomic), _)| !atomic && is_external(declared))
            .map(|(_, id)| *id)
            .collect();
        templates.sort_unstable();
        let addresses = objects.into_iter().map(|object| Expr::Address(object, 0));
        let addresses = addresses.chain(templates.into_iter().map(Expr::Procedure)).collect();
        library::know(&mut self.program, addresses);
    }
    /// Whether the program may have objects of a structure or union with this tag.
    pub fn has_own(&mut self, tag: &str) -> bool {
        let own = self.own_tags.get_or_insert_with(|| own_objects::tags(self.units, &self.outside));
        own.contains(tag)
    }
    /// Whether the program takes arguments from lists.
    pub fn takes_arguments(&mut self) -> bool {
        *self.takes_arguments.get_or_insert_with(|| variadic::takes_arguments(self.units, false))
    }
    /// Whether it takes unsigned numbers from them that are as wide as a pointer.
    pub fn takes_words(&mut self) -> bool {
        *self.takes_words.get_or_insert_with(|| variadic::takes_arguments(self.units, true))
    }
    /// Records a call of an unknown function.
    pub fn note_unknown(&mut self, declared: Declared, span: Span) {
        let unit = &self.units[declared.unit];
        let name = unit.name(declared.declaration);
        if self.unknown_functions.iter().any(|known| known.name == name) {
            return;
        }
        let file = self.program.files.get(span.file as usize).map_or("", String::as_str);
        self.unknown_functions.push(UnknownFunction {
            name: name.to_owned(),
            prototype: unit.spell(unit.tree[declared.declaration].ty),
            guess: classes::guess(unit, declared.declaration),
            place: format!("{file}:{}", span.line),
        });
    }
    /// A position in a file of the program.
    pub fn span(&mut self, unit: usize, span: rucc_diag::Span) -> Span {
        let (name, line, column) = self.units[unit].position(span);
        let file = match self.files.get(name) {
            Some(file) => *file,
            None => {
                let file = self.program.files.len() as u32;
                self.program.files.push(name.to_owned());
                self.files.insert(name.to_owned(), file);
                file
            }
        };
        Span { file, line, column }
    }
    /// Records a simplification in the code that is being lowered, once.
    pub fn assume(&mut self, text: String, span: Span, limits_proof: bool) {
        let assumption = Assumption { text, span, limits_proof };
        if !self.program.assumptions.contains(&assumption) {
            self.program.assumptions.push(assumption);
        }
    }
    /// The initial value of a standard stream's variable: the address of the stream (see
    /// `library/streams.rs`).
    fn standard_stream(&mut self, name: &str) -> (u64, IntType, Expr) {
        let stream = self.program.objects.push(Object {
            name: format!("the stream {name}"),
            storage: Storage::Static,
            size: 1,
            align: 16,
            layout: Layout::Bytes(1),
            initial: Initial::Values(Vec::new()),
            span: Span::default(),
            role: ir::ObjectRole::Program,
        });
        (0, self.program.data_model.pointer(), Expr::Address(stream, 0))
    }
    /// Records an assumption about the whole program.
    pub fn assume_everywhere(&mut self, text: String, span: Span, limits_proof: bool) {
        self.noted.push((None, Assumption { text, span, limits_proof }));
    }
    /// Attributes the newest simplifications to a function.
    fn note(&mut self, within: Option<TemplateId>) {
        let newest = std::mem::take(&mut self.program.assumptions);
        self.noted.extend(newest.into_iter().map(|assumption| (within, assumption)));
    }
    /// Drops simplifications in functions that are never called: tables of functions mention many. And those
    /// about detached threads that are joined, where none is.
    fn drop_unreachable_assumptions(&mut self, mut points_to: Option<PointsTo>) {
        let mut noted = std::mem::take(&mut self.noted);
        let joined = self.joined();
        let detached = noted.iter_mut().filter(|(_, one)| one.text.ends_with(library::NOT_JOINED));
        for (within, assumption) in detached {
            let here = |edge: &Edge, _: &Lhs| edge.span == assumption.span;
            let objects = within.map(|within| self.variables(within, &here)).unwrap_or_default();
            let is_joined = |object: &ObjectId| joined.iter().any(|joined| joined.contains(object));
            assumption.limits_proof = objects.iter().any(is_joined);
        }
        let limits = noted.iter().any(|(within, assumption)| within.is_some() && assumption.limits_proof);
        // Interrupt handlers have no callers.
        let callable = (limits && self.nesc.is_none()).then(|| callable_with(&self.program, &mut points_to));
        for (within, assumption) in noted {
            let counts =
                within.zip(callable.as_ref()).is_none_or(|(within, callable)| callable.contains(&within));
            let is_known = |known: &Assumption| {
                *known == assumption || known.text == assumption.text && library::is_granted(&known.text)
            };
            let is_of_joins = assumption.text.ends_with(library::NOT_JOINED);
            if counts && (joined.is_some() || !is_of_joins) && !self.program.assumptions.iter().any(is_known)
            {
                self.program.assumptions.push(assumption);
            }
        }
    }
    /// The variables that values of expressions in a procedure are read from, as far as they are known.
    fn variables(&self, template: TemplateId, holds: &dyn Fn(&Edge, &Lhs) -> bool) -> BTreeSet<ObjectId> {
        let mut found = BTreeSet::new();
        for edge in &self.program.templates[template].edges {
            for op in &edge.ops {
                let Op::Assign(assignment) = op else { continue };
                for (_, value) in assignment.pairs.iter().filter(|(lhs, _)| holds(edge, lhs)) {
                    let Rhs::Value(value) = value else { continue };
                    value.walk(&mut |inner| {
                        if let Expr::Address(object, _) = inner {
                            found.insert(*object);
                        }
                    });
                }
            }
        }
        found
    }
    /// The variables that threads are joined by, as far as they are known; `None` where none is joined.
    fn joined(&self) -> Option<BTreeSet<ObjectId>> {
        let mut found = None;
        for (id, code) in self.program.templates.enumerate() {
            for op in code.edges.iter().flat_map(|edge| &edge.ops) {
                let Op::Join(thread, _) = op else { continue };
                let objects: &mut BTreeSet<ObjectId> = found.get_or_insert_default();
                if let Expr::Local(local) = thread {
                    objects.extend(self.variables(id, &|_, lhs| *lhs == Lhs::Local(*local)));
                }
            }
        }
        found
    }
    /// Proves and refutes nothing by writes that may reach memory that is mapped to be read only.
    fn doubt_writes_to_mapped(&mut self, points_to: &mut Option<PointsTo>) {
        self.note(None);
        let assumptions = self.noted.iter_mut().map(|(_, assumption)| assumption);
        let mut mapped: Vec<_> =
            assumptions.filter(|assumption| assumption.text.ends_with(library::READ_ONLY)).collect();
        let objects = self.program.objects.enumerate().filter(|(_, object)| {
            let is_here = mapped.iter().any(|assumption| assumption.span == object.span);
            object.storage == Storage::Site && is_here
        });
        let objects = objects.map(|(id, _)| id).collect::<BTreeSet<_>>();
        if !objects.is_empty() && crate::literals::doubt_writes(&mut self.program, &objects, points_to) {
            mapped.iter_mut().for_each(|assumption| assumption.limits_proof = true);
        }
    }
    /// The declaration that a name of a file means in the whole program.
    pub fn resolve(&self, unit: usize, declaration: rucc_sema::DeclId) -> Declared {
        self.links.resolve(self.units, Declared { unit, declaration })
    }
    /// Whether a resolved declaration is weak and undefined, so that its address is null.
    pub fn is_absent(&mut self, declared: Declared, span: Span) -> bool {
        if !self.links.is_absent(self.units, declared) {
            return false;
        }
        let name = self.units[declared.unit].name(declared.declaration);
        // The implementation may define names that are reserved for it.
        let limits_proof = name.starts_with('_');
        let text = format!("'{name}' is weak and not defined in these files: its address is null");
        self.assume(text, span, limits_proof);
        true
    }
    /// Whether calls of a function, already resolved, run its body: it has one, and no model is used
    /// instead. Names of the implementation have a meaning of their own, and so have those that headers
    /// define for inlining. Programs of the competition name all functions of the library with the
    /// library's meaning.
    pub fn runs_body(&self, declared: Declared) -> bool {
        let unit = &self.units[declared.unit];
        let declaration = &unit.tree[declared.declaration];
        let name = unit.name(declared.declaration);
        let is_inline = declaration.inline == Emission::Inline;
        let is_own = !is_inline && !self.outside.is_pure && !library::is_convention(name);
        declaration.body.is_some() && (is_own || !library::is_modelled(name))
    }
    /// The template of a function; with `atomic`, of its twin whose locations are all atomic.
    pub fn template(&mut self, declared: Declared, atomic: bool) -> TemplateId {
        if let Some(id) = self.templates.get(&(declared, atomic)) {
            return *id;
        }
        let name = self.units[declared.unit].name(declared.declaration).to_owned();
        let template = self.program.templates.push(Template { name, ..Template::default() });
        self.templates.insert((declared, atomic), template);
        self.work.push_back(Work::Function { declared, template, atomic });
        template
    }
    /// The object of a variable that lives as long as the program or its thread.
    pub fn object(&mut self, declared: Declared, owner: Option<&str>) -> ObjectId {
        if let Some(id) = self.objects.get(&declared) {
            return *id;
        }
        let unit = &self.units[declared.unit];
        let declaration = &unit.tree[declared.declaration];
        let name = match (unit.name(declared.declaration), owner) {
            ("", _) => "(literal)".to_owned(),
            (name, Some(owner)) if declaration.linkage == Linkage::None => format!("{owner}.{name}"),
            (name, _) => name.to_owned(),
        };
        let storage = match declaration.duration {
            StorageDuration::Thread => Storage::ThreadLocal,
            StorageDuration::Static | StorageDuration::Automatic => Storage::Static,
        };
        // A variable that the program shares with the library.
        if declaration.state == Definition::Declared
            && declaration.linkage == Linkage::External
            && let Some(object) = library::own_variable(&mut self.program, &name)
        {
            self.objects.insert(declared, object);
            return object;
        }
        let span = self.span(declared.unit, unit.tree.decl_span(declared.declaration));
        let mut size = unit.size(declaration.ty).unwrap_or(0).max(unit.tree.extent(declared.declaration));
        if let TypeKind::Array { elem, len: ArrayLen::Unknown } = unit.kind(declaration.ty)
            && size == 0
        {
            match declaration.state {
                // A tentative array without a size has one element.
                Definition::Tentative => size = unit.size(elem).unwrap_or(0),
                Definition::Declared | Definition::Defined => {
                    let text = format!("unsupported: the size of the array '{name}' is not known");
                    self.assume_everywhere(text, span, true);
                }
            }
        }
        if unit.has_reverse_order(declaration.ty) {
            let text = format!("unsupported: '{name}' has parts in reverse byte order");
            self.assume_everywhere(text, span, true);
        }
        let is_undefined = declaration.state == Definition::Declared && declaration.linkage != Linkage::None;
        let is_register = is_undefined && self.nesc.is_some() && unit.is_volatile(declaration.ty);
        let is_stream = is_undefined
            && matches!(
                name.as_str(),
                "stdin" | "stdout" | "stderr" | "__stdinp" | "__stdoutp" | "__stderrp"
            )
            && unit.is_pointer(declaration.ty);
        if is_undefined && !is_register && !is_stream {
            self.names_outside |= !unit.is_const(declaration.ty);
            // The target of an arbitrary pointer is not modelled.
            let limits_proof = unit.has_pointer(declaration.ty);
            let text = format!("'{name}' is not defined in these files: its first value is arbitrary");
            self.assume_everywhere(text, span, limits_proof);
        }
        let initial = match (is_undefined, is_stream) {
            (true, true) => Initial::Values(vec![self.standard_stream(&name)]),
            (true, false) => Initial::Unknown,
            (false, _) => Initial::Values(Vec::new()),
        };
        let align = declaration.alignment.map_or(1, u64::from).max(unit.align(declaration.ty));
        let layout = unit.layout(declaration.ty, size);
        let object = self.program.objects.push(Object {
            name,
            storage,
            size,
            align,
            layout,
            initial,
            span,
            role: ir::ObjectRole::Program,
        });
        self.objects.insert(declared, object);
        if !is_undefined && storage == Storage::Static && unit.is_const_object(declaration.ty) {
            self.constant_objects.insert(object);
        }
        if let (Some(nesc), true) = (&mut self.nesc, is_register) {
            nesc.registers.push(object);
        }
        if declaration.init.is_some() {
            self.work.push_back(Work::Initialiser { declared, object });
        }
        object
    }
    /// Replaces named addresses outside of their object by computed ones: only addresses inside and just past
    /// an object can be named.
    fn rewrite_out_of_bounds_addresses(&mut self) {
        let pointer = self.program.data_model.pointer();
        let sizes: Vec<u64> = self.program.objects.iter().map(|object| object.size).collect();
        let is_outside = |expr: &Expr| matches!(expr, Expr::Address(id, at) if *at > sizes[id.0 as usize]);
        for edge in self.program.templates.iter_mut().flat_map(|template| template.edges.iter_mut()) {
            for expr in edge.ops.iter_mut().flat_map(|op| op.expressions_mut()) {
                expr.rewrite(&mut |inner| {
                    if let (true, Expr::Address(object, at)) = (is_outside(inner), &*inner) {
                        let base = Expr::Address(*object, 0);
                        let offset = Expr::int(i128::from(*at), pointer);
                        *inner = Expr::binary(BinaryOp::Add, pointer, base, offset);
                    }
                });
            }
        }
        let mut outside = Vec::new();
        for object in self.program.objects.iter_mut() {
            let Initial::Values(values) = &object.initial else { continue };
            let mut found = false;
            for (_, _, value) in values {
                value.walk(&mut |inner| found |= is_outside(inner));
            }
            if found {
                object.initial = Initial::Unknown;
                outside.push((object.name.clone(), object.span));
            }
        }
        for (name, span) in outside {
            let text = format!("unsupported: '{name}' starts with an address outside of an object");
            self.assume(text, span, true);
        }
    }
    /// The object of a string literal; equal ones are one.
    pub fn string(&mut self, bytes: &[u8], element: IntType, span: Span) -> ObjectId {
        let key = (bytes.to_vec(), element.bytes());
        if let Some(id) = self.strings.get(&key) {
            return *id;
        }
        let size = bytes.len() as u64;
        let count = size / element.bytes();
        let layout =
            Layout::Array { element: Box::new(Layout::Scalar(element)), count, stride: element.bytes() };
        let object = Object {
            name: format!("{:?}", String::from_utf8_lossy(bytes).trim_end_matches('\0')),
            storage: Storage::Static,
            size,
            align: element.bytes(),
            layout,
            initial: Initial::Values(crate::initialisers::characters(bytes, element, 0)),
            span,
            role: ir::ObjectRole::Program,
        };
        let id = self.program.objects.push(object);
        self.strings.insert(key, id);
        self.constant_objects.insert(id);
        id
    }
}
