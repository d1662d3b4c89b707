//! What is said twice, or in vain of a memory that is shared.

use crate::common::Folder;
use std::path::Path;
use thalweg_scenario::load;

const STAR: &str =
    "[topology]\nkind = \"star\"\nhosts = 4\n[[traffic]]\nkind = \"backlogged\"\nsrc = 0\ndst = 1\n";

fn errors(text: &str, dir: &Path) -> Vec<String> {
    match load(text, "s.toml", dir, &[]) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn a_port_or_a_flow_that_is_looked_at_is_listed_once() {
    for (table, what) in [
        (
            "queues = { every = \"10us\", ports = [1, 3, 1] }",
            "`measure.queues.ports.2`: port 1 is listed twice",
        ),
        ("links = { every = \"10us\", ports = [1, 1] }", "`measure.links.ports.1`: port 1 is listed twice"),
        ("port_records = [2, 2]", "`measure.port_records.1`: port 2 is listed twice"),
        (
            "controllers = { every = \"10us\", flows = [0, 0] }",
            "`measure.controllers.flows.1`: flow 0 is listed twice",
        ),
    ] {
        let found = errors(&format!("{STAR}[measure]\n{table}\n[run]\nuntil = \"1ms\"\n"), Path::new("."));
        assert!(matches!(&found[..], [one] if one.contains(what)), "{table}: {found:?}");
    }
}

/// A port alone holds α/(1 + α) of a memory, here 90 910 of a million bytes.
#[test]
fn what_a_port_never_holds_of_shared_memory_is_not_marked_at() {
    let shared = "shared_buffer = { total = \"1MB\", sharing = { kind = \"dynamic\", alpha = 0.1 } }";
    let with = |more: &str, controller: &str| {
        let transport = format!("[transport]\ncongestion = \"{controller}\"\n");
        let text = format!("{STAR}[switch]\n{shared}\n{more}\n{transport}[run]\nuntil = \"1ms\"\n");
        errors(&text, Path::new("."))
    };
    assert!(with("", "newreno").is_empty());
    let mark = |at: &str| format!("marking = {{ kind = \"step\", threshold = \"{at}\" }}");
    assert!(with(&mark("50KB"), "dctcp").is_empty());
    let found = with(&mark("500KB"), "dctcp");
    assert!(matches!(&found[..], [one] if one.contains("the queue never reaches 500KB")), "{found:?}");
}

#[test]
fn numbers_of_lists_and_rates_of_files_are_refused_with_their_lines() {
    let dir = Folder::new(
        "twice",
        &[
            ("list.csv", "id,src,dst,size_bytes,start_ns\n7,0,1,1000,0\n7,1,2,1000,5\n"),
            ("net.csv", "a,b,rate,delay\n0,3,0,1us\n1,3,1Gbps,1us\n2,3,1Gbps,1us\n"),
        ],
    );
    let list = "[topology]\nkind = \"star\"\nhosts = 4\n[[traffic]]\nkind = \"list\"\nfile = \"list.csv\"\n";
    let found = errors(list, &dir.0);
    assert!(
        matches!(&found[..], [one] if one.contains("list.csv:3") && one.contains("has the id 7, too")),
        "{found:?}"
    );
    let net = "[topology]\nkind = \"file\"\nfile = \"net.csv\"\nformat = \"links-csv\"\n[[traffic]]\n\
               kind = \"backlogged\"\nsrc = 0\ndst = 1\n";
    let found = errors(net, &dir.0);
    assert!(matches!(&found[..], [one] if one.contains("`net.csv`, line 2")), "{found:?}");
}

/// The rate that these reckon with is the link's mean, which is what it carries only where it does not change.
#[test]
fn schedulers_that_reckon_with_a_rate_are_refused_in_front_of_one_that_changes() {
    let with = |switch: &str| {
        let link = "[[link]]\nwhich = \"core-links\"\ntransmitter = { kind = \"stepped\", steps = [{ at = \"0s\", rate = \
                    \"1Gbps\" }, { at = \"1ms\", rate = \"2Gbps\" }] }\n";
        let text = format!(
            "[topology]\nkind = \"dumbbell\"\npairs = 2\n[[traffic]]\nkind = \"backlogged\"\nsrc = 0\ndst = 2\n\
             [switch]\n{switch}\n[run]\nuntil = \"2ms\"\n{link}"
        );
        errors(&text, Path::new("."))
    };
    for wrong in
        ["scheduler = \"fq\"", "scheduler = \"bfc\"", "mix = { scheduler = \"fq\", nodes = \"even\" }"]
    {
        let found = with(wrong);
        assert!(
            found.iter().any(|one| one.contains("computes with a fixed link rate")),
            "{wrong}: {found:?}"
        );
    }
    assert!(with("scheduler = \"drr\"").is_empty());
}
