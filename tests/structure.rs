//! The shape of a crate's source, read from its text: who imports whom, how large structs are, where their
//! methods stand.
//!
//! An import is what a `use` declares or a path in full (`crate::…`, `super::…`) names, followed through
//! re-exports to the file that has the item. What a list names (`controllers!`, `stages!`) is no import: it
//! exists to name everything. Tests are not looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The crate's root: it declares and re-exports.
const ROOT: &str = "lib";

/// A crate's files by module path (`fabric::gate`).
pub struct Source {
    files: BTreeMap<String, String>,
    /// What each file re-exports: a name (`*`: all) and the path behind it, from the root.
    exports: BTreeMap<String, Vec<(String, Vec<String>)>>,
}

/// One declared path, and the name that it has here.
type Declared = (String, String);

impl Source {
    /// The source of the crate in this folder.
    pub fn of(crate_folder: &str) -> Self {
        let mut files = BTreeMap::new();
        read(&Path::new(crate_folder).join("src"), "", &mut files);
        Self::new(files)
    }

    /// Files as given.
    pub fn new(files: BTreeMap<String, String>) -> Self {
        let mut source = Self { files, exports: BTreeMap::new() };
        source.exports = source
            .files
            .iter()
            .map(|(module, text)| {
                let public =
                    uses(text).into_iter().filter(|(public, _)| *public).flat_map(|(_, paths)| paths);
                let known = public.filter_map(|(path, name)| Some((name, source.rooted(module, &path)?)));
                (module.clone(), known.collect())
            })
            .collect();
        source
    }

    /// Which files each file imports.
    pub fn imports(&self) -> BTreeMap<String, BTreeSet<String>> {
        let of = |(module, text): (&String, &String)| {
            let private = uses(text).into_iter().filter(|(public, _)| !public).flat_map(|(_, paths)| paths);
            let mut paths: Vec<String> = private.map(|(path, _)| path).collect();
            paths.extend(in_full(text));
            let mut found = BTreeSet::new();
            for path in paths {
                if let Some(names) = self.rooted(module, &path) {
                    self.homes(&names, 0, &mut found);
                }
            }
            found.remove(module);
            found.remove(ROOT);
            (module.clone(), found)
        };
        self.files.iter().map(of).collect()
    }

    /// All sets of files that import each other in a circle.
    pub fn circles(&self) -> BTreeSet<Vec<String>> {
        let graph = self.imports();
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            graph.keys().map(|file| (file.as_str(), reaches(&graph, file))).collect();
        let circle = |file: &str| -> Vec<String> {
            reached[file]
                .iter()
                .filter(|other| reached[**other].contains(file))
                .map(|f| (*f).to_owned())
                .collect()
        };
        graph.keys().map(|file| circle(file)).filter(|files| files.len() > 1).collect()
    }

    /// Structs with more than fifteen fields.
    pub fn large_structs(&self) -> BTreeSet<String> {
        let all = self.files.values().flat_map(|text| structs(text));
        all.filter(|(_, fields)| *fields > 15).map(|(name, _)| name).collect()
    }

    /// Types with methods in more than five files; several types of one name, each at home in its file, are several.
    pub fn spread(&self) -> BTreeSet<String> {
        let declares = |text: &str, name: &str| {
            let begins = |kind: &str| format!("pub {kind} {name} {{");
            ["struct", "enum"].iter().any(|kind| text.contains(&begins(kind)))
        };
        let declared = |name: &str| self.files.values().filter(|text| declares(text, name)).count();
        let mut homes: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (file, text) in &self.files {
            for line in text.lines().filter(|line| line.starts_with("impl") && !line.contains(" for ")) {
                let generics =
                    if line.starts_with("impl<") { line.find("> ").map_or(4, |at| at + 1) } else { 4 };
                let name = line[generics..].trim().split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
                homes.entry(name).or_default().insert(file);
            }
        }
        let spread = |(name, files): &(&str, BTreeSet<&str>)| files.len() > 5 && declared(name) < 2;
        homes.into_iter().filter(spread).map(|(name, _)| name.to_owned()).collect()
    }

    /// The names of a path from the root, if it is one of this crate.
    fn rooted(&self, module: &str, path: &str) -> Option<Vec<String>> {
        let mut names: Vec<&str> = path.split("::").collect();
        let mut from: Vec<&str> = if module == ROOT { Vec::new() } else { module.split("::").collect() };
        match names[0] {
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
        let text = self.files.get(&module.join("::")).map_or("", String::as_str);
        ["struct", "enum", "fn", "trait", "type", "const", "mod"]
            .iter()
            .any(|item| text.contains(&format!("{item} {name}")))
    }
}

/// Asserts the three laws of the house, but for what is listed: files that may stand in one circle, structs
/// that are tables.
pub fn keeps_the_laws(source: &Source, circle: &[&str], tables: &[&str]) {
    for files in source.circles() {
        let allowed = files.len() <= 2 || files.iter().all(|file| circle.contains(&file.as_str()));
        assert!(allowed, "these files import each other in a circle: {files:?}");
    }
    let large: Vec<String> =
        source.large_structs().into_iter().filter(|name| !tables.contains(&name.as_str())).collect();
    assert!(large.is_empty(), "more than fifteen fields: {large:?}");
    assert!(source.spread().is_empty(), "methods in more than five files: {:?}", source.spread());
}

fn read(folder: &Path, prefix: &str, files: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let stem = path.file_stem().and_then(|s| s.to_str()).expect("a name").to_owned();
        if stem == "tests" || stem.ends_with("_tests") {
            continue;
        }
        let module = match stem.as_str() {
            "mod" => prefix.to_owned(),
            _ => join(prefix, &stem),
        };
        if path.is_dir() {
            read(&path, &module, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path).expect("a file");
            files.insert(module, text.split("#[cfg(test)]\nmod tests {").next().unwrap_or("").to_owned());
        }
    }
}

fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}::{name}") }
}

fn reaches<'a>(graph: &'a BTreeMap<String, BTreeSet<String>>, from: &'a str) -> BTreeSet<&'a str> {
    let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(file) = next.pop() {
        next.extend(graph[file].iter().map(String::as_str).filter(|other| seen.insert(*other)));
    }
    seen
}

/// Every `use`: whether it re-exports, and what it declares.
fn uses(text: &str) -> Vec<(bool, Vec<Declared>)> {
    let declared = text.match_indices("use ").filter_map(|(at, found)| {
        let before = text[..at].rsplit('\n').next().unwrap_or("").trim();
        let public = before == "pub" || before.starts_with("pub(") && before.ends_with(')');
        if !before.is_empty() && !public {
            return None;
        }
        let tree = text[at + found.len()..].split(';').next().unwrap_or("").replace('\n', " ");
        let mut out = Vec::new();
        paths(&tree, "", &mut out);
        Some((public, out))
    });
    declared.collect()
}

/// The paths that a `use` declares: `a::{b, c::{d, e}}` is `a::b`, `a::c::d`, `a::c::e`.
fn paths(tree: &str, prefix: &str, out: &mut Vec<Declared>) {
    let tree = tree.trim();
    let last = |path: &str| path.rsplit("::").next().unwrap_or("").to_owned();
    let Some(open) = tree.find('{') else {
        let (path, name) = match tree.split_once(" as ") {
            Some((path, name)) => (path.trim(), name.trim().to_owned()),
            None => (tree, last(tree)),
        };
        return out.push(if path == "self" {
            (prefix.to_owned(), last(prefix))
        } else {
            (join(prefix, path), name)
        });
    };
    let prefix = join(prefix, tree[..open].trim_end_matches("::"));
    let inner = &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())];
    let (mut depth, mut start) = (0, 0);
    for (at, c) in inner.char_indices().chain([(inner.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !inner[start..at].trim().is_empty() {
                    paths(&inner[start..at], &prefix, out);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// Paths in full, wherever they stand outside of comments.
fn in_full(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for line in text.lines().map(str::trim_start).filter(|line| !line.starts_with("//")) {
        if line.starts_with("use ") || line.contains(" use ") {
            continue;
        }
        for (at, _) in line.match_indices("crate::").chain(line.match_indices("super::")) {
            if line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':' || c == '$') {
                continue; // a part of a longer path
            }
            let rest = &line[at..];
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(rest.len());
            out.push(rest[..end].trim_end_matches(':').to_owned());
        }
    }
    out
}

/// Every struct with braces, and how many fields it has.
fn structs(text: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(at) = line.find("struct ").filter(|at| !line[..*at].contains("//")) else { continue };
        if !line.ends_with('{') {
            continue;
        }
        let name = line[at + 7..].split(|c: char| !c.is_alphanumeric()).next().unwrap_or("").to_owned();
        let body = lines.by_ref().take_while(|line| line.trim() != "}");
        let is_field = |line: &&str| {
            let line = line.trim();
            let field = line
                .trim_start_matches("pub(crate) ")
                .trim_start_matches("pub(super) ")
                .trim_start_matches("pub ");
            let name = field.split(':').next().unwrap_or("");
            !line.starts_with(['/', '#'])
                && line.contains(": ")
                && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        };
        found.push((name, body.filter(is_field).count()));
    }
    found
}
