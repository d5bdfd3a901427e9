//! Expressions of specifications, with C's types and conversions, over the static memory of a program.
//!
//! Exact: an expression means what it means in C. The owner of a lock (the lock's name) and the thread itself
//! (`me`) are ids of threads, which can only be compared with each other and with 0, so that it does not
//! matter which numbers they are.

use crate::language::ast::{Expression, Kind, Sign};
use crate::language::diagnostic::Problem;
use ir::specification::{Variable, and_then, total};
use ir::{BinaryOp, DataModel, Expr, IntType, Layout, ObjectId, Op, Place, Program, Span, Storage, UnaryOp};

/// What an expression is made of.
pub struct Resolver<'a> {
    /// The program whose variables are spoken of.
    pub program: &'a Program,
    /// Shorthands.
    pub shorthands: Vec<(String, Expression)>,
    /// The variables found so far.
    pub variables: Vec<Variable>,
}

/// Where values are taken from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// There is only one moment: a state.
    State,
    /// Before a step.
    Before,
    /// After a step.
    After,
}

/// A value with its type.
struct Typed {
    expr: Expr,
    ty: Type,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    Number(IntType),
    /// The id of a thread, 32 bits wide.
    Owner,
}

/// How deep shorthands may be made of others.
const DEEPEST: usize = 50;

impl Resolver<'_> {
    /// The conditions that must all hold for an expression to hold.
    pub fn conditions(&mut self, value: &Expression, moment: Moment) -> Result<Vec<Expr>, Problem> {
        if let Kind::Binary(Sign::And, pair) = &value.kind {
            let mut all = self.conditions(&pair.0, moment)?;
            all.extend(self.conditions(&pair.1, moment)?);
            return Ok(all);
        }
        Ok(vec![total(self.condition(value, moment, 0)?)])
    }

    fn condition(&mut self, value: &Expression, moment: Moment, depth: usize) -> Result<Expr, Problem> {
        let at = value.at;
        let typed = self.value(value, moment, depth)?;
        as_condition(typed, at)
    }

    fn value(&mut self, value: &Expression, moment: Moment, depth: usize) -> Result<Typed, Problem> {
        let at = value.at;
        match &value.kind {
            Kind::Number(number, unsigned, longs) => {
                let ty = literal_type(self.program.data_model, *number, *unsigned, *longs)
                    .ok_or_else(|| Problem::new(at, "this number is too large"))?;
                Ok(Typed { expr: Expr::Const(*number, ty), ty: Type::Number(ty) })
            }
            Kind::Name(name) if name == "me" => {
                Ok(Typed { expr: Expr::cast(IntType::U32, Expr::Myself), ty: Type::Owner })
            }
            Kind::Name(name) => {
                if let Some((_, stands_for)) = self.shorthands.iter().find(|(known, _)| known == name) {
                    if depth >= DEEPEST {
                        return Err(Problem::new(at, format!("`{name}` is made of too many shorthands")));
                    }
                    let stands_for = stands_for.clone();
                    return self.value(&stands_for, moment, depth + 1);
                }
                self.variable_value(value, moment)
            }
            Kind::Member(..) | Kind::Element(..) => self.variable_value(value, moment),
            Kind::Primed(inner) => match moment {
                Moment::State => Err(Problem::new(at, "a state has no values after a step (`'`)")),
                Moment::After => Err(Problem::new(at, "this is after the step already (`'`)")),
                Moment::Before => self.value(inner, Moment::After, depth),
            },
            Kind::Unary(sign, operand) => {
                if *sign == '!' {
                    let operand = self.condition(operand, moment, depth)?;
                    return Ok(truth(operand.not()));
                }
                let operand = self.value(operand, moment, depth)?;
                let (operand, ty) = promoted(operand, at)?;
                let op = if *sign == '-' { UnaryOp::Neg } else { UnaryOp::Not };
                Ok(Typed { expr: Expr::unary(op, ty, operand), ty: Type::Number(ty) })
            }
            Kind::Binary(sign, pair) => self.binary(*sign, &pair.0, &pair.1, at, moment, depth),
            Kind::Conditional(three) => {
                let condition = self.condition(&three.0, moment, depth)?;
                let (yes, no) = (self.value(&three.1, moment, depth)?, self.value(&three.2, moment, depth)?);
                let (yes, no, ty) = converted(yes, no, at)?;
                Ok(Typed { expr: Expr::IfThenElse(Box::new((condition, yes, no))), ty: Type::Number(ty) })
            }
        }
    }

    fn binary(
        &mut self,
        sign: Sign,
        left: &Expression,
        right: &Expression,
        at: Span,
        moment: Moment,
        depth: usize,
    ) -> Result<Typed, Problem> {
        let op = match sign {
            Sign::And | Sign::Or | Sign::Implies => {
                let left = self.condition(left, moment, depth)?;
                let right = self.condition(right, moment, depth)?;
                return Ok(truth(match sign {
                    Sign::And => and_then(left, right),
                    Sign::Implies => Expr::IfThenElse(Box::new((left, right, Expr::bool(true)))),
                    _ => Expr::IfThenElse(Box::new((left, Expr::bool(true), right))),
                }));
            }
            Sign::Equal => BinaryOp::Eq,
            Sign::Different => BinaryOp::Ne,
            Sign::Less | Sign::Greater => BinaryOp::Lt,
            Sign::LessOrEqual | Sign::GreaterOrEqual => BinaryOp::Le,
            Sign::BitOr => BinaryOp::Or,
            Sign::BitXor => BinaryOp::Xor,
            Sign::BitAnd => BinaryOp::And,
            Sign::ShiftLeft => BinaryOp::Shl,
            Sign::ShiftRight => BinaryOp::Shr,
            Sign::Add => BinaryOp::Add,
            Sign::Subtract => BinaryOp::Sub,
            Sign::Multiply => BinaryOp::Mul,
            Sign::Divide => BinaryOp::Div,
            Sign::Remainder => BinaryOp::Rem,
        };
        let swapped = matches!(sign, Sign::Greater | Sign::GreaterOrEqual);
        let (left, right) = if swapped { (right, left) } else { (left, right) };
        let left = self.value(left, moment, depth)?;
        let right = self.value(right, moment, depth)?;
        if left.ty == Type::Owner || right.ty == Type::Owner {
            let (left, right) = (as_owner(left, at)?, as_owner(right, at)?);
            if !matches!(op, BinaryOp::Eq | BinaryOp::Ne) {
                return Err(Problem::new(at, "the owners of locks can be compared by `==` and `!=` only"));
            }
            return Ok(truth(Expr::binary(op, IntType::U32, left, right)));
        }
        if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
            let (left, ty) = promoted(left, at)?;
            let (right, of_right) = promoted(right, at)?;
            if (of_right.bits, of_right.signed) != (ty.bits, ty.signed) && !matches!(right, Expr::Const(..)) {
                return Err(Problem::new(at, "both operands of a shift must have the same type here"));
            }
            let right = match right {
                Expr::Const(value, _) if ty.contains(value) => Expr::Const(value, ty),
                Expr::Const(..) => return Err(Problem::new(at, "this distance is too large for a shift")),
                right => right,
            };
            return Ok(Typed { expr: Expr::binary(op, ty, left, right), ty: Type::Number(ty) });
        }
        let both_truths = [&left, &right].iter().all(|side| side.ty == Type::Number(IntType::BOOL));
        if both_truths && op.is_comparison() {
            return Ok(truth(Expr::binary(op, IntType::BOOL, left.expr, right.expr)));
        }
        let (left, right, ty) = converted(left, right, at)?;
        let result = if op.is_comparison() { IntType::BOOL } else { ty };
        Ok(Typed { expr: Expr::binary(op, ty, left, right), ty: Type::Number(result) })
    }

    fn variable_value(&mut self, value: &Expression, moment: Moment) -> Result<Typed, Problem> {
        let number = self.variable(value)?;
        let Variable { object, offset, ty, .. } = self.variables[number];
        let load = Expr::load(Place::cell(object, offset, ty));
        let expr = if moment == Moment::Before { Expr::Old(Box::new(load)) } else { load };
        let is_lock = self.is_lock(object, offset);
        Ok(Typed { expr, ty: if is_lock { Type::Owner } else { Type::Number(ty) } })
    }

    /// The number of the variable that an expression names.
    pub fn variable(&mut self, value: &Expression) -> Result<usize, Problem> {
        if let Kind::Name(name) = &value.kind
            && let Some((_, stands_for)) = self.shorthands.iter().find(|(known, _)| known == name)
        {
            let stands_for = stands_for.clone();
            return self.variable(&stands_for).map_err(|problem| Problem { at: value.at, ..problem });
        }
        let (name, object, offset, layout) = self.cell(value)?;
        let ty = match layout {
            _ if self.is_lock(object, offset) => IntType::U32,
            Layout::Scalar(ty) => ty,
            Layout::Sync(_) | Layout::Array { .. } | Layout::Record(_) | Layout::Bytes(_) => {
                return Err(Problem::new(value.at, format!("`{name}` is not a number or a lock")));
            }
        };
        let known = self.variables.iter().position(|known| (known.object, known.offset) == (object, offset));
        Ok(known.unwrap_or_else(|| {
            self.variables.push(Variable { name, object, offset, ty });
            self.variables.len() - 1
        }))
    }

    /// Whether the program uses what is at a place as a lock. Its first word is the owner then.
    fn is_lock(&self, object: ObjectId, offset: u64) -> bool {
        let mut ops =
            self.program.templates.iter().flat_map(|template| &template.edges).flat_map(|edge| &edge.ops);
        ops.any(|op| match op {
            Op::Lock(_, address) | Op::Unlock(_, address) => *address == Expr::Address(object, offset),
            _ => false,
        })
    }

    /// The static objects of a name.
    fn object(&self, name: &str) -> impl Iterator<Item = (ObjectId, &ir::Object)> {
        let objects = self.program.objects.enumerate();
        objects.filter(move |(_, object)| object.storage == Storage::Static && object.name == name)
    }

    /// The name, object, offset and layout of a variable or a part of one.
    fn cell(&self, value: &Expression) -> Result<(String, ObjectId, u64, Layout), Problem> {
        let at = value.at;
        match &value.kind {
            Kind::Name(name) => {
                let mut found = self.object(name);
                match (found.next(), found.next()) {
                    (Some((id, object)), None) => Ok((name.clone(), id, 0, object.layout.clone())),
                    (Some(_), Some(_)) => {
                        Err(Problem::new(at, format!("there are several variables called `{name}`")))
                    }
                    (None, _) => Err(Problem::new(at, self.unknown(name))),
                }
            }
            Kind::Member(base, member) => {
                // Static variables of functions are called by both names.
                if let Kind::Name(function) = &base.kind
                    && self.object(&format!("{function}.{member}")).next().is_some()
                {
                    let name = Kind::Name(format!("{function}.{member}"));
                    return self.cell(&Expression { kind: name, at });
                }
                let (name, object, offset, layout) = self.cell(base)?;
                let Layout::Record(fields) = &layout else {
                    return Err(Problem::new(at, format!("`{name}` is no structure")));
                };
                let field = fields.iter().find(|field| field.name == *member);
                let field = field
                    .ok_or_else(|| Problem::new(at, format!("`{name}` has no member called `{member}`")))?;
                Ok((format!("{name}.{member}"), object, offset + field.offset, field.layout.clone()))
            }
            Kind::Element(base, index) => {
                let (name, object, offset, layout) = self.cell(base)?;
                let Layout::Array { element, count, stride } = &layout else {
                    return Err(Problem::new(at, format!("`{name}` is no array")));
                };
                let Kind::Number(number, ..) = index.kind else {
                    return Err(Problem::new(index.at, "an index is a number here"));
                };
                let number = u64::try_from(number).ok().filter(|number| number < count);
                let number =
                    number.ok_or_else(|| Problem::new(index.at, format!("`{name}` has {count} elements")))?;
                Ok((format!("{name}[{number}]"), object, offset + number * stride, (**element).clone()))
            }
            Kind::Number(..)
            | Kind::Primed(_)
            | Kind::Unary(..)
            | Kind::Binary(..)
            | Kind::Conditional(_) => Err(Problem::new(at, "a variable is expected here")),
        }
    }

    /// What to say of a name that nothing has.
    fn unknown(&self, name: &str) -> String {
        let objects = self.program.objects.iter().filter(|object| object.storage == Storage::Static);
        let names = objects
            .map(|object| object.name.as_str())
            .chain(self.shorthands.iter().map(|(name, _)| name.as_str()));
        let near = names.map(|known| (distance(name, known), known)).min();
        match near {
            Some((far, known)) if far <= 2 => {
                format!("the program has no global variable `{name}`; did you mean `{known}`?")
            }
            _ => format!("the program has no global variable `{name}`"),
        }
    }
}

/// How many letters must be changed, added or left out.
pub fn distance(one: &str, two: &str) -> usize {
    let two: Vec<char> = two.chars().collect();
    let mut row: Vec<usize> = (0..=two.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in two.iter().enumerate() {
            let changed = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[two.len()]
}

fn truth(expr: Expr) -> Typed {
    Typed { expr, ty: Type::Number(IntType::BOOL) }
}

fn as_condition(value: Typed, at: Span) -> Result<Expr, Problem> {
    match value.ty {
        Type::Number(IntType::BOOL) => Ok(value.expr),
        Type::Number(_) => Ok(Expr::cast(IntType::BOOL, value.expr)),
        Type::Owner => {
            Err(Problem::new(at, "the owner of a lock is no condition: compare it with 0 or `me`"))
        }
    }
}

fn as_owner(value: Typed, at: Span) -> Result<Expr, Problem> {
    match (value.ty, &value.expr) {
        (Type::Owner, _) => Ok(value.expr),
        (Type::Number(_), Expr::Const(0, _)) => Ok(Expr::Const(0, IntType::U32)),
        (Type::Number(_), _) => {
            Err(Problem::new(at, "the owner of a lock can be compared with 0, `me`, and other owners only"))
        }
    }
}

fn promoted(value: Typed, at: Span) -> Result<(Expr, IntType), Problem> {
    match value.ty {
        Type::Number(ty) if ty.bits < 32 => Ok((Expr::cast(IntType::I32, value.expr), IntType::I32)),
        Type::Number(ty) => Ok((value.expr, ty)),
        Type::Owner => Err(Problem::new(at, "the owner of a lock can be compared by `==` and `!=` only")),
    }
}

/// The usual arithmetic conversions.
fn converted(left: Typed, right: Typed, at: Span) -> Result<(Expr, Expr, IntType), Problem> {
    let ((left, a), (right, b)) = (promoted(left, at)?, promoted(right, at)?);
    let common = if a.signed == b.signed {
        if a.bits >= b.bits { a } else { b }
    } else {
        let (signed, unsigned) = if a.signed { (a, b) } else { (b, a) };
        if unsigned.bits >= signed.bits { unsigned } else { signed }
    };
    let cast = |expr: Expr, ty: IntType| match expr {
        expr if ty == common => expr,
        Expr::Const(value, _) => Expr::Const(common.wrap(value), common),
        expr => Expr::cast(common, expr),
    };
    Ok((cast(left, a), cast(right, b), common))
}

fn literal_type(model: DataModel, number: i128, unsigned: bool, longs: u8) -> Option<IntType> {
    let long_bits = if model == DataModel::Lp64 || longs == 2 { 64 } else { 32 };
    let least = if longs > 0 { long_bits } else { 32 };
    let types = [
        IntType { bits: least, signed: !unsigned },
        IntType { bits: 64, signed: !unsigned },
        IntType { bits: 64, signed: false },
    ];
    types.into_iter().find(|ty| ty.contains(number))
}
