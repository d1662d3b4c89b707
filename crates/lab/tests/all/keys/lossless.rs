//! Rows for RDMA, flow control, NICs, incidents and RPCs.

use super::relief::RING;
use super::scenarios::{BUSY, PLAIN, RACKS};
use super::{Row, Shows};
use Shows::*;

/// Two racks of three hosts and small inputs; random queue pairs at 70 % and an incast: packets are lost.
pub const LOSSY: &str = r#"
topology = { kind = "leaf-spine", leaves = 2, spines = 2, hosts_per_leaf = 3, spine_rate = "10Gbps" }
switch = { scheduler = "input-round-robin", inputs = { memory = "20KB" } }
nic = { order = "round-robin" }
run = { until = "4ms" }
[transport]
kind = "rdma"
[transports.x]
kind = "rdma"
[[traffic]]
kind = "poisson"
sizes = { uniform = { min = "1KB", max = "100KB", steps = 10 } }
load = 0.7
until = "1ms"
[[traffic]]
kind = "incast"
fan_in = 5
size = "120KB"
receiver = 0
at = "100us"
[[traffic]]
kind = "flow"
src = 0
dst = 4
size = "1B"
transport = "x"
"#;

/// The same with flow control: nothing is lost.
const PFC: &[&str] = &["switch.pfc={}"];
const BFC: &[&str] = &["switch.scheduler=bfc", "switch.inputs={shared=\"2MB\"}"];
const BACKPRESSURE: &[&str] =
    &["switch.scheduler=bfc", "switch.inputs={shared=\"2MB\"}", "switch.backpressure={}"];
const RING_BFC: &[&str] = &[
    "switch={scheduler={kind=\"bfc\",queues=2},inputs={shared=\"2MB\"},backpressure={},control_first=true}",
];
const BFC_MIXED: &[&str] = &[
    "switch.scheduler=fifo",
    "switch.mix={scheduler=\"bfc\"}",
    "switch.inputs={shared=\"2MB\"}",
    "switch.backpressure={}",
];
const BFC_NIC: &[&str] = &[
    "switch.scheduler=bfc",
    "switch.inputs={shared=\"2MB\"}",
    "switch.backpressure={}",
    "nic.order=queue",
    "nic.scheduler=bfc",
];
const LOST_RESUMES: &[&str] = &[
    "switch.scheduler=bfc",
    "switch.inputs={shared=\"2MB\"}",
    "switch.backpressure={}",
    "incident=[{kind=\"pause-loss\",from=\"100us\",until=\"1ms\",probability=0.7}]",
];
const PFC_FIRST: &[&str] = &["switch.pfc={}", "switch.control_first=true"];
const STATIC: &[&str] = &["switch.pfc={threshold={kind=\"static\",xoff=\"14KB\",xon=\"12KB\"}}"];
const DYNAMIC: &[&str] = &["switch.inputs={shared=\"150KB\"}", "switch.pfc={threshold=\"dynamic\"}"];
/// ACKs are lost too.
const TIGHT: &[&str] = &["switch.inputs={memory=\"3KB\"}", "traffic.1={kind=\"all-to-all\",size=\"50KB\"}"];
/// Switches hash what senders write.
const PATHS: &[&str] = &["routing=entropy", "%.path_values={}"];
const RECYCLED: &[&str] = &[
    "routing=entropy",
    "%.path_values={}",
    "%.congestion=dctcp",
    "switch.marking={kind=\"step\",threshold=\"5KB\"}",
];
const GBN: &[&str] = &["%.recovery=go-back-n"];
const STEP: &[&str] = &["%.congestion=dctcp", "switch.marking={kind=\"step\",threshold=\"5KB\"}"];
const RAMP: &[&str] =
    &["%.congestion=dcqcn", "switch.marking={kind=\"red-ecn\",min=\"5KB\",max=\"30KB\",max_probability=0.5}"];
/// Timers and bytes small enough for short runs; rates low enough to rise again.
const DCQCN: &[&str] = &[
    "%.congestion={kind=\"dcqcn\",alpha_timer=\"20us\",rate_timer=\"15us\",byte_counter=\"10KB\",fast_recovery=1,gain=0.2}",
    "switch.marking={kind=\"red-ecn\",min=\"2KB\",max=\"10KB\",max_probability=0.5}",
];
const CHECKED: &[&str] = &[
    "%.congestion={kind=\"dcqcn\",decrease=\"checked\",byte_counter=\"none\"}",
    "switch.marking={kind=\"red-ecn\",min=\"2KB\",max=\"10KB\",max_probability=0.5}",
];
const TIMELY: &[&str] =
    &["%.congestion={kind=\"timely\",t_low=\"12us\",t_high=\"60us\"}", "%.rtt={segment=4}"];
/// Gradients decide: rates fall by them and rise again.
const BAND: &[&str] =
    &["%.congestion={kind=\"timely\",t_low=\"1us\",t_high=\"60us\",hyper={after=2}}", "%.rtt={segment=2}"];
/// As [`BAND`], on connections that are silent for longer than ten minRTT between two flows.
const SPARSE: &[&str] = &[
    "%.congestion={kind=\"timely\",t_low=\"1us\",t_high=\"60us\",min_rtt=\"200ns\"}",
    "%.rtt={segment=2}",
    "traffic.0.connection=per-pair",
];
/// Round trips are below T_low: the last ones of a flow raise the rate with which the connection's next one
/// starts, or do not.
const TAILS: &[&str] = &[
    "%.congestion={kind=\"timely\",initial_share=0.1,t_low=\"900us\",t_high=\"950us\",additive=\"500Mbps\"}",
    "%.rtt={segment=2}",
    "traffic.0.connection=per-pair",
];
const PATCHED: &[&str] = &[
    "%.congestion={kind=\"timely\",t_low=\"1us\",t_high=\"60us\",variant={kind=\"patched\",rtt_ref=\"20us\"}}",
    "%.rtt={segment=2}",
];
/// Nothing is lost.
const HPCC: &[&str] = &["switch.pfc={}", "%.congestion=hpcc"];
const SIMULATOR: &[&str] = &["switch.pfc={}", "%.congestion={kind=\"hpcc\",variant=\"simulator\"}"];
const SEGMENTS: &[&str] = &["%.recovery=go-back-n", "%.segments={bytes=\"8KB\"}"];
const CNP: &[&str] = &[
    "%.congestion=dcqcn",
    "%.notification={kind=\"cnp\",interval=\"10us\"}",
    "switch.marking={kind=\"red-ecn\",min=\"2KB\",max=\"10KB\",max_probability=0.5}",
];
const FAILURE: &[&str] =
    &["incident=[{kind=\"link-failure\",at=\"200us\",link=[6,8]}]", "routing.convergence=100us"];
const LOSS: &[&str] =
    &["switch.pfc={}", "incident=[{kind=\"pause-loss\",from=\"100us\",until=\"1ms\",probability=0.9}]"];
const RPC: &[&str] =
    &["traffic.0={kind=\"rpc\",load=0.5,request=\"10KB\",response=\"20KB\",until=\"300us\"}"];
const RPC_POD: &[&str] = &[
    "topology={kind=\"fat-tree\",k=4}",
    "traffic.0={kind=\"rpc\",load=0.3,request=\"10KB\",response=\"20KB\",until=\"200us\"}",
];
const DCTCP: &[&str] =
    &["%.congestion=dctcp", "@.marking={kind=\"red-ecn\",min=\"5KB\",max=\"15KB\",max_probability=0.5}"];

const TARGET: &[&str] = &["%.congestion=rtt-target", "%.rtt={segment=1,less_serialization=false}"];
const SRPT: &[&str] = &["switch.scheduler=srpt"];

#[rustfmt::skip]
pub const KEYS: &[Row] = &[
    // ---- switch and nic
    ("switch.scheduler=input-round-robin", LOSSY, &[], "input-round-robin", "fifo", Outcome),
    ("switch.mix.scheduler=input-round-robin", LOSSY, &["switch.scheduler=fifo", "switch.mix={scheduler=\"input-round-robin\",nodes=\"even\"}"], "input-round-robin", "round-robin", Outcome),
    ("nic.scheduler=input-round-robin", LOSSY, &["nic.order=queue"], "fifo", "input-round-robin", Refused),
    ("@.marking=red-ecn", BUSY, DCTCP, "{kind=\"red-ecn\",min=\"5KB\",max=\"15KB\"}", "{kind=\"step\",threshold=\"5KB\"}", Outcome),
    ("@.marking(red-ecn).min", BUSY, DCTCP, "5KB", "8KB", Outcome),
    ("@.marking(red-ecn).max", BUSY, DCTCP, "15KB", "12KB", Outcome),
    ("@.marking(red-ecn).max_probability", BUSY, DCTCP, "0.5", "0.2", Outcome),
    ("@.marking(red-ecn).at", BUSY, DCTCP, "", "departure", Outcome),
    ("@.marking(red-ecn).at=arrival", BUSY, DCTCP, "arrival", "departure", Outcome),
    ("@.marking(red-ecn).at=departure", BUSY, DCTCP, "departure", "arrival", Outcome),
    ("switch.inputs", RACKS, &[], "", "{memory=\"20KB\"}", Outcome),
    ("switch.inputs.memory", LOSSY, &[], "20KB", "30KB", Outcome),
    ("switch.inputs.shared", LOSSY, &["switch.inputs={shared=\"40KB\"}"], "40KB", "50KB", Outcome),
    ("switch.inputs.release", LOSSY, &[], "", "start", Outcome),
    ("switch.inputs.release=start", LOSSY, &[], "start", "end", Outcome),
    ("switch.inputs.release=end", LOSSY, &[], "end", "start", Outcome),
    ("switch.inputs.crossbar", LOSSY, &[], "", "one-per-input", Outcome),
    ("switch.inputs.crossbar=unlimited", LOSSY, &[], "unlimited", "one-per-input", Outcome),
    ("switch.inputs.crossbar=one-per-input", LOSSY, &[], "one-per-input", "unlimited", Outcome),
    ("switch.backpressure", LOSSY, BFC, "", "{}", Outcome),
    ("switch.backpressure.every", LOSSY, BACKPRESSURE, "", "5us", Outcome),
    ("switch.backpressure.expires", LOSSY, LOST_RESUMES, "", "3us", Outcome),
    ("switch.backpressure.frame", LOSSY, BACKPRESSURE, "", "200B", Outcome),
    ("switch.backpressure.nics", LOSSY, BACKPRESSURE, "", "false", Outcome),
    ("switch.backpressure.pauses", LOSSY, BACKPRESSURE, "", "flow", Outcome),
    ("switch.backpressure.pauses=queue", LOSSY, BACKPRESSURE, "queue", "flow", Outcome),
    ("switch.backpressure.pauses=flow", LOSSY, BACKPRESSURE, "flow", "queue", Outcome),
    ("switch.backpressure.elide", RING, RING_BFC, "", "cycles", Outcome),
    ("switch.backpressure.elide=none", RING, RING_BFC, "none", "cycles", Outcome),
    ("switch.backpressure.elide=cycles", RING, RING_BFC, "cycles", "none", Outcome),
    ("switch.scheduler(bfc).threshold", LOSSY, BACKPRESSURE, "", "4.0", Outcome),
    ("switch.scheduler(bfc).needs_backlog", LOSSY, BACKPRESSURE, "", "true", Outcome),
    ("switch.mix.scheduler(bfc).threshold", LOSSY, BFC_MIXED, "", "4.0", Outcome),
    ("switch.mix.scheduler(bfc).needs_backlog", LOSSY, BFC_MIXED, "", "true", Outcome),
    // A host has no neighbour to hold back.
    ("switch.scheduler(bfc).pipelines", LOSSY, BFC, "", "2", Outcome),
    ("switch.mix.scheduler(bfc).pipelines", LOSSY, BFC_MIXED, "", "2", Outcome),
    ("nic.scheduler(bfc).pipelines", LOSSY, BFC_NIC, "", "2", Refused),
    ("nic.scheduler(bfc).threshold", LOSSY, BFC_NIC, "", "4.0", Nowhere),
    ("nic.scheduler(bfc).needs_backlog", LOSSY, BFC_NIC, "", "true", Nowhere),
    ("switch.pfc", LOSSY, &[], "", "{}", Outcome),
    ("switch.pfc.quanta", LOSSY, PFC, "", "100", Outcome),
    ("switch.pfc.threshold", LOSSY, STATIC, "static", "{kind=\"static\",xoff=\"10KB\"}", Outcome),
    ("switch.pfc.threshold=static", LOSSY, &["switch.inputs={shared=\"150KB\"}", "switch.pfc={threshold=\"dynamic\"}"], "{kind=\"static\",xoff=\"10KB\"}", "dynamic", Outcome),
    ("switch.pfc.threshold(static).xoff", LOSSY, STATIC, "14KB", "13KB", Outcome),
    ("switch.pfc.threshold(static).xon", LOSSY, STATIC, "12KB", "10KB", Outcome),
    ("switch.pfc.threshold=dynamic", LOSSY, DYNAMIC, "dynamic", "{kind=\"static\",xoff=\"10KB\"}", Outcome),
    ("switch.pfc.threshold(dynamic).alpha", LOSSY, DYNAMIC, "", "0.25", Outcome),
    ("switch.pfc.threshold(dynamic).reserve", LOSSY, DYNAMIC, "", "1KB", Outcome),
    ("switch.pfc.threshold(dynamic).hysteresis", LOSSY, DYNAMIC, "", "8KB", Outcome),
    ("switch.pfc.lossy_ok", LOSSY, &["switch.pfc={headroom=\"3KB\"}"], "true", "false", Refused),
    ("switch.pfc.headroom", LOSSY, DYNAMIC, "", "10KB", Outcome),
    ("switch.pfc.frame", LOSSY, PFC, "", "200B", Outcome),
    ("switch.control_first", LOSSY, &[], "false", "true", Outcome),
    ("nic.order", LOSSY, &[], "round-robin", "queue", Outcome),
    ("nic.order=queue", LOSSY, &[], "queue", "round-robin", Outcome),
    ("nic.order=round-robin", LOSSY, &[], "round-robin", "queue", Outcome),
    ("nic.order=shortest", LOSSY, &[], "shortest", "round-robin", Outcome),
    ("nic.order=hpcc-simulator", LOSSY, &[], "hpcc-simulator", "round-robin", Outcome),
    ("nic.pause_control", LOSSY, PFC_FIRST, "true", "false", Outcome),

    // ---- routing and incidents
    ("routing.convergence", LOSSY, FAILURE, "100us", "300us", Outcome),
    ("incident", LOSSY, &[], "", "[{kind=\"link-failure\",at=\"200us\",link=[6,8]}]", Outcome),
    ("incident[]=link-failure", LOSSY, FAILURE, "{kind=\"link-failure\",at=\"200us\",link=[6,8]}", "{kind=\"link-failure\",at=\"200us\",link=[7,8]}", Outcome),
    ("incident[](link-failure).at", LOSSY, FAILURE, "200us", "300us", Outcome),
    ("incident[](link-failure).until", LOSSY, FAILURE, "", "400us", Outcome),
    ("incident[](link-failure).link", LOSSY, FAILURE, "[6,8]", "[6,9]", Outcome),
    ("incident[]=pause-loss", LOSSY, LOSS, "{kind=\"pause-loss\",from=\"100us\",probability=0.9}", "{kind=\"link-failure\",at=\"200us\",link=[6,8]}", Outcome),
    ("incident[](pause-loss).from", LOSSY, LOSS, "100us", "300us", Outcome),
    ("incident[](pause-loss).until", LOSSY, LOSS, "1ms", "300us", Outcome),
    ("incident[](pause-loss).probability", LOSSY, LOSS, "0.9", "0.1", Outcome),
    ("incident[](pause-loss).port", LOSSY, LOSS, "", "1", Outcome),

    // ---- transport
    ("%=rdma", LOSSY, &[], "{kind=\"rdma\"}", "{kind=\"tcp\"}", Outcome),
    ("%(rdma).mtu", LOSSY, &[], "", "1000B", Outcome),
    ("%(rdma).header", LOSSY, &[], "", "60B", Outcome),
    ("%(rdma).extra_header", LOSSY, &[], "", "16B", Outcome),
    ("%(rdma).ack_size", LOSSY, &[], "", "64B", Outcome),
    ("%(rdma).nack_size", LOSSY, &[], "", "400B", Outcome),
    ("%(rdma).recovery", LOSSY, &[], "", "go-back-n", Outcome),
    ("%(rdma).recovery=irn", LOSSY, &[], "irn", "go-back-n", Outcome),
    ("%(rdma).recovery(irn).sack", LOSSY, &[], "true", "false", Outcome),
    ("%(rdma).recovery(irn).nack_threshold", LOSSY, &[], "", "3", Outcome),
    ("%(rdma).recovery(irn).enter_on_advance", LOSSY, TIGHT, "", "true", Outcome),
    ("%(rdma).recovery=go-back-n", LOSSY, &[], "go-back-n", "irn", Outcome),
    ("%(rdma).recovery=drop-notified", LOSSY, &[], "drop-notified", "irn", Outcome),
    ("%(rdma).recovery(go-back-n).repeat_nack", LOSSY, GBN, "", "20us", Outcome),
    ("%(rdma).cap", LOSSY, &[], "auto", "none", Outcome),
    ("%(rdma).acks", LOSSY, GBN, "", "per-segment", Outcome),
    ("%(rdma).acks=per-packet", LOSSY, GBN, "per-packet", "never", Outcome),
    ("%(rdma).acks=per-segment", LOSSY, GBN, "per-segment", "per-packet", Outcome),
    ("%(rdma).acks=never", LOSSY, GBN, "never", "per-packet", Outcome),
    ("%(rdma).timer", LOSSY, &[], "", "fixed", Outcome),
    ("%(rdma).timer=pair", LOSSY, &[], "pair", "fixed", Outcome),
    ("%(rdma).telemetry", LOSSY, HPCC, "", "20B", Outcome),
    ("%(rdma).timer(pair).low", LOSSY, &["%.timer=pair"], "", "40us", Outcome),
    ("%(rdma).timer(pair).high", LOSSY, &["%.timer=pair"], "", "150us", Outcome),
    ("%(rdma).timer(pair).max_in_flight", LOSSY, &["%.timer=pair"], "", "1", Outcome),
    ("%(rdma).timer(pair).max_rate_factor", LOSSY, &["%.congestion={kind=\"timely\",initial_share=0.1}", "%.timer=pair"], "", "0", Outcome),
    ("%(rdma).timer=fixed", LOSSY, &[], "fixed", "pair", Outcome),
    ("%(rdma).timer(fixed).value", LOSSY, &["%.timer=fixed"], "", "150us", Outcome),
    ("%(rdma).timer=dynamic", LOSSY, &[], "dynamic", "fixed", Outcome),
    ("%(rdma).timer(dynamic).initial", LOSSY, &["%.timer=dynamic"], "", "150us", Outcome),
    ("%(rdma).timer(dynamic).min", LOSSY, &["%.timer=dynamic"], "", "30us", Outcome),
    ("%(rdma).timer=off", LOSSY, &[], "off", "fixed", Outcome),
    ("%(rdma).timer_restart", LOSSY, &[], "", "answer", Outcome),
    ("%(rdma).timer_restart=progress", LOSSY, &[], "progress", "answer", Outcome),
    ("%(rdma).timer_restart=answer", LOSSY, &[], "answer", "progress", Outcome),
    ("%(rdma).fetch_delay", LOSSY, &[], "", "2us", Outcome),
    ("%(rdma).notification", LOSSY, CNP, "{kind=\"cnp\",interval=\"10us\"}", "echo", Outcome),
    ("%(rdma).notification=cnp", LOSSY, CNP, "{kind=\"cnp\",interval=\"10us\"}", "echo", Outcome),
    ("%(rdma).notification(cnp).interval", LOSSY, CNP, "10us", "30us", Outcome),
    ("%(rdma).notification(cnp).rule", LOSSY, CNP, "", "windows", Outcome),
    ("%(rdma).notification(cnp).rule=spaced", LOSSY, CNP, "spaced", "windows", Outcome),
    ("%(rdma).notification(cnp).rule=windows", LOSSY, CNP, "windows", "spaced", Outcome),
    ("%(rdma).notification(cnp).size", LOSSY, CNP, "", "64B", Outcome),
    ("%(rdma).notification=echo", LOSSY, CNP, "echo", "cnp", Outcome),
    ("%(rdma).notification=off", LOSSY, CNP, "echo", "off", Refused),
    ("%(rdma).rtt", LOSSY, TIMELY, "{segment=4}", "{segment=2}", Outcome),
    ("%(rdma).rtt.segment", LOSSY, TIMELY, "4", "2", Outcome),
    ("%(rdma).rtt.less_serialization", LOSSY, TIMELY, "", "false", Outcome),
    ("%(rdma).rtt.nacks", LOSSY, TIMELY, "", "true", Outcome),
    ("%(rdma).rtt.resent", LOSSY, TIMELY, "", "true", Outcome),
    ("%(rdma).rtt.noise", LOSSY, TIMELY, "", "10us", Outcome),
    ("%(rdma).segments", LOSSY, GBN, "", "{bytes=\"8KB\"}", Outcome),
    ("%(rdma).segments.bytes", LOSSY, SEGMENTS, "8KB", "16KB", Outcome),
    ("%(rdma).segments.outstanding", LOSSY, SEGMENTS, "", "1", Outcome),
    ("%(rdma).path_values", LOSSY, PATHS, "{}", "{count=2}", Outcome),
    ("%(rdma).path_values.count", LOSSY, PATHS, "65536", "2", Outcome),
    ("%(rdma).path_values.recycle", LOSSY, RECYCLED, "true", "false", Outcome),
    ("routing=entropy", LOSSY, &["transport.path_values={}"], "entropy", "ecmp", Refused),
    ("%(rdma).segments.nic_pace", LOSSY, SEGMENTS, "", "2Gbps", Outcome),

    // ---- controllers
    ("%(rdma).congestion", LOSSY, &[], "", "aimd", Outcome),
    ("%(rdma).congestion=fixed", LOSSY, &[], "fixed", "aimd", Outcome),
    ("%(rdma).congestion=external", LOSSY, &[], "external", "aimd", Outcome),
    ("%(rdma).congestion=aimd", LOSSY, &[], "aimd", "fixed", Outcome),
    ("%(rdma).congestion=newreno", LOSSY, &[], "newreno", "aimd", Outcome),
    ("%(rdma).congestion=cubic", LOSSY, &[], "cubic", "newreno", Outcome),
    ("%(rdma).congestion=compound", LOSSY, &["topology.delay=20us", "switch.inputs.memory=200KB", "%.timer=pair"], "{kind=\"compound\",low=2.0,alpha=1.0}", "newreno", Outcome),
    ("%(rdma).congestion=vegas", LOSSY, &[], "vegas", "newreno", Outcome),
    ("%(rdma).congestion=bbr", LOSSY, &[], "bbr", "newreno", Outcome),
    ("%(rdma).congestion=bbr3", LOSSY, &[], "bbr3", "newreno", Outcome),
    ("%(rdma).congestion=copa", LOSSY, &[], "copa", "newreno", Outcome),
    ("%(rdma).congestion=vivace", LOSSY, &[], "vivace", "newreno", Outcome),
    ("%(rdma).congestion=verus", LOSSY, &[], "verus", "newreno", Outcome),
    ("%(rdma).congestion=abc", LOSSY, &["switch.marking=abc"], "abc", "dctcp", Outcome),
    ("%(rdma).congestion(abc).encoding=full", LOSSY, &["%.congestion=abc", "switch.marking=abc"], "proxy", "full", Refused),
    ("%(rdma).congestion=swift", LOSSY, &[], "swift", "newreno", Outcome),
    ("%(rdma).congestion=xcp", LOSSY, &["switch.marking=xcp"], "xcp", "newreno", Refused),
    ("%(rdma).congestion=rcp", LOSSY, &["switch.marking=rcp"], "rcp", "newreno", Refused),
    ("%(rdma).congestion=vcp", LOSSY, &["switch.marking=vcp"], "vcp", "newreno", Refused),
    ("%(rdma).congestion=mintcp", LOSSY, &[], "mintcp", "aimd", Outcome),
    ("%(rdma).congestion=dctcp-rate", LOSSY, STEP, "dctcp-rate", "dctcp", Outcome),
    ("%(rdma).congestion=dctcp", LOSSY, STEP, "dctcp", "dcqcn", Outcome),
    ("%(rdma).congestion=dcqcn", LOSSY, RAMP, "dcqcn", "dctcp", Outcome),
    ("%(rdma).congestion(dcqcn).gain", LOSSY, DCQCN, "0.2", "0.5", Outcome),
    ("%(rdma).congestion(dcqcn).fast_recovery", LOSSY, DCQCN, "1", "3", Outcome),
    ("%(rdma).congestion(dcqcn).alpha_timer", LOSSY, DCQCN, "20us", "10us", Outcome),
    ("%(rdma).congestion(dcqcn).rate_timer", LOSSY, DCQCN, "15us", "30us", Outcome),
    ("%(rdma).congestion(dcqcn).byte_counter", LOSSY, DCQCN, "10KB", "none", Outcome),
    ("%(rdma).congestion(dcqcn).additive", LOSSY, DCQCN, "", "400Mbps", Outcome),
    ("%(rdma).congestion(dcqcn).hyper", LOSSY, DCQCN, "", "2Gbps", Outcome),
    ("%(rdma).congestion(dcqcn).min_rate", LOSSY, DCQCN, "", "8Gbps", Outcome),
    ("%(rdma).congestion(dcqcn).decrease", LOSSY, CHECKED, "checked", "at-once", Outcome),
    ("%(rdma).congestion(dcqcn).decrease=at-once", LOSSY, CHECKED, "at-once", "checked", Outcome),
    ("%(rdma).congestion(dcqcn).decrease=checked", LOSSY, CHECKED, "checked", "at-once", Outcome),
    ("%(rdma).congestion(dcqcn).decrease(checked).every", LOSSY, CHECKED, "", "50us", Outcome),
    ("%(rdma).congestion(dcqcn).back_off", LOSSY, DCQCN, "", "24us", Outcome),
    ("%(rdma).congestion=timely", LOSSY, TIMELY, "timely", "{kind=\"timely\",t_low=\"2us\",t_high=\"20us\"}", Outcome),
    ("%(rdma).congestion(timely).variant", LOSSY, BAND, "", "{kind=\"patched\",rtt_ref=\"20us\"}", Outcome),
    ("%(rdma).congestion(timely).variant=original", LOSSY, BAND, "original", "{kind=\"patched\",rtt_ref=\"20us\"}", Outcome),
    ("%(rdma).congestion(timely).variant=patched", LOSSY, BAND, "{kind=\"patched\",rtt_ref=\"20us\"}", "original", Outcome),
    ("%(rdma).congestion(timely).variant(patched).rtt_ref", LOSSY, PATCHED, "20us", "30us", Outcome),
    ("%(rdma).congestion(timely).initial_share", LOSSY, TIMELY, "", "0.5", Outcome),
    ("%(rdma).congestion(timely).t_low", LOSSY, TIMELY, "12us", "5us", Outcome),
    ("%(rdma).congestion(timely).t_high", LOSSY, TIMELY, "60us", "20us", Outcome),
    ("%(rdma).congestion(timely).min_rtt", LOSSY, BAND, "", "20us", Outcome),
    ("%(rdma).congestion(timely).alpha", LOSSY, BAND, "", "0.1", Outcome),
    ("%(rdma).congestion(timely).beta", LOSSY, BAND, "", "0.3", Outcome),
    ("%(rdma).congestion(timely).additive", LOSSY, BAND, "", "200Mbps", Outcome),
    ("%(rdma).congestion(timely).hyper", LOSSY, BAND, "{after=2}", "{after=0}", Outcome),
    ("%(rdma).congestion(timely).hyper.after", LOSSY, BAND, "2", "1", Outcome),
    ("%(rdma).congestion(timely).hyper.step", LOSSY, BAND, "", "500Mbps", Outcome),
    ("%(rdma).congestion(timely).hyper.below_t_low", LOSSY, &["%.congestion={kind=\"timely\",t_low=\"14us\",t_high=\"40us\",hyper={after=1,step=\"1Gbps\"}}", "%.rtt={segment=1}"], "false", "true", Outcome),
    ("%(rdma).congestion(timely).hyper.count", LOSSY, BAND, "", "difference", Outcome),
    ("%(rdma).congestion(timely).hyper.count=gradient", LOSSY, BAND, "gradient", "difference", Outcome),
    ("%(rdma).congestion(timely).hyper.count=difference", LOSSY, BAND, "difference", "increase", Outcome),
    ("%(rdma).congestion(timely).hyper.count=increase", LOSSY, BAND, "increase", "gradient", Outcome),
    ("%(rdma).congestion(timely).gradient_cap", LOSSY, BAND, "", "0.2", Outcome),
    ("%(rdma).congestion(timely).scale_updates", LOSSY, BAND, "true", "false", Outcome),
    ("%(rdma).congestion(timely).once_per_round", LOSSY, BAND, "false", "true", Outcome),
    ("%(rdma).congestion(timely).use_first_sample", LOSSY, BAND, "false", "true", Outcome),
    ("%(rdma).congestion(timely).reset_after_idle", LOSSY, SPARSE, "true", "false", Outcome),
    ("%(rdma).congestion(timely).idle_holds", LOSSY, TAILS, "true", "false", Outcome),
    ("%(rdma).congestion(timely).max_decrease", LOSSY, BAND, "", "0.1", Outcome),
    ("%(rdma).congestion(timely).min_rate", LOSSY, BAND, "", "5Gbps", Outcome),
    ("%(rdma).congestion(timely).back_off", LOSSY, BAND, "", "24us", Outcome),
    ("%(rdma).congestion=rtt-target", LOSSY, TARGET, "rtt-target", "timely", Outcome),
    ("%(rdma).congestion(rtt-target).target", LOSSY, TARGET, "", "20us", Outcome),
    ("%(rdma).congestion(rtt-target).most", LOSSY, TARGET, "", "1.0", Outcome),
    ("%(rdma).rank", LOSSY, SRPT, "", "remaining", Outcome),
    ("%(rdma).rank=none", LOSSY, &["measure.priority_histogram={}"], "none", "remaining", Tables),
    ("%(rdma).rank=flow-size", LOSSY, &["measure.priority_histogram={}"], "flow-size", "remaining", Tables),
    ("%(rdma).rank=from-here", LOSSY, SRPT, "from-here", "remaining", Outcome),
    ("%(rdma).rank=remaining", LOSSY, SRPT, "remaining", "from-here", Outcome),
    ("%(rdma).rank=socket-buffer", LOSSY, SRPT, "remaining", "{kind=\"socket-buffer\",buffer=\"20KB\"}", Refused),
    ("%(rdma).rank(socket-buffer).buffer", LOSSY, SRPT, "", "20KB", Refused),
    ("%(rdma).congestion=hpcc", LOSSY, HPCC, "hpcc", "aimd", Outcome),
    ("%(rdma).congestion(hpcc).eta", LOSSY, HPCC, "", "0.8", Outcome),
    ("%(rdma).congestion(hpcc).max_stage", LOSSY, HPCC, "", "0", Outcome),
    ("%(rdma).congestion(hpcc).base_rtt", LOSSY, HPCC, "", "30us", Outcome),
    ("%(rdma).congestion(hpcc).additive", LOSSY, HPCC, "", "200B", Outcome),
    ("%(rdma).congestion(hpcc).variant", LOSSY, HPCC, "", "simulator", Outcome),
    ("%(rdma).congestion(hpcc).variant=published", LOSSY, HPCC, "published", "simulator", Outcome),
    ("%(rdma).congestion(hpcc).variant=simulator", LOSSY, HPCC, "simulator", "published", Outcome),
    ("%(rdma).congestion(hpcc).variant(simulator).additive", LOSSY, SIMULATOR, "", "400Mbps", Outcome),
    ("%(rdma).congestion(hpcc).variant(simulator).min_rate", LOSSY, SIMULATOR, "", "5Gbps", Outcome),
    ("%(rdma).congestion=custom", LOSSY, &[], "{kind=\"custom\",name=\"still\"}", "aimd", Outcome),
    ("%(rdma).congestion(custom).name", LOSSY, &["%.congestion={kind=\"custom\",name=\"still\"}"], "still", "calm", Outcome),
    ("%(rdma).congestion(custom).params", LOSSY, &["%.congestion={kind=\"custom\",name=\"still\"}"], "4", "9", Outcome),

    // ---- traffic
    ("traffic[].connection", LOSSY, &["transport.congestion=aimd"], "", "per-pair", Outcome),
    ("traffic[].connection=fresh", LOSSY, &["transport.congestion=aimd"], "fresh", "per-pair", Outcome),
    ("traffic[].connection=per-pair", LOSSY, &["transport.congestion=aimd"], "per-pair", "fresh", Outcome),
    ("traffic[].connection=back-to-back", LOSSY, &["transport.congestion=aimd"], "back-to-back", "per-pair", Outcome),
    ("traffic[]=rpc", RACKS, RPC, "{kind=\"rpc\",load=0.5,until=\"300us\"}", "{kind=\"permutation\",size=\"20KB\"}", Outcome),
    ("traffic[](rpc).load", RACKS, RPC, "0.5", "0.4", Outcome),
    ("traffic[](rpc).of", RACKS, RPC, "", "core-links", Outcome),
    ("traffic[](rpc).of=host-links", RACKS, RPC, "host-links", "core-links", Outcome),
    ("traffic[](rpc).of=core-links", RACKS, RPC, "core-links", "host-links", Outcome),
    ("traffic[](rpc).of=rate", RACKS, RPC, "{kind=\"rate\",rate=\"9Gbps\"}", "host-links", Outcome),
    ("traffic[](rpc).of(rate).rate", RACKS, &["traffic.0={kind=\"rpc\",load=0.5,of={kind=\"rate\",rate=\"9Gbps\"},until=\"300us\"}"], "9Gbps", "5Gbps", Outcome),
    ("traffic[](rpc).of=busiest-link", RACKS, &["routing=lowest", "traffic.0={kind=\"rpc\",load=0.5,request=\"10KB\",response=\"20KB\",until=\"300us\"}"], "busiest-link", "core-links", Outcome),
    ("traffic[](rpc).request", RACKS, RPC, "10KB", "11KB", Outcome),
    ("traffic[](rpc).response", RACKS, RPC, "20KB", "21KB", Outcome),
    ("traffic[](rpc).servers", RACKS, RPC, "", "other-racks", Outcome),
    ("traffic[](rpc).servers=others", RACKS, RPC, "others", "other-racks", Outcome),
    ("traffic[](rpc).servers=other-racks", RACKS, RPC, "other-racks", "others", Outcome),
    ("traffic[](rpc).servers=other-pods", RACKS, RPC_POD, "other-pods", "other-racks", Outcome),
    ("traffic[](rpc).from", RACKS, RPC, "", "100us", Outcome),
    ("traffic[](rpc).until", RACKS, RPC, "300us", "200us", Outcome),
    ("traffic[](rpc).packet_payload", RACKS, RPC, "", "1000B", Outcome),
    ("traffic[](rpc).packet_header", RACKS, RPC, "", "0B", Outcome),

    // ---- measure
    ("measure.pauses", LOSSY, PFC, "false", "true", Tables),
    ("measure.memory", LOSSY, &[], "false", "true", Tables),
    ("measure.round_trips", PLAIN, &[], "false", "true", Tables),
];
