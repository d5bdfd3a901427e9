//! The user's classification of functions that no file defines and that have no model.
//!
//! Direction: exact if the classification is right; this is an assumption, recorded for each call.

use crate::parse::Unit;
use ir::diagnostic::{Diagnostic, Kind};
use rucc_sema::{DeclFlags, DeclId, DeclKind};
use std::fmt;
use std::str::FromStr;

/// An effect of a function. Arguments are counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// None: it returns a value and touches no memory.
    Pure,
    /// It reads what its arguments point to.
    Reads,
    /// It may write what this argument points to.
    Writes(usize),
    /// It returns new memory, or null.
    Allocates,
    /// It calls this argument any number of times before it returns, in the same thread, with pointers that
    /// it got.
    Calls(usize),
    /// It does not return.
    Ends,
}

/// All effects of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionClass(Vec<Effect>);

impl FunctionClass {
    /// The effects.
    pub fn effects(&self) -> &[Effect] {
        &self.0
    }
    /// The largest number of an argument that is named.
    fn last_argument(&self) -> usize {
        let argument = |effect: &Effect| match effect {
            Effect::Writes(argument) | Effect::Calls(argument) => *argument,
            Effect::Pure | Effect::Reads | Effect::Allocates | Effect::Ends => 0,
        };
        self.0.iter().map(argument).max().unwrap_or(0)
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pure => f.write_str("pure"),
            Self::Reads => f.write_str("reads"),
            Self::Writes(argument) => write!(f, "writes({argument})"),
            Self::Allocates => f.write_str("allocates"),
            Self::Calls(argument) => write!(f, "calls({argument})"),
            Self::Ends => f.write_str("ends"),
        }
    }
}

impl fmt::Display for FunctionClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, effect) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{effect}")?;
        }
        Ok(())
    }
}

impl FromStr for Effect {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || {
            format!(
                "`{text}` is no class; use `pure`, `reads`, `writes(N)`, `allocates`, `calls(N)` or `ends`"
            )
        };
        let Some((word, rest)) = text.split_once('(') else {
            return match text {
                "pure" => Ok(Self::Pure),
                "reads" => Ok(Self::Reads),
                "allocates" => Ok(Self::Allocates),
                "ends" => Ok(Self::Ends),
                "writes" | "calls" => {
                    Err(format!("`{text}` needs the number of an argument, such as `{text}(1)`"))
                }
                _ => Err(unknown()),
            };
        };
        let number = rest.strip_suffix(')').and_then(|number| number.trim().parse().ok());
        let number = number.filter(|number| (1..=64).contains(number));
        match (word.trim(), number) {
            ("writes", Some(argument)) => Ok(Self::Writes(argument)),
            ("calls", Some(argument)) => Ok(Self::Calls(argument)),
            ("writes" | "calls", None) => {
                Err(format!("`{text}` needs the number of an argument, counted from 1"))
            }
            (_, _) => Err(unknown()),
        }
    }
}

impl FromStr for FunctionClass {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let effects: Vec<Effect> =
            text.split(',').map(|effect| effect.trim().parse()).collect::<Result<_, _>>()?;
        if effects.len() > 1 && effects.contains(&Effect::Pure) {
            return Err(format!("`{text}` says `pure` and more; leave one out"));
        }
        Ok(Self(effects))
    }
}

/// A function that a program calls, and of which only the type is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownFunction {
    /// Its name.
    pub name: String,
    /// How it is declared.
    pub prototype: String,
    /// Its possible effects, by its type.
    pub guess: FunctionClass,
    /// Where it is called first.
    pub place: String,
}

/// The possible effects of a function, by its type: it writes what its arguments point to, unless that is
/// constant.
pub fn guess(unit: &Unit, declaration: DeclId) -> FunctionClass {
    let declared = &unit.tree[declaration];
    if declared.flags.contains(DeclFlags::NORETURN) {
        return FunctionClass(vec![Effect::Ends]);
    }
    let Some(signature) = unit.signature(declared.ty) else { return FunctionClass(vec![Effect::Pure]) };
    let mut effects = Vec::new();
    for (index, &parameter) in signature.params.iter().enumerate() {
        let Some(pointee) = unit.pointee(parameter).filter(|_| unit.is_pointer(parameter)) else { continue };
        let effect = if unit.signature(pointee).is_some() && !unit.is_pointer(pointee) {
            Effect::Calls(index + 1)
        } else if unit.is_const(pointee) {
            Effect::Reads
        } else {
            Effect::Writes(index + 1)
        };
        if !effects.contains(&effect) {
            effects.push(effect);
        }
    }
    if signature.variadic && !effects.contains(&Effect::Reads) {
        effects.push(Effect::Reads);
    }
    if unit.is_pointer(signature.ret) {
        effects.push(Effect::Allocates);
    }
    if effects.is_empty() {
        effects.push(Effect::Pure);
    }
    FunctionClass(effects)
}

/// Errors in classifications: arguments that functions do not have.
pub fn mistakes(units: &[Unit], classes: &[(String, FunctionClass)]) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (name, class) in classes {
        let found = units.iter().find_map(|unit| {
            let mut ids = unit.tree.top_level().iter();
            let id = ids.find(|id| unit.tree[**id].kind == DeclKind::Function && unit.name(**id) == name)?;
            Some((unit, *id))
        });
        let Some((unit, id)) = found else { continue };
        let Some(signature) = unit.signature(unit.tree[id].ty) else { continue };
        let count = signature.params.len();
        if signature.variadic || class.last_argument() <= count || !signature.prototyped {
            continue;
        }
        let (file, line, column) = unit.position(unit.tree.decl_span(id));
        let message = format!(
            "`{name} = \"{class}\"` in [functions] names argument {}, but '{name}' has {count}",
            class.last_argument()
        );
        problems.push(Diagnostic::at(file, (line, column), Kind::Link, message));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_read_and_printed() {
        for text in
            ["pure", "reads", "writes(1)", "allocates", "calls(2)", "ends", "reads, writes(1), calls(3)"]
        {
            let class: FunctionClass = text.parse().expect(text);
            assert_eq!(class.to_string(), text);
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, message) in [
            ("prue", "`prue` is no class"),
            ("writes", "such as `writes(1)`"),
            ("writes(0)", "counted from 1"),
            ("calls(x)", "counted from 1"),
            ("pure, reads", "says `pure` and more"),
            ("", "`` is no class"),
        ] {
            let error = text.parse::<FunctionClass>().expect_err(text);
            assert!(error.contains(message), "{error}");
        }
    }
}
