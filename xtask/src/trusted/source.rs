//! The items of all crates, with what each mentions. Tests are left out.

use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use syn::spanned::Spanned;
use syn::{Attribute, ImplItem, Item as Parsed, UseTree};

/// A function, method, type or constant.
pub struct Item {
    /// The crate, and the modules inside of it.
    pub module: Vec<String>,
    /// Its name.
    pub name: String,
    /// For methods: the type.
    pub owner: Option<String>,
    /// For methods of a trait's implementation: the trait.
    pub of_trait: Option<String>,
    /// Lines of code, without blank lines and comments.
    pub lines: usize,
    /// The paths that it mentions, from single names to `a::b::c`.
    pub paths: BTreeSet<Vec<String>>,
    /// The names that it mentions after a dot: methods and fields.
    pub members: BTreeSet<String>,
}

/// All crates.
#[derive(Default)]
pub struct Sources {
    /// Every item.
    pub items: Vec<Item>,
    /// What each module brings in by `use`: a name for a path.
    pub uses: BTreeMap<Vec<String>, BTreeMap<String, Vec<String>>>,
}

/// Reads the sources of all crates.
pub fn read(root: &Path) -> Result<Sources, String> {
    let mut sources = Sources::default();
    let folder = root.join("crates");
    let mut crates: Vec<_> = fs::read_dir(&folder).map_err(|error| error.to_string())?.flatten().collect();
    crates.sort_by_key(fs::DirEntry::path);
    for entry in crates {
        let name = entry.file_name().to_string_lossy().replace('-', "_");
        let start = entry.path().join("src/lib.rs");
        if start.is_file() {
            file(&start, vec![name], &mut sources)?;
        }
    }
    Ok(sources)
}

fn file(path: &Path, module: Vec<String>, sources: &mut Sources) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let parsed = syn::parse_file(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines: Vec<&str> = text.lines().collect();
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let parent = path.parent().unwrap_or(Path::new("."));
    let below = if matches!(stem.as_str(), "lib" | "mod") { parent.to_owned() } else { parent.join(&stem) };
    items(&parsed.items, &module, &lines, &below, sources)
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string().contains("test"))
    })
}

fn items(
    parsed: &[Parsed],
    module: &[String],
    lines: &[&str],
    below: &Path,
    sources: &mut Sources,
) -> Result<(), String> {
    let mut add = |name: String,
                   owner: Option<String>,
                   of_trait: Option<String>,
                   tokens: TokenStream,
                   at: (usize, usize)| {
        let (mut paths, mut members) = (BTreeSet::new(), BTreeSet::new());
        mentions(tokens, &mut paths, &mut members);
        let lines = count(lines, at);
        sources.items.push(Item { module: module.to_vec(), name, owner, of_trait, lines, paths, members });
    };
    let range = |span: proc_macro2::Span| (span.start().line, span.end().line);
    let mut modules = Vec::new();
    for item in parsed {
        match item {
            Parsed::Fn(item) if !is_test(&item.attrs) => {
                add(item.sig.ident.to_string(), None, None, tokens_of(item), range(item.span()));
            }
            Parsed::Struct(item) => {
                add(item.ident.to_string(), None, None, tokens_of(item), range(item.span()))
            }
            Parsed::Enum(item) => {
                add(item.ident.to_string(), None, None, tokens_of(item), range(item.span()))
            }
            Parsed::Type(item) => {
                add(item.ident.to_string(), None, None, tokens_of(item), range(item.span()))
            }
            Parsed::Const(item) => {
                add(item.ident.to_string(), None, None, tokens_of(item), range(item.span()))
            }
            Parsed::Static(item) => {
                add(item.ident.to_string(), None, None, tokens_of(item), range(item.span()))
            }
            Parsed::Trait(item) => {
                add(item.ident.to_string(), None, None, tokens_of(item), range(item.span()))
            }
            Parsed::Impl(item) if !is_test(&item.attrs) => {
                let owner = last_name(&item.self_ty);
                let of_trait = item.trait_.as_ref().and_then(|(_, path, _)| path.segments.last());
                let of_trait = of_trait.map(|segment| segment.ident.to_string());
                for part in &item.items {
                    let name = match part {
                        ImplItem::Fn(method) => method.sig.ident.to_string(),
                        ImplItem::Const(constant) => constant.ident.to_string(),
                        _ => continue,
                    };
                    add(name, Some(owner.clone()), of_trait.clone(), tokens_of(part), range(part.span()));
                }
            }
            Parsed::Use(item) => modules.push(item),
            Parsed::Macro(item) => {
                // A macro that makes types makes them by their names: each is an item of its own.
                let tokens = item.mac.tokens.clone();
                let name = item.ident.as_ref().map_or_else(String::new, ToString::to_string);
                add(name, None, None, tokens, range(item.span()));
            }
            _ => {}
        }
    }
    let table = sources.uses.entry(module.to_vec()).or_default();
    for item in modules {
        uses(&item.tree, &mut Vec::new(), table);
    }
    for item in parsed {
        let Parsed::Mod(item) = item else { continue };
        if is_test(&item.attrs) {
            continue;
        }
        let name = item.ident.to_string();
        let inner = [module, std::slice::from_ref(&name)].concat();
        match &item.content {
            Some((_, content)) => items(content, &inner, lines, &below.join(&name), sources)?,
            None => {
                let flat = below.join(format!("{name}.rs"));
                let path = if flat.is_file() { flat } else { below.join(&name).join("mod.rs") };
                file(&path, inner, sources)?;
            }
        }
    }
    Ok(())
}

fn tokens_of<T: quote::ToTokens>(item: &T) -> TokenStream {
    item.to_token_stream()
}

fn last_name(ty: &syn::Type) -> String {
    match ty {
        syn::Type::Path(path) => {
            path.path.segments.last().map_or_else(String::new, |segment| segment.ident.to_string())
        }
        syn::Type::Reference(reference) => last_name(&reference.elem),
        _ => String::new(),
    }
}

/// Lines that are neither blank nor a comment.
fn count(lines: &[&str], (first, last): (usize, usize)) -> usize {
    let code = |line: &&&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    lines.get(first.saturating_sub(1)..last).unwrap_or_default().iter().filter(code).count()
}

/// The paths and member names in a piece of code.
fn mentions(tokens: TokenStream, paths: &mut BTreeSet<Vec<String>>, members: &mut BTreeSet<String>) {
    let mut path: Vec<String> = Vec::new();
    let (mut colons, mut dot) = (0, false);
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                if dot {
                    members.insert(name.to_string());
                    path.clear();
                } else {
                    if colons != 2 {
                        flush(&mut path, paths);
                    }
                    path.push(name.to_string());
                }
                (colons, dot) = (0, false);
            }
            TokenTree::Punct(mark) => {
                match mark.as_char() {
                    ':' => colons += 1,
                    // Type arguments in the middle of a path are rare; the path ends there.
                    _ => {
                        flush(&mut path, paths);
                        colons = 0;
                    }
                }
                dot = mark.as_char() == '.';
            }
            TokenTree::Group(group) => {
                flush(&mut path, paths);
                (colons, dot) = (0, false);
                mentions(group.stream(), paths, members);
            }
            TokenTree::Literal(_) => {
                flush(&mut path, paths);
                (colons, dot) = (0, false);
            }
        }
    }
    flush(&mut path, paths);
}

fn flush(path: &mut Vec<String>, paths: &mut BTreeSet<Vec<String>>) {
    if !path.is_empty() {
        paths.insert(std::mem::take(path));
    }
}

fn uses(tree: &UseTree, before: &mut Vec<String>, table: &mut BTreeMap<String, Vec<String>>) {
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            uses(&path.tree, before, table);
            before.pop();
        }
        UseTree::Name(name) => {
            let name = name.ident.to_string();
            if name == "self" {
                let last = before.last().cloned().unwrap_or_default();
                table.insert(last, before.clone());
            } else {
                table.insert(name.clone(), [before.as_slice(), &[name]].concat());
            }
        }
        UseTree::Rename(rename) => {
            table
                .insert(rename.rename.to_string(), [before.as_slice(), &[rename.ident.to_string()]].concat());
        }
        UseTree::Group(group) => {
            for tree in &group.items {
                uses(tree, before, table);
            }
        }
        UseTree::Glob(_) => {
            table.entry(format!("*{}", before.join("::"))).or_insert_with(|| before.clone());
        }
    }
}
