//! Linking: which definition a name with external linkage refers to, across files.

use crate::library;
use crate::parse::Unit;
use crate::start::{self, Start, StartFunctions};
use indexmap::IndexMap;
use ir::diagnostic::{Diagnostic, Kind};
use rucc_sema::{DeclFlags, DeclId, DeclKind, Definition, Emission, Linkage, StrId};

/// A declaration of one of the files.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Declared {
    /// The file.
    pub unit: usize,
    /// The declaration in it.
    pub declaration: DeclId,
}

/// The definitions of all names with external linkage.
pub struct Links {
    definitions: IndexMap<String, Definer>,
    /// Static declarations with an assembler name, by file and that name.
    renamed: IndexMap<(usize, String), DeclId>,
    /// The entry points of the program.
    pub first: First,
}

/// The entry points of a program.
pub enum First {
    /// `main`.
    Main(Declared),
    /// Functions that the user named.
    Named(StartFunctions),
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
    /// Whether this is the `main` that the program starts with.
    pub fn is_main(&self, declared: Declared) -> bool {
        matches!(self.first, First::Main(main) if main == declared)
    }
    /// Whether the program starts with `main`, which ends the program when it returns.
    pub fn starts_with_main(&self) -> bool {
        matches!(self.first, First::Main(_))
    }
    /// Whether code in other files can name nothing in these files that it could change or call, except
    /// `main`.
    pub fn is_closed(&self, units: &[Unit]) -> bool {
        self.definitions.iter().all(|(name, definer)| {
            let unit = &units[definer.at.unit];
            let declaration = &unit.tree[definer.at.declaration];
            name == "main" || declaration.kind == DeclKind::Object && unit.is_const(declaration.ty)
        })
    }
    /// The definition that a declaration refers to; itself if no file defines it. Aliases are resolved to
    /// their targets.
    pub fn resolve(&self, units: &[Unit], declared: Declared) -> Declared {
        let mut at = declared;
        // A longer chain of aliases is a cycle.
        for _ in 0..LONGEST_ALIAS {
            let unit = &units[at.unit];
            let declaration = &unit.tree[at.declaration];
            let is_reference = declaration.flags.contains(DeclFlags::WEAKREF);
            if (declaration.linkage == Linkage::External || is_reference)
                && let Some(found) = self.named(units, at)
                && found != at
            {
                at = found;
                continue;
            }
            // An `ifunc` names the resolver, not the resolved function.
            let alias = declaration.alias.filter(|_| !unit.tree.is_ifunc(at.declaration));
            let Some(alias) = alias else { return at };
            let name = string(unit, alias);
            let same = |id: &&DeclId| symbol(unit, **id) == name && unit.tree[**id].kind == declaration.kind;
            at = match (unit.tree.top_level().iter().find(same), self.definitions.get(&name)) {
                (Some(&found), _) => Declared { unit: at.unit, declaration: found },
                (None, Some(definer)) => definer.at,
                (None, None) => return at,
            };
        }
        declared
    }
    /// What the linker finds by the name of a declaration. An assembler name may be that of something
    /// `static` in the same file.
    fn named(&self, units: &[Unit], at: Declared) -> Option<Declared> {
        let unit = &units[at.unit];
        let declaration = &unit.tree[at.declaration];
        let name = symbol(unit, at.declaration);
        let is_static = |id: &&DeclId| {
            let other = &unit.tree[**id];
            **id != at.declaration
                && other.linkage == Linkage::Internal
                && other.kind == declaration.kind
                && !other.flags.contains(DeclFlags::WEAKREF)
                && symbol(unit, **id) == name
        };
        let own = declaration.asm_label.and_then(|_| unit.tree.top_level().iter().find(is_static).copied());
        let own = own.or_else(|| self.renamed.get(&(at.unit, name.clone())).copied());
        let own = own.map(|declaration| Declared { unit: at.unit, declaration });
        own.or_else(|| self.definitions.get(&name).map(|definer| definer.at))
    }
    /// Whether a declaration, already resolved, is a weak one of something that no file defines: its
    /// address is null.
    pub fn is_absent(&self, units: &[Unit], declared: Declared) -> bool {
        let unit = &units[declared.unit];
        let declaration = &unit.tree[declared.declaration];
        let is_defined = match declaration.kind {
            DeclKind::Function => {
                declaration.body.is_some() || library::is_known(&library_name(unit, declared.declaration))
            }
            DeclKind::Object => declaration.state != Definition::Declared,
            DeclKind::Type => true,
        };
        unit.is_weak(declared.declaration) && !is_defined
    }
}

/// The most aliases of aliases.
const LONGEST_ALIAS: usize = 64;

/// The text of a string of a file, without the zero at its end.
fn string(unit: &Unit, id: StrId) -> String {
    let bytes = unit.tree[id].bytes(&unit.session.target);
    String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned()
}

/// The name that the linker knows a declaration by.
fn symbol(unit: &Unit, id: DeclId) -> String {
    match unit.tree[id].asm_label {
        Some(label) => string(unit, label),
        None => unit.name(id).to_owned(),
    }
}

/// The name by which the library may know a function. Headers give some functions the assembler names of
/// versions of these (`scanf`, `__isoc99_scanf`); any other assembler name is that of another function.
pub fn library_name(unit: &Unit, id: DeclId) -> String {
    let (name, symbol) = (unit.name(id), symbol(unit, id));
    // On some systems symbols begin with `_`, and a variant follows after `$`.
    let plain = symbol.strip_prefix('_').and_then(|symbol| symbol.split('$').next());
    let is_version = symbol.starts_with("__") && symbol.contains(name)
        || symbol.strip_suffix("64") == Some(name)
        || plain == Some(name);
    if is_version && !library::is_known(&symbol) { name.to_owned() } else { symbol }
}

/// Functions that compilers expand, instead of calling the library.
const EXPANDED: [&str; 5] = ["alloca", "copysign", "copysignf", "fabs", "fabsf"];

/// The functions that files define, and that compilers take for functions of the library.
pub fn own_builtins(units: &[Unit]) -> Vec<String> {
    let mut found = Vec::new();
    for unit in units {
        for &id in unit.tree.top_level() {
            let declaration = &unit.tree[id];
            let is_function = declaration.kind == DeclKind::Function;
            if !is_function || declaration.body.is_none() && declaration.alias.is_none() {
                continue;
            }
            let name = unit.name(id);
            let is_called = rucc_sema::library_name(&format!("__builtin_{name}")) == Some(name);
            if (is_called || EXPANDED.contains(&name)) && !found.iter().any(|other| other == name) {
                found.push(name.to_owned());
            }
        }
    }
    found
}

/// Finds all definitions; two of one name are an error, and so is no function to start with.
pub fn link(units: &[Unit], start: &Start) -> Result<Links, Vec<Diagnostic>> {
    let mut definitions: IndexMap<String, Definer> = IndexMap::new();
    let mut problems = Vec::new();
    for (index, unit) in units.iter().enumerate() {
        for &id in unit.tree.top_level() {
            let Some(strength) = strength(unit, id) else { continue };
            let at = Declared { unit: index, declaration: id };
            let name = &symbol(unit, id);
            // Where other functions are meant to run, each file may have a `main` of its own.
            if *name == "main" && !start.is_main() {
                continue;
            }
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
                        "duplicate definition of '{name}', first defined at {other_file}:{other_line}; leave one out, or make it static"
                    );
                    problems.push(Diagnostic::at(file, (line, column), Kind::Link, message));
                }
                Some(definer) if definer.strength < strength => *definer = Definer { at, strength },
                Some(_) => {}
            }
        }
    }
    problems.extend(sizes_that_differ(units, &definitions));
    let first = if start.is_main() {
        let is_function = |at: Declared| units[at.unit].tree[at.declaration].kind == DeclKind::Function;
        let main = definitions.get("main").map(|definer| definer.at).filter(|at| is_function(*at));
        let file = units.first().map_or("", |unit| unit.file.as_str());
        let missing = || {
            let problem = Diagnostic::at(file, (1, 1), Kind::NoStart, "there is no function 'main'");
            vec![problem.help("add the file that has it, or name functions by --thread or --entry")]
        };
        main.map(First::Main).ok_or_else(missing)
    } else {
        start::find(units, start).map(First::Named)
    };
    match first {
        Ok(first) if problems.is_empty() => Ok(Links { definitions, renamed: renamed(units), first }),
        Ok(_) => Err(problems),
        Err(found) => {
            problems.extend(found);
            Err(problems)
        }
    }
}

fn renamed(units: &[Unit]) -> IndexMap<(usize, String), DeclId> {
    let mut found = IndexMap::new();
    for (index, unit) in units.iter().enumerate() {
        for &id in unit.tree.top_level() {
            let declaration = &unit.tree[id];
            let is_reference = declaration.flags.contains(DeclFlags::WEAKREF);
            if declaration.linkage == Linkage::Internal && declaration.asm_label.is_some() && !is_reference {
                found.insert((index, symbol(unit, id)), id);
            }
        }
    }
    found
}

/// A variable of one name must have one size in all files, or nothing is known of what they mean by it.
fn sizes_that_differ(units: &[Unit], definitions: &IndexMap<String, Definer>) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let size = |at: Declared| {
        let unit = &units[at.unit];
        unit.size(unit.tree[at.declaration].ty).filter(|size| *size > 0)
    };
    for (index, unit) in units.iter().enumerate() {
        for &id in unit.tree.top_level() {
            let declaration = &unit.tree[id];
            let at = Declared { unit: index, declaration: id };
            let is_shared = declaration.linkage == Linkage::External && declaration.kind == DeclKind::Object;
            let Some(definer) = definitions.get(&symbol(unit, id)).filter(|_| is_shared) else { continue };
            let (Some(here), Some(there)) = (size(at), size(definer.at)) else { continue };
            if definer.at.unit == index || here == there {
                continue;
            }
            let name = unit.name(id);
            let (file, line, column) = unit.position(unit.tree.definition_span(id));
            let other = &units[definer.at.unit];
            let (other_file, other_line, _) =
                other.position(other.tree.definition_span(definer.at.declaration));
            let message = format!(
                "'{name}' has {here} bytes here and {there} at {other_file}:{other_line}; give it one type in all files"
            );
            problems.push(Diagnostic::at(file, (line, column), Kind::Link, message));
        }
    }
    problems
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
    // An alias is a definition of its own name.
    if !is_definition && declaration.alias.is_none() {
        return None;
    }
    let replaceable = unit.is_weak(id)
        || match declaration.kind {
            DeclKind::Function => declaration.body.is_some() && declaration.inline == Emission::Inline,
            DeclKind::Object | DeclKind::Type => declaration.state == Definition::Tentative,
        };
    Some(if replaceable { Strength::Replaceable } else { Strength::Firm })
}
