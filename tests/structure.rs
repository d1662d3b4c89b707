//! The shape of a crate's source: which files import which, how large structs are, where the functions stand
//! that change them.
//!
//! An import is what a `use` declares or a path in full (`crate::…`, `self::…`, `super::…`) names, in macros too,
//! followed through re-exports to the file that has the item. What a list names (`kinds!`, `transports!`) is no
//! import: it exists to name everything. What is compiled for tests only is not looked at.

use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use syn::visit::{self, Visit};
use syn::{Attribute, Field, Fields, FnArg, ImplItem, Item, Meta, Signature, Type, UseTree, Visibility};

/// The crate's root: it declares and re-exports.
const ROOT: &str = "lib";

/// A crate's files by module path (`fabric::gate`).
pub struct Source {
    files: BTreeMap<String, File>,
    /// What each file re-exports: a name (`*`: all) and the path behind it, from the root.
    exports: BTreeMap<String, Vec<(String, Vec<String>)>>,
}

/// What a crate is exempt from, and what it promises besides.
#[derive(Default)]
pub struct Exempt<'a> {
    /// Types whose fields are private, so that only their own folders change them.
    pub closed: &'a [&'a str],
    /// Structs of more than fifteen fields, because they are tables.
    pub tables: &'a [&'a str],
    /// Circles of folders.
    pub folders: &'a [&'a [&'a str]],
    /// Types with functions that change them in more than five files, and how many these are: they may only become
    /// fewer.
    pub spread: &'a [(&'a str, usize)],
}

/// One file, as far as the laws are concerned.
#[derive(Default)]
struct File {
    /// Every `use`: whether it re-exports, the path that it declares, and the name which that has here.
    uses: Vec<(bool, Vec<String>, String)>,
    /// Paths in full, wherever they stand.
    in_full: Vec<Vec<String>>,
    /// What is declared at its top.
    items: BTreeSet<String>,
    /// Structs and enums.
    types: BTreeSet<String>,
    /// Structs with names for their fields, and how many.
    structs: Vec<(String, usize)>,
    /// Structs of which others see a field.
    open: BTreeSet<String>,
    /// By type: functions that change it, methods and free ones.
    functions: BTreeMap<String, usize>,
    /// Modules that are there for tests only.
    tests: Vec<String>,
}

impl Source {
    /// The source of the crate in this folder.
    pub fn of(crate_folder: &str) -> Self {
        let mut files = BTreeMap::new();
        read(&Path::new(crate_folder).join("src"), "", &mut files);
        Self::new(files)
    }

    /// Files as given.
    pub fn new(files: BTreeMap<String, String>) -> Self {
        let parsed = |(module, text): (String, String)| {
            let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{module}: {error}"));
            let mut found = File::default();
            found.visit_file(&file);
            (module, found)
        };
        let mut files: BTreeMap<String, File> = files.into_iter().map(parsed).collect();
        let tests: Vec<String> = files
            .iter()
            .flat_map(|(module, file)| file.tests.iter().map(|name| join(folder(module), name)))
            .collect();
        let is_test = |module: &str| {
            tests.iter().any(|test| {
                module
                    .strip_prefix(test.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
            })
        };
        files.retain(|module, _| !is_test(module));
        let mut source = Self { files, exports: BTreeMap::new() };
        source.exports = source
            .files
            .iter()
            .map(|(module, file)| {
                let public = file.uses.iter().filter(|(public, ..)| *public);
                let known =
                    public.filter_map(|(_, path, name)| Some((name.clone(), source.rooted(module, path)?)));
                (module.clone(), known.collect())
            })
            .collect();
        source
    }

    /// Which files each file imports.
    pub fn imports(&self) -> BTreeMap<String, BTreeSet<String>> {
        let of = |(module, file): (&String, &File)| {
            let private = file.uses.iter().filter(|(public, ..)| !public).map(|(_, path, _)| path);
            let mut found = BTreeSet::new();
            for path in private.chain(&file.in_full) {
                if let Some(names) = self.rooted(module, path) {
                    self.homes(&names, 0, &mut found);
                }
            }
            found.remove(module);
            found.remove(ROOT);
            (module.clone(), found)
        };
        self.files.iter().map(of).collect()
    }

    /// Which folders each folder imports; a file at the top is one of its own.
    pub fn folders(&self) -> BTreeMap<String, BTreeSet<String>> {
        let top = |module: &str| module.split("::").next().unwrap_or("").to_owned();
        let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (module, imported) in self.imports() {
            let from = top(&module);
            let to = imported.iter().map(|other| top(other)).filter(|other| *other != from);
            graph.entry(from.clone()).or_default().extend(to);
        }
        graph
    }

    /// Whether all fields of a struct are private: only its own folder changes it.
    pub fn is_closed(&self, name: &str) -> bool {
        self.files.values().any(|file| file.types.contains(name))
            && !self.files.values().any(|file| file.open.contains(name))
    }

    /// Structs with more than fifteen fields.
    pub fn large_structs(&self) -> BTreeSet<String> {
        let all = self.files.values().flat_map(|file| &file.structs);
        all.filter(|(_, fields)| *fields > 15).map(|(name, _)| name.clone()).collect()
    }

    /// Types with functions that change them in more than five files, and how many. Several types of one name are
    /// several.
    pub fn spread(&self) -> BTreeMap<String, usize> {
        let mut of: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for (name, functions) in self.files.values().flat_map(|file| &file.functions) {
            let (files, all) = of.entry(name).or_default();
            (*files, *all) = (*files + 1, *all + functions);
        }
        let declared = |name: &str| self.files.values().filter(|file| file.types.contains(name)).count();
        let spread = of.into_iter().filter(|(name, (files, _))| *files > 5 && declared(name) == 1);
        spread.map(|(name, (_, functions))| (name.to_owned(), functions)).collect()
    }

    /// The names of a path from the root, if it is one of this crate.
    fn rooted(&self, module: &str, path: &[String]) -> Option<Vec<String>> {
        let mut names: Vec<&str> = path.iter().map(String::as_str).collect();
        let mut from: Vec<&str> = folder(module).split("::").filter(|name| !name.is_empty()).collect();
        match *names.first()? {
            "crate" => {
                from.clear();
                names.remove(0);
            }
            "self" => _ = names.remove(0),
            "super" => {
                while names.first() == Some(&"super") {
                    from.pop();
                    names.remove(0);
                }
            }
            child => {
                let child = join(&from.join("::"), child);
                let inside = format!("{child}::");
                if !self.files.keys().any(|file| *file == child || file.starts_with(&inside)) {
                    return None; // another crate's
                }
            }
        }
        Some(from.into_iter().chain(names).map(str::to_owned).collect())
    }

    /// The files that have what a path names: the longest prefix that is a file, or where that has it from.
    fn homes(&self, names: &[String], depth: usize, out: &mut BTreeSet<String>) {
        let file = |n: usize| if n == 0 { ROOT.to_owned() } else { names[..n].join("::") };
        let Some(n) = (0..=names.len()).rev().find(|n| self.files.contains_key(&file(*n))) else { return };
        let mut followed = false;
        if let Some(name) = names.get(n).filter(|_| depth < 8) {
            for (exported, behind) in &self.exports[&file(n)] {
                let (mut behind, all) = (behind.clone(), exported == "*");
                if all {
                    *behind.last_mut().expect("a star") = name.clone();
                }
                if all && !self.defines(&behind) || !all && exported != name {
                    continue;
                }
                behind.extend(names[n + 1..].iter().cloned());
                self.homes(&behind, depth + 1, out);
                followed = true;
            }
        }
        if !followed {
            out.insert(file(n));
        }
    }

    fn defines(&self, names: &[String]) -> bool {
        let Some((name, module)) = names.split_last() else { return false };
        self.files.get(&module.join("::")).is_some_and(|file| file.items.contains(name))
    }
}

/// All sets of nodes that reach each other.
pub fn circles(graph: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<Vec<String>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|node| (node.as_str(), reaches(graph, node))).collect();
    let circle = |node: &str| -> Vec<String> {
        let back = |other: &&&str| reached.get(**other).is_some_and(|from| from.contains(node));
        reached[node].iter().filter(back).map(|other| (*other).to_owned()).collect()
    };
    graph.keys().map(|node| circle(node)).filter(|nodes| nodes.len() > 1).collect()
}

/// Asserts the laws of the house, but for what is exempt: no circle of more than two files, none of folders; no
/// struct of more than fifteen fields; no type with functions that change it in more than five files.
pub fn keeps_the_laws(source: &Source, exempt: &Exempt<'_>) {
    for files in circles(&source.imports()) {
        assert!(files.len() <= 2, "these files import each other in a circle: {files:?}");
    }
    let folders: Vec<Vec<String>> = circles(&source.folders()).into_iter().collect();
    assert_eq!(folders, exempt.folders, "circles of folders, and those that are exempt");
    for name in exempt.closed {
        assert!(source.is_closed(name), "{name} has fields that others see");
    }
    let mut large = source.large_structs();
    large.retain(|name| !exempt.tables.contains(&name.as_str()));
    assert!(large.is_empty(), "more than fifteen fields: {large:?}");
    let listed: BTreeMap<String, usize> =
        exempt.spread.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
    assert_eq!(
        source.spread(),
        listed,
        "types with functions that change them in more than five files, and those that are exempt"
    );
}

impl<'ast> Visit<'ast> for File {
    fn visit_file(&mut self, file: &'ast syn::File) {
        for item in &file.items {
            if !is_for_tests(attributes(item)) {
                self.declare(item);
            }
        }
        visit::visit_file(self, file);
    }

    fn visit_item(&mut self, item: &'ast Item) {
        if is_for_tests(attributes(item)) {
            if let Item::Mod(module) = item {
                self.tests.push(module.ident.to_string());
            }
            return;
        }
        visit::visit_item(self, item);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let public = !matches!(item.vis, Visibility::Inherited);
        let mut declared = Vec::new();
        declares(&item.tree, &[], &mut declared);
        self.uses.extend(declared.into_iter().map(|(path, name)| (public, path, name)));
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        if let Fields::Named(fields) = &item.fields {
            let kept = |field: &&Field| !is_for_tests(&field.attrs);
            self.structs.push((item.ident.to_string(), fields.named.iter().filter(kept).count()));
        }
        if item.fields.iter().any(|field| !matches!(field.vis, Visibility::Inherited)) {
            self.open.insert(item.ident.to_string());
        }
        visit::visit_item_struct(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if let (None, Some(name)) = (&item.trait_, named(&item.self_ty)) {
            let changes =
                |part: &&ImplItem| matches!(part, ImplItem::Fn(method) if changes_self(&method.sig));
            let methods = item.items.iter().filter(changes).count();
            if methods > 0 {
                *self.functions.entry(name).or_default() += methods;
            }
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        for name in changes(&item.sig) {
            *self.functions.entry(name).or_default() += 1;
        }
        visit::visit_item_fn(self, item);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        if names.len() > 1 && is_full(&names[0]) {
            self.in_full.push(names);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        in_tokens(mac.tokens.clone(), &mut self.in_full);
        visit::visit_macro(self, mac);
    }

    // `pub(in crate::a)` and attributes import nothing.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}
    fn visit_attribute(&mut self, _: &'ast Attribute) {}
}

impl File {
    fn declare(&mut self, item: &Item) {
        let name = match item {
            Item::Macro(item) => return self.items.extend(types_in_tokens(item.mac.tokens.clone())),
            Item::Struct(item) => &item.ident,
            Item::Enum(item) => &item.ident,
            Item::Fn(item) => &item.sig.ident,
            Item::Trait(item) => &item.ident,
            Item::Type(item) => &item.ident,
            Item::Const(item) => &item.ident,
            Item::Mod(item) => &item.ident,
            _ => return,
        };
        if matches!(item, Item::Struct(_) | Item::Enum(_)) {
            self.types.insert(name.to_string());
        }
        self.items.insert(name.to_string());
    }
}

/// Types that a macro is given the declarations of (`tagged!`, `kinds!`).
fn types_in_tokens(tokens: TokenStream) -> Vec<String> {
    let idents: Vec<Option<String>> = tokens
        .into_iter()
        .map(|token| if let TokenTree::Ident(ident) = token { Some(ident.to_string()) } else { None })
        .collect();
    let declared = |two: &[Option<String>]| match two {
        [Some(keyword), Some(name)] if keyword == "enum" || keyword == "struct" => Some(name.clone()),
        _ => None,
    };
    idents.windows(2).filter_map(declared).collect()
}

/// A path that begins with this leads through this crate.
fn is_full(name: &str) -> bool {
    ["crate", "self", "super"].contains(&name)
}

/// A method that takes `&mut self`.
fn changes_self(signature: &Signature) -> bool {
    let Some(FnArg::Receiver(receiver)) = signature.inputs.first() else { return false };
    receiver.reference.is_some() && receiver.mutability.is_some()
}

/// The types that a function takes by `&mut`.
fn changes(signature: &Signature) -> BTreeSet<String> {
    let changed = |argument: &FnArg| match argument {
        FnArg::Typed(argument) => match &*argument.ty {
            Type::Reference(reference) if reference.mutability.is_some() => named(&reference.elem),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    };
    signature.inputs.iter().filter_map(changed).collect()
}

/// The last name of a type that has one.
fn named(of: &Type) -> Option<String> {
    let Type::Path(path) = of else { return None };
    Some(path.path.segments.last()?.ident.to_string())
}

/// The paths that a `use` declares: `a::{b, c::{d, e}}` is `a::b`, `a::c::d`, `a::c::e`.
fn declares(tree: &UseTree, before: &[String], out: &mut Vec<(Vec<String>, String)>) {
    let with = |name: String| -> Vec<String> { before.iter().cloned().chain([name]).collect() };
    let itself = || (before.to_vec(), before.last().cloned().unwrap_or_default());
    match tree {
        UseTree::Path(path) => declares(&path.tree, &with(path.ident.to_string()), out),
        UseTree::Name(name) if name.ident == "self" => out.push(itself()),
        UseTree::Name(name) => out.push((with(name.ident.to_string()), name.ident.to_string())),
        UseTree::Rename(name) if name.ident == "self" => out.push((before.to_vec(), name.rename.to_string())),
        UseTree::Rename(name) => out.push((with(name.ident.to_string()), name.rename.to_string())),
        UseTree::Glob(_) => out.push((with("*".to_owned()), "*".to_owned())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| declares(tree, before, out)),
    }
}

/// Paths in full among the tokens of a macro; `$crate` is left to the crate that uses the macro.
fn in_tokens(tokens: TokenStream, out: &mut Vec<Vec<String>>) {
    let mut path: Vec<String> = Vec::new();
    let (mut colons, mut dollar) = (0, false);
    let end = |path: &mut Vec<String>, out: &mut Vec<Vec<String>>| {
        if path.len() > 1 && is_full(&path[0]) {
            out.push(std::mem::take(path));
        }
        path.clear();
    };
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                if colons != 2 {
                    end(&mut path, out);
                }
                // What follows a `$` is the macro's own, and so is a path that goes on from one.
                let name = if dollar { format!("${name}") } else { name.to_string() };
                path.push(name);
                (colons, dollar) = (0, false);
            }
            TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
            TokenTree::Punct(punct) => {
                end(&mut path, out);
                (colons, dollar) = (0, punct.as_char() == '$');
            }
            TokenTree::Group(group) => {
                end(&mut path, out);
                (colons, dollar) = (0, false);
                in_tokens(group.stream(), out);
            }
            TokenTree::Literal(_) => {
                end(&mut path, out);
                (colons, dollar) = (0, false);
            }
        }
    }
    end(&mut path, out);
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// It has the attribute `#[cfg(test)]`.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        _ => false,
    })
}

fn read(path: &Path, prefix: &str, files: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(path).expect("a folder") {
        let path = entry.expect("an entry").path();
        let stem = path.file_stem().and_then(|s| s.to_str()).expect("a name").to_owned();
        let module = match stem.as_str() {
            "mod" => prefix.to_owned(),
            _ => join(prefix, &stem),
        };
        if path.is_dir() {
            read(&path, &module, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.insert(module, std::fs::read_to_string(&path).expect("a file"));
        }
    }
}

/// Where a file's modules are: below itself, but for the root.
fn folder(module: &str) -> &str {
    if module == ROOT { "" } else { module }
}

fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}::{name}") }
}

fn reaches<'a>(graph: &'a BTreeMap<String, BTreeSet<String>>, from: &'a str) -> BTreeSet<&'a str> {
    let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(node) = next.pop() {
        let Some(others) = graph.get(node) else { continue };
        next.extend(others.iter().map(String::as_str).filter(|other| seen.insert(*other)));
    }
    seen
}

/// Neither the simulator nor the laboratory above it is among what a crate, or its tests, depend on.
#[allow(dead_code)] // by those crates that stand below both
pub fn depends_on_nothing_that_runs(crate_folder: &str) {
    let manifest = std::fs::read_to_string(Path::new(crate_folder).join("Cargo.toml")).expect("a manifest");
    assert!(manifest.contains("thalweg-machines"), "the dependencies are there");
    for crate_that_runs in ["thalweg-sim", "thalweg-lab"] {
        assert!(!manifest.contains(crate_that_runs), "{crate_folder} depends on {crate_that_runs}");
    }
}
