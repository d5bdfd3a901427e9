//! The variables that `--race` names.
//!
//! A name is that of an object (`x`; of a static local `function.x`), then members and elements (`s.f`,
//! `a[3].f`). In a program from nesC, the component's name may be omitted (`gState` for `FramerM__gState`). A
//! name refers to all variables with this name.

use ir::diagnostic::Diagnostic;
use ir::{Layout, Object, ObjectId, ObjectRole, Program, Range, Storage};

/// A variable with its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name in listings.
    pub name: String,
    /// Its bytes.
    pub range: Range,
}

/// Whether an object is a variable of the program's source.
pub fn is_variable(object: &Object) -> bool {
    object.storage == Storage::Static
        && !matches!(object.role, ObjectRole::Processor | ObjectRole::HandlerLevel)
        && !matches!(object.layout, Layout::Sync(_))
}

/// The variables that names refer to, each once; or the errors in the names.
pub fn resolve(program: &Program, names: &[String], nesc: bool) -> Result<Vec<Variable>, Vec<Diagnostic>> {
    let mut found: Vec<Variable> = Vec::new();
    let mut problems = Vec::new();
    for name in names {
        let variables = variables(program, name, nesc);
        if variables.is_empty() {
            problems.push(unknown(program, name));
        }
        for variable in variables {
            if !found.contains(&variable) {
                found.push(variable);
            }
        }
    }
    if problems.is_empty() { Ok(found) } else { Err(problems) }
}

fn variables(program: &Program, name: &str, nesc: bool) -> Vec<Variable> {
    // The longest part that is the name of an object: static locals have a dot in theirs.
    let mut ends: Vec<usize> = name.match_indices(['.', '[']).map(|(at, _)| at).collect();
    ends.push(name.len());
    for exact in [true, false] {
        if !exact && !nesc {
            break;
        }
        for end in ends.iter().rev() {
            let (base, path) = name.split_at(*end);
            let is_meant = |object: &Object| {
                let component = object.name.strip_suffix(base);
                is_variable(object)
                    && !base.is_empty()
                    && component.is_some_and(|component| match exact {
                        true => component.is_empty(),
                        false => component.ends_with("__") || component.ends_with('$'),
                    })
            };
            let objects = program.objects.enumerate().filter(|(_, object)| is_meant(object));
            let found: Vec<Variable> = objects.filter_map(|(id, object)| part(id, object, path)).collect();
            if !found.is_empty() {
                return found;
            }
        }
    }
    Vec::new()
}

/// The part of an object that a path leads to.
fn part(id: ObjectId, object: &Object, path: &str) -> Option<Variable> {
    let (mut layout, mut offset, mut size, mut rest) = (&object.layout, 0, object.size, path);
    while !rest.is_empty() {
        if let Some(member) = rest.strip_prefix('.') {
            let end = member.find(['.', '[']).unwrap_or(member.len());
            let Layout::Record(fields) = layout else { return None };
            let index = fields.iter().position(|field| field.name == member[..end])?;
            let field = &fields[index];
            let next = fields.iter().map(|other| other.offset).filter(|other| *other > field.offset).min();
            // Up to the next member: the layout need not give the exact size of a member.
            size = next.unwrap_or(size) - field.offset;
            offset += field.offset;
            layout = &field.layout;
            rest = &member[end..];
        } else {
            let (index, after) = rest.strip_prefix('[')?.split_once(']')?;
            let index: u64 = index.parse().ok()?;
            let Layout::Array { element, count, stride } = layout else { return None };
            if index >= *count {
                return None;
            }
            offset += index.checked_mul(*stride)?;
            size = *stride;
            layout = element;
            rest = after;
        }
    }
    Some(Variable { name: format!("{}{path}", object.name), range: Range { object: id, offset, size } })
}

/// The most names that are suggested.
const SUGGESTED: usize = 3;

fn unknown(program: &Program, name: &str) -> Diagnostic {
    let base = name.split(['.', '[']).next().unwrap_or(name);
    let mut close: Vec<(usize, &str)> = program
        .objects
        .iter()
        .filter(|object| is_variable(object))
        .flat_map(|object| {
            let plain = object.name.rsplit("__").next().unwrap_or(&object.name);
            [object.name.as_str(), plain].map(|candidate| (distance(base, candidate), object.name.as_str()))
        })
        .filter(|(distance, _)| *distance <= 1 + base.len() / 4)
        .collect();
    close.sort_unstable();
    let mut names: Vec<String> = Vec::new();
    for (_, name) in close {
        let name = format!("'{name}'");
        if !names.contains(&name) && names.len() < SUGGESTED {
            names.push(name);
        }
    }
    let suggestion = if names.is_empty() {
        "name a global variable that it uses".to_owned()
    } else {
        format!("did you mean {}?", names.join(" or "))
    };
    Diagnostic::usage(format!("--race: the program accesses no variable '{name}'"), suggestion)
}

/// The edit distance.
pub fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, right) in b.iter().enumerate() {
            let changed = diagonal + usize::from(left != right);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(distance("state", "state"), 0);
        assert_eq!(distance("stat", "state"), 1);
        assert_eq!(distance("sttae", "state"), 2);
        assert_eq!(distance("", "abc"), 3);
    }
}
