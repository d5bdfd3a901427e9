//! `sscanf` of formats with `%d`, `%u`, `%s`, `%c`, spaces and other bytes: exact, as a loop over the text. A
//! number that does not fit (undefined in C11 7.21.6.2p10) is not modelled.

use super::emit::{differ, equal, int};
use super::numbers::{digits, is_one_of, sign, skip_spaces};
use super::strings::{advance, byte, zero};
use super::{Argument, Context};
use ir::{BinaryOp, Expr, IntType, Lhs, LocalId, LocationId, Place, UnaryOp, Value};

/// A part of a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Piece {
    /// Any number of white space.
    Spaces,
    /// A byte as it is.
    Byte(u8),
    /// A decimal number of so many bits, with a sign or not.
    Number(u8, bool),
    /// Bytes that are no white space, up to a number of them.
    Word(Option<Value>),
    /// One byte.
    Character,
}

/// The bytes of white space in the locale "C".
const SPACES: &[u8] = b" \t\n\x0b\x0c\r";

/// The parts of a format, if all of them are known.
pub(super) fn pieces(format: &[u8], wide: u8) -> Option<Vec<Piece>> {
    let end = format.iter().position(|byte| *byte == 0).unwrap_or(format.len());
    let mut rest = format[..end].iter().copied().peekable();
    let mut found = Vec::new();
    while let Some(byte) = rest.next() {
        if SPACES.contains(&byte) {
            found.push(Piece::Spaces);
            continue;
        }
        if byte != b'%' {
            found.push(Piece::Byte(byte));
            continue;
        }
        let mut width: Option<Value> = None;
        while let Some(digit) = rest.next_if(u8::is_ascii_digit) {
            width = Some(width.unwrap_or(0).saturating_mul(10).saturating_add(Value::from(digit - b'0')));
        }
        let mut modifier = Vec::new();
        while let Some(letter) = rest.next_if(|letter| b"hlLqjzt".contains(letter)) {
            modifier.push(letter);
        }
        let bits = match modifier.as_slice() {
            [] => 32,
            [b'l' | b'z' | b't'] => wide,
            [b'h'] => 16,
            [b'h', b'h'] => 8,
            [b'q' | b'j'] | [b'l', b'l'] => 64,
            _ => return None,
        };
        found.push(match (rest.next()?, width) {
            (b'd', None) => Piece::Number(bits, true),
            (b'u', None) => Piece::Number(bits, false),
            (b's', width) if modifier.is_empty() && width != Some(0) => Piece::Word(width),
            (b'c', None) if modifier.is_empty() => Piece::Character,
            _ => return None,
        });
    }
    Some(found)
}

/// Whether a target is what a part of a format stores.
fn fits(piece: Piece, target: &Argument) -> bool {
    match piece {
        Piece::Number(bits, _) => target.target_type().is_some_and(|ty| ty.bits == bits),
        Piece::Word(_) | Piece::Character => target.pointee_size() == Some(1),
        Piece::Spaces | Piece::Byte(_) => false,
    }
}

/// The reading of a text, as far as it has come.
struct Reading {
    text: Expr,
    at: LocalId,
    /// Where it ends with the number of conversions so far, and where the text is over.
    done: LocationId,
    over: LocationId,
}

/// Reads a text by a format. Gives how many conversions were made, or -1 where the text is over before the
/// first; `None`, and does nothing, if the targets are not what the format says.
pub(super) fn read(
    context: &mut Context<'_>,
    text: Expr,
    pieces: &[Piece],
    targets: &[Argument],
) -> Option<Expr> {
    let stores: Vec<Piece> = pieces
        .iter()
        .copied()
        .filter(|piece| matches!(piece, Piece::Number(..) | Piece::Word(_) | Piece::Character))
        .collect();
    let all_fit = stores.len() == targets.len()
        && stores.iter().zip(targets).all(|(piece, target)| fits(*piece, target));
    if !all_fit {
        return None;
    }
    let ty = IntType::I32;
    let count = context.builder.save(int(0), ty);
    let (at, done, over) = (zero(context), context.builder.label(), context.builder.label());
    let reading = Reading { text, at, done, over };
    let mut targets = targets.iter();
    for &piece in pieces {
        match piece {
            Piece::Spaces => skip_spaces(context, &reading.text, at),
            Piece::Byte(wanted) => {
                let here = reading.look(context);
                let wanted = Expr::int(Value::from(wanted), IntType::U8);
                leave_if(context, differ(IntType::U8, here, wanted), done);
                advance(context, at);
            }
            Piece::Number(..) | Piece::Word(_) | Piece::Character => {
                let to = context.settle_pointer(targets.next()?);
                if piece != Piece::Character {
                    skip_spaces(context, &reading.text, at);
                }
                match piece {
                    Piece::Number(bits, signed) => {
                        reading.number(context, to, IntType { bits, signed });
                    }
                    Piece::Word(most) => reading.word(context, &to, most),
                    _ => {
                        let here = reading.look(context);
                        context.builder.set(Lhs::Memory(Place::pointee(to, IntType::U8)), here);
                        advance(context, at);
                    }
                }
                let more = Expr::binary(BinaryOp::Add, ty, Expr::Local(count), int(1));
                context.builder.set(Lhs::Local(count), more);
            }
        }
    }
    context.builder.jump(done);
    context.builder.continue_at(over);
    let is_first = equal(ty, Expr::Local(count), int(0));
    let result = Expr::IfThenElse(Box::new((is_first, int(-1), Expr::Local(count))));
    context.builder.set(Lhs::Local(count), result);
    context.builder.place(done);
    Some(Expr::Local(count))
}

fn leave_if(context: &mut Context<'_>, condition: Expr, other: LocationId) {
    let next = context.builder.label();
    context.builder.branch(condition, other, next);
    context.builder.continue_at(next);
}

impl Reading {
    /// The next byte; the reading is over if there is none.
    fn look(&self, context: &mut Context<'_>) -> Expr {
        let here = byte(context, &self.text, self.at);
        let here = Expr::Local(context.builder.save(here, IntType::U8));
        let is_over = equal(IntType::U8, here.clone(), Expr::int(0, IntType::U8));
        leave_if(context, is_over, self.over);
        here
    }

    /// Stores a number.
    fn number(&self, context: &mut Context<'_>, to: Expr, ty: IntType) {
        self.look(context);
        let wide = IntType::U64;
        let negative = sign(context, &self.text, self.at);
        let value = context.builder.save(Expr::int(0, wide), wide);
        let too_large = context.builder.save(Expr::bool(false), IntType::BOOL);
        let pointer = context.pointer();
        let start = context.builder.save(Expr::Local(self.at), pointer);
        digits(context, &self.text, self.at, &Expr::int(10, IntType::I32), value, too_large);
        // Without a digit nothing matches.
        let is_none = equal(pointer, Expr::Local(self.at), Expr::Local(start));
        leave_if(context, is_none, self.done);
        let number = context.builder.temporary(ty);
        let (fits, stored) = (context.builder.label(), context.builder.label());
        let within =
            |most: Value| Expr::binary(BinaryOp::Le, wide, Expr::Local(value), Expr::int(most, wide));
        let is_small = within(ty.max()).and(Expr::Local(too_large).not());
        let other = context.builder.label();
        context.builder.branch(is_small, fits, other);
        context.builder.continue_at(other);
        context.builder.emit(ir::Op::unknown_number(number, ty));
        context.builder.jump(stored);
        context.builder.continue_at(fits);
        let plain = Expr::cast(ty, Expr::Local(value));
        let opposite = Expr::cast(ty, Expr::unary(UnaryOp::Neg, wide, Expr::Local(value)));
        let signed = Expr::IfThenElse(Box::new((Expr::Local(negative), opposite, plain)));
        context.builder.set(Lhs::Local(number), signed);
        context.builder.place(stored);
        context.builder.set(Lhs::Memory(Place::pointee(to, ty)), Expr::Local(number));
    }

    /// Stores bytes that are no white space, and a zero.
    fn word(&self, context: &mut Context<'_>, to: &Expr, most: Option<Value>) {
        self.look(context);
        let (ty, length) = (context.pointer(), zero(context));
        let (head, next, end) = (context.builder.label(), context.builder.label(), context.builder.label());
        context.builder.place(head);
        if let Some(most) = most {
            let is_full = equal(ty, Expr::Local(length), Expr::int(most, ty));
            leave_if(context, is_full, end);
        }
        let here = byte(context, &self.text, self.at);
        let here = Expr::Local(context.builder.save(here, IntType::U8));
        let ends = [SPACES, b"\0"].concat();
        context.builder.branch(is_one_of(&here, &ends), end, next);
        context.builder.continue_at(next);
        let place = Place::pointee(context.sum(to.clone(), Expr::Local(length)), IntType::U8);
        context.builder.set(Lhs::Memory(place), here);
        advance(context, self.at);
        advance(context, length);
        context.builder.jump(head);
        context.builder.continue_at(end);
        let last = Place::pointee(context.sum(to.clone(), Expr::Local(length)), IntType::U8);
        context.builder.set(Lhs::Memory(last), Expr::int(0, IntType::U8));
    }
}

#[cfg(test)]
mod tests {
    use super::{Piece, pieces};

    #[test]
    fn formats_have_their_parts() {
        let expected =
            vec![Piece::Number(32, true), Piece::Spaces, Piece::Byte(b':'), Piece::Number(64, false)];
        assert_eq!(pieces(b"%d :%lu", 64), Some(expected));
        assert_eq!(pieces(b"%7s%c", 64), Some(vec![Piece::Word(Some(7)), Piece::Character]));
        assert_eq!(pieces(b"%*d", 64), None);
        assert_eq!(pieces(b"%[a-z]", 64), None);
        assert_eq!(pieces(b"%3d", 64), None);
    }
}
