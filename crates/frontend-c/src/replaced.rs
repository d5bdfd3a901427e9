//! Initialisers that a later one replaces (C11 6.7.9p19): in `{.n.c = 5, .n = {.b = 2}}` the second one sets
//! all of `n`, so that `n.c` is 0. The type checker lists what is stored in the order of the text, and braces
//! leave no trace in its list: `n.c` would stay 5. Nor do the zeros that fill an array after a string. So
//! this pass looks for braces and strings that may replace something earlier in the same list. Where they
//! replace a whole earlier element, it drops that element from the tokens (C leaves open whether it is
//! evaluated; compilers do not). Where it cannot tell what they replace, it remembers the list, and lowering
//! says that the initialiser is not supported.
//!
//! A list is read as runs: an element with a designator, and those without one that follow it. Within a run,
//! positions only rise, so only an element of a later run replaces something. The lowering, which knows the
//! types, asks whether a list names several members of one union ([`DesignatedList`]): only the last counts.

use rucc_base::Symbol;
use rucc_lex::{Keyword, Punct, Token, TokenKind, Tokens};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// A number, counted from an enumerator whose value is not known here, if any. `None` is any number.
type Number = Option<(Option<u32>, i128)>;

/// One designator.
#[derive(Clone, Debug)]
enum Step {
    /// `.name`
    Field(u32),
    /// `[first]`, `[first ... last]`
    Index(Number, Number),
}

/// One element of a list.
struct Element {
    tokens: Range<usize>,
    path: Vec<Step>,
    /// Where its value begins.
    value: usize,
    /// Whether its value is a list in braces.
    is_braced: bool,
    /// Whether its value replaces all of an array or structure: a list in braces, or a string.
    is_whole: bool,
}

/// A list that names members.
#[derive(Debug)]
pub struct DesignatedList {
    /// The positions of its tokens.
    tokens: FxHashSet<u32>,
    /// The members that its designators name, at any depth.
    names: FxHashSet<u32>,
    /// Whether it begins with an element without a designator.
    is_led: bool,
}

impl DesignatedList {
    /// Whether a token at this position is in the list.
    pub fn contains(&self, position: u32) -> bool {
        self.tokens.contains(&position)
    }

    /// Whether the list sets several members of a union, given the member that each name is in.
    pub fn sets_several(&self, member: &FxHashMap<u32, usize>) -> bool {
        let first = self.is_led.then_some(0);
        let mut members = self.names.iter().filter_map(|name| member.get(name).copied()).chain(first);
        // The first of them, whichever it is, is compared with all others.
        members.next().is_some_and(|one| members.any(|other| other != one))
    }
}

/// What an element does to an earlier run.
enum Effect {
    Nothing,
    Replaces,
    Unclear,
}

/// Removes tokens, and keeps pragmas at their places.
pub fn remove(tokens: &mut Tokens, is_removed: impl Fn(usize) -> bool) {
    let all = std::mem::take(&mut tokens.tokens);
    let mut before = Vec::with_capacity(all.len() + 1);
    for (index, token) in all.into_iter().enumerate() {
        before.push(tokens.tokens.len() as u32);
        if !is_removed(index) {
            tokens.tokens.push(token);
        }
    }
    before.push(tokens.tokens.len() as u32);
    for pragma in &mut tokens.pragmas {
        pragma.before = before[(pragma.before as usize).min(before.len() - 1)];
    }
}

/// What is unclear about the initialisers of a file. Tokens are named by their positions.
#[derive(Default, Debug)]
pub struct Unclear {
    /// The tokens of lists where it is unclear what is replaced.
    pub tokens: FxHashSet<u32>,
    /// Members that are set as a whole after elements without designators.
    pub members: Vec<LaterMember>,
    /// Lists that may name several members of a union.
    pub designated: Vec<DesignatedList>,
}

/// A member of a structure that is set as a whole after elements from the beginning of the structure on. It
/// replaces none of them if they all come before the member.
#[derive(Debug)]
pub struct LaterMember {
    /// The tokens of these elements.
    pub before: FxHashSet<u32>,
    /// The tokens of the member's value.
    pub value: FxHashSet<u32>,
    /// The member's name.
    pub name: Symbol,
}

/// Drops elements that a later one replaces, and says where that is unclear.
pub fn drop_replaced(tokens: &mut Tokens) -> Unclear {
    let enumerators = enumerators(tokens);
    let mut removed: FxHashSet<usize> = FxHashSet::default();
    let mut unclear = Unclear::default();
    // Each open bracket, and where its elements begin.
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    for (index, token) in tokens.tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Punct(Punct::LBrace | Punct::LParen | Punct::LBracket) => {
                open.push((index, vec![index + 1]));
            }
            TokenKind::Punct(Punct::Comma) => {
                if let Some((_, starts)) = open.last_mut() {
                    starts.push(index + 1);
                }
            }
            TokenKind::Punct(Punct::RBrace | Punct::RParen | Punct::RBracket) => {
                let Some((start, starts)) = open.pop() else { continue };
                if token.kind != TokenKind::Punct(Punct::RBrace) {
                    continue;
                }
                let Some(list) = elements(tokens, &enumerators, start, &starts, index) else { continue };
                let positions = |range: Range<usize>| -> FxHashSet<u32> {
                    tokens.tokens[range].iter().map(|token| token.span.lo).collect()
                };
                let names: FxHashSet<u32> = list.iter().flat_map(|element| names(&element.path)).collect();
                let is_led = list.first().is_some_and(|element| element.path.is_empty());
                if names.len() > usize::from(!is_led) {
                    let tokens = positions(start..index + 1);
                    unclear.designated.push(DesignatedList { tokens, names, is_led });
                }
                let mut later = Vec::new();
                match replaced(&list, &mut later) {
                    Some(gone) => {
                        for (before, member) in later {
                            // The name follows a dot, unless it is an old designator.
                            let start = list[member].tokens.start;
                            let named =
                                tokens.tokens[start..start + 2].iter().find_map(|token| token.ident());
                            let name = named.expect("a designator has a name");
                            let last = list[before.end - 1].tokens.end;
                            let before = positions(list[before.start].tokens.start..last);
                            let value = positions(list[member].value..list[member].tokens.end);
                            unclear.members.push(LaterMember { before, value, name });
                        }
                        removed.extend(gone.into_iter().flat_map(|at| match &list[at] {
                            // Empty braces set nothing.
                            Element { value, tokens, is_braced: true, .. } => value + 1..tokens.end - 1,
                            // With the comma that follows.
                            Element { tokens, .. } => tokens.start..tokens.end + 1,
                        }));
                    }
                    None => unclear.tokens.extend(positions(start..index + 1)),
                }
            }
            _ => {}
        }
    }
    if !removed.is_empty() {
        remove(tokens, |index| removed.contains(&index));
    }
    unclear
}

/// The members that designators name.
fn names(path: &[Step]) -> impl Iterator<Item = u32> {
    path.iter().filter_map(|step| match step {
        Step::Field(name) => Some(*name),
        Step::Index(..) => None,
    })
}

/// The elements that later ones replace as a whole, or nothing where it is unclear what is replaced. In
/// `later_members`: a run from the beginning of a structure, and a member that is set as a whole.
fn replaced(list: &[Element], later_members: &mut Vec<(Range<usize>, usize)>) -> Option<Vec<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (index, element) in list.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if element.path.is_empty() => run.end = index + 1,
            _ => runs.push(index..index + 1),
        }
    }
    let mut gone = Vec::new();
    for (later, run) in runs.iter().enumerate().skip(1) {
        for index in run.clone().filter(|index| list[*index].is_whole) {
            let path = place(list, run, index)?;
            for earlier in &runs[..later] {
                let is_first = list[earlier.start].path.is_empty();
                if let (true, Some(Step::Field(_)), true) = (is_first, path.first(), index == run.start) {
                    later_members.push((earlier.clone(), index));
                    continue;
                }
                let places: Option<Vec<_>> = earlier.clone().map(|at| place(list, earlier, at)).collect();
                match places {
                    Some(places) => {
                        for (at, place) in earlier.clone().zip(places) {
                            match effect(&path, &place) {
                                Effect::Nothing => {}
                                // Without it, those that follow would be elsewhere.
                                Effect::Replaces if earlier.len() > 1 && !list[at].is_braced => return None,
                                Effect::Replaces => gone.push(at),
                                Effect::Unclear => return None,
                            }
                        }
                    }
                    None => match effect(&path, &reach(list, earlier)?) {
                        Effect::Nothing => {}
                        Effect::Replaces | Effect::Unclear => return None,
                    },
                }
            }
        }
    }
    Some(gone)
}

/// Where an element of a run is, if that is known without types. The first run of an array begins at 0.
fn place(list: &[Element], run: &Range<usize>, index: usize) -> Option<Vec<Step>> {
    let distance = (index - run.start) as i128;
    let is_after_braces = list[run.start..index].iter().all(|before| before.is_braced);
    match list[run.start].path.as_slice() {
        [] if is_after_braces => {
            let at = Some((None, distance));
            Some(vec![Step::Index(at, at)])
        }
        [] => None,
        path if distance == 0 => Some(path.to_vec()),
        [Step::Index(_, last)] if is_after_braces => {
            let at = last.map(|(base, value)| (base, value + distance));
            Some(vec![Step::Index(at, at)])
        }
        _ => None,
    }
}

/// The elements of an array that a run may reach: each of its elements leads to one more at most.
fn reach(list: &[Element], run: &Range<usize>) -> Option<Vec<Step>> {
    let others = run.len() as i128 - 1;
    match list[run.start].path.as_slice() {
        [] => Some(vec![Step::Index(Some((None, 0)), Some((None, others)))]),
        [Step::Index(low, high), ..] => {
            Some(vec![Step::Index(*low, high.map(|(base, value)| (base, value + others)))])
        }
        _ => None,
    }
}

/// What braces at a place do to an earlier one.
fn effect(path: &[Step], earlier: &[Step]) -> Effect {
    let mut covers = true;
    for (mine, other) in path.iter().zip(earlier) {
        match (mine, other) {
            (Step::Field(mine), Step::Field(other)) if mine != other => return Effect::Nothing,
            (Step::Field(_), Step::Field(_)) => {}
            (Step::Index(low, high), Step::Index(from, to)) => {
                if is_less(*high, *from) || is_less(*to, *low) {
                    return Effect::Nothing;
                }
                covers &= is_at_most(*low, *from) && is_at_most(*to, *high);
            }
            // A run from the beginning of a structure.
            (Step::Field(_), Step::Index(..)) | (Step::Index(..), Step::Field(_)) => return Effect::Unclear,
        }
    }
    if covers && path.len() <= earlier.len() { Effect::Replaces } else { Effect::Unclear }
}

fn is_less(left: Number, right: Number) -> bool {
    matches!((left, right), (Some((base, left)), Some((other, right))) if base == other && left < right)
}
fn is_at_most(left: Number, right: Number) -> bool {
    matches!((left, right), (Some((base, left)), Some((other, right))) if base == other && left <= right)
}

/// The elements of a list in braces, if one of them has a designator.
fn elements(
    tokens: &Tokens,
    enumerators: &FxHashMap<u32, Number>,
    open: usize,
    starts: &[usize],
    close: usize,
) -> Option<Vec<Element>> {
    let all = &tokens.tokens;
    let is = |at: usize, punct: Punct| all[at].kind == TokenKind::Punct(punct);
    // `name: value`, as before C99; in a block, that is a label.
    let is_initialiser = open > 0 && is(open - 1, Punct::Eq);
    let is_old = |at: usize| is_initialiser && all[at].kind == TokenKind::Ident && is(at + 1, Punct::Colon);
    let begins = |at: usize| {
        is(at, Punct::Dot) && all[at + 1].kind == TokenKind::Ident
            || is(at, Punct::LBracket) && !is(at + 1, Punct::LBracket)
            || is_old(at)
    };
    if !starts.iter().any(|start| *start < close && begins(*start)) {
        return None;
    }
    let mut found = Vec::new();
    for (index, start) in starts.iter().copied().enumerate() {
        let end = starts.get(index + 1).map_or(close, |next| next - 1);
        if start >= end {
            continue;
        }
        let (mut at, mut path) = (start, Vec::new());
        if is_old(at) {
            path.push(Step::Field(all[at].value));
            at += 2;
        }
        while at < end && path.len() < 64 {
            if is(at, Punct::Dot) {
                path.push(Step::Field(all[at + 1].value));
                at += 2;
            } else if is(at, Punct::LBracket) {
                let inside = at + 1;
                at = closing(all, at, end);
                let dots = (inside..at).find(|dots| is(*dots, Punct::Ellipsis));
                let value = |range: Range<usize>| number(tokens, enumerators, &all[range]);
                path.push(match dots {
                    Some(dots) => Step::Index(value(inside..dots), value(dots + 1..at)),
                    None => Step::Index(value(inside..at), value(inside..at)),
                });
                at += 1;
            } else {
                break;
            }
        }
        if !path.is_empty() && at < end && is(at, Punct::Eq) {
            at += 1;
        }
        let is_braced = at < end && is(at, Punct::LBrace);
        let is_whole = is_braced || at < end && all[at].kind == TokenKind::Str;
        found.push(Element { tokens: start..end, path, value: at, is_braced, is_whole });
    }
    Some(found)
}

/// The bracket that closes the one here.
fn closing(all: &[Token], open: usize, end: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in all.iter().enumerate().take(end).skip(open) {
        match token.kind {
            TokenKind::Punct(Punct::LBracket | Punct::LParen | Punct::LBrace) => depth += 1,
            TokenKind::Punct(Punct::RBracket | Punct::RParen | Punct::RBrace) => {
                depth -= 1;
                if depth == 0 {
                    return index;
                }
            }
            _ => {}
        }
    }
    end
}

/// The values of enumerators. One whose value is not known here is a number of its own, from which those
/// after it are counted; a name that is declared twice is any number.
fn enumerators(tokens: &Tokens) -> FxHashMap<u32, Number> {
    let all = &tokens.tokens;
    let is = |at: usize, punct: Punct| all.get(at).is_some_and(|token| token.kind == TokenKind::Punct(punct));
    let mut found: FxHashMap<u32, Number> = FxHashMap::default();
    for start in 0..all.len() {
        if all[start].kind != TokenKind::Keyword(Keyword::Enum) {
            continue;
        }
        // A name and attributes may be between.
        let Some(open) = (start + 1..all.len().min(start + 16)).find(|at| is(*at, Punct::LBrace)) else {
            continue;
        };
        if (start..open).any(|at| is(at, Punct::Semi) || is(at, Punct::Comma) || is(at, Punct::Eq)) {
            continue;
        }
        let close = closing(all, open, all.len());
        let mut next: Number = Some((None, 0));
        let mut at = open + 1;
        while at < close {
            let end = (at..close).find(|end| is(*end, Punct::Comma)).unwrap_or(close);
            let name = all[at].value;
            let value = match (at + 1..end).find(|equals| is(*equals, Punct::Eq)) {
                Some(equals) => number(tokens, &found, &all[equals + 1..end]).or(Some((Some(name), 0))),
                None => next,
            };
            if all[at].kind == TokenKind::Ident {
                let is_new = found.insert(name, value).is_none_or(|before| before == value);
                if !is_new {
                    found.insert(name, None);
                }
            }
            next = value.map(|(base, value)| (base, value + 1));
            at = end + 1;
        }
    }
    found
}

/// The value of a constant that is a literal or an enumerator, with signs, parentheses, sums and differences.
fn number(tokens: &Tokens, enumerators: &FxHashMap<u32, Number>, text: &[Token]) -> Number {
    let (mut base, mut sum, mut at) = (None, 0_i128, 0);
    let mut sign = 1;
    loop {
        while text.get(at)?.kind == TokenKind::Punct(Punct::Minus) {
            sign = -sign;
            at += 1;
        }
        let token = text.get(at)?;
        let (other, value) = match token.kind {
            TokenKind::Int => (None, i128::try_from(tokens.ints.get(token.value as usize)?.value).ok()?),
            TokenKind::Char => (None, i128::from(tokens.chars.get(token.value as usize)?.value)),
            TokenKind::Ident => (*enumerators.get(&token.value)?)?,
            TokenKind::Punct(Punct::LParen) => {
                let end = closing(text, at, text.len());
                let inside = text.get(at + 1..end)?;
                at = end;
                number(tokens, enumerators, inside)?
            }
            _ => return None,
        };
        if other.is_some() && (base.is_some() || sign < 0) {
            return None;
        }
        base = base.or(other);
        sum = sum.checked_add(value.checked_mul(sign)?)?;
        at += 1;
        sign = match text.get(at).map(|token| token.kind) {
            None => return Some((base, sum)),
            Some(TokenKind::Punct(Punct::Plus)) => 1,
            Some(TokenKind::Punct(Punct::Minus)) => -1,
            Some(_) => return None,
        };
        at += 1;
    }
}
