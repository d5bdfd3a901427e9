//! The printer: declarations.

use super::{
    WAITINGS, error_word, local_handles, natural, object_handles, sync_word, template_handles, waiting_words,
};
use crate::ids::{Id, LocationId, TemplateId};
use crate::program::{
    Count, ErrorKind, Initial, LocationKind, Object, Program, Range, Span, Storage, Template,
};
use crate::types::{DataModel, Layout};
use std::fmt::Write;

/// The text form of a program.
pub fn print(program: &Program) -> String {
    let objects = object_handles(program);
    let templates = template_handles(program);
    let mut printer =
        Printer { program, objects, templates, locals: Vec::new(), template: None, out: String::new() };
    printer.program();
    printer.out
}

/// The text so far, and the names of entities in it.
pub(super) struct Printer<'p> {
    pub program: &'p Program,
    pub objects: Vec<String>,
    pub templates: Vec<String>,
    /// Of the template that is being printed.
    pub locals: Vec<String>,
    /// The template that is being printed.
    pub template: Option<&'p Template>,
    pub out: String,
}

/// Adds formatted text to a printer. Writing to a string cannot fail.
macro_rules! put {
    ($printer:expr, $($argument:tt)*) => {{ let _ = write!($printer.out, $($argument)*); }};
}
pub(super) use put;

/// The name of an entity; a text that does not parse if it does not exist.
pub(super) fn handle<I: Id>(handles: &[String], id: I) -> String {
    handles.get(id.index()).cloned().unwrap_or_else(|| format!("?{id:?}"))
}

/// A string in quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

impl<'p> Printer<'p> {
    fn program(&mut self) {
        let model = match self.program.data_model {
            DataModel::Ilp32 => "ilp32",
            DataModel::Lp64 => "lp64",
        };
        put!(self, "program {model}\n");
        for file in &self.program.files {
            put!(self, "file {}\n", quoted(file));
        }
        for assumption in &self.program.assumptions {
            put!(self, "assumes {}", quoted(&assumption.text));
            if assumption.limits_proof {
                put!(self, " limits proof");
            }
            self.span(assumption.span);
            put!(self, "\n");
        }
        for (template, count) in &self.program.start {
            put!(self, "start {} ", handle(&self.templates, *template));
            match count {
                Count::Exactly(copies) => put!(self, "{copies}\n"),
                Count::Any => put!(self, "any\n"),
            }
        }
        if !self.program.objects.is_empty() {
            put!(self, "\n");
        }
        for (id, object) in self.program.objects.enumerate() {
            let name = handle(&self.objects, id);
            self.object(&name, object);
        }
        for used in &self.program.site_uses {
            let site = handle(&self.objects, used.site);
            put!(self, "uses {site} {} {}: ", quoted(&used.variable), quoted(&used.type_name));
            self.layout(&used.layout);
            put!(self, " size {}\n", used.size);
        }
        if let Some(ranges) = &self.program.races_on {
            put!(self, "\nraces");
            self.ranges(" on", ranges);
            put!(self, "\n");
        }
        if !self.program.unordered.is_empty() {
            put!(self, "\nunordered");
            self.ranges("", &self.program.unordered);
            put!(self, "\n");
        }
        if self.program.reuses_addresses {
            put!(self, "\nreuses addresses\n");
        }
        if self.program.foreign_numbers {
            put!(self, "\nforeign numbers\n");
        }
        for (id, template) in self.program.templates.enumerate() {
            put!(self, "\n");
            self.template(id, template);
        }
    }

    pub(super) fn span(&mut self, span: Span) {
        if span != Span::default() {
            put!(self, " @ {}:{}:{}", span.file, span.line, span.column);
        }
    }

    /// A name at its declaration: with the real name if that differs.
    fn declare(&mut self, handle: &str, name: &str) {
        put!(self, "{handle}");
        if handle != name {
            put!(self, " {}", quoted(name));
        }
    }

    fn ranges(&mut self, first: &str, ranges: &[Range]) {
        for (index, range) in ranges.iter().enumerate() {
            let comma = if index > 0 { "," } else { first };
            let object = handle(&self.objects, range.object);
            put!(self, "{comma} {object} + {} size {}", range.offset, range.size);
        }
    }
    fn object(&mut self, name: &str, object: &Object) {
        match object.storage {
            Storage::Static => put!(self, "static "),
            Storage::Frame(_) => put!(self, "frame "),
            Storage::ThreadLocal => put!(self, "thread_local "),
            Storage::Site => put!(self, "site "),
        }
        self.declare(name, &object.name);
        if let Storage::Frame(template) = object.storage {
            put!(self, " of {}", handle(&self.templates, template));
        }
        put!(self, ": ");
        self.layout(&object.layout);
        let (size, align) = natural(&object.layout);
        if object.size != size {
            put!(self, " size {}", object.size);
        }
        if object.align != align {
            put!(self, " align {}", object.align);
        }
        if let Some(role) = object.role.word() {
            put!(self, " role {role}");
        }
        self.initial(&object.layout, &object.initial);
        self.span(object.span);
        put!(self, "\n");
    }

    fn initial(&mut self, layout: &Layout, initial: &Initial) {
        match (initial, layout) {
            (Initial::Unknown, _) => put!(self, " = unknown"),
            (Initial::NotModelled, _) => put!(self, " = unmodelled"),
            (Initial::Values(values), Layout::Scalar(scalar))
                if values.len() == 1 && values[0].0 == 0 && values[0].1 == *scalar =>
            {
                put!(self, " = ");
                self.expression(&values[0].2);
            }
            (Initial::Values(values), _) => {
                for (index, (offset, ty, value)) in values.iter().enumerate() {
                    put!(self, "{}{offset} {ty}: ", if index == 0 { " = { " } else { ", " });
                    self.expression(value);
                }
                if !values.is_empty() {
                    put!(self, " }}");
                }
            }
        }
    }

    fn layout(&mut self, layout: &Layout) {
        match layout {
            Layout::Scalar(ty) => put!(self, "{ty}"),
            Layout::Array { element, count, stride } => {
                put!(self, "[{count} of ");
                self.layout(element);
                if *stride != natural(element).0 {
                    put!(self, " by {stride}");
                }
                put!(self, "]");
            }
            Layout::Record(fields) => {
                put!(self, "{{");
                for (index, field) in fields.iter().enumerate() {
                    put!(self, "{}", if index == 0 { " " } else { ", " });
                    if super::is_plain(&field.name) {
                        put!(self, "{}", field.name);
                    } else {
                        put!(self, "{}", quoted(&field.name));
                    }
                    put!(self, ": ");
                    self.layout(&field.layout);
                    put!(self, " at {}", field.offset);
                }
                put!(self, " }}");
            }
            Layout::Sync(kind) => put!(self, "{}", sync_word(*kind)),
            Layout::Bytes(count) => put!(self, "bytes {count}"),
        }
    }

    fn template(&mut self, id: TemplateId, template: &'p Template) {
        self.locals = local_handles(template);
        self.template = Some(template);
        put!(self, "template ");
        let name = handle(&self.templates, id);
        self.declare(&name, &template.name);
        put!(self, "(");
        for (index, (id, _)) in template.locals.enumerate().take(template.parameters).enumerate() {
            put!(self, "{}", if index == 0 { "" } else { ", " });
            self.local(template, id);
        }
        put!(self, ")");
        if let Some(role) = template.role.word() {
            put!(self, " role {role}");
        }
        self.span(template.span);
        put!(self, " {{\n");
        for (id, _) in template.locals.enumerate().skip(template.parameters) {
            put!(self, "  local ");
            self.local(template, id);
            put!(self, "\n");
        }
        for (what, local) in [("result", template.result), ("exit value", template.exit_value)] {
            if let Some(local) = local {
                put!(self, "  {what} {}\n", handle(&self.locals, local));
            }
        }
        put!(self, "  locations {}\n", template.locations.len());
        if template.entry != LocationId(0) {
            put!(self, "  entry {}\n", template.entry);
        }
        let kinds = [LocationKind::End, LocationKind::Exit, LocationKind::Halt];
        for kind in kinds.into_iter().chain(ErrorKind::ALL.map(LocationKind::Error)) {
            let word = match kind {
                LocationKind::Normal => continue,
                LocationKind::End => "end".to_owned(),
                LocationKind::Exit => "exit".to_owned(),
                LocationKind::Halt => "halt".to_owned(),
                LocationKind::Error(kind) => format!("error {}", error_word(kind)),
            };
            self.locations(
                &word,
                template.locations.enumerate().filter(|(_, one)| one.kind == kind).map(|(id, _)| id),
            );
        }
        self.locations(
            "atomic",
            template.locations.enumerate().filter(|(_, one)| one.atomic).map(|(id, _)| id),
        );
        for waiting in WAITINGS {
            self.locations(
                &waiting_words(waiting).join(" "),
                template.locations.enumerate().filter(|(_, one)| one.waiting == waiting).map(|(id, _)| id),
            );
        }
        for edge in &template.edges {
            put!(self, "  {} -> {}:", edge.source, edge.target);
            for (index, op) in edge.ops.iter().enumerate() {
                put!(self, "{}", if index == 0 { " " } else { "; " });
                self.op(op);
            }
            self.span(edge.span);
            put!(self, "\n");
        }
        put!(self, "}}\n");
        self.template = None;
    }

    /// A header line for some locations. Neighbours are written as a range.
    fn locations(&mut self, word: &str, ids: impl Iterator<Item = LocationId>) {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for LocationId(id) in ids {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == id => *last = id,
                _ => ranges.push((id, id)),
            }
        }
        if ranges.is_empty() {
            return;
        }
        put!(self, "  {word}");
        for (index, (first, last)) in ranges.into_iter().enumerate() {
            put!(self, "{} l{first}", if index == 0 { "" } else { "," });
            if first != last {
                put!(self, " .. l{last}");
            }
        }
        put!(self, "\n");
    }

    fn local(&mut self, template: &Template, id: crate::ids::LocalId) {
        let name = handle(&self.locals, id);
        let local = &template.locals[id];
        self.declare(&name, &local.name);
        put!(self, ": {}", local.ty);
        self.span(local.span);
    }
}
