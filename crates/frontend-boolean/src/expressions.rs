//! The grammar of expressions. From weak to strong: `? :`, `=>`, `|`, `^`, `&`, `=` and `!=`, `!`. `=>`
//! stands alone or in parentheses.

use crate::ast::{BinaryOperator, Connective, Expr, Name, Variable};
use crate::diagnostic::Problem;
use crate::lexer::Token;
use crate::parser::{DEEPEST, Parser};

type Parsed<T> = Result<T, Problem>;

impl Parser {
    /// Expressions with commas between them.
    pub(crate) fn expressions(&mut self) -> Parsed<Vec<Expr>> {
        let mut found = vec![self.expression()?];
        while self.accept(",") {
            found.push(self.expression()?);
        }
        Ok(found)
    }

    /// An expression.
    pub(crate) fn expression(&mut self) -> Parsed<Expr> {
        self.nested(|parser| {
            let condition = parser.implication()?;
            if !parser.accept("?") {
                return Ok(condition);
            }
            let yes = parser.expression()?;
            parser.expect(":")?;
            let no = parser.expression()?;
            Ok(Expr::Conditional(Box::new((condition, yes, no))))
        })
    }

    fn implication(&mut self) -> Parsed<Expr> {
        let left = self.many(Connective::Or)?;
        if !self.accept("=>") {
            return Ok(left);
        }
        let right = self.many(Connective::Or)?;
        if self.is_symbol("=>") {
            return self.problem("several `=>` need parentheses");
        }
        Ok(Expr::Binary(BinaryOperator::Implies, Box::new((left, right))))
    }

    /// Operands of `|` or `&`; between them in strength is `^`.
    fn many(&mut self, connective: Connective) -> Parsed<Expr> {
        let operand = |parser: &mut Self| match connective {
            Connective::Or => parser.exclusive(),
            Connective::And => parser.equality(),
        };
        let symbols: [&str; 2] = match connective {
            Connective::Or => ["|", "||"],
            Connective::And => ["&", "&&"],
        };
        let first = operand(self)?;
        let mut operands = vec![first];
        while symbols.iter().any(|symbol| self.accept(symbol)) {
            operands.push(operand(self)?);
        }
        Ok(match operands.pop() {
            Some(only) if operands.is_empty() => only,
            Some(last) => {
                operands.push(last);
                Expr::Many(connective, operands)
            }
            None => Expr::Constant(true),
        })
    }

    fn exclusive(&mut self) -> Parsed<Expr> {
        self.chain(|parser| parser.many(Connective::And), &[("^", BinaryOperator::Xor)])
    }

    fn equality(&mut self) -> Parsed<Expr> {
        let operators =
            [("=", BinaryOperator::Equal), ("==", BinaryOperator::Equal), ("!=", BinaryOperator::Different)];
        self.chain(Self::unary, &operators)
    }

    /// Operators that group from left to right; each makes the expression one deeper.
    fn chain(
        &mut self,
        operand: impl Fn(&mut Self) -> Parsed<Expr>,
        operators: &[(&str, BinaryOperator)],
    ) -> Parsed<Expr> {
        let mut left = operand(self)?;
        let mut length = 0;
        while let Some((_, operator)) = operators.iter().find(|(symbol, _)| self.is_symbol(symbol)) {
            length += 1;
            if length > DEEPEST {
                return self.problem(format!("more than {DEEPEST} operators in a row need parentheses"));
            }
            self.advance();
            left = Expr::Binary(*operator, Box::new((left, operand(self)?)));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        if self.accept("!") || self.accept("~") {
            return Ok(Expr::Not(Box::new(self.nested(Self::unary)?)));
        }
        let at = self.at();
        match self.peek().clone() {
            Token::Symbol("(") => {
                self.advance();
                let inside = self.expression()?;
                self.expect(")")?;
                Ok(inside)
            }
            Token::Symbol("*") => {
                self.advance();
                Ok(Expr::Choice)
            }
            Token::Symbol("'") => {
                self.advance();
                let name = self.name("a variable")?;
                Ok(Expr::Variable(Variable { name, next: true }))
            }
            Token::Number(digits) => match digits.as_str() {
                "0" | "1" => {
                    self.advance();
                    Ok(Expr::Constant(digits == "1"))
                }
                _ => self.problem("the numbers are 0 and 1"),
            },
            Token::Word(word) => match word.as_str() {
                "T" | "true" | "TRUE" | "F" | "false" | "FALSE" => {
                    self.advance();
                    Ok(Expr::Constant(word.starts_with(['T', 't'])))
                }
                "schoose" | "choose" if *self.peek_after(1) == Token::Symbol("[") => {
                    self.advance();
                    self.expect("[")?;
                    let yes = self.expression()?;
                    self.expect(",")?;
                    let no = self.expression()?;
                    self.expect("]")?;
                    Ok(Expr::Schoose(Box::new((yes, no))))
                }
                _ => {
                    let Name { text, .. } = self.name("an expression")?;
                    let next = self.accept("'");
                    Ok(Expr::Variable(Variable { name: Name { text, at }, next }))
                }
            },
            Token::Symbol(_) | Token::End => self.unexpected("an expression"),
        }
    }
}
