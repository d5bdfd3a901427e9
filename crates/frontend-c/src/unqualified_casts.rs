//! Casts to qualified types are casts to the types themselves (C17 6.5.4p5, footnote 104): `(struct s
//! const)x` is `(struct s)x`. The type checker handles this for scalars only, so this pass removes the
//! qualifiers from the tokens.
//!
//! A qualifier is dropped from parentheses that hold nothing but qualifiers and the name of a type, where
//! these are no part of a declaration, of `typeof`, or of a compound literal, in which a qualifier has a
//! meaning.

use crate::replaced;
use rucc_lex::{Keyword, Punct, Token, TokenKind, Tokens};
use rustc_hash::FxHashSet;

/// Drops qualifiers of types that values are cast to.
pub fn unqualify(tokens: &mut Tokens) {
    let all = &tokens.tokens;
    let mut dropped: FxHashSet<usize> = FxHashSet::default();
    let mut at = 0;
    while at < all.len() {
        match cast_end(all, at) {
            Some(end) => {
                dropped.extend((at..end).filter(|index| is_qualifier(all[*index].kind)));
                at = end;
            }
            None => at += 1,
        }
    }
    if !dropped.is_empty() {
        replaced::remove(tokens, |index| dropped.contains(&index));
    }
}

fn is_qualifier(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Keyword(Keyword::Const | Keyword::Volatile))
}

/// The end of the parentheses that begin here, if they are a cast to a qualified type by name.
fn cast_end(all: &[Token], at: usize) -> Option<usize> {
    if all[at].kind != TokenKind::Punct(Punct::LParen) {
        return None;
    }
    // A cast begins an operand: a name or a closing bracket before it makes it a call or a declarator.
    let before = at.checked_sub(1).map(|before| all[before].kind);
    let begins_operand = match before {
        None
        | Some(TokenKind::Ident | TokenKind::Int | TokenKind::Float | TokenKind::Char | TokenKind::Str) => {
            false
        }
        Some(TokenKind::Eof) => false,
        Some(TokenKind::Keyword(keyword)) => keyword == Keyword::Return,
        Some(TokenKind::Punct(punct)) => !matches!(punct, Punct::RParen | Punct::RBracket | Punct::RBrace),
    };
    if !begins_operand {
        return None;
    }
    let (mut qualified, mut named) = (false, false);
    for (index, token) in all.iter().enumerate().skip(at + 1) {
        match token.kind {
            kind if is_qualifier(kind) => qualified = true,
            TokenKind::Ident => named = true,
            TokenKind::Keyword(Keyword::Struct | Keyword::Union) => {}
            TokenKind::Punct(Punct::RParen) => {
                let next = all.get(index + 1).map(|next| next.kind);
                let is_literal = next == Some(TokenKind::Punct(Punct::LBrace));
                return (qualified && named && !is_literal).then_some(index + 1);
            }
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::{Options, Source, read};

    #[test]
    fn qualified_casts_of_structures_are_read() {
        let text = "typedef struct { int a; } mode; struct s { mode m; };
            mode find(int x) { mode m = {x}; return m; }
            int take(mode const m) { return m.a; }
            int plain(const mode), sized = sizeof(const mode);
            const mode *constant = &(const mode){3};
            int main(void) {
              struct s s; s.m = (mode const)find(3);
              struct s volatile other = (struct s const   )s;
              return take((const mode)s.m) + (const int)2 + other.m.a + ((volatile struct s)s).m.a;
            }";
        let source = Source { name: "casts.c".to_owned(), text: text.as_bytes().to_vec() };
        let program = read(&[source], &Options::default()).expect("it is C");
        assert!(program.assumptions.iter().all(|assumption| !assumption.limits_proof));
    }

    #[test]
    fn other_structures_are_not_cast() {
        let text = "struct a { int x; } a; struct b { int x; } b; int main(void) { a = (struct a const)b; return 0; }";
        let source = Source { name: "casts.c".to_owned(), text: text.as_bytes().to_vec() };
        assert!(read(&[source], &Options::default()).is_err());
    }
}
