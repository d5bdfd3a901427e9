//! Bounds on the shape of a file, checked on its tokens before it is parsed.
//!
//! The parser, the checker and the lowering walk the tree by recursion. These bounds keep the depth of the tree
//! within what the stack holds; no file that people write comes near them.

use rucc_diag::Span;
use rucc_lex::{Keyword, Punct, Token, TokenKind};

/// The most tokens of a file.
const TOKENS: usize = 4_000_000;
/// The most tokens without a `;` or a brace: they may all nest in one expression.
const TOKENS_OF_A_STATEMENT: usize = 200_000;
/// The most `else`s in one block: they may all nest in one statement.
const ELSES_OF_A_BLOCK: usize = 50_000;
/// The most array dimensions in a row; the checker's time grows with their square.
const DIMENSIONS: usize = 4_000;

struct Bracket {
    /// The brace of an initialiser, whose elements do not nest.
    is_initialiser: bool,
    elses: usize,
}

/// The first bound that a file exceeds, and where.
pub fn exceeded(tokens: &[Token]) -> Option<(Span, &'static str)> {
    if let Some(token) = tokens.get(TOKENS) {
        return Some((token.span, "the file has more than 4,000,000 tokens"));
    }
    let mut brackets = vec![Bracket { is_initialiser: false, elses: 0 }];
    let mut statement = 0;
    let mut dimensions = 0;
    let mut before = None;
    for token in tokens {
        statement += 1;
        let innermost = brackets.last_mut().expect("the file itself is never closed");
        match token.kind {
            TokenKind::Punct(Punct::Semi | Punct::RBrace | Punct::LBrace) => {
                statement = 0;
                dimensions = 0;
            }
            TokenKind::Punct(Punct::Comma) if innermost.is_initialiser => statement = 0,
            TokenKind::Punct(Punct::LBracket) => dimensions += 1,
            TokenKind::Keyword(Keyword::Else) => innermost.elses += 1,
            TokenKind::Keyword(_)
            | TokenKind::Ident
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::Char
            | TokenKind::Str
            | TokenKind::Punct(_)
            | TokenKind::Eof => {}
        }
        if statement > TOKENS_OF_A_STATEMENT {
            return Some((token.span, "a statement with more than 200,000 tokens"));
        }
        if innermost.elses > ELSES_OF_A_BLOCK {
            return Some((token.span, "a block with more than 50,000 'else's"));
        }
        if dimensions > DIMENSIONS {
            return Some((token.span, "a statement with more than 4,000 '['"));
        }
        match token.kind {
            TokenKind::Punct(Punct::LBrace) => {
                let nested = innermost.is_initialiser && before != Some(TokenKind::Punct(Punct::LParen));
                let is_initialiser = nested || before == Some(TokenKind::Punct(Punct::Eq));
                brackets.push(Bracket { is_initialiser, elses: 0 });
            }
            TokenKind::Punct(Punct::RBrace) if brackets.len() > 1 => {
                brackets.pop();
            }
            _ => {}
        }
        before = Some(token.kind);
    }
    None
}
