//! Text from elsewhere: names that become paths, files that are none, floods of mistakes.

use crate::common::Folder;
use std::fmt::Write;
use std::path::Path;

const PAIR: &str = "topology = \"pair\"\n[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"1MB\"\n[run]\nuntil = \"1s\"\n";

fn errors(text: &str, dir: &Path) -> Vec<String> {
    match thalweg_scenario::load(text, "s.toml", dir, &[]) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn a_scenario_s_name_is_one_part_of_a_path() {
    let message = |name: &str| errors(&format!("# a comment\nname = {name}\n{PAIR}"), Path::new("."));
    assert_eq!(message("\"irn, k = 4\""), Vec::<String>::new());
    assert_eq!(
        message("\"../../victim\""),
        [
            "s.toml:2: `name`: `../../victim` cannot be the name of a folder: it contains a `/` or a `\\`; for example `name = \"victim\"`"
        ]
    );
    assert_eq!(
        message("\"\\u001b[31m\""),
        [
            "s.toml:2: `name`: `\\u{1b}[31m` cannot be the name of a folder: it contains characters that cannot be printed; for example `name = \"31m\"`"
        ]
    );
    for name in ["\"/tmp/x\"", "\".\"", "\"..\"", "\"a\\u0000b\"", "\"\"", "'a\\b'", "\" \""] {
        let all = message(name);
        assert!(all.len() == 1 && all[0].starts_with("s.toml:2: `name`: "), "{all:?}");
    }
}

#[cfg(unix)]
#[test]
fn devices_and_pipes_are_not_read() {
    let list = "topology = \"pair\"\n[[traffic]]\nkind = \"list\"\nfile = \"/dev/zero\"\n";
    let expected = "`/dev/zero` is not a regular file; pipes and devices are not read: copy it to a file";
    assert_eq!(errors(list, Path::new(".")), [format!("s.toml:4: `traffic.0.file`: {expected}")]);
    let sizes = "topology = \"pair\"\n[[traffic]]\nkind = \"poisson\"\nload = 0.5\nsizes = { kind = \"file\", file = \"/dev/zero\" }\n";
    assert_eq!(errors(sizes, Path::new(".")), [format!("s.toml:5: `traffic.0.sizes.file`: {expected}")]);
    let graph = "traffic = [{ kind = \"permutation\", size = \"1KB\" }]\n[topology]\nkind = \"file\"\nformat = \"graphml\"\nfile = \"/dev/zero\"\n";
    assert_eq!(errors(graph, Path::new(".")), [format!("s.toml:5: `topology.file`: {expected}")]);
}

/// A file named by mistake is not printed: no first line, no more than 80 characters of a cell, nothing unprintable.
#[test]
fn errors_show_little_of_a_foreign_file() {
    let secret = "root:$6$salt$0123456789abcdef:19000:0:99999:7:::\ndaemon:*:19000:0:99999:7:::\n";
    let long = format!("id,src,dst,size_bytes,start_ns\n0,0,\u{1b}[31m{},1,0\n", "x".repeat(100_000));
    let dir = Folder::new("foreign", &[("shadow", secret), ("long.csv", &long)]);
    for (traffic, file) in [("kind = \"list\"\n", "shadow"), ("kind = \"list\"\n", "long.csv")] {
        let text = format!("topology = \"pair\"\n[[traffic]]\n{traffic}file = \"{file}\"\n");
        let all = errors(&text, &dir.0);
        assert_eq!(all.len(), 1);
        assert!(
            !all[0].contains("root") && !all[0].contains('\u{1b}') && all[0].chars().count() < 300,
            "{}",
            all[0]
        );
    }
    for format in ["links-csv", "graphml", "gml", "hpcc", "thalweg-toml", "thalweg-json", "rocketfuel"] {
        let text = format!(
            "traffic = []\n[topology]\nkind = \"file\"\nformat = \"{format}\"\nfile = \"long.csv\"\n"
        );
        let all = errors(&text, &dir.0);
        assert!(all[0].chars().count() < 400, "{format}: {}", &all[0][..400]);
    }
}

#[test]
fn a_flood_of_unknown_keys_is_counted() {
    let mut text = String::new();
    for i in 0..20_000 {
        let _ = writeln!(text, "unknown{i} = 1");
    }
    text.push_str(PAIR);
    let all = errors(&text, Path::new("."));
    assert_eq!(all.len(), 21);
    assert!(all[19].starts_with("s.toml:20: `unknown19`: unknown key"), "{}", all[19]);
    assert_eq!(all[20], "s.toml: and 19980 more errors; mend these first");
    assert!(all.iter().map(String::len).sum::<usize>() < 10_000);
    let key = errors(&format!("{} = 1\n{PAIR}", "k".repeat(100_000)), Path::new("."));
    assert!(key[0].len() < 600, "{}", key[0].len());
}

#[test]
fn files_are_named_by_the_key_file_everywhere() {
    let text = "traffic = [{ kind = \"permutation\", size = \"1KB\" }]\n[topology]\nkind = \"file\"\nformat = \"hpcc\"\npath = \"t.txt\"\n";
    assert_eq!(
        errors(text, Path::new(".")),
        ["s.toml:5: `topology.path`: unknown key; did you mean `file`?"]
    );
    let text = "topology = \"pair\"\n[[traffic]]\nkind = \"poisson\"\nload = 0.5\nsizes = { kind = \"file\", path = \"s.txt\" }\n";
    assert_eq!(
        errors(text, Path::new(".")),
        ["s.toml:5: `traffic.0.sizes.path`: unknown key; did you mean `file`?"]
    );
}

#[test]
fn a_byte_order_mark_is_no_error() {
    assert_eq!(errors(&format!("\u{feff}{PAIR}"), Path::new(".")), Vec::<String>::new());
}
