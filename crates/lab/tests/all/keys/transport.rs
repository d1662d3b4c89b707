//! Rows for TCP and UDP.

use super::scenarios::{BUSY, CROWD, PLAIN, SILENCE, STREAMS, TALK, WAN};
use super::{Row, Shows};
use Shows::*;

const SRPT: &[&str] = &["switch.scheduler=srpt"];
/// A curve so steep that losses follow each other in seconds; slow start overshoots.
const CUBIC: &[&str] = &["%.congestion={kind=\"cubic\",c=1000.0,hystart=false}"];
/// A buffer so small that DCTCP loses packets, too.
const LOSSES: &[&str] =
    &["%.congestion=dctcp", "switch.marking={kind=\"step\",threshold=\"5pkts\"}", "switch.buffer=10KB"];
/// Marks, a reference round trip that is longer than the path's, and in force at once.
const PRAGUE: &[&str] = &[
    "%.congestion={kind=\"prague\",rtt_target=\"100us\",rtt_transition=1}",
    "switch.marking={kind=\"step\",threshold=\"5pkts\"}",
];
/// So long that round trips are scaled by default.
const PRAGUE_LONG: &[&str] = &["%.congestion=prague", PRAGUE[1], "traffic.1.size=6MB", "run.until=50ms"];
/// No slow start, which overshoots so far that nothing else happens.
const VEGAS: &[&str] = &["%.congestion={kind=\"vegas\",alpha=10.0,beta=20.0}", "%.initial_threshold=10pkts"];
/// No slow start, which would end beyond what the delay part waits for; on a path with room for 38 segments and more.
const COMPOUND: &[&str] =
    &["%.congestion=compound", "%.initial_threshold=10pkts", "topology.bottleneck_rate=100Mbps"];
/// A flow that a viewer requests.
const VIEWER: &[&str] = &["%.video={}"];
/// Queues that are noticed.
const QUEUED: &[&str] = &["%.congestion={kind=\"compound\",gamma=1.0,low=2.0}", "%.initial_threshold=10pkts"];
/// The first SYN is lost; the first two.
const SYN_LOST: &[&str] = &[
    "%.handshake=true",
    "%.rto={kind=\"rfc6298\",initial=\"100ms\"}",
    "traffic.1.size=60KB",
    "routing.convergence=1ms",
    "incident=[{kind=\"link-failure\",at=\"1us\",until=\"50ms\",link=[\"switch0\",\"switch1\"]}]",
];
const SYNS_LOST: &[&str] = &[
    SYN_LOST[0],
    SYN_LOST[1],
    SYN_LOST[2],
    SYN_LOST[3],
    "incident=[{kind=\"link-failure\",at=\"1us\",until=\"150ms\",link=[\"switch0\",\"switch1\"]}]",
];
/// A window that binds.
const BBR: &[&str] = &["%.congestion={kind=\"bbr\",cwnd_gain=1.0}"];
/// PROBE_RTT comes within the run.
const PROBING: &[&str] = &["%.congestion={kind=\"bbr\",rtt_window=\"400ms\"}"];
const VIVACE: &[&str] = &["%.congestion=vivace"];
const VIVACE_LOSSY: &[&str] =
    &["%.congestion=vivace", "link=[{which=\"core-links\",direction=\"forward\",loss={independent=0.02}}]"];
const VERUS: &[&str] = &["%.congestion=verus"];
/// A third of the packets are lost.
const LOSSY: &[&str] =
    &["%.congestion=bbr", "link=[{which=\"core-links\",direction=\"forward\",loss={independent=0.35}}]"];
const BBR3_LOSSY: &[&str] =
    &["%.congestion=bbr3", "link=[{which=\"core-links\",direction=\"forward\",loss={independent=0.05}}]"];
/// Strict priority for ACKs too.
const CLASSES: &[&str] = &["switch.scheduler={kind=\"priority\",classes=5,control=\"by-class\"}"];
const RC3: &[&str] = &["switch.scheduler={kind=\"priority\",classes=5,control=\"by-class\"}", "%.rc3={}"];
/// 11 segments from the tail are of the second level, or of the third.
const BORDERS: &[&str] = &[RC3[0], "%.rc3={first=1}", "%.initial_window=2pkts"];
const VIDEO: &[&str] = &["%.writes={first=\"10KB\",chunk=\"5KB\",every=\"50us\"}"];
const ACKS: &[&str] =
    &["switch.scheduler={kind=\"priority\",classes=5,control=\"by-class\"}", "traffic.0.class=1"];
/// Rates that change while flows last.
const RATED: &[&str] =
    &["%.congestion=rcp", "%.handshake=true", "switch.marking={kind=\"rcp\",rtt=\"20us\",period=\"20us\"}"];
const ABC: &[&str] = &["%.congestion=abc", "switch.marking={kind=\"abc\",threshold=\"5ms\"}"];
const VCP: &[&str] = &["%.congestion=vcp", "switch.marking={kind=\"vcp\",period=\"40us\"}"];
const STEP: &[&str] = &["%.congestion=dctcp", "switch.marking={kind=\"step\",threshold=\"5pkts\"}"];

const SWIFT: &[&str] = &["%.congestion=swift"];
const HOMA: &[&str] =
    &["nic.order=round-robin", "%={kind=\"homa\"}", "switch.scheduler={kind=\"priority\",classes=8}"];
const CREDITS: &[&str] = &["switch.scheduler=expresspass", "nic.scheduler=expresspass"];
const EXPRESSPASS: &[&str] =
    &["switch.scheduler=expresspass", "nic.scheduler=expresspass", "%={kind=\"expresspass\"}"];
const NDP: &[&str] = &["nic.order=round-robin", "%={kind=\"ndp\"}"];
/// Between racks there is a choice.
const NUMBERED: &[&str] = &[
    "topology={kind=\"leaf-spine\",leaves=2,spines=2,hosts_per_leaf=3}",
    NDP[0],
    NDP[1],
    "routing=numbered",
];
const PULL: &[&str] = &["nic.order=round-robin"];
const PHOST: &[&str] = &["nic.order=round-robin", "%={kind=\"phost\"}"];
const PHOST_CLASSES: &[&str] =
    &["nic.order=round-robin", "%={kind=\"phost\"}", "switch.scheduler={kind=\"priority\",classes=3}"];

#[rustfmt::skip]
pub const KEYS: &[Row] = &[
    // ---- transport
    ("%", BUSY, &[], "{kind=\"tcp\"}", "{kind=\"udp\"}", Outcome),
    ("%=tcp", BUSY, &[], "{kind=\"tcp\"}", "{kind=\"udp\"}", Outcome),
    ("%=udp", BUSY, &[], "{kind=\"udp\"}", "{kind=\"tcp\"}", Outcome),
    ("%(tcp).mss", BUSY, &[], "", "1000B", Outcome),
    ("%(tcp).header", BUSY, &[], "", "60B", Outcome),
    ("%(tcp).ack_size", BUSY, &[], "", "64B", Outcome),
    ("%(tcp).telemetry", BUSY, &["%.congestion=hpcc"], "", "20B", Outcome),
    ("%(tcp).syn_size", BUSY, &["%.handshake=true"], "", "64B", Outcome),
    ("%(tcp).flight", BUSY, &["switch.buffer=10KB"], "", "span", Outcome),
    ("%(tcp).flight=pipe", BUSY, &["switch.buffer=10KB"], "pipe", "span", Outcome),
    ("%(tcp).flight=span", BUSY, &["switch.buffer=10KB"], "span", "pipe", Outcome),
    ("%(tcp).flight=span-omniscient", BUSY, &["switch.buffer=20KB"], "span-omniscient", "span", Outcome),
    ("%(tcp).initial_window", BUSY, &[], "", "4pkts", Outcome),
    ("%(tcp).max_window", BUSY, &[], "", "12pkts", Outcome),
    ("%(tcp).initial_threshold", BUSY, &[], "", "5pkts", Outcome),
    ("%(tcp).congestion", BUSY, &[], "newreno", "mintcp", Outcome),
    ("%(tcp).congestion=newreno", BUSY, &[], "newreno", "fixed", Outcome),
    ("%(tcp).congestion=cubic", BUSY, &[], "cubic", "newreno", Outcome),
    ("%(tcp).congestion(cubic).c", WAN, CUBIC, "1000.0", "0.4", Outcome),
    ("%(tcp).congestion(cubic).beta", WAN, CUBIC, "", "0.5", Outcome),
    ("%(tcp).congestion(cubic).fast_convergence", WAN, CUBIC, "", "false", Outcome),
    ("%(tcp).congestion(cubic).reno_friendly", BUSY, &["%.congestion=cubic"], "true", "false", Outcome),
    ("%(tcp).congestion(cubic).hystart", WAN, &["%.congestion=cubic"], "true", "false", Outcome),
    ("%(tcp).congestion=dctcp", BUSY, STEP, "dctcp", "dctcp-rate", Outcome),
    ("%(tcp).congestion(dctcp).gain", BUSY, STEP, "", "0.5", Outcome),
    ("%(tcp).congestion(dctcp).initial_alpha", BUSY, STEP, "", "0.0", Outcome),
    ("%(tcp).congestion(dctcp).growth", BUSY, STEP, "", "always", Outcome),
    ("%(tcp).congestion(dctcp).growth=always", BUSY, STEP, "always", "outside-cwr", Outcome),
    ("%(tcp).congestion(dctcp).growth=unmarked-acks", BUSY, STEP, "unmarked-acks", "outside-cwr", Outcome),
    ("%(tcp).congestion(dctcp).growth=outside-cwr", BUSY, STEP, "outside-cwr", "room", Outcome),
    ("%(tcp).congestion(dctcp).growth=gradual-cwr", BUSY, STEP, "gradual-cwr", "outside-cwr", Outcome),
    ("%(tcp).congestion(dctcp).growth=room", BUSY, STEP, "room", "always", Outcome),
    ("%(tcp).congestion(dctcp).cut_without_marks", BUSY, STEP, "", "true", Outcome),
    ("%(tcp).congestion(dctcp).losses", BUSY, LOSSES, "", "aimd", Outcome),
    ("%(tcp).congestion(dctcp).losses=newreno", BUSY, LOSSES, "newreno", "aimd", Outcome),
    ("%(tcp).congestion(dctcp).losses=aimd", BUSY, LOSSES, "aimd", "newreno", Outcome),
    ("%(tcp).congestion=dctcp-rate", BUSY, STEP, "dctcp-rate", "dctcp", Outcome),
    ("%(tcp).congestion(dctcp-rate).gain", BUSY, &["%.congestion=dctcp-rate", "switch.marking={kind=\"step\",threshold=\"5pkts\"}"], "", "0.5", Outcome),
    ("%(tcp).congestion(dctcp-rate).initial_alpha", BUSY, &["%.congestion=dctcp-rate", "switch.marking={kind=\"step\",threshold=\"5pkts\"}"], "", "0.5", Outcome),
    ("%(tcp).congestion(dctcp-rate).step", BUSY, &["%.congestion=dctcp-rate", "switch.marking={kind=\"step\",threshold=\"5pkts\"}"], "", "100Mbps", Outcome),
    ("%(tcp).congestion(dctcp-rate).min_rate", BUSY, &["%.congestion=dctcp-rate", "switch.marking={kind=\"step\",threshold=\"5pkts\"}"], "", "5Gbps", Outcome),
    ("%(tcp).congestion=mintcp", BUSY, &[], "mintcp", "newreno", Outcome),
    ("%(tcp).congestion(mintcp).halve_threshold", BUSY, &["%.congestion=mintcp", "%.loss=timeout-only"], "true", "false", Outcome),
    ("%(tcp).congestion=fixed", BUSY, &[], "fixed", "newreno", Outcome),
    ("%(tcp).congestion=external", BUSY, &[], "external", "newreno", Outcome),
    ("%(tcp).congestion=aimd", BUSY, &[], "aimd", "newreno", Outcome),
    ("%(tcp).congestion=timely", BUSY, &[], "timely", "newreno", Outcome),
    ("%(tcp).congestion=rtt-target", BUSY, &[], "rtt-target", "newreno", Outcome),
    ("%(tcp).congestion=hpcc", BUSY, &[], "hpcc", "newreno", Outcome),
    ("%(tcp).congestion=vegas", BUSY, &[], "vegas", "newreno", Outcome),
    ("%(tcp).congestion(vegas).alpha", WAN, VEGAS, "10.0", "3.0", Outcome),
    ("%(tcp).congestion(vegas).beta", WAN, &["%.congestion=vegas"], "", "100.0", Outcome),
    ("%(tcp).congestion(vegas).gamma", WAN, &["%.congestion=vegas"], "", "100.0", Outcome),
    ("%(tcp).congestion(vegas).difference", WAN, VEGAS, "", "paper", Outcome),
    ("%(tcp).congestion(vegas).difference=linux", WAN, VEGAS, "linux", "paper", Outcome),
    ("%(tcp).congestion(vegas).difference=paper", WAN, VEGAS, "paper", "linux", Outcome),
    ("%(tcp).congestion(vegas).difference=ns3", WAN, VEGAS, "ns3", "linux", Outcome),
    ("%(tcp).congestion=bbr", BUSY, &[], "bbr", "newreno", Outcome),
    ("%(tcp).congestion(bbr).high_gain", WAN, BBR, "", "2.0", Outcome),
    ("%(tcp).congestion(bbr).cwnd_gain", WAN, BBR, "1.0", "1.5", Outcome),
    ("%(tcp).congestion(bbr).bw_rounds", WAN, LOSSY, "", "2", Outcome),
    ("%(tcp).congestion(bbr).rtt_window", WAN, PROBING, "400ms", "10s", Outcome),
    ("%(tcp).congestion(bbr).probe_rtt", WAN, PROBING, "", "50ms", Outcome),
    ("%(tcp).congestion(bbr).margin", WAN, BBR, "", "0.1", Outcome),
    ("%(tcp).congestion(bbr).quantum", WAN, BBR, "", "1", Outcome),
    ("%(tcp).congestion(bbr).aggregation", WAN, BBR, "true", "false", Outcome),
    ("%(tcp).congestion=prague", BUSY, STEP, "prague", "dctcp", Outcome),
    ("%(tcp).congestion(prague).gain", BUSY, PRAGUE, "", "0.5", Outcome),
    ("%(tcp).congestion(prague).initial_alpha", BUSY, PRAGUE, "", "0.0", Outcome),
    ("%(tcp).congestion(prague).rtt_scaling", BUSY, PRAGUE, "", "additive", Outcome),
    ("%(tcp).congestion(prague).rtt_scaling=none", BUSY, PRAGUE_LONG, "none", "rate", Outcome),
    ("%(tcp).congestion(prague).rtt_scaling=rate", BUSY, PRAGUE, "rate", "additive", Outcome),
    ("%(tcp).congestion(prague).rtt_scaling=additive", BUSY, PRAGUE, "additive", "rate", Outcome),
    ("%(tcp).congestion(prague).rtt_target", BUSY, PRAGUE, "100us", "400us", Outcome),
    ("%(tcp).congestion(prague).rtt_transition", BUSY, PRAGUE, "1", "500", Outcome),
    ("%(tcp).congestion=compound", WAN, &["%.initial_threshold=10pkts", "topology.bottleneck_rate=100Mbps"], "compound", "newreno", Outcome),
    ("%(tcp).congestion(compound).alpha", WAN, COMPOUND, "", "0.5", Outcome),
    ("%(tcp).congestion(compound).k", WAN, COMPOUND, "", "0.9", Outcome),
    ("%(tcp).congestion(compound).gamma", WAN, QUEUED, "1.0", "1000.0", Outcome),
    ("%(tcp).congestion(compound).zeta", WAN, QUEUED, "", "0.1", Outcome),
    ("%(tcp).congestion(compound).low", WAN, COMPOUND, "", "1000.0", Outcome),
    ("%(tcp).congestion=bbr3", BUSY, &[], "bbr3", "bbr", Outcome),
    ("%(tcp).congestion(bbr3).loss_threshold", WAN, BBR3_LOSSY, "", "0.5", Outcome),
    ("%(tcp).congestion(bbr3).beta", WAN, BBR3_LOSSY, "", "0.9", Outcome),
    ("%(tcp).congestion(bbr3).headroom", WAN, BBR3_LOSSY, "", "0.5", Outcome),
    ("%(tcp).congestion(bbr3).probe_rtt_interval", WAN, &["%.congestion=bbr3"], "", "100ms", Outcome),
    ("%(tcp).congestion(bbr3).margin", WAN, &["%.congestion=bbr3"], "", "0.1", Outcome),
    ("%(tcp).congestion(bbr3).quantum", WAN, &["%.congestion=bbr3"], "", "20", Outcome),
    ("%(tcp).congestion(bbr).policer", WAN, LOSSY, "true", "false", Outcome),
    ("%(tcp).congestion=copa", BUSY, &[], "copa", "newreno", Outcome),
    ("%(tcp).congestion(copa).delta", WAN, &["%.congestion=copa"], "", "0.1", Outcome),
    ("%(tcp).congestion(copa).mode_switching", BUSY, &["%.congestion=copa"], "true", "false", Outcome),
    ("%(tcp).congestion(copa).rtt_window", WAN, &["%.congestion={kind=\"copa\",delta=0.1}"], "", "100ms", Outcome),
    ("%(tcp).congestion=vivace", BUSY, &[], "vivace", "newreno", Outcome),
    ("%(tcp).congestion(vivace).utility", WAN, VIVACE, "", "published", Outcome),
    ("%(tcp).congestion(vivace).utility=linear", WAN, VIVACE, "linear", "published", Outcome),
    ("%(tcp).congestion(vivace).utility=published", WAN, VIVACE, "published", "linear", Outcome),
    ("%(tcp).congestion(vivace).latency", WAN, VIVACE, "", "0.0", Outcome),
    ("%(tcp).congestion(vivace).loss", WAN, VIVACE_LOSSY, "", "100.0", Outcome),
    ("%(tcp).congestion(vivace).probe", WAN, VIVACE, "", "0.2", Outcome),
    ("%(tcp).congestion(vivace).step", WAN, VIVACE, "", "20Mbps", Outcome),
    ("%(tcp).congestion(vivace).initial_rate", WAN, VIVACE, "", "20Mbps", Outcome),
    ("%(tcp).congestion=verus", BUSY, &[], "verus", "newreno", Outcome),
    ("%(tcp).congestion(verus).epoch", WAN, VERUS, "", "10ms", Outcome),
    ("%(tcp).congestion(verus).ratio", WAN, VERUS, "", "2.0", Outcome),
    ("%(tcp).congestion(verus).decrease", WAN, VERUS, "", "0.5", Outcome),
    ("%(tcp).congestion(verus).refit", WAN, VERUS, "", "50ms", Outcome),
    ("%(tcp).congestion=sprout", BUSY, &[], "sprout", "newreno", Outcome),
    ("%(tcp).congestion(sprout).independent", WAN, &["%.congestion=sprout"], "", "false", Outcome),
    // Segments are as long as windows are, unless these are counted in another length.
    (
        "%(tcp).congestion(sprout).any_size",
        WAN,
        &["%.congestion={kind=\"sprout\",bytes=true}"],
        "",
        "false",
        Outcome,
    ),
    ("%(tcp).congestion(sprout).bytes", WAN, &["%.congestion=sprout"], "", "false", Outcome),
    ("%(tcp).congestion=abc", WAN, ABC, "abc", "dctcp", Outcome),
    ("%(tcp).congestion(abc).additive", WAN, ABC, "", "0.0", Outcome),
    ("%(tcp).congestion(abc).encoding", WAN, ABC, "proxy", "full", Refused),
    ("%(tcp).congestion(abc).encoding=proxy", WAN, ABC, "proxy", "full", Refused),
    ("%(tcp).congestion(abc).encoding=full", WAN, &["%.congestion=abc", "switch.marking={kind=\"abc\",encoding=\"full\"}"], "full", "proxy", Refused),
    ("%(tcp).congestion(abc).paced", WAN, ABC, "false", "true", Outcome),
    ("%(tcp).congestion(abc).dual", WAN, &["%.congestion=abc", "switch.marking={kind=\"abc\"}", "switch.buffer=15pkts"], "true", "false", Outcome),
    ("%(tcp).congestion=xcp", BUSY, &["%.congestion=xcp", "switch.marking=xcp"], "xcp", "newreno", Refused),
    ("%(tcp).congestion=rcp", BUSY, &["%.congestion=rcp", "switch.marking=rcp"], "rcp", "newreno", Refused),
    ("%(tcp).congestion(rcp).in_flight", BUSY, RATED, "", "round-trip", Outcome),
    ("%(tcp).congestion(rcp).in_flight=unlimited", BUSY, RATED, "unlimited", "round-trip", Outcome),
    ("%(tcp).congestion(rcp).in_flight=round-trip", BUSY, RATED, "round-trip", "unlimited", Outcome),
    ("%(tcp).congestion(rcp).at_once", BUSY, RATED, "", "true", Outcome),
    ("%(tcp).congestion(rcp).probe", BUSY, &["%.congestion=rcp", "switch.marking=rcp"], "", "2", Outcome),
    ("%(tcp).congestion=vcp", BUSY, VCP, "vcp", "newreno", Refused),
    ("%(tcp).congestion(vcp).alpha", BUSY, VCP, "", "20.0", Outcome),
    ("%(tcp).congestion(vcp).beta", BUSY, VCP, "", "0.5", Outcome),
    ("%(tcp).congestion(vcp).xi", BUSY, VCP, "", "0.5", Outcome),
    ("%(tcp).congestion(vcp).freeze", BUSY, VCP, "", "20us", Outcome),
    ("%(tcp).congestion=swift", BUSY, &[], "swift", "newreno", Outcome),
    ("%(tcp).congestion(swift).variant", BUSY, SWIFT, "", "htsim", Outcome),
    ("%(tcp).congestion(swift).variant=published", BUSY, SWIFT, "published", "htsim", Outcome),
    ("%(tcp).congestion(swift).variant=htsim", BUSY, SWIFT, "htsim", "published", Outcome),
    ("%(tcp).congestion(swift).base_target", BUSY, SWIFT, "", "9us", Outcome),
    ("%(tcp).congestion(swift).hop_target", BUSY, SWIFT, "", "9us", Outcome),
    ("%(tcp).congestion(swift).flow_range", BUSY, SWIFT, "", "10us", Outcome),
    ("%(tcp).congestion(swift).flow_min", BUSY, SWIFT, "", "1.0", Outcome),
    ("%(tcp).congestion(swift).flow_max", BUSY, SWIFT, "", "20.0", Outcome),
    ("%(tcp).congestion(swift).additive", BUSY, SWIFT, "", "3.0", Outcome),
    ("%(tcp).congestion(swift).beta", BUSY, SWIFT, "", "0.1", Outcome),
    ("%(tcp).congestion(swift).max_decrease", BUSY, SWIFT, "", "0.1", Outcome),
    ("%(tcp).congestion(swift).min_window", BUSY, SWIFT, "", "1.0", Outcome),
    ("%(tcp).congestion=custom", BUSY, &[], "{kind=\"custom\",name=\"still\"}", "newreno", Outcome),
    ("%(tcp).congestion(custom).name", BUSY, &["%.congestion={kind=\"custom\",name=\"still\"}"], "still", "calm", Outcome),
    ("%(tcp).congestion(custom).params", BUSY, &["%.congestion={kind=\"custom\",name=\"still\"}"], "4", "9", Outcome),
    ("%(tcp).rto", BUSY, &[], "{kind=\"fixed\",value=\"100us\"}", "{kind=\"fixed\",value=\"300us\"}", Outcome),
    ("%(tcp).rto=rfc6298", BUSY, &[], "{kind=\"rfc6298\",min=\"200us\",initial=\"300us\"}", "{kind=\"fixed\",value=\"300us\"}", Outcome),
    ("%(tcp).rto(rfc6298).initial", BUSY, &["switch.buffer=10KB", "%.rto={kind=\"rfc6298\",initial=\"300us\",min=\"200us\",max=\"900us\"}"], "300us", "500us", Outcome),
    ("%(tcp).rto(rfc6298).min", BUSY, &["%.rto={kind=\"rfc6298\",initial=\"300us\",min=\"200us\",max=\"900us\"}"], "200us", "300us", Outcome),
    ("%(tcp).rto(rfc6298).max", BUSY, &["switch.buffer=10KB", "%.rto={kind=\"rfc6298\",initial=\"300us\",min=\"200us\",max=\"900us\"}"], "900us", "300us", Outcome),
    ("%(tcp).rto=linux", BUSY, &[], "{kind=\"linux\",min=\"200us\",initial=\"300us\"}", "{kind=\"rfc6298\",min=\"200us\",initial=\"300us\"}", Outcome),
    ("%(tcp).rto(linux).initial", BUSY, &["switch.buffer=10KB", "%.rto={kind=\"linux\",initial=\"300us\",min=\"200us\",max=\"900us\"}"], "300us", "500us", Outcome),
    ("%(tcp).rto(linux).min", BUSY, &["%.rto={kind=\"linux\",initial=\"300us\",min=\"200us\",max=\"900us\"}"], "200us", "300us", Outcome),
    ("%(tcp).rto(linux).max", BUSY, &["switch.buffer=10KB", "%.rto={kind=\"linux\",initial=\"300us\",min=\"200us\",max=\"900us\"}"], "900us", "300us", Outcome),
    ("%(tcp).rto=fixed", BUSY, &["%.rto={kind=\"fixed\",value=\"250us\"}"], "{kind=\"fixed\",value=\"250us\"}", "{kind=\"rfc6298\",initial=\"300us\",min=\"200us\"}", Outcome),
    ("%(tcp).rto(fixed).value", BUSY, &["%.rto={kind=\"fixed\",value=\"250us\"}"], "250us", "350us", Outcome),
    ("%(tcp).loss", BUSY, &[], "dup-ack", "timeout-only", Outcome),
    ("%(tcp).loss=dup-ack", BUSY, &[], "dup-ack", "timeout-only", Outcome),
    ("%(tcp).loss(dup-ack).threshold", BUSY, &["%.loss={kind=\"dup-ack\"}"], "", "6", Outcome),
    ("%(tcp).loss=rack", BUSY, &["switch.buffer=10KB"], "rack", "dup-ack", Outcome),
    ("%(tcp).loss(rack).tail_probes", BUSY, &["switch.buffer=10KB", "%.loss={kind=\"rack\"}"], "", "false", Outcome),
    ("%(tcp).loss=timeout-only", BUSY, &[], "timeout-only", "dup-ack", Outcome),
    ("%(tcp).impatient", WAN, &["%.sack=off", "%.rto={kind=\"rfc6298\",initial=\"200ms\",min=\"1ms\",max=\"1s\"}"], "false", "true", Outcome),
    ("%(tcp).prr", BUSY, &[], "off", "rfc9937", Outcome),
    ("%(tcp).prr=off", BUSY, &[], "off", "rfc6937", Outcome),
    ("%(tcp).prr=rfc6937", BUSY, &["switch.buffer=10KB"], "rfc6937", "rfc9937", Outcome),
    ("%(tcp).prr=rfc9937", BUSY, &[], "rfc9937", "off", Outcome),
    ("%(tcp).pacing", BUSY, &[], "false", "true", Outcome),
    ("%(tcp).growth", STREAMS, &[], "when-used", "always", Outcome),
    ("%(tcp).growth=when-used", STREAMS, &[], "when-used", "when-half-used", Outcome),
    ("%(tcp).growth=when-half-used", STREAMS, &[], "when-half-used", "always", Outcome),
    ("%(tcp).growth=always", STREAMS, &[], "always", "when-used", Outcome),
    ("%(tcp).restart", TALK, &[], "rfc5681", "keep", Outcome),
    ("%(tcp).restart=rfc5681", TALK, &[], "rfc5681", "linux", Outcome),
    ("%(tcp).restart=linux", TALK, &[], "linux", "keep", Outcome),
    ("%(tcp).restart=rfc7661", SILENCE, &[], "rfc7661", "keep", Outcome),
    ("%(tcp).restart=keep", TALK, &[], "keep", "linux", Outcome),
    ("%(tcp).ecn_floor", CROWD, &[], "timer", "segment", Outcome),
    ("%(tcp).ecn_floor=timer", CROWD, &[], "timer", "segment", Outcome),
    ("%(tcp).ecn_floor=segment", CROWD, &[], "segment", "timer", Outcome),
    ("%(tcp).limited_transmit", BUSY, &[], "", "false", Outcome),
    ("%(tcp).sack", BUSY, &[], "", "off", Outcome),
    ("%(tcp).sack=blocks", BUSY, &[], "{kind=\"blocks\"}", "off", Outcome),
    ("%(tcp).sack(blocks).blocks", BUSY, &["%.sack={kind=\"blocks\",on_wire=true}"], "4", "1", Outcome),
    ("%(tcp).sack(blocks).on_wire", BUSY, &["%.sack={kind=\"blocks\"}"], "", "true", Outcome),
    ("%(tcp).sack=off", BUSY, &[], "off", "{kind=\"blocks\"}", Outcome),
    ("%(tcp).delayed_acks", BUSY, &[], "", "{kind=\"on\"}", Outcome),
    ("%(tcp).delayed_acks=off", BUSY, &[], "off", "on", Outcome),
    ("%(tcp).delayed_acks=on", BUSY, &[], "on", "off", Outcome),
    ("%(tcp).delayed_acks(on).every", BUSY, &["%.delayed_acks=on"], "", "3", Outcome),
    ("%(tcp).delayed_acks(on).delay", BUSY, &["%.delayed_acks={kind=\"on\",delay=\"100us\"}"], "100us", "300us", Outcome),
    ("%(tcp).syn_loss", WAN, SYN_LOST, "", "ignored", Outcome),
    ("%(tcp).syn_loss=rfc", WAN, SYNS_LOST, "rfc", "ignored", Outcome),
    ("%(tcp).syn_loss=linux", WAN, SYN_LOST, "linux", "rfc", Outcome),
    ("%(tcp).syn_loss=ignored", WAN, SYNS_LOST, "ignored", "linux", Outcome),
    ("%(tcp).handshake", BUSY, &[], "false", "true", Outcome),
    ("%(tcp).ecn", BUSY, &["%.ecn=classic", "switch.marking={kind=\"red\",min=3,max=8,weight=0.3,ecn=true}"], "classic", "accurate", Outcome),
    ("%(tcp).ecn=off", BUSY, &["%.ecn=off", "switch.marking={kind=\"red\",min=3,max=8,weight=0.3}"], "off", "classic", Outcome),
    ("%(tcp).ecn=classic", BUSY, &["%.ecn=classic", "switch.marking={kind=\"red\",min=3,max=8,weight=0.3,ecn=true}"], "classic", "accurate", Outcome),
    ("%(tcp).ecn=accurate", BUSY, STEP, "accurate", "classic", Outcome),
    ("%(tcp).timestamps", BUSY, &["switch.buffer=10KB"], "false", "true", Outcome),
    ("%(tcp).probe_after", BUSY, &["switch.buffer=10KB", "%.congestion=mintcp", "%.loss=timeout-only", "%.rto={kind=\"fixed\",value=\"48us\"}"], "", "1", Outcome),
    ("%(tcp).rank", BUSY, SRPT, "", "{kind=\"socket-buffer\",buffer=\"20KB\"}", Outcome),
    ("%(tcp).rank=none", BUSY, &["measure.priority_histogram={}"], "none", "remaining", Tables),
    ("%(tcp).rank=flow-size", BUSY, &["measure.priority_histogram={}"], "flow-size", "remaining", Tables),
    ("%(tcp).rank=from-here", BUSY, SRPT, "from-here", "remaining", Outcome),
    ("%(tcp).rank=remaining", BUSY, SRPT, "remaining", "{kind=\"socket-buffer\",buffer=\"20KB\"}", Outcome),
    ("%(tcp).rank=socket-buffer", BUSY, SRPT, "{kind=\"socket-buffer\",buffer=\"20KB\"}", "remaining", Outcome),
    ("%(tcp).rank(socket-buffer).buffer", BUSY, &["switch.scheduler=srpt", "%.rank={kind=\"socket-buffer\",buffer=\"20KB\"}"], "20KB", "5KB", Outcome),
    ("%(tcp).ack_class", BUSY, ACKS, "", "data", Outcome),
    ("%(tcp).ack_class=first", BUSY, ACKS, "first", "data", Outcome),
    ("%(tcp).ack_class=data", BUSY, ACKS, "data", "first", Outcome),
    ("%(tcp).video", WAN, &[], "", "{}", Outcome),
    ("%(tcp).video.ladder", WAN, VIEWER, "", "[\"1Mbps\",\"2Mbps\"]", Outcome),
    ("%(tcp).video.chunk", WAN, VIEWER, "", "1s", Outcome),
    ("%(tcp).video.buffer", WAN, VIEWER, "", "4s", Outcome),
    ("%(tcp).video.safety", WAN, VIEWER, "", "0.2", Outcome),
    ("%(tcp).writes", BUSY, &[], "", "{first=\"10KB\",chunk=\"5KB\",every=\"50us\"}", Outcome),
    ("%(tcp).writes.first", BUSY, VIDEO, "10KB", "20KB", Outcome),
    ("%(tcp).writes.chunk", BUSY, VIDEO, "5KB", "9KB", Outcome),
    ("%(tcp).writes.every", BUSY, VIDEO, "50us", "20us", Outcome),
    ("%(tcp).rc3", BUSY, &[CLASSES[0], "traffic.1.class=1"], "", "{}", Outcome),
    ("%(tcp).rc3.first", BUSY, RC3, "", "5", Outcome),
    ("%(tcp).rc3.levels", BUSY, &[RC3[0], "%.rc3={first=2}"], "", "1", Outcome),
    ("%(tcp).rc3.borders", BUSY, BORDERS, "", "distances", Outcome),
    ("%(tcp).rc3.borders=quotas", BUSY, BORDERS, "quotas", "distances", Outcome),
    ("%(tcp).rc3.borders=distances", BUSY, BORDERS, "distances", "quotas", Outcome),
    ("%(tcp).rc3.together", BUSY, RC3, "", "8", Outcome),
    ("%(tcp).rc3.mode", BUSY, RC3, "", "pull", Outcome),
    ("%(tcp).rc3.mode=push", BUSY, RC3, "push", "pull", Outcome),
    ("%(tcp).rc3.mode=pull", BUSY, RC3, "pull", "push", Outcome),
    ("%(tcp).rc3.flush", BUSY, RC3, "", "true", Outcome),
    ("%(udp).payload", BUSY, &["%={kind=\"udp\"}"], "", "1000B", Outcome),
    ("%(udp).header", BUSY, &["%={kind=\"udp\"}"], "", "60B", Outcome),
    ("%(udp).pace", BUSY, &["%={kind=\"udp\"}"], "", "{kind=\"constant\",rate=\"1Gbps\"}", Outcome),
    ("%(udp).pace=burst", BUSY, &["%={kind=\"udp\"}"], "burst", "{kind=\"poisson\",rate=\"1Gbps\"}", Outcome),
    ("%(udp).pace=constant", BUSY, &["%={kind=\"udp\"}"], "{kind=\"constant\",rate=\"1Gbps\"}", "{kind=\"poisson\",rate=\"1Gbps\"}", Outcome),
    ("%(udp).pace(constant).rate", BUSY, &["%={kind=\"udp\",pace={kind=\"constant\",rate=\"1Gbps\"}}"], "1Gbps", "2Gbps", Outcome),
    ("%(udp).pace=poisson", BUSY, &["%={kind=\"udp\"}"], "{kind=\"poisson\",rate=\"1Gbps\"}", "burst", Outcome),
    ("%(udp).pace(poisson).rate", BUSY, &["%={kind=\"udp\",pace={kind=\"poisson\",rate=\"1Gbps\"}}"], "1Gbps", "2Gbps", Outcome),
    ("%(udp).rank", BUSY, &["%={kind=\"udp\"}", "measure.priority_histogram={}"], "none", "flow-size", Tables),
    ("%(udp).rank=none", BUSY, &["%={kind=\"udp\"}", "measure.priority_histogram={}"], "none", "flow-size", Tables),
    ("%(udp).rank=flow-size", BUSY, &["%={kind=\"udp\"}", "measure.priority_histogram={}"], "flow-size", "none", Tables),
    ("%(udp).rank=from-here", BUSY, &["%={kind=\"udp\"}", "measure.priority_histogram={}"], "none", "from-here", Refused),
    ("%(udp).rank=remaining", BUSY, &["%={kind=\"udp\"}", "measure.priority_histogram={}"], "none", "remaining", Refused),
    ("%(udp).rank=socket-buffer", BUSY, &["%={kind=\"udp\"}", "measure.priority_histogram={}"], "none", "{kind=\"socket-buffer\",buffer=\"20KB\"}", Refused),
    ("%(udp).rank(socket-buffer).buffer", BUSY, &["%={kind=\"udp\"}", "measure.priority_histogram={}"], "", "20KB", Refused),
    ("%=phost", BUSY, PULL, "{kind=\"phost\"}", "{kind=\"udp\"}", Outcome),
    ("%(phost).payload", BUSY, PHOST, "", "1000B", Outcome),
    ("%(phost).header", BUSY, PHOST, "", "60B", Outcome),
    ("%(phost).control_size", BUSY, PHOST, "", "64B", Outcome),
    ("%(phost).free_tokens", BUSY, PHOST, "", "2", Outcome),
    ("%(phost).free_for", BUSY, PHOST, "", "all", Outcome),
    ("%(phost).free_for=short", BUSY, PHOST, "short", "all", Outcome),
    ("%(phost).free_for=all", BUSY, PHOST, "all", "short", Outcome),
    ("%(phost).spacing", BUSY, PHOST, "", "2us", Outcome),
    ("%(phost).again", BUSY, PHOST, "", "100us", Outcome),
    ("%(phost).window", BUSY, PHOST, "", "3", Outcome),
    ("%(phost).token_life", BUSY, PHOST, "", "200us", Outcome),
    ("%(phost).patience", BUSY, PHOST, "", "200us", Outcome),
    ("%(phost).retry", BUSY, PHOST, "", "60us", Outcome),
    ("%(phost).free_class", BUSY, PHOST_CLASSES, "", "2", Outcome),
    ("%(phost).token_class", BUSY, PHOST_CLASSES, "", "1", Outcome),
    ("%=homa", BUSY, PULL, "{kind=\"homa\"}", "{kind=\"udp\"}", Outcome),
    ("%(homa).payload", BUSY, HOMA, "", "1000B", Outcome),
    ("%(homa).header", BUSY, HOMA, "", "60B", Outcome),
    ("%(homa).control_size", BUSY, HOMA, "", "64B", Outcome),
    ("%(homa).rtt_bytes", BUSY, HOMA, "", "3KB", Outcome),
    ("%(homa).levels", BUSY, HOMA, "", "2", Outcome),
    ("%(homa).cutoffs", BUSY, HOMA, "", "[\"2KB\"]", Outcome),
    ("%(homa).overcommitment", BUSY, HOMA, "", "1", Outcome),
    ("%(homa).resend", BUSY, HOMA, "", "20us", Outcome),
    ("%=expresspass", BUSY, CREDITS, "{kind=\"expresspass\"}", "{kind=\"udp\"}", Outcome),
    ("%(expresspass).payload", BUSY, EXPRESSPASS, "", "1000B", Outcome),
    ("%(expresspass).header", BUSY, EXPRESSPASS, "", "60B", Outcome),
    ("%(expresspass).control_size", BUSY, EXPRESSPASS, "", "64B", Outcome),
    ("%(expresspass).credit_min", BUSY, EXPRESSPASS, "", "84B", Outcome),
    ("%(expresspass).credit_max", BUSY, EXPRESSPASS, "", "84B", Outcome),
    ("%(expresspass).max_rate", BUSY, EXPRESSPASS, "", "100Mbps", Outcome),
    ("%(expresspass).alpha", BUSY, EXPRESSPASS, "", "0.1", Outcome),
    ("%(expresspass).w_init", BUSY, EXPRESSPASS, "", "0.5", Outcome),
    ("%(expresspass).w_min", BUSY, EXPRESSPASS, "", "0.06", Outcome),
    ("%(expresspass).target_loss", BUSY, EXPRESSPASS, "", "0.5", Outcome),
    ("%(expresspass).jitter", BUSY, EXPRESSPASS, "", "0.0", Outcome),
    ("%(expresspass).retry", BUSY, EXPRESSPASS, "", "3us", Outcome),
    ("%=ndp", BUSY, PULL, "{kind=\"ndp\"}", "{kind=\"udp\"}", Outcome),
    ("%(ndp).payload", BUSY, NDP, "", "1000B", Outcome),
    ("%(ndp).header", BUSY, NDP, "", "100B", Outcome),
    ("%(ndp).control_size", BUSY, NDP, "", "100B", Outcome),
    ("%(ndp).window", BUSY, NDP, "", "1", Outcome),
    ("%(ndp).pull_share", BUSY, NDP, "", "0.5", Outcome),
    ("%(ndp).retry", BUSY, NDP, "", "100us", Outcome),
    ("%(ndp).paths", BUSY, NUMBERED, "", "1", Outcome),
    ("transports", PLAIN, &[], "{x={initial_window=\"2pkts\"}}", "{x={initial_window=\"3pkts\"}}", Outcome),
];
