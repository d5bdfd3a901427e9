//! What cells of memory are called in the source.

use crate::ids::ObjectId;
use crate::program::Program;
use crate::types::Layout;

/// The cell at an offset of an object: `x`, `a[2]`, `s.next`, or `x+3` where the layout does not name it. As a summary, it stands for all elements of
/// the arrays that it is in: `a[..]`.
pub fn cell(program: &Program, object: ObjectId, offset: u64, summary: bool) -> String {
    let Some(found) = program.objects.get(object) else { return format!("{object}+{offset}") };
    let mut name = if found.name.is_empty() { object.to_string() } else { found.name.clone() };
    let mut layout = &found.layout;
    let mut rest = offset;
    loop {
        match layout {
            Layout::Array { element, count, stride } if *stride > 0 && rest / stride < *count => {
                match summary {
                    true => name += "[..]",
                    false => name += &format!("[{}]", rest / stride),
                }
                rest %= stride;
                layout = element;
            }
            Layout::Record(fields) => {
                let field =
                    fields.iter().rev().filter(|field| field.offset <= rest).max_by_key(|field| field.offset);
                let Some(field) = field else { break };
                if !field.name.is_empty() {
                    name += &format!(".{}", field.name);
                }
                rest -= field.offset;
                layout = &field.layout;
            }
            Layout::Array { .. } | Layout::Scalar(_) | Layout::Sync(_) | Layout::Bytes(_) => break,
        }
    }
    if rest > 0 { format!("{name}+{rest}") } else { name }
}
