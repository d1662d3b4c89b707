//! `rc3`, `ack_class`, `writes` and `video` of transports of kind `tcp`.

use super::Report;
use crate::resolve;
use crate::schema::{
    AckClass, DelayedAcks, Document, Flight, Handed, LossDetection, Rc3, Scheduler, Tcp, Video,
};
use thalweg_machines::transport::RUNGS;

/// Reports what is impossible or ineffective.
pub(super) fn check(r: &mut Report<'_>, key: &str, t: &Tcp, doc: &Document) {
    let at = |name: &str| format!("{key}.{name}");
    if let Some(w) = t.writes {
        if w.chunk.get() == 0 {
            r.error(
                &at("writes.chunk"),
                "an application that writes 0 bytes at a time never finishes",
                "for example \"64KB\"",
            );
        }
        if w.every.is_zero() {
            r.error(
                &at("writes.every"),
                "writes without a pause between them are a single write",
                "remove `writes`",
            );
        }
    }
    if let Some(video) = &t.video {
        for (name, reason, hint) in unwatchable(video) {
            r.error(&at(&format!("video.{name}")), reason, hint);
        }
        if t.writes.is_some() {
            r.error(
                &at("video"),
                "`writes` and `video` both decide when the application writes",
                "remove `writes` or `video`",
            );
        }
    }
    let by_class = |s: &Scheduler| s.needs().control_classes || s.needs().anything();
    if t.ack_class == AckClass::Data {
        if t.rc3.is_some() {
            r.ineffective(
                &at("ack_class"),
                "with rc3 ACKs always have the class of their data",
                "remove the key",
            );
        } else if !resolve::schedulers(doc).any(|(_, s)| by_class(s)) {
            let hint = "write `control = \"by-class\"` in the scheduler priority, or remove the key";
            r.ineffective(&at("ack_class"), "no scheduler serves ACKs by class", hint);
        }
    }
    let Some(rc3) = t.rc3 else { return };
    let (rc3_at, wrong) = (at("rc3"), |r: &mut Report<'_>, name: &str, reason: &str, hint: &str| {
        r.error(&format!("{key}.{name}"), reason, hint);
    });
    if t.delayed_acks != DelayedAcks::Off {
        wrong(r, "delayed_acks", "rc3 needs an ACK for each packet", "write \"off\"");
    }
    if t.flight != Flight::Pipe {
        wrong(
            r,
            "flight",
            "only the pipe counts data that rc3 has delivered as no longer in flight",
            "write \"pipe\"",
        );
    }
    if !matches!(t.loss, LossDetection::DupAck { .. }) {
        wrong(r, "loss", "the primary loop of rc3 acts on duplicate ACKs", "write \"dup-ack\"");
    }
    if t.probe_after > 0 {
        wrong(r, "probe_after", "the primary loop of rc3 has no probes", "remove the key");
    }
    let needs = t.congestion.needs();
    if resolve::reads_telemetry(&t.congestion) || needs.delivery {
        let reason =
            "the controller needs telemetry or delivery rates of every segment, and rc3 skips segments";
        wrong(r, "congestion", reason, "use newreno, cubic or dctcp");
    }
    if !resolve::schedulers(doc).any(|(_, s)| s.needs().classes.is_some() || s.needs().anything()) {
        let hint = "write `switch.scheduler = { kind = \"priority\", classes = 5, control = \"by-class\" }`";
        r.error(&rc3_at, "no scheduler serves by class, so packets of rc3 would delay all others", hint);
    }
    levels(r, key, rc3.levels, doc);
    handed(r, key, rc3, doc);
}

/// How its packets are handed to the NIC.
fn handed(r: &mut Report<'_>, key: &str, rc3: Rc3, doc: &Document) {
    let at = |name: &str| format!("{key}.rc3.{name}");
    let pulls = rc3.mode == Handed::Pull;
    if pulls && doc.nic.order.pulls() {
        let reason =
            "`pull` waits for the queue of a NIC to be empty, and with this `nic.order` NICs have no queue";
        r.error(&at("mode"), reason, "write \"push\": such NICs pull every packet when the link is free");
    }
    if pulls && rc3.together > 1 {
        let reason = "with `pull` packets are handed over one by one";
        r.error(&at("together"), reason, "remove the key, or write `mode = \"push\"`");
    }
    if pulls && doc.switch.cut_through.0.get() > 0 {
        r.error("switch.cut_through", "rc3's `pull` needs store and forward", "remove one of them");
    }
    if pulls && doc.switch.preemptive {
        let reason = "rc3's `pull` needs transmissions that are not interrupted";
        r.error("switch.preemptive", reason, "remove one of them");
    }
    if !rc3.flush {
        return;
    }
    if pulls || doc.nic.order.pulls() {
        let why = "NICs pull these packets, so none of them waits in a queue";
        r.ineffective(&at("flush"), why, "remove the key");
    } else if !doc.nic.scheduler.as_ref().is_some_and(|s| s.needs().searchable) {
        let reason = "packets cannot be removed from the queue of `nic.scheduler`";
        r.error(
            &at("flush"),
            reason,
            "write `nic.scheduler = { kind = \"priority\", .. }`, or remove the key",
        );
    }
}

/// Levels beyond the last class, which would share it, and classes of its traffic that leave its levels no room.
fn levels(r: &mut Report<'_>, key: &str, levels: u8, doc: &Document) {
    let classes = resolve::classes(doc);
    if classes > 0 && u32::from(levels) >= classes {
        let reason = format!(
            "{levels} levels below the flow's class need more classes than the {classes} that there are"
        );
        let hint = match classes - 1 {
            0 => "give the scheduler more `classes`".to_owned(),
            fewer => format!("at most {fewer}, or give the scheduler more `classes`"),
        };
        r.ineffective(&format!("{key}.rc3.levels"), &reason, hint);
    }
    let name = key.strip_prefix("transports.").unwrap_or("default");
    for (i, t) in doc.traffic.iter().enumerate().filter(|(_, t)| t.transport == name) {
        if t.class.checked_add(levels).is_none() {
            let reason = format!("rc3 needs {levels} levels below this class, and the lowest class is 255");
            r.error(&format!("traffic.{i}.class"), reason, "write a smaller class");
        }
    }
}

/// Impossible keys of a video: key, reason, way out.
fn unwatchable(video: &Video) -> Vec<(&'static str, String, String)> {
    let mut found = Vec::new();
    let mut wrong = |name, reason: String, hint: &str| found.push((name, reason, hint.to_owned()));
    let rates: Vec<u64> = video.ladder.iter().map(|rate| rate.0.bps()).collect();
    if rates.is_empty() || rates.len() > RUNGS {
        wrong("ladder", format!("the ladder has {} rates", rates.len()), &format!("write one to {RUNGS}"));
    } else if rates[0] == 0 || rates.windows(2).any(|two| two[1] <= two[0]) {
        wrong("ladder", "the rates are not in ascending order, or start at zero".into(), "sort them");
    }
    if video.chunk.0.is_zero() {
        wrong("chunk", "a chunk of 0 s holds no video".into(), "for example \"4s\"");
    }
    if video.buffer.0 < video.chunk.0 {
        wrong(
            "buffer",
            format!("a buffer of {} cannot hold a chunk of {}", video.buffer.0, video.chunk.0),
            "raise it",
        );
    }
    if !(video.safety > 0.0 && video.safety <= 10.0) {
        wrong("safety", format!("{} is out of range", video.safety), "allowed: above 0, at most 10");
    }
    found
}
