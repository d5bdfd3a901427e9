//! Source names of memory cells.

use crate::expr::Target;
use crate::ids::ObjectId;
use crate::program::{Program, SiteUse, Span, Storage};
use crate::types::Layout;

/// The local that a step marks when it delivers a signal: an execution through it need not exist.
pub const SIGNAL: &str = "%signal arrives";

/// Whether no one who wrote the program knows a name: it is that of a temporary, or of a variable in a macro
/// of the headers that come with the front end.
pub fn is_made_up(name: &str) -> bool {
    name.starts_with('%') || name.starts_with("__rucc_")
}

/// How elements of arrays are named.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Elements {
    /// By their number: `a[2]`.
    Numbered,
    /// All at once, as in listings of facts: `a[..]`.
    Summary,
}

/// The offsets `first`, `first + stride`, … up to `last`, within an object or a part of it.
#[derive(Clone, Copy)]
struct Offsets {
    first: u64,
    /// 0 if there is only one.
    stride: u64,
    last: u64,
}

impl Offsets {
    fn of(cell: Target) -> Self {
        let steps = cell.count.saturating_sub(1);
        let last = cell.first.saturating_add(cell.stride.saturating_mul(steps));
        Self { first: cell.first, stride: cell.stride, last }
    }
    /// The number of the element that they are in, if it is only one, and the offsets within an element of
    /// this size.
    fn in_elements(self, size: u64) -> (Option<u64>, Self) {
        if self.stride == 0 || self.first / size == self.last / size {
            let start = self.first / size * size;
            let within = Self { first: self.first - start, last: self.last - start, ..self };
            return (Some(self.first / size), within);
        }
        let (mut stride, mut rest) = (size, self.stride);
        while rest > 0 {
            (stride, rest) = (rest, stride % rest);
        }
        let first = self.first % stride;
        let one_each = stride == size;
        let last = if one_each { first } else { first + (size / stride - 1) * stride };
        (None, Self { first, stride: if one_each { 0 } else { stride }, last })
    }
}

/// The cell at an offset of an object: `x`, `a[2]`, `s.next`, or `x+3` where the layout does not name it. As
/// a summary, it stands for all elements of the arrays that contain it: `a[..]`.
pub fn cell(program: &Program, object: ObjectId, offset: u64, summary: bool) -> String {
    let Some(found) = program.objects.get(object) else { return format!("{object}+{offset}") };
    let name = if found.name.is_empty() { object.to_string() } else { found.name.clone() };
    let elements = if summary { Elements::Summary } else { Elements::Numbered };
    name + &path(&found.layout, Offsets { first: offset, stride: 0, last: offset }, elements)
}

/// A memory location for reports: `x`, `workers[].count`, `pool->size of the struct queue allocated in
/// pool.c:124`.
pub fn location(program: &Program, cell: Target) -> String {
    let Some(found) = program.objects.get(cell.object) else {
        return self::cell(program, cell.object, cell.first, false);
    };
    if found.storage != Storage::Site {
        let name = if found.name.is_empty() { cell.object.to_string() } else { found.name.clone() };
        return name + &path(&found.layout, Offsets::of(cell), Elements::Numbered);
    }
    let at = place(program, found.span);
    match (program.site_use(cell.object), &found.layout) {
        (Some(used), _) => format!("{} of the {} allocated in {at}", member(used, cell), used.type_name),
        (None, Layout::Bytes(_)) if cell.stride > 0 => format!("the memory allocated in {at}"),
        (None, Layout::Bytes(_)) => format!("byte {} of the memory allocated in {at}", cell.first),
        (None, layout) => found.name.clone() + &path(layout, Offsets::of(cell), Elements::Numbered),
    }
}

/// The name of an offset in allocated memory, by the type that the source uses it as: `pool->size`, `*count`.
pub fn in_allocated(used: &SiteUse, offset: u64) -> String {
    member(used, Target { object: used.site, first: offset, stride: 0, count: 1 })
}

/// The same for several elements.
fn member(used: &SiteUse, cell: Target) -> String {
    let (index, rest) = Offsets::of(cell).in_elements(used.size);
    let inside = path(&used.layout, rest, Elements::Numbered);
    let variable =
        if used.variable.is_empty() { format!("({} *)", used.type_name) } else { used.variable.clone() };
    match index {
        None => format!("{variable}[]{inside}"),
        Some(0) => match inside.strip_prefix('.') {
            Some(member) => format!("{variable}->{member}"),
            None if inside.is_empty() && !used.variable.is_empty() => format!("*{variable}"),
            None => format!("{variable}[0]{inside}"),
        },
        Some(index) => format!("{variable}[{index}]{inside}"),
    }
}

/// `file:line`, as far as known.
fn place(program: &Program, span: Span) -> String {
    let file = program.files.get(span.file as usize).map_or("?", String::as_str);
    if span.line > 0 { format!("{file}:{}", span.line) } else { file.to_owned() }
}

/// The members and elements that lead to some offsets: of several members, that which contains them all.
fn path(layout: &Layout, offsets: Offsets, elements: Elements) -> String {
    let mut name = String::new();
    let (mut layout, mut rest) = (layout, offsets);
    loop {
        match layout {
            Layout::Array { element, count, stride } if *stride > 0 && rest.first / stride < *count => {
                let (index, within) = rest.in_elements(*stride);
                name += &match (elements, index) {
                    (Elements::Summary, _) => "[..]".to_owned(),
                    (Elements::Numbered, None) => "[]".to_owned(),
                    (Elements::Numbered, Some(index)) => format!("[{index}]"),
                };
                rest = within;
                layout = element;
            }
            Layout::Record(fields) => {
                let before = fields.iter().rev().filter(|field| field.offset <= rest.first);
                let Some(field) = before.max_by_key(|field| field.offset) else { break };
                if fields.iter().any(|other| other.offset > field.offset && other.offset <= rest.last) {
                    return name;
                }
                if !field.name.is_empty() {
                    name += &format!(".{}", field.name);
                }
                rest = Offsets { first: rest.first - field.offset, last: rest.last - field.offset, ..rest };
                layout = &field.layout;
            }
            Layout::Array { .. } | Layout::Scalar(_) | Layout::Sync(_) | Layout::Bytes(_) => break,
        }
    }
    if rest.first > 0 { format!("{name}+{}", rest.first) } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_has_the_names_of_the_source() {
        let program = crate::text::parse(
            "program lp64 file \"pool.c\"
            static x: i32 static workers: [3 of { id: i32 at 0, count: i32 at 4 }]
            site block: bytes 16 @ 0:124:3 site other: bytes 8 @ 0:7:1
            uses block \"pool\" \"struct queue\": { size: i32 at 0, slots: [2 of i32] at 4 } size 16",
        )
        .expect("it is a program");
        let name = |object: u32, first: u64, stride: u64| {
            location(&program, Target { object: ObjectId(object), first, stride, count: 3 })
        };
        assert_eq!(name(0, 0, 0), "x");
        assert_eq!(name(1, 4, 8), "workers[].count");
        assert_eq!(name(1, 12, 0), "workers[1].count");
        assert_eq!(name(2, 0, 0), "pool->size of the struct queue allocated in pool.c:124");
        assert_eq!(name(2, 4, 4), "pool->slots[] of the struct queue allocated in pool.c:124");
        assert_eq!(name(2, 0, 16), "pool[].size of the struct queue allocated in pool.c:124");
        assert_eq!(name(1, 0, 1), "workers[0].id");
        assert_eq!(name(1, 0, 4), "workers[]");
        assert_eq!(name(2, 0, 4), "*pool of the struct queue allocated in pool.c:124");
        assert_eq!(name(2, 0, 8), "pool[] of the struct queue allocated in pool.c:124");
        assert_eq!(name(2, 16, 0), "pool[1].size of the struct queue allocated in pool.c:124");
        assert_eq!(name(3, 4, 0), "byte 4 of the memory allocated in pool.c:7");
    }
}
