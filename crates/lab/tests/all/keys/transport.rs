//! Rows for TCP and UDP.

use super::scenarios::{BUSY, PLAIN, WAN};
use super::{Row, Shows};
use Shows::*;

const SRPT: &[&str] = &["switch.scheduler=srpt"];
/// A curve so steep that losses follow each other in seconds; slow start overshoots.
const CUBIC: &[&str] = &["%.congestion={kind=\"cubic\",c=1000.0,hystart=false}"];
/// A buffer so small that DCTCP loses packets, too.
const LOSSES: &[&str] =
    &["%.congestion=dctcp", "switch.marking={kind=\"step\",threshold=\"5pkts\"}", "switch.buffer=10KB"];
/// No slow start, which overshoots so far that nothing else happens.
const VEGAS: &[&str] = &["%.congestion={kind=\"vegas\",alpha=10.0,beta=20.0}", "%.initial_threshold=10pkts"];
/// A window that binds.
const BBR: &[&str] = &["%.congestion={kind=\"bbr\",cwnd_gain=1.0}"];
/// PROBE_RTT comes within the run.
const PROBING: &[&str] = &["%.congestion={kind=\"bbr\",rtt_window=\"400ms\"}"];
/// A third of the packets are lost.
const LOSSY: &[&str] =
    &["%.congestion=bbr", "link=[{which=\"core-links\",direction=\"forward\",loss={independent=0.35}}]"];
/// Strict priority for ACKs too.
const CLASSES: &[&str] = &["switch.scheduler={kind=\"priority\",classes=5,control=\"by-class\"}"];
const RC3: &[&str] = &["switch.scheduler={kind=\"priority\",classes=5,control=\"by-class\"}", "%.rc3={}"];
/// 11 segments from the tail are of the second level, or of the third.
const BORDERS: &[&str] = &[RC3[0], "%.rc3={first=1}", "%.initial_window=2pkts"];
const VIDEO: &[&str] = &["%.writes={first=\"10KB\",chunk=\"5KB\",every=\"50us\"}"];
const ACKS: &[&str] =
    &["switch.scheduler={kind=\"priority\",classes=5,control=\"by-class\"}", "traffic.0.class=1"];
const ABC: &[&str] = &["%.congestion=abc", "switch.marking={kind=\"abc\",threshold=\"5ms\"}"];
const VCP: &[&str] = &["%.congestion=vcp", "switch.marking={kind=\"vcp\",period=\"40us\"}"];
const STEP: &[&str] = &["%.congestion=dctcp", "switch.marking={kind=\"step\",threshold=\"5pkts\"}"];

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
    ("%(tcp).flight=span-omniscient", BUSY, &["switch.buffer=10KB"], "span-omniscient", "span", Outcome),
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
    ("%(tcp).congestion=aimd", BUSY, &[], "aimd", "newreno", Outcome),
    ("%(tcp).congestion=timely", BUSY, &[], "timely", "newreno", Outcome),
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
    ("%(tcp).congestion(bbr).policer", WAN, LOSSY, "true", "false", Outcome),
    ("%(tcp).congestion=copa", BUSY, &[], "copa", "newreno", Outcome),
    ("%(tcp).congestion(copa).delta", WAN, &["%.congestion=copa"], "", "0.1", Outcome),
    ("%(tcp).congestion(copa).mode_switching", BUSY, &["%.congestion=copa"], "true", "false", Outcome),
    ("%(tcp).congestion(copa).rtt_window", WAN, &["%.congestion={kind=\"copa\",delta=0.1}"], "", "100ms", Outcome),
    ("%(tcp).congestion=abc", WAN, ABC, "abc", "dctcp", Outcome),
    ("%(tcp).congestion(abc).additive", WAN, ABC, "", "0.0", Outcome),
    ("%(tcp).congestion(abc).paced", WAN, ABC, "false", "true", Outcome),
    ("%(tcp).congestion(abc).dual", WAN, &["%.congestion=abc", "switch.marking={kind=\"abc\"}", "switch.buffer=15pkts"], "true", "false", Outcome),
    ("%(tcp).congestion=xcp", BUSY, &["%.congestion=xcp", "switch.marking=xcp"], "xcp", "newreno", Refused),
    ("%(tcp).congestion=rcp", BUSY, &["%.congestion=rcp", "switch.marking=rcp"], "rcp", "newreno", Refused),
    ("%(tcp).congestion(rcp).probe", BUSY, &["%.congestion=rcp", "switch.marking=rcp"], "", "2", Outcome),
    ("%(tcp).congestion=vcp", BUSY, VCP, "vcp", "newreno", Refused),
    ("%(tcp).congestion(vcp).alpha", BUSY, VCP, "", "20.0", Outcome),
    ("%(tcp).congestion(vcp).beta", BUSY, VCP, "", "0.5", Outcome),
    ("%(tcp).congestion(vcp).xi", BUSY, VCP, "", "0.5", Outcome),
    ("%(tcp).congestion(vcp).freeze", BUSY, VCP, "", "20us", Outcome),
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
    ("%(tcp).loss=timeout-only", BUSY, &[], "timeout-only", "dup-ack", Outcome),
    ("%(tcp).impatient", WAN, &["%.sack=off", "%.rto={kind=\"rfc6298\",initial=\"200ms\",min=\"1ms\",max=\"1s\"}"], "false", "true", Outcome),
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
    ("transports", PLAIN, &[], "{x={initial_window=\"2pkts\"}}", "{x={initial_window=\"3pkts\"}}", Outcome),
];
