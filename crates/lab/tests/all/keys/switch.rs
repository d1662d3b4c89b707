//! Rows for queues, slack and the receiving edge.

use super::scenarios::{BUSY, SLACK};
use super::{Row, Shows};
use Shows::*;

const DCTCP: &[&str] = &["%.congestion=dctcp", "@.marking={kind=\"step\",threshold=\"5pkts\"}"];
const RED: &[&str] = &["@.marking={kind=\"red\",min=3,max=8,weight=0.3}"];
const FQ_CODEL: &str = "@.scheduler={kind=\"fq-codel\",target=\"10us\",interval=\"50us\"}";
/// Random flows are L4S, the incast next to them is not; updates as fast as what waits comes and goes.
const DUALPI2: &[&str] = &[
    "~.scheduler=fifo",
    "transport.congestion=prague",
    "traffic.0.load=0.9",
    "traffic.1.transport=x",
    "@.scheduler={kind=\"dualpi2\",target=\"2us\",update=\"2us\",alpha=10000.0,beta=20000.0,ramp_start=\"1us\",ramp=\"2us\"}",
];
const DUALPI2_SHIFT: &[&str] = &[
    DUALPI2[0],
    DUALPI2[1],
    DUALPI2[2],
    DUALPI2[3],
    "@.scheduler={kind=\"dualpi2\",target=\"2us\",update=\"2us\",alpha=10000.0,beta=20000.0,turns=\"time-shift\",ramp_start=\"1us\",ramp=\"2us\"}",
];
/// Few bins, and delay that comes and goes.
const FQ_CODEL_OFTEN: &str =
    "@.scheduler={kind=\"fq-codel\",bins=1,target=\"2us\",interval=\"10us\",mtu=\"0B\"}";
/// So many flows at once that some are hashed into one queue.
const MANY: &str = "traffic.0.sizes={uniform={min=\"1KB\",max=\"3KB\",steps=3}}";
/// ECN is of use whatever the key at hand says.
const OTHERS_MARK: &str = "switch.marking={kind=\"step\",threshold=\"15pkts\"}";
const CODEL_AND_ANOTHER: &[&str] = &[
    "%.ecn=classic",
    "@.marking={kind=\"codel\",target=\"10us\",interval=\"50us\"}",
    "~.marking={kind=\"step\",threshold=\"15pkts\"}",
];
const CODEL: &[&str] = &["@.marking={kind=\"codel\",target=\"10us\",interval=\"50us\"}"];
/// Drops often enough for the control laws to part.
const CODEL_OFTEN: &[&str] = &["@.marking={kind=\"codel\",target=\"5us\",interval=\"20us\"}"];
const PIE_RULE: &str =
    "@.marking={kind=\"pie\",target=\"5us\",update=\"10us\",burst=\"20us\",alpha=500.0,beta=900.0}";
const PIE: &[&str] = &[PIE_RULE];
/// The emulator counts milliseconds.
const PIE_MS: &[&str] = &[
    "topology.rate=10Mbps",
    "run.until=600ms",
    "@.buffer=unlimited",
    "@.marking={kind=\"pie\",target=\"2ms\",update=\"2ms\",burst=\"0ms\",alpha=100.0,beta=500.0}",
];
const ABC_RULE: &str = "@.marking={kind=\"abc\",window=\"20us\",drain=\"100us\",threshold=\"2us\"}";
const ABC: &[&str] = &["%.congestion=abc", ABC_RULE];
/// Half of the traffic in each of the queues.
const TWO: &[&str] = &[
    "~.scheduler=fifo",
    "traffic.0.class=1",
    "run.until=4ms",
    "@.scheduler={kind=\"max-min\",interval=\"100us\"}",
];
const ZOMBIES: &[&str] = &["~.scheduler=fifo", "traffic.0.class=1", "@.scheduler=zombie-list"];
const POLICY: &[&str] =
    &["~.scheduler=fifo", "switch.buffer=unlimited", "@.scheduler={kind=\"policy\",file=\"fifo.oq\"}"];
const POLICY_TEXT: &[&str] = &[POLICY[0], POLICY[1], "@.scheduler={kind=\"policy\",text=\"\"}"];
/// Classes are read whatever the key at hand says.
const CLASSIFIED: &[&str] = &[
    "~.scheduler=priority",
    POLICY[1],
    "traffic.0.class=1",
    "@.scheduler={kind=\"policy\",file=\"longest.oq\"}",
];
/// Ranks are written, and classes read, whatever the key at hand says.
const WORTH: &[&str] = &[
    "~.scheduler=pifo",
    POLICY[1],
    "traffic.0.class=1",
    "transport.rank=flow-size",
    "transports.x.rank=flow-size",
    "@.scheduler={kind=\"policy\",file=\"worth.oq\"}",
];
const WORK: &[&str] = &[POLICY[0], POLICY[1], "@.scheduler={kind=\"policy\",file=\"work.oq\"}"];
const CHANGED: &[&str] = &[
    POLICY[0],
    POLICY[1],
    "@.scheduler={kind=\"policy\",file=\"fifo.oq\",changes=[{at=\"200us\",file=\"lifo.oq\"}]}",
];
const CHANGED_TEXT: &[&str] = &[
    POLICY[0],
    POLICY[1],
    "@.scheduler={kind=\"policy\",file=\"fifo.oq\",changes=[{at=\"200us\",text=\"\"}]}",
];
/// Which ports a change is for depends on whose they are.
const CHANGED_AT_SWITCHES: &[&str] = &[
    "nic.scheduler=fifo",
    POLICY[1],
    "switch.scheduler={kind=\"policy\",file=\"fifo.oq\",changes=[{at=\"200us\",file=\"lifo.oq\"}]}",
];
const CHANGED_AT_HOSTS: &[&str] = &[
    "switch.scheduler=fifo",
    "nic.scheduler={kind=\"policy\",file=\"fifo.oq\",changes=[{at=\"200us\",file=\"lifo.oq\"}]}",
];
const CHANGED_AT_SOME: &[&str] = &[
    "topology={kind=\"dumbbell\",pairs=3}",
    "nic.scheduler=fifo",
    "switch.mix={nodes=\"even\",scheduler={kind=\"policy\",file=\"fifo.oq\",changes=[{at=\"200us\",file=\"lifo.oq\"}]}}",
];
const TEXTS: [&str; 2] = ["q = Queue(5 pkts); out = Port(q);", "q = Queue(3 pkts); out = Port(q);"];
const XCP: &[&str] = &["%.congestion=xcp", "@.marking={kind=\"xcp\",rtt=\"20us\",queue_window=\"20us\"}"];
const RCP: &[&str] = &["%.congestion=rcp", "@.marking={kind=\"rcp\",rtt=\"20us\",period=\"20us\"}"];
const VCP: &[&str] =
    &["%.congestion={kind=\"vcp\",freeze=\"20us\"}", "@.marking={kind=\"vcp\",period=\"20us\"}"];
const RANDOM_ECN: &[&str] = &["%.congestion=dctcp", "@.marking={kind=\"random-ecn\",probability=0.1}"];
const POLICER: &[&str] = &["@.marking={kind=\"policer\",rate=\"2Gbps\",burst=\"6KB\"}"];
const EDGE: &[&str] = &["edge={kind=\"codel\",target=\"20us\",interval=\"100us\",refresh=\"40us\"}"];
const EDGE_ECN: &[&str] = &["transport.congestion=dctcp", "edge={kind=\"ecn\",threshold=\"5pkts\"}"];
const METERED: &[&str] =
    &["transport={kind=\"expresspass\"}", "switch.scheduler=expresspass", "nic.scheduler=expresspass"];
const MIXED_CREDITS: &[&str] = &[
    "topology={kind=\"dumbbell\",pairs=3}",
    "transport={kind=\"expresspass\"}",
    "switch.scheduler={kind=\"expresspass\",credits=7}",
    "nic.scheduler=expresspass",
    "switch.mix={scheduler=\"expresspass\",nodes=\"even\"}",
];
const TRIMMED: &[&str] = &[
    "transport={kind=\"ndp\",payload=\"1440B\"}",
    "transports.x={kind=\"ndp\",payload=\"1440B\"}",
    "nic.order=round-robin",
    "switch.scheduler=ndp",
];
const MIXED_TRIMMED: &[&str] = &[
    "topology={kind=\"dumbbell\",pairs=3}",
    TRIMMED[0],
    TRIMMED[1],
    TRIMMED[2],
    "switch.scheduler={kind=\"ndp\",turns=7}",
    "switch.mix={scheduler=\"ndp\",nodes=\"even\"}",
];
/// What is not admitted to memory that ports share may be cut.
const CUT: &[&str] = &[
    TRIMMED[0],
    TRIMMED[1],
    TRIMMED[2],
    "switch.shared_buffer={total=\"20KB\",sharing={kind=\"complete\"}}",
];
const CUT_DYNAMIC: &[&str] =
    &[TRIMMED[0], TRIMMED[1], TRIMMED[2], "switch.shared_buffer={total=\"20KB\",sharing={kind=\"dynamic\"}}"];
const CUT_PARTS: &[&str] = &[
    TRIMMED[0],
    TRIMMED[1],
    TRIMMED[2],
    "switch.shared_buffer={total=\"60KB\",sharing={kind=\"partition\"}}",
];
const MIXED: &[&str] = &["topology={kind=\"dumbbell\",pairs=3}", "switch.mix={scheduler=\"lifo\"}"];

/// ACKs of class 1, served so at the other place.
const BY_CLASS: &[&str] = &[
    "~.scheduler={kind=\"priority\",control=\"by-class\"}",
    "@.scheduler={kind=\"priority\"}",
    "transport.ack_class=data",
    "traffic.0.class=1",
    "traffic.1.class=1",
];

#[rustfmt::skip]
pub const KEYS: &[Row] = &[
    // ---- switch and nic
    ("@", BUSY, &[], "{buffer=\"30KB\"}", "{buffer=\"20KB\"}", Outcome),
    ("@.buffer", BUSY, &[], "30KB", "60KB", Outcome),
    ("@.scheduler", BUSY, &[], "fifo", "fq", Outcome),
    ("@.scheduler=fifo", BUSY, &[], "fifo", "drr", Outcome),
    ("@.scheduler=drr", BUSY, &[], "drr", "fq", Outcome),
    ("@.scheduler(drr).quantum", BUSY, &["@.scheduler=drr"], "", "6000B", Outcome),
    ("@.scheduler(drr).overflow", BUSY, &["@.scheduler=drr"], "", "tail", Outcome),
    ("@.scheduler(drr).overflow=longest-queue", BUSY, &["@.scheduler=drr"], "longest-queue", "tail", Outcome),
    ("@.scheduler(drr).overflow=tail", BUSY, &["@.scheduler=drr"], "tail", "longest-queue", Outcome),
    ("@.scheduler=fq", BUSY, &[], "fq", "fifo", Outcome),
    ("@.scheduler(fq).overflow", BUSY, &["@.scheduler=fq"], "", "tail", Outcome),
    ("@.scheduler(fq).overflow=longest-queue", BUSY, &["@.scheduler=fq"], "longest-queue", "tail", Outcome),
    ("@.scheduler(fq).overflow=tail", BUSY, &["@.scheduler=fq"], "tail", "longest-queue", Outcome),
    ("@.scheduler=priority", BUSY, &["~.scheduler=priority", "traffic.1.class=1"], "priority", "fifo", Outcome),
    ("@.scheduler(priority).control", BUSY, BY_CLASS, "", "by-class", Outcome),
    ("@.scheduler(priority).control=first", BUSY, BY_CLASS, "first", "by-class", Outcome),
    ("@.scheduler(priority).control=by-class", BUSY, BY_CLASS, "by-class", "first", Outcome),
    ("@.scheduler(priority).classes", BUSY, &["~.scheduler=priority", "@.scheduler=priority", "traffic.0.class=1", "traffic.1.class=2"], "3", "2", Outcome),
    ("@.scheduler=sjf", BUSY, &["~.scheduler=fifo", "%.rank=flow-size"], "sjf", "{kind=\"custom\",name=\"lifo\"}", Outcome),
    ("@.scheduler(srpt).flow_order", BUSY, &["@.scheduler=srpt"], "", "false", Outcome),
    ("@.scheduler(pifo).bucket", BUSY, &["@.scheduler=pifo", "%.rank=flow-size"], "", "1000000000", Outcome),
    ("@.scheduler=srpt", BUSY, &["~.scheduler=srpt"], "srpt", "fifo", Outcome),
    ("@.scheduler=ads", BUSY, &["~.scheduler=srpt"], "{kind=\"ads\",map={kind=\"dynamic\",interval=\"100us\"}}", "srpt", Outcome),
    ("@.scheduler(ads).queues", BUSY, &["@.scheduler={kind=\"ads\",map={kind=\"dynamic\",interval=\"100us\"}}"], "", "2", Outcome),
    ("@.scheduler(ads).cap", BUSY, &["@.scheduler={kind=\"ads\",map={kind=\"dynamic\",interval=\"100us\"}}"], "", "20KB", Outcome),
    ("@.scheduler(ads).mtu", BUSY, &["@.scheduler={kind=\"ads\",map={kind=\"dynamic\",interval=\"100us\"}}"], "", "20KB", Outcome),
    ("@.scheduler(ads).map", BUSY, &["@.scheduler={kind=\"ads\",map={kind=\"dynamic\",interval=\"100us\"}}"], "{kind=\"dynamic\",interval=\"100us\"}", "{kind=\"static\",file=\"map.csv\"}", Outcome),
    ("@.scheduler(ads).map=dynamic", BUSY, &["@.scheduler={kind=\"ads\",map={kind=\"dynamic\",interval=\"100us\"}}"], "{kind=\"dynamic\",interval=\"100us\"}", "{kind=\"static\",file=\"map.csv\"}", Outcome),
    ("@.scheduler(ads).map(dynamic).interval", BUSY, &["@.scheduler={kind=\"ads\",map={kind=\"dynamic\",interval=\"100us\"}}"], "100us", "300us", Outcome),
    ("@.scheduler(ads).map(dynamic).window", BUSY, &["@.scheduler={kind=\"ads\",map={kind=\"dynamic\",interval=\"100us\"}}"], "", "1", Outcome),
    ("@.scheduler(ads).map=static", BUSY, &["@.scheduler={kind=\"ads\",map={kind=\"dynamic\",interval=\"100us\"}}"], "{kind=\"static\",file=\"map.csv\"}", "{kind=\"static\",counts=[0,1000,1]}", Outcome),
    ("@.scheduler(ads).map(static).file", BUSY, &["@.scheduler={kind=\"ads\",queues=2,map={kind=\"static\",file=\"map.csv\"}}"], "map.csv", "flat.csv", Outcome),
    ("@.scheduler(ads).map(static).counts", BUSY, &["@.scheduler={kind=\"ads\",queues=2,map={kind=\"static\",counts=[1]}}"], "[0,1000,1]", "[0,1,1,1,1,1,1,1,1,1,1,1,50]", Outcome),
    ("@.scheduler=lifo", BUSY, &[], "{kind=\"lifo\"}", "{kind=\"random\"}", Outcome),
    ("@.scheduler=random", BUSY, &[], "random", "fifo", Outcome),
    ("switch.scheduler=lstf", SLACK, &["edge={kind=\"codel\"}"], "lstf", "fifo", Outcome),
    ("switch.scheduler(lstf).bucket", SLACK, &["switch.scheduler=lstf"], "", "1ms", Outcome),
    ("switch.mix.scheduler(lstf).bucket", SLACK, &["switch.scheduler=fifo", "switch.mix={scheduler=\"lstf\",nodes=\"even\"}"], "", "1ms", Outcome),
    ("nic.scheduler(lstf).bucket", SLACK, &[], "", "1ms", Refused),
    ("switch.mix.scheduler=lstf", SLACK, &["switch.scheduler=fifo", "switch.mix={scheduler=\"lstf\",nodes=\"even\"}"], "lstf", "pifo", Outcome),
    ("nic.scheduler=lstf", SLACK, &[], "fifo", "lstf", Refused),
    ("@.scheduler=pifo", BUSY, &["~.scheduler=pifo", "%.rank=flow-size"], "pifo", "fifo", Outcome),
    ("@.scheduler=round-robin", BUSY, &[], "round-robin", "fq", Outcome),
    ("@.scheduler(round-robin).bins", BUSY, &["@.scheduler=round-robin"], "", "2", Outcome),
    ("@.scheduler=fq-codel", BUSY, &[], "{kind=\"fq-codel\",target=\"10us\",interval=\"100us\"}", "round-robin", Outcome),
    ("@.scheduler(fq-codel).count", BUSY, &[FQ_CODEL], "bytes", "packets", Outcome),
    ("@.scheduler(fq-codel).count=bytes", BUSY, &[FQ_CODEL], "bytes", "packets", Outcome),
    ("@.scheduler(fq-codel).count=packets", BUSY, &[FQ_CODEL], "packets", "bytes", Outcome),
    ("@.scheduler(fq-codel).quantum", BUSY, &[FQ_CODEL], "", "300B", Outcome),
    ("@.scheduler(fq-codel).exact", BUSY, &[FQ_CODEL, MANY], "", "true", Outcome),
    ("@.scheduler(fq-codel).drop_batch", BUSY, &[FQ_CODEL, "switch.buffer=10KB", "nic.buffer=10KB"], "", "1", Outcome),
    ("@.scheduler(fq-codel).ecn", BUSY, &[FQ_CODEL, "%.ecn=classic", OTHERS_MARK], "", "false", Outcome),
    ("@.scheduler(fq-codel).ce_threshold", BUSY, &[FQ_CODEL, "%.ecn=classic"], "", "1us", Outcome),
    ("@.scheduler(fq-codel).bins", BUSY, &[FQ_CODEL], "", "2", Outcome),
    ("@.scheduler(fq-codel).target", BUSY, &[FQ_CODEL], "10us", "5us", Outcome),
    ("@.scheduler(fq-codel).interval", BUSY, &[FQ_CODEL], "50us", "30us", Outcome),
    ("@.scheduler(fq-codel).mtu", BUSY, &[FQ_CODEL], "", "6000B", Outcome),
    ("@.scheduler(fq-codel).law", BUSY, &[FQ_CODEL_OFTEN], "", "acm2012", Outcome),
    ("@.scheduler(fq-codel).law=rfc8289", BUSY, &[FQ_CODEL_OFTEN], "acm2012", "rfc8289", Outcome),
    ("@.scheduler(fq-codel).law=linux", BUSY, &[FQ_CODEL_OFTEN], "", "linux", Outcome),
    ("@.scheduler(fq-codel).law=acm2012", BUSY, &[FQ_CODEL_OFTEN], "", "acm2012", Outcome),
    ("@.scheduler=dualpi2", BUSY, DUALPI2, "dualpi2", "{kind=\"fq-codel\",ce_threshold=\"20us\"}", Outcome),
    ("@.scheduler(dualpi2).target", BUSY, DUALPI2, "2us", "10us", Outcome),
    ("@.scheduler(dualpi2).update", BUSY, DUALPI2, "2us", "5us", Outcome),
    ("@.scheduler(dualpi2).alpha", BUSY, DUALPI2, "10000.0", "90000.0", Outcome),
    ("@.scheduler(dualpi2).beta", BUSY, DUALPI2, "20000.0", "0.0", Outcome),
    ("@.scheduler(dualpi2).coupling", BUSY, DUALPI2, "", "8.0", Outcome),
    ("@.scheduler(dualpi2).ramp_start", BUSY, DUALPI2, "1us", "200ns", Outcome),
    ("@.scheduler(dualpi2).ramp", BUSY, DUALPI2, "2us", "0us", Outcome),
    ("@.scheduler(dualpi2).ramp_packets", BUSY, DUALPI2, "", "9", Outcome),
    ("@.scheduler(dualpi2).turns", BUSY, DUALPI2, "", "time-shift", Outcome),
    ("@.scheduler(dualpi2).turns=weighted", BUSY, DUALPI2, "weighted", "time-shift", Outcome),
    ("@.scheduler(dualpi2).turns=time-shift", BUSY, DUALPI2, "time-shift", "weighted", Outcome),
    ("@.scheduler(dualpi2).share", BUSY, DUALPI2, "", "0.7", Outcome),
    ("@.scheduler(dualpi2).time_shift", BUSY, DUALPI2_SHIFT, "", "100ns", Outcome),
    ("@.scheduler(dualpi2).draws", BUSY, DUALPI2, "", "random", Outcome),
    ("@.scheduler(dualpi2).draws=recur", BUSY, DUALPI2, "recur", "random", Outcome),
    ("@.scheduler(dualpi2).draws=random", BUSY, DUALPI2, "random", "recur", Outcome),
    ("switch.scheduler=expresspass", BUSY, METERED, "expresspass", "fifo", Refused),
    ("switch.scheduler(expresspass).credits", BUSY, METERED, "", "1", Outcome),
    ("switch.scheduler(expresspass).burst", BUSY, METERED, "", "9", Outcome),
    ("switch.scheduler(expresspass).credit", BUSY, METERED, "", "40B", Outcome),
    ("switch.scheduler(expresspass).packet", BUSY, METERED, "", "3KB", Outcome),
    ("nic.scheduler=expresspass", BUSY, METERED, "expresspass", "fifo", Refused),
    ("nic.scheduler(expresspass).credits", BUSY, METERED, "", "1", Outcome),
    ("nic.scheduler(expresspass).burst", BUSY, METERED, "", "9", Outcome),
    ("nic.scheduler(expresspass).credit", BUSY, METERED, "", "40B", Outcome),
    ("nic.scheduler(expresspass).packet", BUSY, METERED, "", "3KB", Outcome),
    ("switch.mix.scheduler=expresspass", BUSY, MIXED_CREDITS, "expresspass", "fifo", Refused),
    ("switch.mix.scheduler(expresspass).credits", BUSY, MIXED_CREDITS, "", "1", Outcome),
    ("switch.mix.scheduler(expresspass).burst", BUSY, MIXED_CREDITS, "", "9", Outcome),
    ("switch.mix.scheduler(expresspass).credit", BUSY, MIXED_CREDITS, "", "40B", Outcome),
    ("switch.mix.scheduler(expresspass).packet", BUSY, MIXED_CREDITS, "", "3KB", Outcome),
    ("switch.scheduler=ndp", BUSY, TRIMMED, "ndp", "fifo", Outcome),
    ("switch.scheduler(ndp).headers", BUSY, TRIMMED, "", "100B", Outcome),
    ("switch.scheduler(ndp).turns", BUSY, TRIMMED, "", "1", Outcome),
    ("switch.scheduler(ndp).counts_in_service", BUSY, TRIMMED, "", "true", Outcome),
    ("switch.scheduler(ndp).trim", BUSY, TRIMMED, "", "false", Outcome),
    ("switch.scheduler(ndp).victim", BUSY, TRIMMED, "", "arriving", Outcome),
    ("switch.scheduler(ndp).victim=coin", BUSY, TRIMMED, "coin", "arriving", Outcome),
    ("switch.scheduler(ndp).victim=arriving", BUSY, TRIMMED, "arriving", "coin", Outcome),
    ("switch.scheduler(ndp).victim=tail", BUSY, TRIMMED, "tail", "arriving", Outcome),
    // Its transport's NICs pull, and have no queue.
    ("nic.scheduler=ndp", BUSY, TRIMMED, "", "ndp", Refused),
    ("nic.scheduler(ndp).headers", BUSY, TRIMMED, "", "100B", Refused),
    ("nic.scheduler(ndp).turns", BUSY, TRIMMED, "", "1", Refused),
    ("nic.scheduler(ndp).counts_in_service", BUSY, TRIMMED, "", "true", Refused),
    ("nic.scheduler(ndp).trim", BUSY, TRIMMED, "", "false", Refused),
    ("nic.scheduler(ndp).victim", BUSY, TRIMMED, "", "arriving", Refused),
    ("nic.scheduler(ndp).victim=coin", BUSY, TRIMMED, "", "{kind=\"ndp\",victim=\"coin\"}", Refused),
    ("nic.scheduler(ndp).victim=arriving", BUSY, TRIMMED, "", "{kind=\"ndp\",victim=\"arriving\"}", Refused),
    ("nic.scheduler(ndp).victim=tail", BUSY, TRIMMED, "", "{kind=\"ndp\",victim=\"tail\"}", Refused),
    ("switch.mix.scheduler=ndp", BUSY, MIXED_TRIMMED, "ndp", "fifo", Outcome),
    ("switch.mix.scheduler(ndp).headers", BUSY, MIXED_TRIMMED, "", "100B", Outcome),
    ("switch.mix.scheduler(ndp).turns", BUSY, MIXED_TRIMMED, "", "1", Outcome),
    ("switch.mix.scheduler(ndp).counts_in_service", BUSY, MIXED_TRIMMED, "", "true", Outcome),
    ("switch.mix.scheduler(ndp).trim", BUSY, MIXED_TRIMMED, "", "false", Outcome),
    ("switch.mix.scheduler(ndp).victim", BUSY, MIXED_TRIMMED, "", "arriving", Outcome),
    ("switch.mix.scheduler(ndp).victim=coin", BUSY, MIXED_TRIMMED, "coin", "arriving", Outcome),
    ("switch.mix.scheduler(ndp).victim=arriving", BUSY, MIXED_TRIMMED, "arriving", "coin", Outcome),
    ("switch.mix.scheduler(ndp).victim=tail", BUSY, MIXED_TRIMMED, "tail", "arriving", Outcome),
    ("@.scheduler=max-min", BUSY, &["~.scheduler=fifo", "traffic.0.class=1"], "{kind=\"max-min\",interval=\"100us\"}", "priority", Outcome),
    ("@.scheduler(max-min).flows", BUSY, TWO, "", "1", Outcome),
    ("@.scheduler(max-min).interval", BUSY, TWO, "100us", "1ms", Outcome),
    ("@.scheduler(max-min).headroom", BUSY, TWO, "", "5.0", Outcome),
    ("@.scheduler=zombie-list", BUSY, &["~.scheduler=fifo", "traffic.0.class=1"], "zombie-list", "priority", Outcome),
    ("@.scheduler(zombie-list).zombies", BUSY, ZOMBIES, "", "2", Outcome),
    ("@.scheduler(zombie-list).overwrite", BUSY, ZOMBIES, "", "1.0", Outcome),
    ("@.scheduler(zombie-list).step", BUSY, ZOMBIES, "", "0.5", Outcome),
    ("@.scheduler=policy", BUSY, &["~.scheduler=fifo", "switch.buffer=unlimited"], "{kind=\"policy\",file=\"fifo.oq\"}", "fifo", Outcome),
    ("@.scheduler(policy).file", BUSY, POLICY, "fifo.oq", "lifo.oq", Outcome),
    ("@.scheduler(policy).text", BUSY, POLICY_TEXT, TEXTS[0], TEXTS[1], Outcome),
    ("@.scheduler(policy).classify", BUSY, CLASSIFIED, "", "flow", Outcome),
    ("@.scheduler(policy).classify=class", BUSY, CLASSIFIED, "class", "flow", Outcome),
    ("@.scheduler(policy).classify=flow", BUSY, CLASSIFIED, "flow", "class", Outcome),
    ("@.scheduler(policy).value", BUSY, WORTH, "", "rank", Outcome),
    ("@.scheduler(policy).value=class", BUSY, WORTH, "class", "rank", Outcome),
    ("@.scheduler(policy).value=rank", BUSY, WORTH, "rank", "class", Outcome),
    ("@.scheduler(policy).processing", BUSY, WORK, "", "flow-size", Outcome),
    ("@.scheduler(policy).processing=remaining", BUSY, WORK, "remaining", "flow-size", Outcome),
    ("@.scheduler(policy).processing=flow-size", BUSY, WORK, "flow-size", "remaining", Outcome),
    ("@.scheduler(policy).changes", BUSY, POLICY, "", "[{at=\"200us\",file=\"lifo.oq\"}]", Outcome),
    ("@.scheduler(policy).changes[].at", BUSY, CHANGED, "200us", "400us", Outcome),
    ("@.scheduler(policy).changes[].file", BUSY, CHANGED, "lifo.oq", "three.oq", Outcome),
    ("@.scheduler(policy).changes[].text", BUSY, CHANGED_TEXT, TEXTS[1], "q = Queue(2 pkts); out = Port(q);", Outcome),
    ("switch.scheduler(policy).changes[].ports", BUSY, CHANGED_AT_SWITCHES, "", "[3]", Outcome),
    ("nic.scheduler(policy).changes[].ports", BUSY, CHANGED_AT_HOSTS, "", "[2]", Outcome),
    ("switch.mix.scheduler(policy).changes[].ports", BUSY, CHANGED_AT_SOME, "", "[1]", Outcome),
    ("@.scheduler=parity", BUSY, &["~.scheduler=fifo"], "parity", "fifo", Outcome),
    ("@.scheduler(parity).even", BUSY, &["@.scheduler=parity"], "", "fifo", Outcome),
    ("@.scheduler(parity).even=fifo", BUSY, &["@.scheduler=parity"], "fifo", "lifo", Outcome),
    ("@.scheduler(parity).even=lifo", BUSY, &["@.scheduler=parity"], "lifo", "fifo", Outcome),
    ("@.scheduler(parity).even=random", BUSY, &["@.scheduler=parity"], "random", "fifo", Outcome),
    ("@.scheduler(parity).even=sjf", BUSY, &["@.scheduler=parity"], "sjf", "fifo", Outcome),
    ("@.scheduler(parity).even=srpt", BUSY, &["@.scheduler=parity"], "srpt", "fifo", Outcome),
    ("@.scheduler(parity).odd", BUSY, &["@.scheduler=parity"], "", "lifo", Outcome),
    ("@.scheduler(parity).odd=fifo", BUSY, &["@.scheduler=parity"], "fifo", "lifo", Outcome),
    ("@.scheduler(parity).odd=lifo", BUSY, &["@.scheduler=parity"], "lifo", "fifo", Outcome),
    ("@.scheduler(parity).odd=random", BUSY, &["@.scheduler=parity"], "random", "fifo", Outcome),
    ("@.scheduler(parity).odd=sjf", BUSY, &["@.scheduler=parity"], "sjf", "fifo", Outcome),
    ("@.scheduler(parity).odd=srpt", BUSY, &["@.scheduler={kind=\"parity\",even=\"fifo\"}"], "srpt", "fifo", Outcome),
    ("@.scheduler=liftable", BUSY, &[], "liftable", "drr", Outcome),
    ("@.scheduler=bfc", BUSY, &[], "bfc", "fifo", Outcome),
    ("@.scheduler(bfc).queues", BUSY, &["@.scheduler=bfc"], "", "2", Outcome),
    ("@.scheduler(bfc).table", BUSY, &["@.scheduler={kind=\"bfc\",queues=4}"], "", "1", Outcome),
    ("@.scheduler(bfc).hop_rtt", BUSY, &["@.scheduler=bfc"], "", "1ms", Outcome),
    ("@.scheduler(bfc).sticky", BUSY, &["@.scheduler=bfc"], "", "900.0", Outcome),
    ("@.scheduler(bfc).assignment", BUSY, &["@.scheduler={kind=\"bfc\",queues=4}"], "", "hashed", Outcome),
    ("@.scheduler(bfc).assignment=dynamic", BUSY, &["@.scheduler={kind=\"bfc\",queues=4}"], "dynamic", "hashed", Outcome),
    ("@.scheduler(bfc).assignment=hashed", BUSY, &["@.scheduler={kind=\"bfc\",queues=4}"], "hashed", "dynamic", Outcome),
    ("@.scheduler(bfc).assignment=reserved", BUSY, &["@.scheduler={kind=\"bfc\",queues=4}"], "reserved", "dynamic", Outcome),
    ("@.scheduler(bfc).service", BUSY, &["@.scheduler=bfc"], "", "shortest", Outcome),
    ("@.scheduler(bfc).service=fair", BUSY, &["@.scheduler=bfc"], "fair", "shortest", Outcome),
    ("@.scheduler(bfc).service=shortest", BUSY, &["@.scheduler=bfc"], "shortest", "fair", Outcome),
    ("@.scheduler(bfc).quantum", BUSY, &["@.scheduler=bfc"], "", "6000B", Outcome),
    ("@.scheduler(bfc).classes", BUSY, &["~.scheduler=priority", "@.scheduler=bfc", "traffic.0.class=1"], "", "2", Outcome),
    ("@.scheduler(bfc).incast_class", BUSY, &["~.scheduler=priority", "@.scheduler={kind=\"bfc\",queues=4}", "traffic.0.class=1"], "", "1", Outcome),
    ("@.scheduler(bfc).sampling", BUSY, &["@.scheduler=bfc"], "", "0.2", Outcome),
    ("@.scheduler(bfc).bitmap_stale", BUSY, &["@.scheduler={kind=\"bfc\",queues=4}"], "", "50us", Outcome),
    ("@.scheduler(bfc).post_queue", BUSY, &["@.scheduler=bfc"], "", "3", Outcome),
    ("@.scheduler(bfc).recirc_delay", BUSY, &["@.scheduler={kind=\"bfc\",queues=4}"], "", "100us", Outcome),
    ("@.scheduler=custom", BUSY, &[], "{kind=\"custom\",name=\"lifo\"}", "fifo", Outcome),
    ("@.scheduler(custom).name", BUSY, &["@.scheduler={kind=\"custom\",name=\"lifo\"}"], "lifo", "opil", Outcome),
    ("@.scheduler(custom).params", BUSY, &["@.scheduler={kind=\"custom\",name=\"lifo\"}"], "20", "3", Outcome),
    ("@.marking", BUSY, &["~.marking=none"], "none", "{kind=\"red\",min=3,max=8,weight=0.3}", Outcome),
    ("@.marking=none", BUSY, &["~.marking=none"], "none", "{kind=\"red\",min=3,max=8,weight=0.3}", Outcome),
    ("@.marking=step", BUSY, DCTCP, "{kind=\"step\",threshold=\"5pkts\"}", "{kind=\"red\",min=3,max=8,weight=0.3}", Outcome),
    ("@.marking(step).threshold", BUSY, DCTCP, "5pkts", "10pkts", Outcome),
    ("@.marking(step).at", BUSY, DCTCP, "", "departure", Outcome),
    ("@.marking(step).at=arrival", BUSY, DCTCP, "arrival", "departure", Outcome),
    ("@.marking(step).at=departure", BUSY, DCTCP, "departure", "arrival", Outcome),
    ("@.marking(step).include_self", BUSY, &["%.congestion=dctcp", "@.marking={kind=\"step\",threshold=\"7500B\",at=\"departure\"}"], "false", "true", Outcome),
    ("@.marking=red", BUSY, RED, "{kind=\"red\",min=3,max=8,weight=0.3}", "none", Outcome),
    ("@.marking(red).min", BUSY, RED, "3", "5", Outcome),
    ("@.marking(red).max", BUSY, RED, "8", "15", Outcome),
    ("@.marking(red).max_probability", BUSY, RED, "", "0.5", Outcome),
    ("@.marking(red).weight", BUSY, RED, "0.3", "1.0", Outcome),
    ("@.marking(red).gentle", BUSY, RED, "true", "false", Outcome),
    ("@.marking(red).ecn", BUSY, &["@.marking={kind=\"red\",min=3,max=8,weight=0.3}", "~.marking={kind=\"step\",threshold=\"15pkts\"}", "%.ecn=classic"], "", "false", Outcome),
    ("@.marking(red).mean_packet", BUSY, RED, "", "15KB", Outcome),
    ("@.marking=codel", BUSY, CODEL, "{kind=\"codel\",target=\"10us\",interval=\"50us\"}", "none", Outcome),
    ("@.marking(codel).target", BUSY, CODEL, "10us", "5us", Outcome),
    ("@.marking(codel).interval", BUSY, CODEL, "50us", "30us", Outcome),
    ("@.marking(codel).mtu", BUSY, CODEL, "", "15KB", Outcome),
    ("@.marking(codel).ecn", BUSY, CODEL_AND_ANOTHER, "", "false", Outcome),
    ("@.marking(codel).law", BUSY, CODEL_OFTEN, "", "acm2012", Outcome),
    ("@.marking(codel).law=rfc8289", BUSY, CODEL_OFTEN, "acm2012", "rfc8289", Outcome),
    ("@.marking(codel).law=linux", BUSY, CODEL_OFTEN, "", "linux", Outcome),
    ("@.marking(codel).law=acm2012", BUSY, CODEL_OFTEN, "", "acm2012", Outcome),
    ("@.marking=pie", BUSY, PIE, "{kind=\"pie\",target=\"5us\",update=\"10us\",burst=\"20us\",alpha=500.0,beta=900.0}", "none", Outcome),
    ("@.marking(pie).target", BUSY, PIE, "5us", "10us", Outcome),
    ("@.marking(pie).update", BUSY, PIE, "10us", "20us", Outcome),
    ("@.marking(pie).burst", BUSY, PIE, "20us", "200us", Outcome),
    ("@.marking(pie).alpha", BUSY, PIE, "500.0", "900.0", Outcome),
    ("@.marking(pie).beta", BUSY, PIE, "900.0", "500.0", Outcome),
    ("@.marking(pie).mean_packet", BUSY, PIE, "", "6000B", Outcome),
    ("@.marking(pie).gradual", BUSY, &[PIE_RULE, "@.buffer=unlimited"], "true", "false", Outcome),
    ("@.marking(pie).derandomize", BUSY, PIE, "false", "true", Outcome),
    ("@.marking(pie).ecn", BUSY, &[PIE_RULE, "@.buffer=unlimited", "~.marking={kind=\"step\",threshold=\"15pkts\"}", "%.ecn=classic"], "", "false", Outcome),
    ("@.marking(pie).ecn_threshold", BUSY, &[PIE_RULE, "@.buffer=unlimited", "%.ecn=classic"], "", "1.0", Outcome),
    ("@.marking(pie).variant", BUSY, PIE_MS, "", "mahimahi", Outcome),
    ("@.marking(pie).variant=rfc8033", BUSY, PIE_MS, "rfc8033", "mahimahi", Outcome),
    ("@.marking(pie).variant=mahimahi", BUSY, PIE_MS, "mahimahi", "rfc8033", Outcome),
    ("@.marking=abc", BUSY, ABC, "{kind=\"abc\",window=\"20us\",drain=\"100us\",threshold=\"2us\"}", "{kind=\"step\",threshold=\"5pkts\"}", Refused),
    ("@.marking(abc).encoding", BUSY, ABC, "proxy", "full", Refused),
    ("@.marking(abc).encoding=proxy", BUSY, ABC, "proxy", "full", Refused),
    ("@.marking(abc).encoding=full", BUSY, &["%.congestion={kind=\"abc\",encoding=\"full\"}", ABC_RULE], "full", "proxy", Refused),
    ("@.marking(abc).utilisation", BUSY, ABC, "", "0.8", Outcome),
    ("@.marking(abc).drain", BUSY, ABC, "100us", "400us", Outcome),
    ("@.marking(abc).threshold", BUSY, ABC, "2us", "10us", Outcome),
    ("@.marking(abc).window", BUSY, ABC, "20us", "50us", Outcome),
    ("@.marking(abc).tokens", BUSY, ABC, "", "20.0", Outcome),
    ("@.marking(abc).credit", BUSY, ABC, "", "chance", Outcome),
    ("@.marking(abc).credit=packets", BUSY, ABC, "packets", "chance", Outcome),
    ("@.marking(abc).credit=bytes", BUSY, ABC, "bytes", "chance", Outcome),
    ("@.marking(abc).credit=chance", BUSY, ABC, "chance", "packets", Outcome),
    ("@.marking(abc).arithmetic", BUSY, ABC, "", "artifact", Outcome),
    ("@.marking(abc).arithmetic=paper", BUSY, ABC, "paper", "artifact", Outcome),
    ("@.marking(abc).arithmetic=artifact", BUSY, ABC, "artifact", "paper", Outcome),
    ("@.marking(abc).compared", BUSY, ABC, "", "arrivals", Outcome),
    ("@.marking(abc).compared=departures", BUSY, ABC, "departures", "arrivals", Outcome),
    ("@.marking(abc).compared=arrivals", BUSY, ABC, "arrivals", "departures", Outcome),
    ("@.marking=xcp", BUSY, XCP, "{kind=\"xcp\",rtt=\"20us\"}", "{kind=\"step\",threshold=\"5pkts\"}", Refused),
    ("@.marking(xcp).alpha", BUSY, XCP, "", "0.1", Outcome),
    ("@.marking(xcp).beta", BUSY, XCP, "", "0.05", Outcome),
    ("@.marking(xcp).computed", BUSY, XCP, "", "sliding", Outcome),
    ("@.marking(xcp).computed=intervals", BUSY, XCP, "intervals", "sliding", Outcome),
    ("@.marking(xcp).computed=sliding", BUSY, XCP, "sliding", "intervals", Outcome),
    ("@.marking(xcp).sharing", BUSY, XCP, "", "equal", Outcome),
    ("@.marking(xcp).sharing=equal", BUSY, XCP, "equal", "published", Outcome),
    ("@.marking(xcp).sharing=published", BUSY, XCP, "published", "equal", Outcome),
    ("@.marking(xcp).round_trips", BUSY, XCP, "", "waits", Outcome),
    ("@.marking(xcp).round_trips=senders", BUSY, XCP, "senders", "waits", Outcome),
    ("@.marking(xcp).round_trips=waits", BUSY, XCP, "waits", "senders", Outcome),
    ("@.marking(xcp).rtt", BUSY, XCP, "20us", "60us", Outcome),
    ("@.marking(xcp).queue_window", BUSY, XCP, "20us", "300us", Outcome),
    ("@.marking=rcp", BUSY, RCP, "{kind=\"rcp\",rtt=\"20us\"}", "{kind=\"step\",threshold=\"5pkts\"}", Refused),
    ("@.marking(rcp).alpha", BUSY, RCP, "", "0.1", Outcome),
    ("@.marking(rcp).beta", BUSY, RCP, "", "0.05", Outcome),
    ("@.marking(rcp).utilisation", BUSY, RCP, "", "0.5", Outcome),
    ("@.marking(rcp).period", BUSY, RCP, "20us", "60us", Outcome),
    ("@.marking(rcp).rtt", BUSY, RCP, "20us", "60us", Outcome),
    ("@.marking(rcp).average", BUSY, RCP, "", "moving", Outcome),
    ("@.marking(rcp).average=period", BUSY, RCP, "period", "moving", Outcome),
    ("@.marking(rcp).average=moving", BUSY, RCP, "moving", "period", Outcome),
    ("@.marking(rcp).least", BUSY, RCP, "", "3Gbps", Outcome),
    ("@.marking=vcp", BUSY, VCP, "{kind=\"vcp\",period=\"20us\"}", "{kind=\"step\",threshold=\"5pkts\"}", Refused),
    ("@.marking(vcp).period", BUSY, VCP, "20us", "60us", Outcome),
    ("@.marking(vcp).queue_weight", BUSY, VCP, "", "5.0", Outcome),
    ("@.marking(vcp).utilisation", BUSY, VCP, "", "0.5", Outcome),
    ("@.marking(vcp).low", BUSY, VCP, "", "0.2", Outcome),
    ("@.marking=random-ecn", BUSY, RANDOM_ECN, "{kind=\"random-ecn\",probability=0.1}", "none", Refused),
    ("@.marking(random-ecn).probability", BUSY, RANDOM_ECN, "0.1", "0.3", Outcome),
    ("@.marking=policer", BUSY, POLICER, "{kind=\"policer\",rate=\"2Gbps\",burst=\"6KB\"}", "none", Outcome),
    ("@.marking(policer).rate", BUSY, POLICER, "2Gbps", "1Gbps", Outcome),
    ("@.marking(policer).burst", BUSY, POLICER, "6KB", "9KB", Outcome),
    ("@.stages", BUSY, &[], "", "[{kind=\"policer\",rate=\"2Gbps\",burst=\"6KB\"}]", Outcome),
    ("switch.preemptive", BUSY, &["switch.scheduler=lifo", "nic.scheduler=fifo"], "false", "true", Outcome),
    ("switch.mix", BUSY, &["topology={kind=\"dumbbell\",pairs=3}"], "", "{scheduler=\"lifo\"}", Outcome),
    ("switch.mix.scheduler", BUSY, MIXED, "lifo", "random", Outcome),
    ("switch.mix.nodes", BUSY, MIXED, "", "even", Outcome),
    ("switch.mix.nodes=odd", BUSY, MIXED, "odd", "even", Outcome),
    ("switch.mix.nodes=even", BUSY, MIXED, "even", "odd", Outcome),
    ("switch.mix.nodes=listed", BUSY, MIXED, "{listed=[6]}", "odd", Outcome),
    ("switch.mix.nodes(listed).nodes", BUSY, &["topology={kind=\"dumbbell\",pairs=3}", "switch.mix={scheduler=\"lifo\",nodes={kind=\"listed\",nodes=[6]}}"], "[6]", "[7]", Outcome),
    ("switch.shared_buffer", BUSY, &[], "", "{total=\"50KB\"}", Outcome),
    ("switch.shared_buffer.total", BUSY, &["switch.shared_buffer={total=\"50KB\"}"], "50KB", "30KB", Outcome),
    ("switch.shared_buffer.sharing", BUSY, &["switch.shared_buffer={total=\"50KB\"}"], "", "{kind=\"dynamic\"}", Outcome),
    ("switch.shared_buffer.sharing=complete", BUSY, &["switch.shared_buffer={total=\"50KB\"}"], "complete", "{kind=\"dynamic\"}", Outcome),
    ("switch.shared_buffer.sharing=dynamic", BUSY, &["switch.shared_buffer={total=\"50KB\"}"], "{kind=\"dynamic\"}", "complete", Outcome),
    ("switch.shared_buffer.sharing=partition", BUSY, &["switch.shared_buffer={total=\"50KB\"}"], "partition", "complete", Outcome),
    ("switch.shared_buffer.sharing=longest-queue", BUSY, &["switch.shared_buffer={total=\"50KB\"}"], "longest-queue", "complete", Outcome),
    ("switch.shared_buffer.sharing(complete).overflow", BUSY, CUT, "", "trim", Outcome),
    ("switch.shared_buffer.sharing(complete).overflow=drop", BUSY, CUT, "drop", "trim", Outcome),
    ("switch.shared_buffer.sharing(complete).overflow=trim", BUSY, CUT, "trim", "drop", Outcome),
    ("switch.shared_buffer.sharing(dynamic).overflow", BUSY, CUT_DYNAMIC, "", "trim", Outcome),
    ("switch.shared_buffer.sharing(dynamic).overflow=drop", BUSY, CUT_DYNAMIC, "drop", "trim", Outcome),
    ("switch.shared_buffer.sharing(dynamic).overflow=trim", BUSY, CUT_DYNAMIC, "trim", "drop", Outcome),
    ("switch.shared_buffer.sharing(partition).overflow", BUSY, CUT_PARTS, "", "trim", Outcome),
    ("switch.shared_buffer.sharing(partition).overflow=drop", BUSY, CUT_PARTS, "drop", "trim", Outcome),
    ("switch.shared_buffer.sharing(partition).overflow=trim", BUSY, CUT_PARTS, "trim", "drop", Outcome),
    ("switch.shared_buffer.sharing(dynamic).alpha", BUSY, &["switch.shared_buffer={total=\"50KB\",sharing={kind=\"dynamic\"}}"], "", "0.25", Outcome),
    ("switch.cut_through", BUSY, &[], "", "64B", Outcome),

    // ---- slack and edge
    ("slack", SLACK, &[], "{kind=\"constant\"}", "{kind=\"flow-size\"}", Outcome),
    ("slack=constant", SLACK, &[], "{kind=\"constant\"}", "{kind=\"virtual-clock\",rate=\"1Gbps\"}", Outcome),
    // The same for all is the same order for all.
    ("slack(constant).value", SLACK, &["slack={kind=\"constant\"}"], "", "2s", Nowhere),
    ("slack=flow-size", SLACK, &[], "{kind=\"flow-size\"}", "{kind=\"constant\"}", Outcome),
    ("slack(flow-size).unit", SLACK, &["slack={kind=\"flow-size\"}"], "", "100ns", Outcome),
    ("slack=virtual-clock", SLACK, &[], "{kind=\"virtual-clock\",rate=\"1Gbps\"}", "{kind=\"flow-size\"}", Outcome),
    ("slack(virtual-clock).rate", SLACK, &[], "1Gbps", "5Gbps", Outcome),
    ("slack(virtual-clock).ack_full_size", SLACK, &[], "", "3000B", Outcome),
    ("slack.class_offset", SLACK, &["traffic.0.class=1"], "1us", "1ms", Outcome),
    ("edge", SLACK, &[], "", "{kind=\"codel\",target=\"20us\",interval=\"100us\",refresh=\"40us\"}", Outcome),
    ("edge=codel", SLACK, &[], "{kind=\"codel\",target=\"20us\",interval=\"100us\",refresh=\"40us\"}", "{kind=\"codel\"}", Outcome),
    ("edge(codel).target", SLACK, EDGE, "20us", "30us", Outcome),
    ("edge(codel).interval", SLACK, EDGE, "100us", "50us", Outcome),
    ("edge(codel).refresh", SLACK, EDGE, "40us", "21us", Outcome),
    ("edge=ecn", SLACK, EDGE_ECN, "{kind=\"ecn\",threshold=\"5pkts\"}", "{kind=\"ecn\",threshold=\"9pkts\"}", Outcome),
    ("edge(ecn).threshold", SLACK, EDGE_ECN, "5pkts", "20us", Outcome),
];
