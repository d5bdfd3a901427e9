//! Classes of characters, and their cases: the tables that glibc's `<ctype.h>` looks into, and the functions.
//!
//! Exact for the locale "C", which programs start with; `setlocale` limits proofs. Functions compare, which
//! is the same.

use super::emit::int;
use super::{Answer, Argument, Call, Context, Entry, Wins};
use ir::{BinaryOp, Expr, Initial, IntType, Layout, ObjectId, Storage, Value};

pub(super) const TABLE: &[Entry] = &[
    Entry { names: &["__ctype_b_loc"], wins: Wins::Model, model: |c, _| location(c, &CLASSES) },
    Entry { names: &["__ctype_tolower_loc"], wins: Wins::Model, model: |c, _| location(c, &LOWER) },
    Entry { names: &["__ctype_toupper_loc"], wins: Wins::Model, model: |c, _| location(c, &UPPER) },
    Entry {
        names: &["tolower"],
        wins: Wins::Body,
        model: |c, call| change(c, call, u8::to_ascii_lowercase, 32),
    },
    Entry {
        names: &["toupper"],
        wins: Wins::Body,
        model: |c, call| change(c, call, u8::to_ascii_uppercase, -32),
    },
    Entry {
        names: &[
            "isupper", "islower", "isalpha", "isdigit", "isxdigit", "isspace", "isprint", "isgraph",
            "isblank", "iscntrl", "ispunct", "isalnum",
        ],
        wins: Wins::Body,
        model: |context, call| {
            let name = call.name.trim_start_matches("__builtin_");
            let (_, bit) = *NAMES.iter().find(|(known, _)| *known == name)?;
            class(context, call, bit)
        },
    },
];

/// The classes, and their bits in the table (`<ctype.h>` of glibc on machines that store the low byte first).
const NAMES: [(&str, Value); 12] = [
    ("isupper", 1 << 8),
    ("islower", 1 << 9),
    ("isalpha", 1 << 10),
    ("isdigit", 1 << 11),
    ("isxdigit", 1 << 12),
    ("isspace", 1 << 13),
    ("isprint", 1 << 14),
    ("isgraph", 1 << 15),
    ("isblank", 1 << 0),
    ("iscntrl", 1 << 1),
    ("ispunct", 1 << 2),
    ("isalnum", 1 << 3),
];

/// Tables begin with the entry for this character.
const FIRST: Value = -128;
/// The number of entries.
const ENTRIES: u64 = 384;

/// A table with an entry for each character.
struct Table {
    name: &'static str,
    ty: IntType,
    entry: fn(Value) -> Value,
}

const CLASSES: Table = Table { name: "classes of characters", ty: IntType::U16, entry: classes };
const LOWER: Table =
    Table { name: "small letters", ty: IntType::I32, entry: |at| cased(at, u8::to_ascii_lowercase) };
const UPPER: Table =
    Table { name: "capital letters", ty: IntType::I32, entry: |at| cased(at, u8::to_ascii_uppercase) };

/// The classes of a character in the locale "C".
fn classes(at: Value) -> Value {
    let Some(byte) = u8::try_from(at).ok().filter(u8::is_ascii) else { return 0 };
    let is = |name: &str| match name {
        "isupper" => byte.is_ascii_uppercase(),
        "islower" => byte.is_ascii_lowercase(),
        "isalpha" => byte.is_ascii_alphabetic(),
        "isdigit" => byte.is_ascii_digit(),
        "isxdigit" => byte.is_ascii_hexdigit(),
        "isspace" => byte.is_ascii_whitespace() || byte == 0x0b,
        "isprint" => byte.is_ascii_graphic() || byte == b' ',
        "isgraph" => byte.is_ascii_graphic(),
        "isblank" => byte == b' ' || byte == b'\t',
        "iscntrl" => byte.is_ascii_control(),
        "ispunct" => byte.is_ascii_punctuation(),
        "isalnum" => byte.is_ascii_alphanumeric(),
        _ => false,
    };
    NAMES.iter().filter(|(name, _)| is(name)).map(|(_, bit)| bit).sum()
}

/// A character in another case. Negative ones are bytes that are signed, but for the end of a file.
fn cased(at: Value, change: fn(&u8) -> u8) -> Value {
    match at {
        -1 => -1,
        at => u8::try_from(at.rem_euclid(256)).map_or(at, |byte| Value::from(change(&byte))),
    }
}

/// The object with a table's entries.
fn entries(context: &mut Context<'_>, table: &Table) -> ObjectId {
    let width = table.ty.bytes();
    let values = (0..ENTRIES).map(|index| {
        (index * width, table.ty, Expr::int((table.entry)(FIRST + Value::from(index)), table.ty))
    });
    let values = values.filter(|(_, _, value)| !matches!(value, Expr::Const(0, _))).collect();
    let layout = Layout::Array { element: Box::new(Layout::Scalar(table.ty)), count: ENTRIES, stride: width };
    context.own_object_with(table.name, Storage::Static, layout, ENTRIES * width, Initial::Values(values))
}

/// The offset of the entry for the character 0.
fn middle(table: &Table) -> u64 {
    (-FIRST) as u64 * table.ty.bytes()
}

/// The address of a pointer to the entry for the character 0.
fn location(context: &mut Context<'_>, table: &Table) -> Option<Answer> {
    let pointer = context.pointer();
    let entries = entries(context, table);
    let value = Initial::Values(vec![(0, pointer, Expr::Address(entries, middle(table)))]);
    let name = format!("where {} are", table.name);
    let layout = Layout::Scalar(pointer);
    let object = context.own_object_with(&name, Storage::Static, layout, pointer.bytes(), value);
    Some(Answer::Value(Expr::Address(object, 0)))
}

/// Whether an argument is a character with a property.
fn is(context: &mut Context<'_>, character: &Argument, has: impl Fn(u8) -> bool) -> Expr {
    let value = context.settle_as(character, IntType::I32);
    let at_least = |bound: u8| Expr::binary(BinaryOp::Le, IntType::I32, int(bound.into()), value.clone());
    let at_most = |bound: u8| Expr::binary(BinaryOp::Le, IntType::I32, value.clone(), int(bound.into()));
    let starts = (0..=127u8).filter(|at| has(*at) && !at.checked_sub(1).is_some_and(&has));
    let ends = (0..=127u8).filter(|at| has(*at) && (*at == 127 || !has(at + 1)));
    let within = starts.zip(ends).map(|(first, last)| at_least(first).and(at_most(last)));
    within
        .reduce(|one, other| Expr::binary(BinaryOp::Or, IntType::BOOL, one, other))
        .unwrap_or(Expr::bool(false))
}

/// The class of an argument: its bit, or 0. For what is no character the behaviour is not defined.
fn class(context: &mut Context<'_>, call: &Call<'_>, bit: Value) -> Option<Answer> {
    let within = is(context, call.argument(0)?, |at| classes(at.into()) & bit != 0);
    let within = Expr::cast(IntType::I32, within);
    Some(Answer::Value(Expr::binary(BinaryOp::Mul, IntType::I32, within, int(bit))))
}

/// The argument in another case.
fn change(
    context: &mut Context<'_>,
    call: &Call<'_>,
    cased: fn(&u8) -> u8,
    distance: Value,
) -> Option<Answer> {
    let character = call.argument(0)?;
    let changes = is(context, character, |at| cased(&at) != at);
    let changes = Expr::cast(IntType::I32, changes);
    let distance = Expr::binary(BinaryOp::Mul, IntType::I32, changes, int(distance));
    let value = context.settle_as(character, IntType::I32);
    Some(Answer::Value(Expr::binary(BinaryOp::Add, IntType::I32, value, distance)))
}

#[cfg(test)]
mod tests {
    use super::{NAMES, cased, classes};

    #[test]
    fn classes_are_those_of_glibc() {
        // From `(*__ctype_b_loc())[c]` of glibc 2.36.
        let known = [
            (0, 0x2),
            (9, 0x2003),
            (10, 0x2002),
            (32, 0x6001),
            (33, 0xc004),
            (48, 0xd808),
            (65, 0xd508),
            (71, 0xc508),
            (97, 0xd608),
            (103, 0xc608),
            (127, 0x2),
            (128, 0),
            (-1, 0),
            (255, 0),
        ];
        for (at, expected) in known {
            assert_eq!(classes(at), expected, "{at}");
        }
        assert!(NAMES.iter().all(|(_, bit)| (0..256).any(|at| classes(at) & bit != 0)));
    }

    #[test]
    fn cases_are_those_of_glibc() {
        assert_eq!(cased(65, u8::to_ascii_lowercase), 97);
        assert_eq!(cased(97, u8::to_ascii_uppercase), 65);
        assert_eq!(cased(-1, u8::to_ascii_uppercase), -1);
        assert_eq!(cased(-2, u8::to_ascii_uppercase), 254);
        assert_eq!(cased(200, u8::to_ascii_uppercase), 200);
    }
}
