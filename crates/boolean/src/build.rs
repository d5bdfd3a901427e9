//! The second half of building a view: bits, and the functions of all steps.

use crate::bdd::{Bdd, Bdds, FALSE, TRUE};
use crate::evaluate::{Scope, Values, unsupported};
use crate::structure::{Arrival, Called, Structure};
use crate::view::{
    Bit, BroadcastEffect, Built, Input, Lock, Point, PointId, Reaction, Recursion, Site, Started, Step,
    StepId, View,
};
use ir::{
    Assignment, Broadcast, Callee, Count, EdgeId, Initial, IntType, Layout, Lhs, LockKind, ObjectId, Op,
    Program, Rhs, Span, Storage, SyncKind,
};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use verdict::Budget;

impl<'p> View<'p> {
    /// Takes a program apart.
    pub fn new(program: &'p Program, recursion: Recursion, budget: &Budget) -> Built<Self> {
        let structure = Structure::new(program, recursion, budget)?;
        let mut builder = Builder::new(structure, budget)?;
        for point in 0..builder.structure.points.len() {
            builder.steps_of(PointId(point as u32))?;
        }
        let entries = builder.structure.entries()?;
        let initial = builder.initial()?;
        let Builder { structure, bdds, numbers, steps, locks, sites, cells, .. } = builder;
        let mut outgoing = vec![Vec::new(); structure.points.len()];
        for (index, step) in steps.iter().enumerate() {
            outgoing[step.source.0 as usize].push(StepId(index as u32));
        }
        let mut view = Self {
            program,
            bdds,
            relevant: vec![true; numbers.names.len()],
            names: numbers.names,
            shared: numbers.shared,
            several: SEVERAL,
            atomic: ATOMIC,
            locks,
            sites,
            activations: structure.activations,
            live: vec![Vec::new(); structure.points.len()],
            points: structure.points,
            steps,
            outgoing,
            cells,
            entries,
            initial,
        };
        view.reduce()?;
        Ok(view)
    }
}

const SEVERAL: Bit = Bit(0);
const ATOMIC: Bit = Bit(1);

/// The state bits so far.
#[derive(Default)]
struct Numbers {
    names: Vec<String>,
    shared: Vec<bool>,
}

impl Numbers {
    fn bit(&mut self, name: &str, shared: bool) -> Bit {
        self.names.push(name.to_owned());
        self.shared.push(shared);
        Bit(self.names.len() as u32 - 1)
    }
    fn bits(&mut self, name: &str, ty: IntType, shared: bool) -> Vec<Bit> {
        match ty.bits {
            1 => vec![self.bit(name, shared)],
            many => (0..many).map(|index| self.bit(&format!("{name}[{index}]"), shared)).collect(),
        }
    }
}

struct Builder<'p> {
    structure: Structure<'p>,
    program: &'p Program,
    bdds: Bdds,
    numbers: Numbers,
    locks: Vec<Lock>,
    sites: Vec<Site>,
    /// The bits in which recursive calls return their result.
    returned: Vec<Vec<Bit>>,
    cells: FxHashMap<ObjectId, Vec<Bit>>,
    steps: Vec<Step>,
    has_atomic: bool,
    /// The next bit for a choice of the current step.
    extra: u32,
}

/// A step as far as its operations were carried out.
struct Effects {
    values: Values,
    guard: Bdd,
    inputs: Vec<Input>,
    started: Vec<Started>,
}

impl<'p> Builder<'p> {
    fn new(structure: Structure<'p>, budget: &Budget) -> Built<Self> {
        let program = structure.program;
        let mut numbers = Numbers::default();
        numbers.bit("several threads", true);
        numbers.bit("in an atomic region", true);
        let (mut locks, mut cells) = (Vec::new(), FxHashMap::default());
        // The last one comes first: a variable that is set after others then stands above them, so that the
        // sets before and after share all that is below.
        for (id, object) in program.objects.enumerate().rev() {
            match (&object.layout, object.storage) {
                (Layout::Sync(SyncKind::Spin), Storage::Static) => {
                    let taken = numbers.bit(&format!("{} is taken", object.name), true);
                    let held = numbers.bit(&format!("holds {}", object.name), false);
                    locks.push(Lock { object: id, taken, held });
                }
                (Layout::Scalar(ty), Storage::Static) => {
                    cells.insert(id, numbers.bits(&object.name, *ty, true));
                }
                _ => {}
            }
        }
        if !locks.is_empty() && !structure.sites.is_empty() {
            return unsupported("locks in a program with recursion", Span::default());
        }
        let (mut sites, mut returned) = (Vec::new(), Vec::new());
        for (template, edge) in &structure.sites {
            let code = &program.templates[*template];
            let line = code.edges[*edge].span.line;
            let done = numbers.bit(&format!("the call in line {line} has ended"), true);
            sites.push(Site { template: *template, edge: *edge, done });
            let result = match code.edges[*edge].ops.last() {
                Some(Op::Call(Callee::Procedure(callee), ..)) => {
                    let callee = &program.templates[*callee];
                    callee.result.map(|local| callee.locals[local].ty)
                }
                _ => None,
            };
            let name = format!("the result of the call in line {line}");
            returned.push(result.map_or(Vec::new(), |ty| numbers.bits(&name, ty, true)));
        }
        let has_atomic = structure.points.iter().any(|point| point.atomic);
        let mut builder = Self {
            structure,
            program,
            bdds: Bdds::new(budget),
            numbers,
            locks,
            sites,
            returned,
            cells,
            steps: Vec::new(),
            has_atomic,
            extra: 0,
        };
        builder.number_locals();
        builder.extra = builder.numbers.names.len() as u32;
        Ok(builder)
    }

    /// Bits for the locals of all activations. A caller comes before those that it calls.
    fn number_locals(&mut self) {
        for index in 0..self.structure.activations.len() {
            let template = self.structure.activations[index].template;
            let code = &self.program.templates[template];
            let locals: Vec<Vec<Bit>> =
                code.locals.iter().map(|local| self.numbers.bits(&local.name, local.ty, false)).collect();
            let mut chain: Vec<Bit> = match self.structure.activations[index].parent {
                Some((parent, _, _)) => self.structure.activations[parent].chain.clone(),
                None => self.locks.iter().map(|lock| lock.held).collect(),
            };
            chain.extend(locals.iter().flatten());
            let activation = &mut self.structure.activations[index];
            (activation.locals, activation.chain) = (locals, chain);
        }
    }

    fn initial(&mut self) -> Built<Vec<(Bit, bool)>> {
        let starts = self.program.start.iter().map(|(_, count)| match count {
            Count::Exactly(copies) => u64::from(*copies),
            Count::Any => 2,
        });
        let mut initial = vec![(SEVERAL, starts.sum::<u64>() > 1), (ATOMIC, false)];
        initial.extend(self.locks.iter().map(|lock| (lock.taken, false)));
        initial.extend(self.sites.iter().map(|site| (site.done, false)));
        initial.extend(self.returned.iter().flatten().map(|bit| (*bit, false)));
        for (id, object) in self.program.objects.enumerate() {
            let Some(bits) = self.cells.get(&id) else { continue };
            let Initial::Values(values) = &object.initial else { continue };
            let mut number = 0;
            for (_, _, value) in values {
                match value {
                    ir::Expr::Const(value, _) => number = *value,
                    _ => return unsupported("an address as a value", object.span),
                }
            }
            initial.extend(bits.iter().enumerate().map(|(index, bit)| (*bit, number >> index & 1 == 1)));
        }
        initial.sort_unstable();
        Ok(initial)
    }

    fn fresh(&mut self, ty: IntType) -> Built<Vec<Bit>> {
        if ty.bits > 16 {
            return unsupported("an input with many values", Span::default());
        }
        let first = self.extra;
        self.extra += u32::from(ty.bits);
        Ok((first..self.extra).map(Bit).collect())
    }

    fn steps_of(&mut self, id: PointId) -> Built<()> {
        let Point { activation, location, atomic, error, waits, cut } = self.structure.points[id.0 as usize];
        if id.0.is_multiple_of(1 << 12) {
            self.bdds.check()?;
        }
        if error.is_some() || cut {
            return Ok(());
        }
        if let Some(site) = waits {
            return self.return_step(id, activation, site);
        }
        let template = self.structure.activations[activation].template;
        for index in 0..self.structure.outgoing[template][location].len() {
            let edge = self.structure.outgoing[template][location][index];
            self.extra = self.numbers.names.len() as u32;
            self.edge(id, activation, atomic, edge)?;
        }
        Ok(())
    }

    /// Carries out an assignment.
    fn assign(
        &mut self,
        activation: usize,
        assignment: &Assignment,
        span: Span,
        values: &mut Values,
        inputs: &mut Vec<Input>,
    ) -> Built<Bdd> {
        let mut new = Vec::new();
        for (lhs, rhs) in &assignment.pairs {
            let bits = self.target(activation, lhs, span)?;
            match rhs {
                Rhs::Value(value) => new.push((bits, self.bits(activation, value, span, values, None)?)),
                Rhs::Any => {
                    let ty = self.type_of(activation, lhs);
                    let chosen = self.fresh(ty)?;
                    let mut functions = Vec::new();
                    for bit in &chosen {
                        functions.push(self.bdds.variable(bit.now())?);
                    }
                    inputs.push(Input { bits: chosen, ty });
                    new.push((bits, functions));
                }
                Rhs::Unknown | Rhs::Float(..) => return unsupported("a value that is not modelled", span),
            }
        }
        let before = assignment.constraint.as_ref().map(|_| values.clone());
        for (bits, functions) in new {
            values.extend(bits.into_iter().zip(functions));
        }
        match &assignment.constraint {
            Some(constraint) => Ok(self.bits(activation, constraint, span, values, before.as_ref())?[0]),
            None => Ok(TRUE),
        }
    }

    fn type_of(&self, activation: usize, lhs: &Lhs) -> IntType {
        match lhs {
            Lhs::Local(local) => {
                self.program.templates[self.structure.activations[activation].template].locals[*local].ty
            }
            Lhs::Memory(place) => place.ty,
        }
    }

    fn target(&self, activation: usize, lhs: &Lhs, span: Span) -> Built<Vec<Bit>> {
        match lhs {
            Lhs::Local(local) => Ok(self.structure.activations[activation].locals[local.0 as usize].clone()),
            Lhs::Memory(place) => Ok(self.scope(activation, span).cell(place)?.to_vec()),
        }
    }

    fn scope(&self, activation: usize, span: Span) -> Scope<'_> {
        Scope {
            program: self.program,
            activation: &self.structure.activations[activation],
            cells: &self.cells,
            locks: &self.locks,
            span,
        }
    }

    fn bits(
        &mut self,
        activation: usize,
        expr: &ir::Expr,
        span: Span,
        now: &Values,
        old: Option<&Values>,
    ) -> Built<Vec<Bdd>> {
        let scope = Scope {
            program: self.program,
            activation: &self.structure.activations[activation],
            cells: &self.cells,
            locks: &self.locks,
            span,
        };
        scope.bits(&mut self.bdds, expr, now, old)
    }

    /// A lock operation.
    fn lock(&mut self, address: &ir::Expr, take: bool, effects: &mut Effects, span: Span) -> Built<()> {
        let found = match address {
            ir::Expr::Address(object, 0) => self.locks.iter().find(|lock| lock.object == *object).copied(),
            _ => None,
        };
        let Some(lock) = found else { return unsupported("locks other than named ones", span) };
        let read = |bdds: &mut Bdds, values: &Values, bit: Bit| match values.get(&bit) {
            Some(value) => Ok(*value),
            None => bdds.variable(bit.now()),
        };
        if take {
            let taken = read(&mut self.bdds, &effects.values, lock.taken)?;
            let free = self.bdds.not(taken)?;
            effects.guard = self.bdds.and(effects.guard, free)?;
        } else {
            let held = read(&mut self.bdds, &effects.values, lock.held)?;
            if !self.bdds.implies(effects.guard, held)? {
                return unsupported("giving back a lock that another thread may hold", span);
            }
        }
        let value = if take { TRUE } else { FALSE };
        effects.values.extend([(lock.taken, value), (lock.held, value)]);
        Ok(())
    }

    /// The bits of a procedure's parameters, with the values of arguments.
    fn parameters(
        &mut self,
        (from, to): (usize, usize),
        arguments: &[ir::Expr],
        span: Span,
        values: &Values,
    ) -> Built<Vec<(Bit, Bdd)>> {
        let parameters = self.program.templates[self.structure.activations[to].template].parameters;
        let mut found = Vec::new();
        for (index, argument) in arguments.iter().enumerate().take(parameters) {
            if self.program.type_of(self.structure.activations[from].template, argument).signed {
                return unsupported("signed numbers", span);
            }
            let given = self.bits(from, argument, span, values, None)?;
            let bits = &self.structure.activations[to].locals[index];
            // Wider than the parameter: the upper bits are lost. Narrower: they are 0.
            found.extend(
                bits.iter().enumerate().map(|(at, bit)| (*bit, given.get(at).copied().unwrap_or(FALSE))),
            );
        }
        Ok(found)
    }

    fn edge(&mut self, source: PointId, activation: usize, atomic: bool, edge: EdgeId) -> Built<()> {
        let program = self.program;
        let template = self.structure.activations[activation].template;
        let code = &program.templates[template].edges[edge];
        let span = code.span;
        let mut effects =
            Effects { values: Values::default(), guard: TRUE, inputs: Vec::new(), started: Vec::new() };
        let mut broadcasts: Vec<(&Broadcast, Vec<Vec<Bdd>>)> = Vec::new();
        let mut called = None;
        for op in &code.ops {
            match op {
                Op::Assume(condition) => {
                    let holds = self.bits(activation, condition, span, &effects.values, None)?[0];
                    effects.guard = self.bdds.and(effects.guard, holds)?;
                }
                Op::Assign(assignment) => {
                    let writes = assignment.pairs.iter().any(|(lhs, _)| matches!(lhs, Lhs::Memory(_)));
                    if writes && !broadcasts.is_empty() {
                        return unsupported("a shared variable that changes after a broadcast", span);
                    }
                    let Effects { values, inputs, .. } = &mut effects;
                    let holds = self.assign(activation, assignment, span, values, inputs)?;
                    effects.guard = self.bdds.and(effects.guard, holds)?;
                }
                Op::Lock(LockKind::Spin, address) => self.lock(address, true, &mut effects, span)?,
                Op::Unlock(LockKind::Spin, address) => self.lock(address, false, &mut effects, span)?,
                Op::Spawn(Callee::Procedure(callee), arguments, None) => {
                    let entry = self.structure.entry(*callee, None)?;
                    let to = self.structure.points[entry.0 as usize].activation;
                    let bits = self.parameters((activation, to), arguments, span, &effects.values)?;
                    effects.started.push(Started { entry, bits });
                    effects.values.insert(SEVERAL, TRUE);
                }
                Op::Broadcast(broadcast) => {
                    if !effects.started.is_empty() {
                        return unsupported(
                            "a new thread that receives a broadcast in the step that starts it",
                            span,
                        );
                    }
                    let mut given = Vec::new();
                    for (_, argument) in &broadcast.arguments {
                        given.push(self.bits(activation, argument, span, &effects.values, None)?);
                    }
                    broadcasts.push((broadcast, given));
                }
                Op::Call(Callee::Procedure(callee), arguments, _) => {
                    let found = self.structure.call(activation, edge, *callee)?;
                    called = Some((found, *callee, arguments));
                }
                Op::Lock(..)
                | Op::Unlock(..)
                | Op::Spawn(..)
                | Op::Join(..)
                | Op::Allocate { .. }
                | Op::Free(_)
                | Op::Fill(..)
                | Op::Copy(..)
                | Op::Call(..) => return unsupported("an operation that Boolean programs do not have", span),
            }
            if effects.guard == FALSE {
                return Ok(());
            }
        }
        let arrival = match called {
            None => {
                let (arrival, ended) = self.structure.arrive(activation, code.target);
                self.returns(&ended, &mut effects.values)?;
                arrival
            }
            Some((Called::Activation(child), callee, arguments)) => {
                let parameters = self.parameters((activation, child), arguments, span, &effects.values)?;
                let bits: Vec<Bit> =
                    self.structure.activations[child].locals.iter().flatten().copied().collect();
                effects.values.extend(bits.into_iter().map(|bit| (bit, FALSE)));
                effects.values.extend(parameters);
                Arrival::Point(self.structure.point(child, program.templates[callee].entry, None))
            }
            Some((Called::Cut(point), _, _)) => Arrival::Point(point),
            Some((Called::Recursive(child, site), callee, arguments)) => {
                let bits = self.parameters((activation, child), arguments, span, &effects.values)?;
                let entry = self.structure.entry(callee, Some(site))?;
                effects.started.push(Started { entry, bits });
                effects.values.insert(SEVERAL, TRUE);
                effects.values.insert(self.sites[site].done, FALSE);
                Arrival::Point(self.structure.point(activation, code.target, Some(site)))
            }
        };
        let target = match arrival {
            Arrival::Point(target) => Some(target),
            Arrival::Ended => None,
            Arrival::Halted => return Ok(()),
        };
        let now_atomic = target.is_some_and(|target| self.structure.points[target.0 as usize].atomic);
        if atomic != now_atomic {
            effects.values.insert(ATOMIC, if now_atomic { TRUE } else { FALSE });
        }
        let updates = self.updates(target, &effects.values)?;
        let heard = self.heard(&broadcasts, &updates, span)?;
        let Effects { mut guard, inputs, started, .. } = effects;
        // A step that involves nothing shared may as well happen later: it need not wait for others' atomic
        // regions.
        let is_error = target.is_some_and(|target| self.structure.points[target.0 as usize].error.is_some());
        let is_local = started.is_empty() && heard.is_empty() && !self.touches_shared(guard, &updates);
        if !atomic && self.has_atomic && (is_error || !is_local) {
            let free = self.bdds.literal(ATOMIC.now(), false)?;
            guard = self.bdds.and(guard, free)?;
        }
        let edge = Some((template, edge));
        self.steps.push(Step {
            source,
            target,
            edge,
            span,
            guard,
            updates,
            inputs,
            started,
            broadcast: heard,
        });
        Ok(())
    }

    fn touches_shared(&self, guard: Bdd, updates: &[(Bit, Bdd)]) -> bool {
        let is_shared = |bit: u32| self.numbers.shared.get(bit as usize).copied().unwrap_or(false);
        let mut functions: Vec<Bdd> = updates.iter().map(|(_, value)| *value).collect();
        functions.push(guard);
        updates.iter().any(|(bit, _)| is_shared(bit.0))
            || self.bdds.support(&functions).into_iter().any(|level| is_shared(level / 2))
    }

    /// The results of activations that end, innermost first.
    fn returns(&mut self, ended: &[usize], values: &mut Values) -> Built<()> {
        for &index in ended {
            let activation = &self.structure.activations[index];
            let code = &self.program.templates[activation.template];
            let result =
                code.result.map(|local| activation.locals[local.0 as usize].clone()).unwrap_or_default();
            let to: Vec<Bit> = match (activation.parent, activation.site) {
                (Some((parent, edge, _)), _) => {
                    let caller = &self.structure.activations[parent];
                    match self.program.templates[caller.template].edges[edge].ops.last() {
                        Some(Op::Call(_, _, Some(Lhs::Local(local)))) => {
                            caller.locals[local.0 as usize].clone()
                        }
                        _ => Vec::new(),
                    }
                }
                (None, Some(site)) => {
                    values.insert(self.sites[site].done, TRUE);
                    self.returned[site].clone()
                }
                (None, None) => Vec::new(),
            };
            self.copy(&to, &result, values)?;
        }
        Ok(())
    }

    fn copy(&mut self, to: &[Bit], from: &[Bit], values: &mut Values) -> Built<()> {
        let mut read = Vec::new();
        for (index, _) in to.iter().enumerate() {
            read.push(match from.get(index) {
                None => FALSE,
                Some(bit) => match values.get(bit) {
                    Some(value) => *value,
                    None => self.bdds.variable(bit.now())?,
                },
            });
        }
        values.extend(to.iter().copied().zip(read));
        Ok(())
    }

    /// The changes of shared bits and of the local bits that the target has.
    fn updates(&mut self, target: Option<PointId>, values: &Values) -> Built<Vec<(Bit, Bdd)>> {
        let chain: &[Bit] = match target {
            Some(target) => {
                &self.structure.activations[self.structure.points[target.0 as usize].activation].chain
            }
            None => &[],
        };
        let mut updates = Vec::new();
        for (bit, value) in values.iter().map(|(bit, value)| (*bit, *value)) {
            let counts = self.numbers.shared[bit.0 as usize] || chain.contains(&bit);
            if counts && value != self.bdds.variable(bit.now())? {
                updates.push((bit, value));
            }
        }
        Ok(updates)
    }

    /// The end of a recursive call.
    fn return_step(&mut self, source: PointId, activation: usize, site: usize) -> Built<()> {
        let (template, edge) = self.structure.sites[site];
        let code = &self.program.templates[template].edges[edge];
        let mut values = Values::default();
        let mut guard = self.bdds.literal(self.sites[site].done.now(), true)?;
        if self.has_atomic {
            let free = self.bdds.literal(ATOMIC.now(), false)?;
            guard = self.bdds.and(guard, free)?;
        }
        values.insert(self.sites[site].done, FALSE);
        if let Some(Op::Call(_, _, Some(Lhs::Local(local)))) = code.ops.last() {
            let to = self.structure.activations[activation].locals[local.0 as usize].clone();
            let from = self.returned[site].clone();
            self.copy(&to, &from, &mut values)?;
        }
        let (arrival, ended) = self.structure.arrive(activation, code.target);
        self.returns(&ended, &mut values)?;
        let target = match arrival {
            Arrival::Point(target) => Some(target),
            Arrival::Ended => None,
            Arrival::Halted => return Ok(()),
        };
        let updates = self.updates(target, &values)?;
        let (inputs, started, heard) = (Vec::new(), Vec::new(), Vec::new());
        self.steps.push(Step {
            source,
            target,
            edge: None,
            span: code.span,
            guard,
            updates,
            inputs,
            started,
            broadcast: heard,
        });
        Ok(())
    }

    /// The reactions of other threads: for each procedure that receives broadcasts, all of them, in order.
    fn heard(
        &mut self,
        broadcasts: &[(&Broadcast, Vec<Vec<Bdd>>)],
        updates: &[(Bit, Bdd)],
        span: Span,
    ) -> Built<Vec<BroadcastEffect>> {
        let mut procedures: Vec<ir::TemplateId> =
            broadcasts.iter().map(|(broadcast, _)| broadcast.to).collect();
        procedures.sort_unstable();
        procedures.dedup();
        let mut all = Vec::new();
        for to in procedures {
            let mut arguments = Vec::new();
            let mut handed: Vec<Vec<Vec<Bit>>> = Vec::new();
            for (broadcast, given) in broadcasts {
                let mut bits_of = Vec::new();
                for functions in given.iter().filter(|_| broadcast.to == to) {
                    let first = self.extra;
                    self.extra += functions.len() as u32;
                    let bits: Vec<Bit> = (first..self.extra).map(Bit).collect();
                    arguments.extend(bits.iter().copied().zip(functions.iter().copied()));
                    bits_of.push(bits);
                }
                handed.push(bits_of);
            }
            let after_arguments = self.extra;
            let mut reactions = BTreeMap::new();
            for activation in 0..self.structure.activations.len() {
                if self.structure.activations[activation].template != to {
                    continue;
                }
                self.extra = after_arguments;
                let reaction = self.reaction(activation, to, broadcasts, &handed, updates, span)?;
                reactions.insert(activation, reaction);
            }
            all.push(BroadcastEffect { to, arguments, reactions });
        }
        Ok(all)
    }

    fn reaction(
        &mut self,
        activation: usize,
        to: ir::TemplateId,
        broadcasts: &[(&Broadcast, Vec<Vec<Bdd>>)],
        handed: &[Vec<Vec<Bit>>],
        updates: &[(Bit, Bdd)],
        span: Span,
    ) -> Built<Reaction> {
        // Shared bits that the step changes have their new values.
        let mut values = Values::default();
        for (bit, _) in updates.iter().filter(|(bit, _)| self.numbers.shared[bit.0 as usize]) {
            values.insert(*bit, self.bdds.variable(bit.next())?);
        }
        let new_shared = values.clone();
        let (mut guard, mut inputs, mut asked) = (TRUE, Vec::new(), Vec::new());
        for ((broadcast, _), handed) in broadcasts.iter().zip(handed) {
            let before = inputs.len();
            if broadcast.to == to {
                for ((local, _), bits) in broadcast.arguments.iter().zip(handed) {
                    let locals = self.structure.activations[activation].locals[local.0 as usize].clone();
                    let mut given = Vec::new();
                    for index in 0..locals.len() {
                        given.push(match bits.get(index) {
                            Some(bit) => self.bdds.variable(bit.now())?,
                            None => FALSE,
                        });
                    }
                    values.extend(locals.into_iter().zip(given));
                }
                let holds = self.assign(activation, &broadcast.assignment, span, &mut values, &mut inputs)?;
                guard = self.bdds.and(guard, holds)?;
            }
            asked.push(inputs.len() - before);
        }
        let mut changes: Vec<(Bit, Bdd)> = Vec::new();
        for (bit, value) in values {
            if !new_shared.contains_key(&bit) && value != self.bdds.variable(bit.now())? {
                changes.push((bit, value));
            }
        }
        Ok(Reaction { guard, updates: changes, inputs, asked })
    }
}
