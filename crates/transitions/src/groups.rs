//! Groups of threads out of any number: their renamed variables, and what always holds of different threads.
//!
//! A *group* is a list of different threads, named by their positions. A thread's own variables, and the
//! variable for its location, are marked with the position.
//!
//! Ids: the machine numbers threads as they start, so different threads have different ids, each from 1 up to
//! the number of threads, and they fit into the words of locks (assumption 16).

use crate::system::{Kind, Start, Step, System};
use crate::threads::named;
use ir::{Count, TemplateId};
use smt::{Sort, Symbol, Term, Variable};

/// A thread of a group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Member {
    /// Its template.
    pub template: TemplateId,
    /// Its name.
    pub position: usize,
}

impl Member {
    /// One of the thread's own variables.
    pub fn own(self, variable: &Variable) -> Variable {
        named(variable, self.position)
    }
    /// Where the thread is: the number of its location.
    pub fn location(self) -> Variable {
        Variable::new(Symbol::Location(self.position as u32), Sort::Int)
    }
    /// A term about the thread's own variables.
    pub fn term(self, term: &Term, is_shared: &dyn Fn(&Variable) -> bool) -> Term {
        term.rename(|variable| (!is_shared(variable)).then(|| self.own(variable)))
    }
    /// A step of the thread: its variables and inputs get their names.
    pub fn step(self, step: &Step, is_shared: &dyn Fn(&Variable) -> bool) -> Step {
        let term = |term: &Term| self.term(term, is_shared);
        let updates = step.updates.iter().map(|(variable, value)| {
            let variable = if is_shared(variable) { variable.clone() } else { self.own(variable) };
            (variable, term(value))
        });
        let starts = step.starts.iter().map(|start| Start {
            template: start.template,
            parameters: start.parameters.iter().map(term).collect(),
            id: term(&start.id),
        });
        Step {
            guard: term(&step.guard),
            updates: updates.collect(),
            inputs: step.inputs.iter().map(|input| self.own(input)).collect(),
            starts: starts.collect(),
            ..step.clone()
        }
    }
}

impl System<'_> {
    /// Whether all threads see a variable.
    pub fn is_shared(&self, variable: &Variable) -> bool {
        self.shared.iter().any(|shared| shared.variable == *variable)
    }

    /// The invariant of a thread's own variables: they are in range.
    pub fn ranges_of(&self, member: Member) -> Term {
        self.ranges(&self.own[member.template]).rename(|variable| Some(member.own(variable)))
    }

    /// The invariant of the ids of different threads.
    pub fn identities(&self, group: &[Member]) -> Term {
        let ids: Vec<Term> = group
            .iter()
            .filter_map(|member| {
                let me = self.own_of(member.template, &Kind::Myself)?;
                Some(member.own(me).term())
            })
            .collect();
        let mut facts = Vec::new();
        for (index, id) in ids.iter().enumerate() {
            facts.push(self.is_thread_id(id));
            facts.extend(ids[..index].iter().map(|other| id.differs(other)));
            if let (Some(threads), smt::expressions::Mode::Integers) =
                (self.shared_of(&Kind::Threads), self.mode)
            {
                facts.push(id.at_most(&threads.term()));
            }
        }
        Term::all(facts)
    }

    /// What holds of the shared variables and a group at the start; `None` when no such threads run then.
    pub fn first_group(&self, group: &[Member]) -> Option<Term> {
        let mut facts = vec![self.initial(), self.identities(group)];
        for member in group {
            let entries = self
                .program
                .start
                .iter()
                .enumerate()
                .filter(|(_, (template, _))| *template == member.template);
            let mut copies: Option<u64> = Some(0);
            let mut ids = Vec::new();
            for (entry, (_, count)) in entries {
                let me = self.own_of(member.template, &Kind::Myself).map(|me| member.own(me).term());
                let (first, _) = self.first_ids(entry);
                ids.push(match (me, first, count) {
                    (Some(me), Some(first), Count::Exactly(copies)) => {
                        let pointer = self.program.data_model.pointer();
                        let known = (0..*copies)
                            .map(|copy| me.equals(&self.number(first + i128::from(copy), pointer)));
                        Term::any(known)
                    }
                    _ => Term::bool(true),
                });
                copies = match count {
                    Count::Exactly(more) => copies.map(|copies| copies + u64::from(*more)),
                    Count::Any => None,
                };
            }
            let wanted = group.iter().filter(|other| other.template == member.template).count() as u64;
            if copies.is_some_and(|copies| copies < wanted) {
                return None;
            }
            facts.push(Term::any(ids));
            let me = self.own_of(member.template, &Kind::Myself).map(Variable::term);
            let me = me.unwrap_or_else(|| self.number(1, self.program.data_model.pointer()));
            let entry = self.entry(member.template, &[], &me);
            facts.push(entry.rename(|variable| Some(member.own(variable))));
        }
        Some(Term::all(facts))
    }

    /// What holds for a thread that a step starts, given that step with its renamed variables.
    pub fn started(&self, child: Member, start: &Start) -> Term {
        // The entry condition is over the child's variables; the values that it gets are over those of
        // others, and are not renamed.
        let values: Vec<Variable> = (0..start.parameters.len())
            .map(|number| {
                Variable::new(Symbol::Given(number as u32), start.parameters[number].sort().clone())
            })
            .collect();
        let id = Variable::new(Symbol::GivenId, start.id.sort().clone());
        let given: Vec<Term> = values.iter().map(Variable::term).collect();
        let entry = self.entry(child.template, &given, &id.term());
        let own = entry
            .rename(|variable| (!values.contains(variable) && *variable != id).then(|| child.own(variable)));
        let mut replace: indexmap::IndexMap<Variable, Term> =
            values.into_iter().zip(start.parameters.iter().cloned()).collect();
        replace.insert(id, start.id.clone());
        own.substitute(&replace)
    }
}
