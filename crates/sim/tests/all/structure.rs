//! The shape of the simulator's source: four owners with few fields, and files that do not import each other in circles.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A file's module path (`fabric::gate`) and its text, without its tests.
type Files = BTreeMap<String, String>;

fn read(folder: &Path, prefix: &str, files: &mut Files) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        let stem = path.file_stem().and_then(|s| s.to_str()).expect("a name").to_owned();
        let module = if stem == "mod" { prefix.to_owned() } else { join(prefix, &stem) };
        if path.is_dir() {
            read(&path, &module, files);
        } else if stem != "lib" {
            let text = std::fs::read_to_string(&path).expect("a file");
            files.insert(module, text.split("#[cfg(test)]\nmod tests {").next().unwrap_or("").to_owned());
        }
    }
}

fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}::{name}") }
}

fn sources() -> Files {
    let mut files = Files::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut files);
    files
}

/// The file that a path of names lies in: the longest prefix that is one.
fn file_of(files: &Files, path: &str) -> Option<String> {
    let mut names: Vec<&str> = path.split("::").collect();
    while !names.is_empty() {
        let module = names.join("::");
        if files.contains_key(&module) {
            return Some(module);
        }
        names.pop();
    }
    None
}

/// The paths that a `use` declares: `a::{b, c::{d, e}}` is `a::b`, `a::c::d`, `a::c::e`.
fn paths(tree: &str, prefix: &str, out: &mut Vec<String>) {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else {
        return out.push(join(prefix, tree.split(" as ").next().unwrap_or(tree).trim()));
    };
    let prefix = join(prefix, tree[..open].trim_end_matches("::"));
    let inner = &tree[open + 1..tree.rfind('}').expect("a closing brace")];
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

/// Which files each file imports.
fn imports(files: &Files) -> BTreeMap<String, BTreeSet<String>> {
    let of = |(module, text): (&String, &String)| {
        let mut declared = Vec::new();
        for part in text.split("\nuse ").skip(1) {
            let tree = part.split(';').next().unwrap_or("").replace('\n', " ");
            paths(&tree, "", &mut declared);
        }
        // Paths in full, wherever they stand outside of comments.
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            declared.extend(line.split("crate::").skip(1).map(|rest| {
                let end =
                    rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(rest.len());
                format!("crate::{}", &rest[..end])
            }));
        }
        let known = declared.iter().filter_map(|path| {
            let path = match path.split_once("::") {
                Some(("crate", rest)) => rest.to_owned(),
                Some(("super", rest)) => join(module.rsplit_once("::").map_or("", |(up, _)| up), rest),
                _ => join(module, path),
            };
            file_of(files, path.trim_end_matches(':'))
        });
        (module.clone(), known.filter(|other| other != module).collect())
    };
    files.iter().map(of).collect()
}

fn reaches<'a>(graph: &'a BTreeMap<String, BTreeSet<String>>, from: &'a str) -> BTreeSet<&'a str> {
    let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(file) = next.pop() {
        next.extend(graph[file].iter().map(String::as_str).filter(|other| seen.insert(*other)));
    }
    seen
}

#[test]
fn no_circle_of_imports_goes_through_more_than_two_files() {
    let files = sources();
    let graph = imports(&files);
    assert!(
        graph["sim"].contains("fabric") && graph["fabric::gated"].contains("fabric"),
        "{:?}",
        graph["sim"]
    );
    for file in files.keys() {
        let circle: Vec<&str> = reaches(&graph, file)
            .into_iter()
            .filter(|other| reaches(&graph, other).contains(file.as_str()))
            .collect();
        assert!(circle.len() <= 2, "these files import each other in a circle: {circle:?}");
    }
}

/// Every struct of the source with braces, and how many fields it has.
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

#[test]
fn no_struct_has_more_than_fifteen_fields() {
    let files = sources();
    let all: Vec<(String, usize)> = files.values().flat_map(|text| structs(text)).collect();
    assert!(all.contains(&("Sim".to_owned(), 5)), "{all:?}");
    // What the laboratory hands over is a table, not state.
    let large: Vec<_> = all.iter().filter(|(name, n)| *n > 15 && name != "NetworkSpec").collect();
    assert!(large.is_empty(), "{large:?}");
}

#[test]
fn no_struct_has_methods_in_more_than_five_files() {
    let mut homes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, text) in sources() {
        for line in text.lines().filter(|line| line.starts_with("impl") && !line.contains(" for ")) {
            let generics = if line.starts_with("impl<") { line.find("> ").map_or(4, |at| at + 1) } else { 4 };
            let name =
                line[generics..].trim().split(|c: char| !c.is_alphanumeric()).next().unwrap_or("").to_owned();
            homes.entry(name).or_default().insert(file.clone());
        }
    }
    assert!(homes["Fabric"].len() > 1 && homes["Sim"].len() > 1, "{homes:?}");
    let spread: Vec<_> = homes.iter().filter(|(_, files)| files.len() > 5).collect();
    assert!(spread.is_empty(), "{spread:?}");
}
