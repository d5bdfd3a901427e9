//! Which items are reached from which: paths are resolved as the compiler does it, methods by name.

use super::source::{Item, Sources};
use std::collections::{BTreeMap, BTreeSet};

/// The items of all crates, ready to be followed.
pub struct Graph {
    /// Every item.
    pub items: Vec<Item>,
    uses: BTreeMap<Vec<String>, BTreeMap<String, Vec<String>>>,
    /// Items that are no methods, by module and name.
    named: BTreeMap<(Vec<String>, String), Vec<usize>>,
    /// Methods by their type.
    methods: BTreeMap<usize, Vec<usize>>,
    /// The type of each method.
    owners: BTreeMap<usize, usize>,
    modules: BTreeSet<Vec<String>>,
    /// Traits of the workspace: methods of other traits' implementations count as mentioned.
    traits: BTreeSet<String>,
}

impl Graph {
    /// Sorts items by where they can be found.
    pub fn new(sources: Sources) -> Self {
        let Sources { items, uses } = sources;
        let mut named = BTreeMap::new();
        let mut modules: BTreeSet<Vec<String>> = uses.keys().cloned().collect();
        for (index, item) in items.iter().enumerate() {
            modules.insert(item.module.clone());
            if item.owner.is_none() {
                named.entry((item.module.clone(), item.name.clone())).or_insert_with(Vec::new).push(index);
            }
        }
        let traits = items.iter().filter(|item| item.owner.is_none()).map(|item| item.name.clone()).collect();
        let (methods, owners) = (BTreeMap::new(), BTreeMap::new());
        let mut graph = Self { items, uses, named, methods, owners, modules, traits };
        for index in 0..graph.items.len() {
            let item = &graph.items[index];
            let Some(owner) = item.owner.clone() else { continue };
            if let Some(owner) = graph.resolve(&item.module, &[owner], 0).first().copied() {
                graph.methods.entry(owner).or_default().push(index);
                graph.owners.insert(index, owner);
            }
        }
        graph
    }

    /// The items that a path means, seen from a module.
    fn resolve(&self, module: &[String], path: &[String], depth: usize) -> Vec<usize> {
        let Some((first, rest)) = path.split_first() else { return Vec::new() };
        if depth > 12 {
            return Vec::new();
        }
        let within = |base: &[String]| self.inside(base, rest, depth + 1);
        match first.as_str() {
            "crate" => return within(&module[..1]),
            "self" => return within(module),
            "super" => return within(&module[..module.len().saturating_sub(1).max(1)]),
            _ => {}
        }
        let found = self.inside(module, path, depth + 1);
        if !found.is_empty() {
            return found;
        }
        let root = vec![first.trim_start_matches("threadproof_").to_owned()];
        if self.modules.contains(&root) { within(&root) } else { Vec::new() }
    }

    /// The items that a path means inside of a module.
    fn inside(&self, module: &[String], path: &[String], depth: usize) -> Vec<usize> {
        let Some((first, rest)) = path.split_first() else { return Vec::new() };
        if depth > 12 {
            return Vec::new();
        }
        if let Some(items) = self.named.get(&(module.to_vec(), first.clone())) {
            // What follows a type is a method or a variant; methods are found by their names.
            return items.clone();
        }
        let deeper = [module, std::slice::from_ref(first)].concat();
        if self.modules.contains(&deeper) && !rest.is_empty() {
            return self.inside(&deeper, rest, depth + 1);
        }
        let Some(uses) = self.uses.get(module) else { return Vec::new() };
        if let Some(target) = uses.get(first) {
            let whole = [target.as_slice(), rest].concat();
            let found = if target.first() == Some(first) && target.len() == 1 {
                Vec::new()
            } else {
                self.resolve(module, &whole, depth + 1)
            };
            if !found.is_empty() {
                return found;
            }
        }
        let globs = uses.iter().filter(|(name, _)| name.starts_with('*'));
        globs
            .flat_map(|(_, target)| self.resolve(module, &[target.as_slice(), path].concat(), depth + 1))
            .collect()
    }

    /// The items with a path, which is that of a function or method.
    pub fn begins(&self, root: &str) -> Result<Vec<usize>, String> {
        let path: Vec<String> = root.split("::").map(ToOwned::to_owned).collect();
        let begins = self.items.iter().enumerate().filter(|(_, item)| {
            let mut full = item.module.clone();
            full.extend(item.owner.clone());
            full.push(item.name.clone());
            full == path
        });
        let begins: Vec<usize> = begins.map(|(index, _)| index).collect();
        match begins.is_empty() {
            true => Err(format!("`{root}` is not in the sources: mend the table in `xtask/src/trusted.rs`")),
            false => Ok(begins),
        }
    }

    /// All items that are reached from the roots, which are paths of functions or methods.
    pub fn reach(&self, roots: &[&str]) -> Result<BTreeSet<usize>, String> {
        let mut reached = BTreeSet::new();
        let mut work = Vec::new();
        for root in roots {
            work.extend(self.begins(root)?);
        }
        let mut names: BTreeSet<String> = BTreeSet::new();
        loop {
            while let Some(index) = work.pop() {
                if !reached.insert(index) {
                    continue;
                }
                let item = &self.items[index];
                names.extend(item.members.iter().cloned());
                work.extend(self.owners.get(&index));
                for path in &item.paths {
                    names.extend(path.iter().cloned());
                    work.extend(self.resolve(&item.module, path, 0));
                }
            }
            for owner in &reached {
                for &index in self.methods.get(owner).into_iter().flatten() {
                    let item = &self.items[index];
                    let implied = item.of_trait.as_ref().is_some_and(|name| !self.traits.contains(name));
                    if !reached.contains(&index) && (implied || names.contains(&item.name)) {
                        work.push(index);
                    }
                }
            }
            if work.is_empty() {
                return Ok(reached);
            }
        }
    }
}
