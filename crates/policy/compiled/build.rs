//! Compiles the library of policies: a module for each file.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (library, own) = (files(&here.join("../library")), files(&here.join("policies")));
    let compiled: String = library.iter().chain(&own).map(|path| compile(path)).collect();
    let names: String = library.iter().map(|path| format!("            {};\n", module(path))).collect();
    let all = format!(
        "/// Calls a macro with the modules of the library.\n#[macro_export]\n\
         macro_rules! all_policies {{\n    ($call:ident) => {{\n        $call! {{\n{names}        }}\n    }};\n}}\n"
    );
    let machines: String = library.iter().chain(&own).map(|path| machine(path)).collect();
    let all = format!(
        "{all}/// The policy at work, if it is one of these, whatever its comments.\n\
         pub fn machine_of(policy: &thalweg_policy::Policy, seed: u64) -> Option<Box<dyn thalweg_policy::Engine>> {{\n    \
         let text = policy.statements();\n    \
         let is = |source: &[&str]| text.lines().eq(source.iter().copied());\n\
         {machines}    None\n}}\n"
    );
    let out = Path::new(&env::var_os("OUT_DIR").expect("cargo sets it")).join("library.rs");
    fs::write(out, compiled + &all).expect("it can be written");
}

/// The policies of a folder, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ends| ends == "oq")).collect();
    files.sort();
    files
}

fn module(path: &Path) -> String {
    path.file_stem().expect("a name").to_string_lossy().replace('-', "_")
}

fn machine(path: &Path) -> String {
    let module = module(path);
    format!(
        "    if is({module}::SOURCE) {{\n        return Some(Box::new({module}::machine(seed)));\n    }}\n"
    )
}

fn compile(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("text");
    let name = path.file_name().expect("a name").to_string_lossy().into_owned();
    let policy = thalweg_policy::check(&text, &name).unwrap_or_else(|wrong| panic!("{}", wrong.render()));
    let about: String =
        text.lines().map_while(|line| line.strip_prefix("// ")).map(|line| format!("/// {line}\n")).collect();
    let code = thalweg_policy::generate(&policy);
    // What a decision does not look at is named all the same.
    format!(
        "{about}#[allow(unused_variables, unused_imports, unused_parens, clippy::all)]\npub mod {} {{\n{code}}}\n\n",
        module(path)
    )
}
