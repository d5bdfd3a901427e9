//! The text form of programs: [`print`] and [`parse`], and the conventions that they share.
//!
//! Readable first: entities have their source names, where these are unique. It is also exact:
//! `parse(&print(&program)) == Ok(program)` for every well-formed program (see [`crate::check`]). The grammar
//! is in `docs/ir.md`.

mod lexer;
mod parser;
mod parser_code;
mod printer;
mod printer_code;
#[cfg(test)]
mod random;
#[cfg(test)]
mod tests;

use crate::program::{ErrorKind, Program, SharedObject, Template, Waiting};
use crate::types::{DataModel, IntType, Layout, SyncKind};
use crate::{BinaryOp, Expr, LockKind};
use std::collections::BTreeSet;
use std::fmt;

pub use parser::parse;
pub use printer::print;

/// Why a text is not a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// What was expected, and what was found.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}
impl std::error::Error for ParseError {}

/// Reserved words, which are names only with a number after them: those that start a declaration, an
/// operation, or an expression. All other words of the grammar occur where no name can.
const RESERVED: &[&str] = &[
    "allocate",
    "any",
    "assign",
    "assume",
    "atomic",
    "broadcast",
    "call",
    "copy",
    "false",
    "fill",
    "frame",
    "free",
    "if",
    "join",
    "lock",
    "myself",
    "old",
    "overflows",
    "procedure",
    "site",
    "spawn",
    "static",
    "template",
    "thread_local",
    "true",
    "unknown",
    "unlock",
    "valid",
];

/// Whether a word is an integer type, and which.
fn int_type(word: &str) -> Option<IntType> {
    if word == "bool" {
        return Some(IntType::BOOL);
    }
    let signed = match word.as_bytes().first()? {
        b'i' => true,
        b'u' => false,
        _ => return None,
    };
    let digits = &word[1..];
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    let bits = plain.then(|| digits.parse().ok()).flatten()?;
    Some(IntType { bits, signed })
}

/// Whether a word is the name of a location, and which.
fn location(word: &str) -> Option<u32> {
    let digits = word.strip_prefix('l')?;
    let plain =
        digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    plain.then(|| digits.parse().ok()).flatten()
}

/// Whether a character may start a word. A percent sign may if a letter or digit follows directly.
fn starts_word(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || c == '$'
}

/// Whether a character may continue a word.
fn continues_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$' || c == '.'
}

/// Whether a name can be written without quotes.
fn is_plain(name: &str) -> bool {
    is_word(name) && !is_reserved(name)
}

/// Whether a name looks like a word of the text.
fn is_word(name: &str) -> bool {
    let word = name.strip_prefix('%').unwrap_or(name);
    let start = word.chars().next();
    let starts = start.is_some_and(|c| starts_word(c) || (name.starts_with('%') && c.is_ascii_digit()));
    starts && word.chars().all(continues_word)
}

fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word) || int_type(word).is_some()
}

/// The operator of an operation on two operands.
fn sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::And => "&",
        BinaryOp::Or => "|",
        BinaryOp::Xor => "^",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
    }
}

fn lock_word(kind: LockKind) -> &'static str {
    match kind {
        LockKind::Mutex => "mutex",
        LockKind::Spin => "spin",
        LockKind::Read => "read",
        LockKind::Write => "write",
    }
}

const LOCK_KINDS: [LockKind; 4] = [LockKind::Mutex, LockKind::Spin, LockKind::Read, LockKind::Write];

fn sync_word(kind: SyncKind) -> &'static str {
    match kind {
        SyncKind::Mutex => "mutex",
        SyncKind::Spin => "spin",
        SyncKind::ReadWrite => "rwlock",
        SyncKind::Other => "sync",
    }
}

const SYNC_KINDS: [SyncKind; 4] = [SyncKind::Mutex, SyncKind::Spin, SyncKind::ReadWrite, SyncKind::Other];

fn error_word(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::ReachError => "reach_error",
        ErrorKind::Assertion => "assertion",
        ErrorKind::InvalidAccess => "invalid_access",
        ErrorKind::Overflow => "overflow",
        ErrorKind::InvalidFree => "invalid_free",
    }
}

fn waiting_words(waiting: Waiting) -> &'static [&'static str] {
    match waiting {
        Waiting::Nothing => &[],
        Waiting::For(SharedObject::Semaphore) => &["waits", "semaphore"],
        Waiting::For(SharedObject::Condition) => &["waits", "condition"],
        Waiting::For(SharedObject::Barrier) => &["waits", "barrier"],
        Waiting::For(SharedObject::Once) => &["waits", "once"],
        Waiting::Spurious => &["spurious"],
        Waiting::Tracked => &["tracked"],
        Waiting::Racing => &["racing"],
        Waiting::Returned => &["returned"],
        Waiting::Exited => &["exited"],
    }
}

/// All enumerations with keywords.
const WAITINGS: [Waiting; 9] = [
    Waiting::For(SharedObject::Semaphore),
    Waiting::For(SharedObject::Condition),
    Waiting::For(SharedObject::Barrier),
    Waiting::For(SharedObject::Once),
    Waiting::Spurious,
    Waiting::Tracked,
    Waiting::Racing,
    Waiting::Returned,
    Waiting::Exited,
];

/// The default size and alignment of a layout.
fn natural(layout: &Layout) -> (u64, u64) {
    match layout {
        Layout::Scalar(ty) => (ty.bytes(), ty.bytes().max(1)),
        Layout::Array { element, count, stride } => (count.saturating_mul(*stride), natural(element).1),
        Layout::Record(fields) => {
            let (mut size, mut align) = (0u64, 1u64);
            for field in fields {
                let (bytes, least) = natural(&field.layout);
                size = size.max(field.offset.saturating_add(bytes));
                align = align.max(least);
            }
            (size.checked_next_multiple_of(align).unwrap_or(size), align)
        }
        Layout::Sync(_) => (0, 8),
        Layout::Bytes(count) => (*count, 1),
    }
}

/// The type of an expression in a template, if everything that it names exists.
fn type_of(model: DataModel, template: Option<&Template>, expr: &Expr) -> Option<IntType> {
    match expr {
        Expr::Const(_, ty) | Expr::Unary(_, ty, _) | Expr::Cast(ty, _) => Some(*ty),
        Expr::Local(local) => Some(template?.locals.get(*local)?.ty),
        Expr::Load(place) => Some(place.ty),
        Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => Some(model.pointer()),
        Expr::Binary(op, ty, _) => Some(if op.is_comparison() { IntType::BOOL } else { *ty }),
        Expr::IfThenElse(three) => type_of(model, template, &three.1),
        Expr::Overflows(..) | Expr::Valid(..) => Some(IntType::BOOL),
        Expr::Old(operand) => type_of(model, template, operand),
    }
}

/// The names of entities in the text: the first one with a plain name has that name; others have the name
/// (or, if that is no word, a letter), a `#`, and the id.
fn handles<'a>(names: impl Iterator<Item = &'a str>, letter: char) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let handle = |(id, name): (usize, &'a str)| {
        if is_plain(name) && seen.insert(name) {
            name.to_owned()
        } else if is_word(name) {
            format!("{name}#{id}")
        } else {
            format!("{letter}#{id}")
        }
    };
    names.enumerate().map(handle).collect()
}

fn object_handles(program: &Program) -> Vec<String> {
    handles(program.objects.iter().map(|object| object.name.as_str()), 'o')
}
fn template_handles(program: &Program) -> Vec<String> {
    handles(program.templates.iter().map(|template| template.name.as_str()), 't')
}
fn local_handles(template: &Template) -> Vec<String> {
    handles(template.locals.iter().map(|local| local.name.as_str()), 'v')
}
