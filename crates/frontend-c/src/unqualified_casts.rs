//! Casts to qualified types are casts to the types themselves (C17 6.5.4p5, footnote 104): `(struct s const)x` is
//! `(struct s)x`. The checker knows that of scalars only, so the qualifiers are taken from the tokens.
//!
//! A qualifier is dropped from parentheses that hold nothing but qualifiers and the name of a type, where these
//! are no part of a declaration, of `typeof`, or of a compound literal, in which a qualifier has a meaning.

use rucc_lex::{Keyword, Punct, Token, TokenKind, Tokens};

/// Drops qualifiers of types that values are cast to.
pub fn unqualify(tokens: &mut Tokens) {
    let all = std::mem::take(&mut tokens.tokens);
    let mut kept: Vec<Token> = Vec::with_capacity(all.len());
    let mut at = 0;
    while at < all.len() {
        match cast_end(&all, at) {
            Some(end) => {
                kept.extend(all[at..end].iter().filter(|token| !is_qualifier(token.kind)));
                at = end;
            }
            None => {
                kept.push(all[at]);
                at += 1;
            }
        }
    }
    tokens.tokens = kept;
}

fn is_qualifier(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Keyword(Keyword::Const | Keyword::Volatile))
}

/// Where the parentheses end that begin here, if they are those of a cast to a qualified type by its name.
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
