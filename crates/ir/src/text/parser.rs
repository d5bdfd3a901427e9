//! The parser: declarations.
//!
//! A first scan of the tokens collects the declarations, so that names may be used before they are declared.
//! Then the parser runs once, by recursive descent, with a limit on the nesting.

use super::lexer::{Located, Token, tokens};
use super::{
    ParseError, SYNC_KINDS, WAITINGS, error_word, int_type, location, natural, sync_word, waiting_words,
};
use crate::check::{MAX_DEPTH, MAX_LOCATIONS};
use crate::ids::{Id, LocalId, LocationId, ObjectId, TemplateId};
use crate::program::{
    Assumption, Count, Edge, ErrorKind, Initial, Local, Location, LocationKind, Object, ObjectRole, Program,
    Range, SiteUse, Span, Storage, Template, TemplateRole,
};
use crate::types::{DataModel, Field, IntType, Layout};
use std::collections::BTreeMap;

/// Reads a program from its text form. It need not be well-formed: see [`crate::check`].
pub fn parse(text: &str) -> Result<Program, ParseError> {
    let tokens = tokens(text)?;
    let mut parser = Parser {
        tokens,
        at: 0,
        depth: 0,
        program: Program::default(),
        template: None,
        objects: BTreeMap::new(),
        templates: BTreeMap::new(),
        locals: BTreeMap::new(),
    };
    parser.find_declarations()?;
    parser.program()?;
    Ok(parser.program)
}

pub(super) type Parsed<T> = Result<T, ParseError>;

/// The tokens, the current position, and the declarations.
pub(super) struct Parser {
    tokens: Vec<Located>,
    at: usize,
    depth: usize,
    pub program: Program,
    /// The template that is being read.
    pub template: Option<Template>,
    pub objects: BTreeMap<String, ObjectId>,
    pub templates: BTreeMap<String, TemplateId>,
    /// Of the template that is being read.
    pub locals: BTreeMap<String, LocalId>,
}

/// Whether a word declares an object.
fn declares_object(word: &str) -> bool {
    matches!(word, "static" | "frame" | "thread_local" | "site")
}

impl Parser {
    /// An error at the next token.
    pub(super) fn error<T>(&self, message: impl Into<String>) -> Parsed<T> {
        self.error_at(self.at, message)
    }
    fn error_at<T>(&self, at: usize, message: impl Into<String>) -> Parsed<T> {
        let Located { line, column, .. } = self.tokens[at];
        Err(ParseError { line, column, message: message.into() })
    }
    /// An error that says what was expected instead of the next token.
    pub(super) fn expected<T>(&self, what: &str) -> Parsed<T> {
        self.error(format!("expected {what}, found {}", self.peek().describe()))
    }
    pub(super) fn peek(&self) -> &Token {
        &self.tokens[self.at].token
    }
    pub(super) fn peek_second(&self) -> &Token {
        let second = (self.at + 1).min(self.tokens.len() - 1);
        &self.tokens[second].token
    }
    /// Consumes the next token, but never the end.
    pub(super) fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }
    pub(super) fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(found) if *found == sign)
    }
    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(found) if found == word)
    }
    /// Consumes the next token if it is this sign; says whether it was.
    pub(super) fn take_sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        if found {
            self.advance();
        }
        found
    }
    /// Consumes the next token if it is this word; says whether it was.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }
    pub(super) fn sign(&mut self, sign: &str) -> Parsed<()> {
        if self.take_sign(sign) { Ok(()) } else { self.expected(&format!("`{sign}`")) }
    }
    pub(super) fn word(&mut self, word: &str) -> Parsed<()> {
        if self.take_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }
    pub(super) fn number<T: TryFrom<u128>>(&mut self) -> Parsed<T> {
        match self.peek() {
            Token::Number(value, suffix) if suffix.is_empty() => match T::try_from(*value) {
                Ok(value) => {
                    self.advance();
                    Ok(value)
                }
                Err(_) => self.error("the number is too large"),
            },
            _ => self.expected("a number"),
        }
    }
    pub(super) fn type_name(&mut self) -> Parsed<IntType> {
        match self.peek() {
            Token::Word(word) => match int_type(word) {
                Some(ty) => {
                    self.advance();
                    Ok(ty)
                }
                None => self.expected("an integer type"),
            },
            _ => self.expected("an integer type"),
        }
    }
    fn text(&mut self) -> Parsed<String> {
        match self.peek() {
            Token::Text(text) => {
                let text = text.clone();
                self.advance();
                Ok(text)
            }
            _ => self.expected("a text in quotes"),
        }
    }
    fn name(&mut self, what: &str) -> Parsed<String> {
        match self.peek() {
            Token::Word(word) if !super::is_reserved(word) => {
                let word = word.clone();
                self.advance();
                Ok(word)
            }
            _ => self.expected(what),
        }
    }
    /// Looks up an entity by its name.
    fn known<I: Id>(&mut self, what: &str, map: fn(&Self) -> &BTreeMap<String, I>) -> Parsed<I> {
        let at = self.at;
        let name = self.name(&format!("the name of {what}"))?;
        match map(self).get(&name) {
            Some(id) => Ok(*id),
            None => self.error_at(
                at,
                format!(
                    "there is no {} called `{name}`",
                    what.trim_start_matches("an ").trim_start_matches("a ")
                ),
            ),
        }
    }
    pub(super) fn known_object(&mut self) -> Parsed<ObjectId> {
        self.known("an object", |parser| &parser.objects)
    }
    pub(super) fn known_template(&mut self) -> Parsed<TemplateId> {
        self.known("a template", |parser| &parser.templates)
    }
    pub(super) fn known_local(&mut self) -> Parsed<LocalId> {
        self.known("a local variable", |parser| &parser.locals)
    }
    /// A name where it is declared, and the real name.
    fn declared(&mut self, what: &str) -> Parsed<(String, String)> {
        let handle = self.name(what)?;
        let name = if matches!(self.peek(), Token::Text(_)) { self.text()? } else { handle.clone() };
        Ok((handle, name))
    }
    /// Reads something nested.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        // A printed expression takes up to two levels for each of its own: a negated number is in
        // parentheses.
        if self.depth > 2 * MAX_DEPTH {
            return self.error("this is nested too deeply");
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn find_declarations(&mut self) -> Parsed<()> {
        let mut depth = 0usize;
        for at in 0..self.tokens.len().saturating_sub(1) {
            match (&self.tokens[at].token, &self.tokens[at + 1].token) {
                (Token::Sign("{"), _) => depth += 1,
                (Token::Sign("}"), _) => depth = depth.saturating_sub(1),
                (Token::Word(word), Token::Word(name)) if depth == 0 => {
                    let again = if word == "template" {
                        let id = TemplateId::new(self.templates.len());
                        self.templates.insert(name.clone(), id).is_some()
                    } else if declares_object(word) {
                        let id = ObjectId::new(self.objects.len());
                        self.objects.insert(name.clone(), id).is_some()
                    } else {
                        false
                    };
                    if again {
                        return self.error_at(at + 1, format!("`{name}` is declared twice"));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn program(&mut self) -> Parsed<()> {
        self.word("program")?;
        self.program.data_model = if self.take_word("ilp32") {
            DataModel::Ilp32
        } else if self.take_word("lp64") {
            DataModel::Lp64
        } else {
            return self.expected("`ilp32` or `lp64`");
        };
        loop {
            let word = match self.peek() {
                Token::End => return Ok(()),
                Token::Word(word) => word.clone(),
                _ => return self.expected("a declaration"),
            };
            match word.as_str() {
                "file" => {
                    self.advance();
                    let file = self.text()?;
                    self.program.files.push(file);
                }
                "assumes" => {
                    self.advance();
                    let text = self.text()?;
                    let limits_proof = self.take_word("limits");
                    if limits_proof {
                        self.word("proof")?;
                    }
                    let span = self.span()?;
                    self.program.assumptions.push(Assumption { text, span, limits_proof });
                }
                "start" => {
                    self.advance();
                    let template = self.known_template()?;
                    let count =
                        if self.take_word("any") { Count::Any } else { Count::Exactly(self.number()?) };
                    self.program.start.push((template, count));
                }
                "races" => self.races()?,
                "unordered" => {
                    self.advance();
                    self.program.unordered = self.ranges()?;
                }
                "reuses" => {
                    self.advance();
                    self.word("addresses")?;
                    self.program.reuses_addresses = true;
                }
                "foreign" => {
                    self.advance();
                    self.word("numbers")?;
                    self.program.foreign_numbers = true;
                }
                "uses" => {
                    self.advance();
                    let (site, variable, type_name) = (self.known_object()?, self.text()?, self.text()?);
                    self.sign(":")?;
                    let layout = self.layout()?;
                    self.word("size")?;
                    let size = self.number()?;
                    self.program.site_uses.push(SiteUse { site, variable, type_name, layout, size });
                }
                "template" => self.template()?,
                other if declares_object(other) => self.object()?,
                _ => {
                    return self.expected(
                        "`file`, `assumes`, `start`, `races`, `unordered`, `reuses`, `uses`, `template`, or an object",
                    );
                }
            }
        }
    }

    /// Where races count.
    fn races(&mut self) -> Parsed<()> {
        self.advance();
        let ranges = if self.take_word("on") { self.ranges()? } else { Vec::new() };
        self.program.races_on = Some(ranges);
        Ok(())
    }
    fn ranges(&mut self) -> Parsed<Vec<Range>> {
        let mut ranges = Vec::new();
        loop {
            let object = self.known_object()?;
            self.sign("+")?;
            let offset = self.number()?;
            self.word("size")?;
            ranges.push(Range { object, offset, size: self.number()? });
            if !self.take_sign(",") {
                return Ok(ranges);
            }
        }
    }

    pub(super) fn span(&mut self) -> Parsed<Span> {
        if !self.take_sign("@") {
            return Ok(Span::default());
        }
        let file = self.number()?;
        self.sign(":")?;
        let line = self.number()?;
        self.sign(":")?;
        let column = self.number()?;
        Ok(Span { file, line, column })
    }

    /// The role that is given here, or the default.
    fn role<R: Copy + Default>(&mut self, all: &[R], word: fn(R) -> Option<&'static str>) -> Parsed<R> {
        if !self.take_word("role") {
            return Ok(R::default());
        }
        for role in all {
            if word(*role).is_some_and(|word| self.take_word(word)) {
                return Ok(*role);
            }
        }
        self.error_at(self.at, "this is no role")
    }

    fn object(&mut self) -> Parsed<()> {
        let at = self.at;
        let storage = if self.take_word("static") {
            Storage::Static
        } else if self.take_word("thread_local") {
            Storage::ThreadLocal
        } else if self.take_word("site") {
            Storage::Site
        } else {
            self.word("frame")?;
            Storage::Frame(TemplateId(0))
        };
        let (handle, name) = self.declared("the name of an object")?;
        let storage = match storage {
            Storage::Frame(_) => {
                self.word("of")?;
                Storage::Frame(self.known_template()?)
            }
            Storage::Static | Storage::ThreadLocal | Storage::Site => storage,
        };
        self.sign(":")?;
        let layout = self.layout()?;
        let (natural_size, natural_align) = natural(&layout);
        let size = if self.take_word("size") { self.number()? } else { natural_size };
        let align = if self.take_word("align") { self.number()? } else { natural_align };
        let role = self.role(&ObjectRole::ALL, ObjectRole::word)?;
        let initial = if self.take_sign("=") { self.initial(&layout)? } else { Initial::Values(vec![]) };
        let span = self.span()?;
        let id =
            self.program.objects.push(Object { name, storage, size, align, layout, initial, span, role });
        if self.objects.get(&handle) != Some(&id) {
            return self.error_at(at, "this declaration is not where one can be");
        }
        Ok(())
    }

    fn initial(&mut self, layout: &Layout) -> Parsed<Initial> {
        if self.take_word("unknown") {
            return Ok(Initial::Unknown);
        }
        if self.take_word("unmodelled") {
            return Ok(Initial::NotModelled);
        }
        if !self.take_sign("{") {
            let Layout::Scalar(ty) = layout else { return self.expected("`unknown` or `{`") };
            return Ok(Initial::Values(vec![(0, *ty, self.expression()?)]));
        }
        let mut values = Vec::new();
        while !self.take_sign("}") {
            let offset = self.number()?;
            let ty = self.type_name()?;
            self.sign(":")?;
            values.push((offset, ty, self.expression()?));
            if !self.is_sign("}") {
                self.sign(",")?;
            }
        }
        Ok(Initial::Values(values))
    }

    fn layout(&mut self) -> Parsed<Layout> {
        self.nested(Self::layout_here)
    }

    fn layout_here(&mut self) -> Parsed<Layout> {
        if self.take_sign("[") {
            let count = self.number()?;
            self.word("of")?;
            let element = Box::new(self.layout()?);
            let stride = if self.take_word("by") { self.number()? } else { natural(&element).0 };
            self.sign("]")?;
            return Ok(Layout::Array { element, count, stride });
        }
        if self.take_sign("{") {
            let mut fields = Vec::new();
            while !self.take_sign("}") {
                let quoted = matches!(self.peek(), Token::Text(_));
                let name = if quoted { self.text()? } else { self.name("the name of a member")? };
                self.sign(":")?;
                let layout = self.layout()?;
                self.word("at")?;
                fields.push(Field { name, offset: self.number()?, layout });
                if !self.is_sign("}") {
                    self.sign(",")?;
                }
            }
            return Ok(Layout::Record(fields));
        }
        if self.take_word("bytes") {
            return Ok(Layout::Bytes(self.number()?));
        }
        if let Some(kind) = SYNC_KINDS.into_iter().find(|kind| self.is_word(sync_word(*kind))) {
            self.advance();
            return Ok(Layout::Sync(kind));
        }
        match self.peek() {
            Token::Word(word) if int_type(word).is_some() => Ok(Layout::Scalar(self.type_name()?)),
            _ => self.expected("a layout: a type, `[`, `{`, `bytes`, `mutex`, `spin`, `rwlock` or `sync`"),
        }
    }

    /// The template that is being read; there is one wherever this is called.
    fn current(&mut self) -> &mut Template {
        self.template.get_or_insert_with(Template::default)
    }

    fn template(&mut self) -> Parsed<()> {
        let at = self.at;
        self.word("template")?;
        let (handle, name) = self.declared("the name of a template")?;
        self.template = Some(Template { name, ..Template::default() });
        self.locals.clear();
        self.sign("(")?;
        while !self.take_sign(")") {
            self.local()?;
            self.current().parameters += 1;
            if !self.is_sign(")") {
                self.sign(",")?;
            }
        }
        let role = self.role(&TemplateRole::ALL, TemplateRole::word)?;
        let span = self.span()?;
        let template = self.current();
        (template.role, template.span) = (role, span);
        self.sign("{")?;
        self.template_header()?;
        while !self.take_sign("}") {
            self.edge()?;
        }
        let template = self.template.take().unwrap_or_default();
        let id = self.program.templates.push(template);
        if self.templates.get(&handle) != Some(&id) {
            return self.error_at(at, "this declaration is not where one can be");
        }
        Ok(())
    }

    fn local(&mut self) -> Parsed<()> {
        let at = self.at;
        let (handle, name) = self.declared("the name of a local variable")?;
        self.sign(":")?;
        let ty = self.type_name()?;
        let span = self.span()?;
        let id = self.current().locals.push(Local { name, ty, span });
        match self.locals.insert(handle, id) {
            Some(_) => self.error_at(at, "this local variable is declared twice"),
            None => Ok(()),
        }
    }

    /// The headers of a template, before its edges.
    fn template_header(&mut self) -> Parsed<()> {
        while !self.is_sign("}") && !self.starts_edge() {
            if self.take_word("local") {
                self.local()?;
            } else if self.take_word("result") {
                let local = self.known_local()?;
                self.current().result = Some(local);
            } else if self.is_word("exit")
                && matches!(self.peek_second(), Token::Word(word) if word == "value")
            {
                self.advance();
                self.advance();
                let local = self.known_local()?;
                self.current().exit_value = Some(local);
            } else if self.take_word("locations") {
                let at = self.at;
                let count: usize = self.number()?;
                if count > MAX_LOCATIONS {
                    return self.error_at(at, format!("a template has at most {MAX_LOCATIONS} locations"));
                }
                self.current().locations = (0..count).map(|_| Location::default()).collect();
            } else if self.take_word("entry") {
                let entry = self.location()?;
                self.current().entry = entry;
            } else if self.take_word("end") {
                self.locations(|one| one.kind = LocationKind::End)?;
            } else if self.take_word("exit") {
                self.locations(|one| one.kind = LocationKind::Exit)?;
            } else if self.take_word("halt") {
                self.locations(|one| one.kind = LocationKind::Halt)?;
            } else if self.take_word("atomic") {
                self.locations(|one| one.atomic = true)?;
            } else if let Some(waiting) =
                WAITINGS.into_iter().find(|one| self.starts_with(waiting_words(*one)))
            {
                waiting_words(waiting).iter().for_each(|_| {
                    self.advance();
                });
                self.locations(|one| one.waiting = waiting)?;
            } else if self.take_word("error") {
                let Some(kind) = ErrorKind::ALL.into_iter().find(|kind| self.is_word(error_word(*kind)))
                else {
                    return self.expected(
                        "`reach_error`, `assertion`, `invalid_access`, `overflow` or `invalid_free`",
                    );
                };
                self.advance();
                self.locations(|one| one.kind = LocationKind::Error(kind))?;
            } else {
                return self.expected(
                    "`local`, `result`, `locations`, `entry`, `end`, `exit`, `halt`, `error`, `atomic`, `waits`, `spurious`, `tracked`, `racing`, an edge, or `}`",
                );
            }
        }
        Ok(())
    }

    fn location(&mut self) -> Parsed<LocationId> {
        let found = match self.peek() {
            Token::Word(word) => location(word),
            _ => None,
        };
        let Some(number) = found else { return self.expected("a location") };
        let count = self.template.as_ref().map_or(0, |template| template.locations.len());
        if number as usize >= count {
            return self.error(format!("there is no location l{number}: the template has {count}"));
        }
        self.advance();
        Ok(LocationId(number))
    }

    /// Changes each location of a list: `l0, l3 .. l7`.
    fn locations(&mut self, change: impl Fn(&mut Location)) -> Parsed<()> {
        loop {
            let LocationId(first) = self.location()?;
            let LocationId(last) = if self.take_sign("..") { self.location()? } else { LocationId(first) };
            for id in first..=last {
                change(&mut self.current().locations[LocationId(id)]);
            }
            if !self.take_sign(",") {
                return Ok(());
            }
        }
    }

    /// Whether these words, one or two, are next.
    fn starts_with(&self, words: &[&str]) -> bool {
        let second = |word: &&str| matches!(self.peek_second(), Token::Word(next) if next == word);
        words.first().is_some_and(|word| self.is_word(word)) && words.get(1).is_none_or(second)
    }

    fn starts_edge(&self) -> bool {
        let arrow = matches!(self.peek_second(), Token::Sign("->"));
        arrow && matches!(self.peek(), Token::Word(word) if location(word).is_some())
    }

    fn edge(&mut self) -> Parsed<()> {
        let source = self.location()?;
        self.sign("->")?;
        let target = self.location()?;
        self.sign(":")?;
        let mut ops = Vec::new();
        if !self.is_sign("@") && !self.is_sign("}") && !self.starts_edge() {
            ops.push(self.op()?);
            while self.take_sign(";") {
                ops.push(self.op()?);
            }
        }
        let span = self.span()?;
        self.current().edges.push(Edge { source, target, ops, span });
        Ok(())
    }
}
