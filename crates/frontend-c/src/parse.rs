//! Preprocesses, parses and checks one file with the `rucc` crates.

use crate::{Options, Source, limits, replaced, unqualified_casts};
use ir::DataModel;
use ir::diagnostic::{Diagnostic, Kind};
use rucc_diag::{SourceBytes, Span};
use rucc_lex::{Convert, Keyword, Keywords, PpToken, convert};
use rucc_sema::{Checker, DeclFlags, DeclId, Tast};
use rucc_session::{FileSystem, Preinclude, SearchPath, Session, Std};
use rucc_types::Types;
use std::path::{Path, PathBuf};

/// A checked file. The tree borrows nothing.
pub struct Unit {
    /// The file's name.
    pub file: String,
    /// Names, target, and source positions.
    pub session: Session,
    /// The typed tree.
    pub tree: Tast,
    /// Its types.
    pub types: Types,
    /// The functions that are interrupt handlers by an attribute, and whether interrupts are enabled when
    /// they start.
    pub handlers: Vec<(String, bool)>,
    /// The functions without side effects, by an attribute (`pure`, `const`).
    pub pure_functions: Vec<String>,
    /// The names that a pragma makes weak.
    pub weak_names: Vec<String>,
    /// Whether a pragma makes a name a second one of something.
    pub has_second_names: bool,
    /// The first pragma of OpenMP.
    pub openmp: Option<Span>,
    /// Whether the value of a preferred alignment counts that the type checker does not know.
    pub has_preferred_alignments: bool,
    /// Initialisers of which it is unclear what they replace.
    pub unclear_initialisers: replaced::Unclear,
}

impl Unit {
    /// The name of a declaration; empty if it has none.
    pub fn name(&self, declaration: DeclId) -> &str {
        self.tree[declaration].name.map_or("", |name| self.session.interner.resolve(name))
    }
    /// Whether a declaration is weak: by an attribute, or by a pragma.
    pub fn is_weak(&self, declaration: DeclId) -> bool {
        let flags = self.tree[declaration].flags;
        let name = self.name(declaration);
        flags.contains(DeclFlags::WEAK)
            || flags.contains(DeclFlags::WEAKREF)
            || self.weak_names.iter().any(|weak| weak == name)
    }
    /// Whether a declaration stands in a header of the system, so that it is of a function with a contract.
    pub fn is_of_system(&self, declaration: DeclId) -> bool {
        let (file, _, _) = self.position(self.tree.decl_span(declaration));
        STANDARD_FOLDERS.iter().any(|folder| Path::new(file).starts_with(folder))
    }
    /// File, line and column that a position is presented at.
    pub fn position(&self, span: Span) -> (&str, u32, u32) {
        position(&self.session, span)
    }
}

/// What to do about a header that is not there.
fn missing_header(name: &str) -> &'static str {
    match name {
        "omp.h" => "OpenMP is not supported: write the threads with pthread_create, or leave it out",
        _ if CPP_HEADERS.contains(&name) => "this is a header of C++: only C is supported",
        _ => "name its folder by -I, or give the preprocessed file (.i)",
    }
}

/// The headers by which C++ is recognised.
const CPP_HEADERS: [&str; 20] = [
    "algorithm",
    "array",
    "atomic",
    "chrono",
    "condition_variable",
    "cstdio",
    "cstdlib",
    "deque",
    "functional",
    "future",
    "iostream",
    "map",
    "memory",
    "mutex",
    "queue",
    "shared_mutex",
    "string",
    "thread",
    "utility",
    "vector",
];

fn position(session: &Session, span: Span) -> (&str, u32, u32) {
    if span.is_dummy() {
        return ("", 0, 0);
    }
    session.sources.presumed(span.lo).map_or(("", 0, 0), |at| (at.name, at.line, at.column))
}

/// The folders of the standard headers: ours, the compiler's own (`stddef.h`, `stdatomic.h`, …), which the
/// crate brings along, and the system's.
const STANDARD_FOLDERS: [&str; 5] =
    [OWN_FOLDER, "<builtin>", "/usr/local/include", "/usr/include/x86_64-linux-gnu", "/usr/include"];
/// The virtual folder of our own headers. No folder of a user can have this name.
const OWN_FOLDER: &str = "<threadproof>";
/// Our own headers.
const OWN_HEADERS: &[(&str, &str)] = &[
    ("builtins.h", include_str!("headers/builtins.h")),
    ("stdatomic.h", include_str!("headers/stdatomic.h")),
    ("pthread.h", include_str!("headers/pthread.h")),
];

/// The text of a header of our own.
fn own_header(path: &Path) -> Option<&'static str> {
    let path = path.strip_prefix(".").unwrap_or(path);
    let name = path.strip_prefix(OWN_FOLDER).ok()?;
    OWN_HEADERS.iter().find(|(own, _)| name == Path::new(own)).map(|(_, text)| *text)
}

/// The files of this machine, and our own headers.
#[derive(Debug)]
struct Disk;

impl FileSystem for Disk {
    fn read(&self, path: &Path) -> std::io::Result<SourceBytes> {
        if let Some(text) = own_header(path) {
            return Ok(SourceBytes::new(text.as_bytes().to_vec()));
        }
        // glibc's headers include this one for 32-bit programs; it is only there when a 32-bit library is
        // installed, and only lists functions that do nothing.
        if path.ends_with("gnu/stubs-32.h") && !path.exists() {
            return Ok(SourceBytes::new(Vec::new()));
        }
        Ok(SourceBytes::new(std::fs::read(path)?))
    }
    fn identity(&self, path: &Path) -> PathBuf {
        std::fs::canonicalize(path).unwrap_or_else(|_| rucc_session::path_key(path))
    }
}

/// The most problems of a file that are reported.
const TOLD: usize = 50;

/// Reads one file. `own`: names of library functions that the program defines itself, so that the checker of
/// types takes no call of one for a builtin.
pub fn parse(source: &Source, options: &Options, own: &[String]) -> Result<Unit, Vec<Diagnostic>> {
    let internal = |message: String| vec![Diagnostic::at(&source.name, (0, 0), Kind::Internal, message)];
    if let Some((line, column)) = limits::too_deep(&source.text) {
        let message = "parentheses are nested too deeply; split the expression";
        return Err(vec![Diagnostic::at(&source.name, (line, column), Kind::Limit, message)]);
    }
    let settings = settings(source, options)?;
    let mut session = Session::new(settings.clone());
    // Keywords come first: their symbols have to be consecutive.
    let keywords = Keywords::new(&mut session.interner, settings.std, settings.gnu_extensions)
        .x86(settings.gnu_extensions);
    let mut problems = Vec::new();

    let bytes = SourceBytes::new(source.text.clone());
    let file =
        session.sources.add_shared(source.name.clone(), bytes, None).map_err(|e| internal(e.to_string()))?;
    let mut preprocessor = rucc_pp::Preprocessor::new();
    let expanded: Vec<PpToken> = {
        let (names, sources) = (&mut session.interner, &mut session.sources);
        let mut context = rucc_pp::Context::new(names, sources, &Disk, &settings.search);
        context.lex =
            rucc_lex::Options::for_dialect(settings.std, settings.gnu_extensions, settings.trigraphs);
        // In a preprocessed file `linux` and `unix` are ordinary names.
        if !source.name.ends_with(".i") {
            let predefined = rucc_pp::Predef::for_options(&settings);
            preprocessor
                .predefine(&session.target, &predefined, &mut context)
                .map_err(|e| internal(e.to_string()))?;
        }
        let mut tokens = Vec::new();
        preprocessor
            .preinclude(&settings.preincludes, &mut tokens, &mut context)
            .map_err(|e| internal(e.to_string()))?;
        tokens.extend(preprocessor.run(file, &mut context));
        tokens.iter().map(|token| token.to_pp()).collect()
    };
    problems.extend(preprocessor.take_diagnostics());
    drop(preprocessor);

    let (mut tokens, complaints) = convert(
        &expanded,
        &Convert {
            keywords: &keywords,
            interner: &session.interner,
            target: &session.target,
            std: settings.std,
            gnu: settings.gnu_extensions,
            pedantic: false,
        },
    );
    drop(expanded);
    problems.extend(complaints);
    if let Some((span, message)) = limits::exceeded(&tokens) {
        let (name, line, column) = position(&session, span);
        return Err(vec![Diagnostic::at(name, (line, column), Kind::Limit, message)]);
    }

    unqualified_casts::unqualify(&mut tokens);
    let unclear_initialisers = replaced::drop_replaced(&mut tokens);
    let has_preferred_alignments =
        options.data_model == DataModel::Ilp32 && preferred_alignments(&tokens, &session);

    // Predefined type names that are no keywords, such as `__float128`.
    let type_names: Vec<rucc_base::Symbol> =
        session.target.type_names().iter().filter_map(|&(name, _)| session.interner.find(name)).collect();
    let parsed = rucc_parse::parse(
        &tokens,
        rucc_parse::Context {
            interner: &session.interner,
            std: settings.std,
            gnu: settings.gnu_extensions,
            pedantic: false,
            error_limit: TOLD,
            type_names: &type_names,
        },
    );
    let is_openmp = |pragma: &&rucc_lex::Pragma| {
        let first = pragma.tokens.first().and_then(|token| token.ident());
        first.is_some_and(|name| session.interner.resolve(name) == "omp")
    };
    let openmp = tokens.pragmas.iter().find(is_openmp).map(|pragma| pragma.span);
    drop(tokens);
    let failed = parsed.failed();
    let handlers = handlers(&parsed.ast, &session);
    let pure_functions = pure_functions(&parsed.ast, &session);
    let has_second_names = parsed.weak_pragmas.iter().any(|pragma| pragma.target.is_some())
        || !parsed.extname_pragmas.is_empty();
    let weak_names =
        parsed.weak_pragmas.iter().map(|pragma| session.interner.resolve(pragma.name).to_owned()).collect();
    problems.extend(parsed.diagnostics);
    let mut checked = None;
    if !failed {
        let mut context = rucc_sema::Context::new(&session.interner, &session.target, settings.std);
        context.gnu = settings.gnu_extensions;
        context.permissive = true;
        context.error_limit = TOLD;
        // C only fixes the sign of the result of `strcmp`: the model keeps this for literals as well.
        let no_builtin = [own, &["strcmp".to_owned()]].concat();
        context.no_builtin = &no_builtin;
        let mut checker = Checker::new(&parsed.ast, context);
        checker.check_unit();
        let mut found = checker.finish();
        problems.append(&mut found.diagnostics);
        checked = Some(found);
    }
    let reported: Vec<Diagnostic> = problems
        .iter()
        .filter(|problem| problem.severity.is_fatal() && !is_harmless(problem))
        .take(TOLD)
        .map(|problem| {
            let (name, line, column) = position(&session, problem.span);
            let name = if name.is_empty() { source.name.as_str() } else { name };
            let found = Diagnostic::at(name, (line, column), Kind::Text, problem.message.clone());
            match problem.message.strip_suffix(" file not found") {
                Some(header) => found.help(missing_header(header.trim_matches('`'))),
                None => found,
            }
        })
        .collect();
    match checked {
        Some(checked) if reported.is_empty() => Ok(Unit {
            file: source.name.clone(),
            session,
            tree: checked.tast,
            types: checked.types,
            handlers,
            pure_functions,
            weak_names,
            has_second_names,
            openmp,
            has_preferred_alignments,
            unclear_initialisers,
        }),
        Some(_) | None if !reported.is_empty() => Err(reported),
        Some(_) | None => Err(internal("the file cannot be parsed".to_owned())),
    }
}

/// Whether `__alignof__` stands anywhere but in an attribute `aligned`. With 32 bits, it gives 8 for `double`
/// and `long long`, which are aligned to 4 in structures; the type checker gives 4.
fn preferred_alignments(tokens: &rucc_lex::Tokens, session: &Session) -> bool {
    let all = &tokens.tokens;
    let is_attribute = |token: &rucc_lex::Token| {
        let name = token.ident().map(|name| session.interner.resolve(name));
        matches!(name, Some("aligned" | "__aligned__"))
    };
    let keywords = all.iter().enumerate().filter(|(_, token)| token.keyword() == Some(Keyword::GnuAlignof));
    let mut before = keywords.map(|(at, _)| at.checked_sub(2).and_then(|before| all.get(before)));
    before.any(|token| !token.is_some_and(is_attribute))
}

/// The functions with the attribute `signal` or `interrupt`, on any of their declarations, in order.
fn handlers(ast: &rucc_ast::Ast, session: &Session) -> Vec<(String, bool)> {
    let mut found: Vec<(String, bool)> = Vec::new();
    for_each_attribute(ast, session, |name, attribute| {
        let enables = match attribute {
            "signal" => false,
            "interrupt" => true,
            _ => return,
        };
        if found.iter().all(|(other, _)| other != name) {
            found.push((name.to_owned(), enables));
        }
    });
    found
}

/// The functions with the attribute `pure` or `const`, on any of their declarations, in order.
fn pure_functions(ast: &rucc_ast::Ast, session: &Session) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for_each_attribute(ast, session, |name, attribute| {
        let is_pure = matches!(attribute.trim_matches('_'), "pure" | "const");
        if is_pure && found.iter().all(|other| other != name) {
            found.push(name.to_owned());
        }
    });
    found
}

/// Visits each attribute of a top-level declaration, with the declared name.
fn for_each_attribute(ast: &rucc_ast::Ast, session: &Session, mut show: impl FnMut(&str, &str)) {
    let mut declared = |declarator: rucc_ast::DeclaratorId, lists: &[rucc_ast::AttrList]| {
        let Some(name) = ast[declarator].name else { return };
        let name = session.interner.resolve(name);
        for attribute in lists.iter().flat_map(|list| ast[*list].iter()) {
            show(name, session.interner.resolve(attribute.name));
        }
    };
    for &id in ast.top_level() {
        match ast[id] {
            rucc_ast::Decl::Function { specs, declarator, .. } => declared(declarator, &[ast[specs].attrs]),
            rucc_ast::Decl::Var { specs, declarators } => {
                for item in &ast[declarators] {
                    declared(item.declarator, &[ast[specs].attrs, item.attrs]);
                }
            }
            _ => {}
        }
    }
}

/// Whether an error only concerns code generation.
fn is_harmless(problem: &rucc_diag::Diagnostic) -> bool {
    problem.code == Some("E0753") && ["interrupt", "signal"].iter().any(|word| problem.message.contains(word))
}

fn settings(source: &Source, options: &Options) -> Result<rucc_session::Options, Vec<Diagnostic>> {
    let wrong = |message: String| vec![Diagnostic::at(&source.name, (0, 0), Kind::Text, message)];
    let triple = match options.data_model {
        DataModel::Ilp32 => "i686-unknown-linux-gnu",
        DataModel::Lp64 => "x86_64-unknown-linux-gnu",
    };
    let triple = triple.parse().map_err(|_| wrong(format!("unknown target {triple}")))?;
    let mut settings = rucc_session::Options::new(triple);
    let (standard, gnu) = match &options.standard {
        None => (Std::C17, true),
        Some(name) => Std::from_flag(name)
            .ok_or_else(|| wrong(format!("unknown language standard '{name}'; gnu17 is one")))?,
    };
    settings.std = standard;
    settings.gnu_extensions = gnu;
    settings.permissive = true;
    settings.error_limit = TOLD as _;
    settings.defines = options.defines.clone();
    settings.undefines = options.undefines.clone();
    settings.char_signed = options.char_signed;
    let preinclude = |path: &PathBuf, macros_only: bool| Preinclude {
        name: path.to_string_lossy().into_owned(),
        macros_only,
    };
    // As in compilers, files that provide only macros come first.
    let macros = options.macros.iter().map(|path| preinclude(path, true));
    let own = Preinclude { name: format!("{OWN_FOLDER}/builtins.h"), macros_only: false };
    let includes = options.includes.iter().map(|path| preinclude(path, false));
    settings.preincludes = macros.chain([own]).chain(includes).collect();
    let mut search = SearchPath::new();
    for folder in &options.quote_dirs {
        search.push_quote(folder);
    }
    for folder in &options.include_dirs {
        search.push_bracket(folder);
    }
    for folder in &options.system_dirs {
        search.push_system(folder);
    }
    for folder in STANDARD_FOLDERS {
        search.push_system(folder);
    }
    for folder in &options.after_dirs {
        search.push_after(folder);
    }
    settings.search = search;
    Ok(settings)
}
