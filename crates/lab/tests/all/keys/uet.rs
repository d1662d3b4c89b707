//! A row per key of Ultra Ethernet's transport.

use super::Row;
use super::Shows::*;
use super::scenarios::BUSY;

/// One switch, which drops.
const UET: &[&str] = &["nic.order=round-robin", "%={kind=\"uet\"}"];
const CREDITS: &[&str] = &[UET[0], "%={kind=\"uet\",window=\"none\",credits={}}"];
const FIXED: &[&str] = &[UET[0], "%={kind=\"uet\",window={kind=\"fixed\",size=\"20KB\"}}"];
const DCTCP: &[&str] = &[UET[0], "%={kind=\"uet\",window={kind=\"dctcp\"}}", MARKING];
/// Three flows meet, which the window falls for; the first is alone again long before its end.
const DCTCP_FAST: &[&str] = &[
    UET[0],
    "%={kind=\"uet\",window={kind=\"dctcp\",cut=1.0}}",
    "traffic=[{kind=\"flow\",src=2,dst=3,size=\"1MB\"},{kind=\"flow\",src=4,dst=3,size=\"100KB\"},\
        {kind=\"flow\",src=0,dst=1,size=\"1MB\",transport=\"x\"},\
        {kind=\"flow\",src=5,dst=1,size=\"100KB\",transport=\"x\"}]",
    MARKING,
];
/// Much delay, much marked, and an average that follows at once.
const DELAYED: &[&str] = &[
    UET[0],
    "%={kind=\"uet\",base_rtt=\"100us\",window={kind=\"nscc\",target=\"1us\",weight=0.9}}",
    "switch.buffer=300KB",
    MARKING,
];
const LONG: &[&str] = &[UET[0], "%={kind=\"uet\",base_rtt=\"100us\"}"];
const MARKED: &[&str] = &[UET[0], UET[1], MARKING];
const MARKING: &str = "switch.marking={kind=\"step\",threshold=\"2pkts\"}";
/// Between racks there is a choice.
const FABRIC: &str = "topology={kind=\"leaf-spine\",leaves=2,spines=2,hosts_per_leaf=3}";
const SPRAYED: &[&str] = &[FABRIC, UET[0], UET[1], "routing=entropy"];

const COALESCED: &[&str] = &[FABRIC, UET[0], UET[1], "routing=entropy", MARKING];

/// The same with this path selection.
macro_rules! by {
    ($selection:literal) => {
        &[
            FABRIC,
            UET[0],
            concat!("%={kind=\"uet\",ack_every=\"1B\",path_selection=", $selection, "}"),
            "routing=entropy",
            MARKING,
        ]
    };
}

#[rustfmt::skip]
pub const KEYS: &[Row] = &[
    ("%=uet", BUSY, &["nic.order=round-robin"], "{kind=\"uet\"}", "{kind=\"udp\"}", Outcome),
    ("%(uet).payload", BUSY, UET, "", "1000B", Outcome),
    ("%(uet).header", BUSY, UET, "", "100B", Outcome),
    ("%(uet).control_size", BUSY, UET, "", "100B", Outcome),
    ("%(uet).ack_every", BUSY, UET, "", "1B", Outcome),
    ("%(uet).ack_values", BUSY, COALESCED, "one", "all", Outcome),
    ("%(uet).ack_values=one", BUSY, COALESCED, "one", "all", Outcome),
    ("%(uet).ack_values=all", BUSY, COALESCED, "all", "one", Outcome),
    ("%(uet).retry", BUSY, UET, "", "200us", Outcome),
    ("%(uet).back_off", BUSY, UET, "", "4", Outcome),
    ("%(uet).base_rtt", BUSY, UET, "", "100us", Outcome),
    ("%(uet).credits", BUSY, UET, "", "{}", Outcome),
    ("%(uet).credits.first", BUSY, CREDITS, "", "9KB", Outcome),
    ("%(uet).credits.share", BUSY, CREDITS, "", "0.5", Outcome),
    ("%(uet).credits.quanta", BUSY, CREDITS, "", "16", Outcome),
    ("%(uet).credits.closes", BUSY, CREDITS, "", "true", Outcome),
    ("%(uet).window", BUSY, UET, "", "{kind=\"fixed\",size=\"20KB\"}", Outcome),
    ("%(uet).window=nscc", BUSY, UET, "nscc", "{kind=\"fixed\",size=\"20KB\"}", Outcome),
    ("%(uet).window(nscc).target", BUSY, MARKED, "", "1us", Outcome),
    ("%(uet).window(nscc).scale", BUSY, UET, "", "5.0", Outcome),
    ("%(uet).window(nscc).products", BUSY, UET, "", "0.7", Outcome),
    ("%(uet).window(nscc).gamma", BUSY, DELAYED, "", "0.1", Outcome),
    ("%(uet).window(nscc).floor", BUSY, DELAYED, "", "0.95", Outcome),
    ("%(uet).window(nscc).weight", BUSY, MARKED, "", "0.9", Outcome),
    ("%(uet).window(nscc).slack", BUSY, LONG, "", "1us", Outcome),
    ("%(uet).window=fixed", BUSY, FIXED, "{kind=\"fixed\",size=\"20KB\"}", "nscc", Outcome),
    ("%(uet).window(fixed).size", BUSY, FIXED, "20KB", "9KB", Outcome),
    ("%(uet).window=dctcp", BUSY, DCTCP, "dctcp", "nscc", Outcome),
    ("%(uet).window(dctcp).products", BUSY, DCTCP, "", "0.7", Outcome),
    ("%(uet).window(dctcp).cut", BUSY, DCTCP, "", "0.9", Outcome),
    ("%(uet).window(dctcp).fast", BUSY, DCTCP_FAST, "", "9.0", Outcome),
    ("%(uet).window=none", BUSY, CREDITS, "none", "nscc", Outcome),
    ("%(uet).path_selection", BUSY, SPRAYED, "", "ecmp", Outcome),
    ("%(uet).path_selection=ecmp", BUSY, SPRAYED, "ecmp", "random", Outcome),
    ("%(uet).path_selection(ecmp).values", BUSY, by!("\"ecmp\""), "", "2", Outcome),
    ("%(uet).path_selection=random", BUSY, SPRAYED, "random", "ecmp", Outcome),
    ("%(uet).path_selection(random).values", BUSY, by!("\"random\""), "", "2", Outcome),
    ("%(uet).path_selection=oblivious", BUSY, SPRAYED, "oblivious", "ecmp", Outcome),
    ("%(uet).path_selection(oblivious).values", BUSY, by!("\"oblivious\""), "", "2", Outcome),
    ("%(uet).path_selection=bitmap", BUSY, by!("\"bitmap\""), "bitmap", "ecmp", Outcome),
    ("%(uet).path_selection(bitmap).values", BUSY, by!("\"bitmap\""), "", "2", Outcome),
    ("%(uet).path_selection=reps", BUSY, SPRAYED, "reps", "ecmp", Outcome),
    ("%(uet).path_selection(reps).values", BUSY, by!("\"reps\""), "", "2", Outcome),
    ("%(uet).path_selection(reps).freeze", BUSY, by!("\"reps\""), "", "false", Outcome),
    ("%(uet).path_selection(reps).exit_after", BUSY, by!("\"reps\""), "", "1us", Outcome),
    ("%(uet).path_selection(reps).explore", BUSY, by!("{kind=\"reps\",exit_after=\"1us\"}"), "window", "{packets=200}", Outcome),
    ("%(uet).path_selection(reps).explore=window", BUSY, by!("{kind=\"reps\",exit_after=\"1us\"}"), "window", "{packets=200}", Outcome),
    ("%(uet).path_selection(reps).explore.packets", BUSY, by!("{kind=\"reps\",exit_after=\"1us\",explore={packets=200}}"), "200", "1", Outcome),
    ("%(uet).path_selection(reps).freeze_below", BUSY, by!("{kind=\"reps\",freeze_below=1000.0}"), "", "1.01", Outcome),
    ("%(uet).path_selection(reps).uses", BUSY, by!("\"reps\""), "", "5", Outcome),
    ("%(uet).path_selection=reps-legacy", BUSY, by!("\"reps-legacy\""), "reps-legacy", "ecmp", Outcome),
    ("%(uet).path_selection(reps-legacy).values", BUSY, by!("\"reps-legacy\""), "", "2", Outcome),
    ("%(uet).path_selection=mixed", BUSY, by!("\"mixed\""), "mixed", "ecmp", Outcome),
    ("%(uet).path_selection(mixed).values", BUSY, by!("\"mixed\""), "", "2", Outcome),
    ("%(uet).path_selection=plb", BUSY, by!("\"plb\""), "plb", "random", Outcome),
    ("%(uet).path_selection(plb).values", BUSY, by!("\"plb\""), "", "2", Outcome),
    ("%(uet).path_selection(plb).rounds", BUSY, by!("{kind=\"plb\",rounds=1}"), "1", "9", Outcome),
    ("%(uet).path_selection(plb).share", BUSY, by!("{kind=\"plb\",rounds=1}"), "", "0.01", Outcome),
    ("%(uet).path_selection=subflows", BUSY, by!("\"subflows\""), "subflows", "ecmp", Outcome),
    ("%(uet).path_selection(subflows).values", BUSY, by!("\"subflows\""), "", "2", Outcome),
    ("%(uet).path_selection(subflows).count", BUSY, by!("\"subflows\""), "", "2", Outcome),
    ("%(uet).path_selection=mprdma", BUSY, by!("\"mprdma\""), "mprdma", "ecmp", Outcome),
    ("%(uet).path_selection(mprdma).values", BUSY, by!("\"mprdma\""), "", "2", Outcome),
];
