//! Bounds on the shape of a file, checked on its text before it is preprocessed and on its tokens before they
//! are parsed.
//!
//! The parser, the checker and the lowering walk the tree by recursion. These bounds limit the depth of the
//! tree to what the stack can hold; no hand-written file comes near them.

use rucc_diag::Span;
use rucc_lex::{Keyword, Punct, Token, TokenKind, Tokens};

/// The most tokens of a file.
const TOKENS: usize = 2_000_000;
/// The most tokens without a `;` or a brace: they may all nest in one expression.
const TOKENS_OF_A_STATEMENT: usize = 200_000;
/// The most `else`s in one block: they may all nest in one statement.
const ELSES_OF_A_BLOCK: usize = 50_000;
/// The most array dimensions in a row; the checker's time grows with their square.
const DIMENSIONS: usize = 4_000;

/// The deepest nesting of parentheses. The parser refuses far less deep ones, but the preprocessor's time and
/// memory grow with the square of the nesting of macro calls.
const PARENTHESES: usize = 1_000;
/// The most elements that one designator `[first ... last]` may name; each takes memory.
const DESIGNATED: u128 = 1_000_000;

/// Where in a text parentheses are nested too deeply: line and column.
pub fn too_deep(text: &[u8]) -> Option<(u32, u32)> {
    let (mut depth, mut line, mut start) = (0_usize, 1, 0);
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'\n' => {
                line += 1;
                start = at + 1;
            }
            b'(' => {
                depth += 1;
                if depth > PARENTHESES {
                    return Some((line, (at - start + 1) as u32));
                }
            }
            b')' => depth = depth.saturating_sub(1),
            // Resets, so that parentheses in comments do not add up.
            b';' | b'}' => depth = 0,
            quote @ (b'"' | b'\'') => {
                let end = text[at + 1..].iter().position(|byte| *byte == quote || *byte == b'\n');
                at += end.map_or(text.len(), |length| length + usize::from(text[at + 1 + length] == quote));
            }
            _ => {}
        }
        at += 1;
    }
    None
}

struct Bracket {
    /// The brace of an initialiser, whose elements do not nest.
    is_initialiser: bool,
    elses: usize,
}

/// The first bound that a file exceeds, and where.
pub fn exceeded(all: &Tokens) -> Option<(Span, &'static str)> {
    let tokens = all.tokens.as_slice();
    for four in tokens.windows(4) {
        let [open, first, dots, last] = four else { continue };
        let is_range = open.kind == TokenKind::Punct(Punct::LBracket)
            && first.kind == TokenKind::Int
            && dots.kind == TokenKind::Punct(Punct::Ellipsis)
            && last.kind == TokenKind::Int;
        let value = |token: &Token| all.ints.get(token.value as usize).map_or(0, |constant| constant.value);
        if is_range && value(last).saturating_sub(value(first)) > DESIGNATED {
            return Some((dots.span, "a range of more than 1,000,000 elements"));
        }
    }
    if let Some(token) = tokens.get(TOKENS) {
        return Some((token.span, "the file has more than 2,000,000 tokens"));
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
