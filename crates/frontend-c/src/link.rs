//! Which definition a name with external linkage means, across files.

use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::parse::Unit;
use indexmap::IndexMap;
use rucc_sema::{DeclFlags, DeclId, DeclKind, Definition, Emission, Linkage};

/// A declaration of one of the files.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Declared {
    /// Which file.
    pub unit: usize,
    /// Which declaration in it.
    pub declaration: DeclId,
}

/// The definitions of all names with external linkage.
pub struct Links {
    definitions: IndexMap<String, Definer>,
    /// `main`.
    pub main: Declared,
}

struct Definer {
    at: Declared,
    strength: Strength,
}

/// How firmly a declaration defines its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    /// An inline definition, which another file's definition replaces; a tentative or weak definition.
    Replaceable,
    Firm,
}

impl Links {
    /// The definition that a declaration refers to; itself if no file defines it.
    pub fn resolve(&self, units: &[Unit], declared: Declared) -> Declared {
        let unit = &units[declared.unit];
        let declaration = &unit.tree[declared.declaration];
        if let Some(alias) = declaration.alias {
            let bytes = unit.tree[alias].bytes(&unit.session.target);
            let name = String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned();
            let same = |id: &&DeclId| unit.name(**id) == name && unit.tree[**id].alias.is_none();
            if let Some(&found) = unit.tree.top_level().iter().find(same) {
                return Declared { unit: declared.unit, declaration: found };
            }
        }
        match declaration.linkage {
            Linkage::External => match self.definitions.get(unit.name(declared.declaration)) {
                Some(definer) => definer.at,
                None => declared,
            },
            Linkage::Internal | Linkage::None => declared,
        }
    }
}

/// Finds all definitions; two of one name are an error, and so is no `main`.
pub fn link(units: &[Unit]) -> Result<Links, Vec<Diagnostic>> {
    let mut definitions: IndexMap<String, Definer> = IndexMap::new();
    let mut problems = Vec::new();
    for (index, unit) in units.iter().enumerate() {
        for &id in unit.tree.top_level() {
            let Some(strength) = strength(unit, id) else { continue };
            let at = Declared { unit: index, declaration: id };
            let name = unit.name(id);
            match definitions.get_mut(name) {
                None => {
                    definitions.insert(name.to_owned(), Definer { at, strength });
                }
                Some(definer) if definer.strength == Strength::Firm && strength == Strength::Firm => {
                    let (file, line, column) = unit.position(unit.tree.definition_span(id));
                    let other = &units[definer.at.unit];
                    let (other_file, other_line, _) =
                        other.position(other.tree.definition_span(definer.at.declaration));
                    let message = format!(
                        "duplicate definition of '{name}', first defined at {other_file}:{other_line}"
                    );
                    problems.push(Diagnostic::new(file, line, column, DiagnosticKind::Link, message));
                }
                Some(definer) if definer.strength < strength => *definer = Definer { at, strength },
                Some(_) => {}
            }
        }
    }
    let is_function = |at: Declared| units[at.unit].tree[at.declaration].kind == DeclKind::Function;
    let main = definitions.get("main").map(|definer| definer.at).filter(|at| is_function(*at));
    match main {
        Some(main) if problems.is_empty() => Ok(Links { definitions, main }),
        Some(_) => Err(problems),
        None => {
            let file = units.first().map_or("", |unit| unit.file.as_str());
            problems.push(Diagnostic::new(file, 1, 1, DiagnosticKind::Link, "there is no function 'main'"));
            Err(problems)
        }
    }
}

fn strength(unit: &Unit, id: DeclId) -> Option<Strength> {
    let declaration = &unit.tree[id];
    if declaration.linkage != Linkage::External {
        return None;
    }
    let is_definition = match declaration.kind {
        DeclKind::Function => declaration.body.is_some(),
        DeclKind::Object => declaration.state != Definition::Declared,
        DeclKind::Type => false,
    };
    if !is_definition {
        return None;
    }
    let replaceable = declaration.flags.contains(DeclFlags::WEAK)
        || match declaration.kind {
            DeclKind::Function => declaration.inline == Emission::Inline,
            DeclKind::Object | DeclKind::Type => declaration.state == Definition::Tentative,
        };
    Some(if replaceable { Strength::Replaceable } else { Strength::Firm })
}
