//! `scanf` and its family: each target gets what its conversion reads, or stays as it is, and so do all
//! after it.
//!
//! What is read from a stream is an input; what is read from a string, the string decides: it is exact for
//! simple formats (`texts.rs`), else not modelled. Where the format is not known (or has `%n`), each target
//! may get anything or stay as it is, in executions that are no evidence.

use super::input::{any_between, copy_repeated, not_modelled, open_bytes, reads_itself, unmodelled_bytes};
use super::outside::unknown_between;
use super::printing::{read_pointee, read_string};
use super::{Answer, Argument, Call, Context, Entry, Wins, texts};
use ir::{BinaryOp, Expr, IntType, Lhs, Op, Place, Value};

pub(super) const TABLE: &[Entry] = &[
    Entry { names: &["scanf"], wins: Wins::Model, model: |c, call| scan(c, call, 0, Source::Stream) },
    Entry { names: &["vscanf", "vfscanf", "vsscanf"], wins: Wins::Model, model: not_modelled },
    Entry { names: &["fscanf"], wins: Wins::Model, model: |c, call| scan(c, call, 1, Source::Stream) },
    Entry {
        names: &["sscanf"],
        wins: Wins::Model,
        model: |context, call| {
            let (string, format) = (call.argument(0)?, call.argument(1)?);
            read_pointee(context, string);
            let wide = context.pointer().bits;
            let pieces = format.text.as_deref().and_then(|format| texts::pieces(format, wide));
            if let Some(pieces) = pieces {
                let text = context.settle_pointer(string);
                let targets = call.arguments.get(2..)?;
                if let Some(count) = texts::read(context, text, &pieces, targets) {
                    return Some(Answer::Value(count));
                }
            }
            scan(context, call, 1, Source::Text)
        },
    },
];

/// Where it is read from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    /// The world outside.
    Stream,
    /// Memory.
    Text,
}

impl Source {
    fn number(self, context: &mut Context<'_>, ty: IntType, low: Value, high: Value) -> Expr {
        match self {
            Self::Stream if reads_itself(context.program) => unknown_between(context, ty, low, high),
            Self::Stream => any_between(context, ty, low, high),
            Self::Text => unknown_between(context, ty, low, high),
        }
    }
    fn bytes(self, context: &mut Context<'_>) -> Expr {
        match self {
            Self::Stream => open_bytes(context),
            Self::Text => unmodelled_bytes(context),
        }
    }
}

/// What the number of digits says of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Digits {
    /// There may be any number of them.
    Any,
    /// It is decimal, with so many signs and digits at most.
    Decimal(u32),
    /// There is a limit, and what it means is not modelled.
    Limited,
}

impl Digits {
    /// The numbers that can be read.
    fn range(self, ty: IntType) -> Option<(Value, Value)> {
        match self {
            Self::Any => Some((ty.min(), ty.max())),
            Self::Decimal(digits) if digits < 30 => {
                let (negative, positive) = (10_i128.pow(digits.saturating_sub(1)), 10_i128.pow(digits));
                Some(((1 - negative).max(ty.min()), (positive - 1).min(ty.max())))
            }
            Self::Decimal(_) | Self::Limited => None,
        }
    }
}

/// What a conversion stores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Conversion {
    /// A number of so many bits, of which so much is known.
    Number(u8, Digits),
    /// A number with a point.
    Float,
    /// So many bytes at most, and a zero.
    String(Option<Value>),
    /// So many bytes.
    Bytes(Value),
}

fn scan(context: &mut Context<'_>, call: &Call<'_>, format: usize, source: Source) -> Option<Answer> {
    let format_argument = call.argument(format)?;
    let targets = call.arguments.get(format + 1..)?;
    let known = format_argument.text.as_deref().and_then(|text| conversions(context, text));
    let known = known.filter(|known| known.len() == targets.len());
    let fits = |target: &Argument| target.pointee.as_ref().is_some_and(|pointee| !pointee.has_pointer);
    if !targets.iter().all(fits) {
        return not_modelled(context, call);
    }
    if format_argument.text.is_none() {
        read_string(context, format_argument, None, false);
    }
    let int = IntType::I32;
    if known.is_none() {
        context.lose_path();
    }
    let count = source.number(context, int, -1, targets.len() as Value);
    if format_argument.text.as_deref().is_some_and(takes_anything) {
        context
            .builder
            .emit(Op::Assume(Expr::binary(BinaryOp::Eq, int, count.clone(), Expr::int(0, int)).not()));
    }
    for (index, target) in targets.iter().enumerate() {
        match known.as_ref().map(|known| known[index]) {
            Some(conversion) => {
                let (store, next) = (context.builder.label(), context.builder.label());
                let is_read = Expr::binary(BinaryOp::Lt, int, Expr::int(index as Value, int), count.clone());
                context.builder.branch(is_read, store, next);
                context.builder.continue_at(store);
                self::store(context, target, conversion, source);
                context.builder.place(next);
            }
            None => context.perhaps(|context| {
                let is_text = target.pointee_size() == Some(1);
                let conversion = if is_text { Conversion::String(None) } else { Conversion::Float };
                self::store(context, target, conversion, source);
            }),
        }
    }
    Some(Answer::Value(count))
}

/// Stores what a conversion reads.
fn store(context: &mut Context<'_>, target: &Argument, conversion: Conversion, source: Source) {
    let ty = context.pointer();
    let to = context.settle_pointer(target);
    match conversion {
        Conversion::Number(bits, digits) if target.target_type().is_some_and(|ty| ty.bits == bits) => {
            let Some(ty) = target.target_type() else { return };
            let value = match (digits.range(ty), source) {
                (Some(_), Source::Text) | (None, _) => context.unknown_number(ty),
                (Some((low, high)), Source::Stream) => source.number(context, ty, low, high),
            };
            context.builder.set(Lhs::Memory(Place::pointee(to, ty)), value);
        }
        Conversion::Number(..) | Conversion::Float => {
            // As many bytes as the target has.
            let size = target.pointee_size().map_or(8, Value::from);
            let from = source.bytes(context);
            copy_repeated(context, &to, from, Expr::int(size, ty), Some(size));
        }
        Conversion::String(most) => {
            let most_or_all = most.unwrap_or(ty.max());
            let length = source.number(context, ty, most_or_all.min(1), most_or_all);
            // Which bytes there are depends on the conversion: no white space, or those of a set.
            let from = unmodelled_bytes(context);
            copy_repeated(context, &to, from, length.clone(), most);
            let end = Place::pointee(context.sum(to, length), IntType::U8);
            context.builder.set(Lhs::Memory(end), Expr::int(0, IntType::U8));
        }
        Conversion::Bytes(count) => {
            let from = source.bytes(context);
            copy_repeated(context, &to, from, Expr::int(count, ty), Some(count));
        }
    }
}

/// Whether a format begins with a conversion that stores something unless there is nothing to read: then the
/// result is not 0.
fn takes_anything(format: &[u8]) -> bool {
    let Some(conversion) = format.trim_ascii_start().strip_prefix(b"%") else { return false };
    let letter = conversion.iter().find(|byte| !byte.is_ascii_digit());
    matches!(letter, Some(b'c' | b's'))
}

/// What each conversion of a format stores; `None` when one is not known.
fn conversions(context: &Context<'_>, format: &[u8]) -> Option<Vec<Conversion>> {
    let pointer = context.pointer().bits;
    let mut found = Vec::new();
    let mut rest = format.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            continue;
        }
        let suppressed = rest.next_if_eq(&b'*').is_some();
        let mut width: Option<Value> = None;
        while let Some(digit) = rest.next_if(u8::is_ascii_digit) {
            width = Some(width.unwrap_or(0).saturating_mul(10).saturating_add(Value::from(digit - b'0')));
        }
        let mut modifier = Vec::new();
        while let Some(letter) = rest.next_if(|letter| b"hlLqjzt".contains(letter)) {
            modifier.push(letter);
        }
        let conversion = match (rest.next()?, modifier.as_slice()) {
            (b'%', _) => continue,
            (letter @ (b'd' | b'i' | b'u' | b'o' | b'x' | b'X'), modifier) => {
                let bits = match modifier {
                    [] => 32,
                    [b'l' | b'z' | b't'] => pointer,
                    [b'h'] => 16,
                    [b'h', b'h'] => 8,
                    [b'q' | b'j' | b'L'] | [b'l', b'l'] => 64,
                    _ => return None,
                };
                let digits = match (letter, width) {
                    (_, None) => Digits::Any,
                    // Numbers that do not fit are cut or wrap around.
                    (b'd', Some(width)) if bits >= 32 && width <= 9 => Digits::Decimal(width as u32),
                    (_, Some(_)) => Digits::Limited,
                };
                Conversion::Number(bits, digits)
            }
            (b'a' | b'e' | b'f' | b'g' | b'E' | b'G', _) => Conversion::Float,
            (b's', []) => Conversion::String(width),
            (b'[', []) => {
                rest.next_if_eq(&b'^');
                rest.next_if_eq(&b']');
                while rest.next()? != b']' {}
                Conversion::String(width)
            }
            (b'c', []) => Conversion::Bytes(width.unwrap_or(1)),
            _ => return None,
        };
        if !suppressed {
            found.push(conversion);
        }
    }
    Some(found)
}
