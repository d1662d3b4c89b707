//! Rows for congestion points, the controllers that listen to them, and DCQCN+PI's marking.

use super::lossless::LOSSY;
use super::scenarios::BUSY;
use super::{Row, Shows};
use Shows::*;

/// Ticks so frequent and queues so short that an incast of 5 × 120 KB has many.
const ROCC: &[&str] = &[
    "switch.inputs={shared=\"300KB\"}",
    "switch.control_first=true",
    "switch.congestion_point={kind=\"rocc\",update=\"5us\",reference=\"6KB\"}",
    "%.congestion={kind=\"rocc\",recovery=\"20us\",reaction=\"2us\"}",
];
/// The same; the recipients are to be chosen.
const AGED: &[&str] = &[
    ROCC[0],
    ROCC[1],
    "switch.congestion_point={kind=\"rocc\",update=\"5us\",reference=\"6KB\",recipients=\"aged\"}",
    ROCC[3],
];
const SAMPLED: &[&str] = &[
    ROCC[0],
    ROCC[1],
    "switch.congestion_point={kind=\"rocc\",update=\"5us\",reference=\"6KB\",recipients={kind=\"sampled\",every=1,memory=3}}",
    ROCC[3],
];
const TRAP: &[&str] = &[
    ROCC[0],
    ROCC[1],
    "switch.congestion_point={kind=\"rocc\",update=\"5us\",reference=\"6KB\",recipients={kind=\"elephant-trap\",every=1,entries=1}}",
    ROCC[3],
];
const DISORDER: &[&str] = &[
    ROCC[0],
    ROCC[1],
    "switch.congestion_point={kind=\"rocc\",update=\"5us\",reference=\"6KB\",growth=\"60KB\"}",
    ROCC[3],
];
const QCN: &[&str] = &[
    "switch.inputs={shared=\"300KB\"}",
    "switch.control_first=true",
    "switch.congestion_point={kind=\"qcn\",sample=\"5KB\",equilibrium=\"6KB\"}",
    "%.congestion={kind=\"qcn\",byte_counter=\"10KB\",timer=\"20us\",fast_recovery=1}",
];
const NOTIFIES: &[&str] = &[
    "switch={scheduler={kind=\"policy\",text=\"q = Queue(99 pkts); out = Port(q); q.congestion = (length >= 2, notify);\"}}",
    "transport={kind=\"rdma\",congestion=\"dcqcn\"}",
    "transports.x={kind=\"rdma\"}",
    "switch.congestion_point={kind=\"policy\"}",
];
const PI: &[&str] =
    &["%.congestion=dctcp", "@.marking={kind=\"pi\",reference=\"5KB\",update=\"10us\",a=0.0002,b=0.0001}"];

#[rustfmt::skip]
pub const KEYS: &[Row] = &[
    ("switch.congestion_point", LOSSY, ROCC, "rocc", "{kind=\"rocc\",reference=\"6KB\"}", Outcome),
    ("switch.congestion_point=rocc", LOSSY, ROCC, "rocc", "{kind=\"rocc\",reference=\"6KB\",update=\"5us\"}", Outcome),
    ("switch.congestion_point(rocc).update", LOSSY, ROCC, "5us", "10us", Outcome),
    ("switch.congestion_point(rocc).rate_step", LOSSY, ROCC, "", "100Mbps", Outcome),
    ("switch.congestion_point(rocc).queue_step", LOSSY, ROCC, "", "300B", Outcome),
    ("switch.congestion_point(rocc).min_rate", LOSSY, ROCC, "", "2Gbps", Outcome),
    ("switch.congestion_point(rocc).max_rate", LOSSY, ROCC, "", "5Gbps", Outcome),
    ("switch.congestion_point(rocc).reference", LOSSY, ROCC, "6KB", "9KB", Outcome),
    ("switch.congestion_point(rocc).growth", LOSSY, ROCC, "", "8KB", Outcome),
    ("switch.congestion_point(rocc).limit", LOSSY, ROCC, "", "60KB", Outcome),
    ("switch.congestion_point(rocc).alpha", LOSSY, ROCC, "", "1.0", Outcome),
    ("switch.congestion_point(rocc).beta", LOSSY, ROCC, "", "0.1", Outcome),
    ("switch.congestion_point(rocc).guard", LOSSY, ROCC, "8", "1", Outcome),
    ("switch.congestion_point(rocc).decrease", LOSSY, ROCC, "true", "false", Outcome),
    ("switch.congestion_point(rocc).any_order", LOSSY, DISORDER, "true", "false", Refused),
    ("switch.congestion_point(rocc).message", LOSSY, ROCC, "", "500B", Outcome),
    ("switch.congestion_point(rocc).computes", LOSSY, ROCC, "", "host-alone", Outcome),
    ("switch.congestion_point(rocc).computes=switch", LOSSY, ROCC, "switch", "host", Outcome),
    ("switch.congestion_point(rocc).computes=host", LOSSY, ROCC, "host", "host-alone", Outcome),
    ("switch.congestion_point(rocc).computes=host-alone", LOSSY, ROCC, "host-alone", "switch", Outcome),
    ("switch.congestion_point(rocc).recipients", LOSSY, ROCC, "in-queue", "aged", Outcome),
    ("switch.congestion_point(rocc).recipients=in-queue", LOSSY, ROCC, "in-queue", "aged", Outcome),
    ("switch.congestion_point(rocc).recipients=aged", LOSSY, ROCC, "aged", "in-queue", Outcome),
    ("switch.congestion_point(rocc).recipients(aged).entries", LOSSY, AGED, "", "1", Outcome),
    ("switch.congestion_point(rocc).recipients=sampled", LOSSY, ROCC, "{kind=\"sampled\",every=1,memory=3}", "in-queue", Outcome),
    ("switch.congestion_point(rocc).recipients(sampled).every", LOSSY, SAMPLED, "1", "9", Outcome),
    ("switch.congestion_point(rocc).recipients(sampled).memory", LOSSY, SAMPLED, "3", "50", Outcome),
    ("switch.congestion_point(rocc).recipients=elephant-trap", LOSSY, ROCC, "{kind=\"elephant-trap\",every=1,entries=1}", "in-queue", Outcome),
    ("switch.congestion_point(rocc).recipients(elephant-trap).entries", LOSSY, TRAP, "1", "8", Outcome),
    ("switch.congestion_point(rocc).recipients(elephant-trap).every", LOSSY, TRAP, "1", "9", Outcome),
    ("%(rdma).congestion=rocc", LOSSY, ROCC, "rocc", "{kind=\"rocc\",recovery=\"20us\"}", Outcome),
    ("%(rdma).congestion(rocc).recovery", LOSSY, ROCC, "20us", "100us", Outcome),
    ("%(rdma).congestion(rocc).reaction", LOSSY, ROCC, "2us", "10us", Outcome),

    ("switch.congestion_point=qcn", LOSSY, QCN, "qcn", "{kind=\"qcn\",sample=\"5KB\",equilibrium=\"6KB\"}", Outcome),
    ("switch.congestion_point(qcn).equilibrium", LOSSY, QCN, "6KB", "12KB", Outcome),
    ("switch.congestion_point(qcn).weight", LOSSY, QCN, "", "0.5", Outcome),
    ("switch.congestion_point(qcn).sample", LOSSY, QCN, "5KB", "15KB", Outcome),
    ("switch.congestion_point(qcn).message", LOSSY, QCN, "", "900B", Outcome),
    ("switch.congestion_point=policy", BUSY, NOTIFIES, "policy", "{kind=\"policy\",message=\"900B\"}", Outcome),
    ("switch.congestion_point(policy).message", BUSY, NOTIFIES, "", "900B", Outcome),
    ("%(rdma).congestion=qcn", LOSSY, QCN, "qcn", "{kind=\"qcn\",byte_counter=\"10KB\"}", Outcome),
    ("%(rdma).congestion(qcn).gain", LOSSY, QCN, "", "0.004", Outcome),
    ("%(rdma).congestion(qcn).byte_counter", LOSSY, QCN, "10KB", "30KB", Outcome),
    ("%(rdma).congestion(qcn).timer", LOSSY, QCN, "20us", "50us", Outcome),
    ("%(rdma).congestion(qcn).additive", LOSSY, QCN, "", "500Mbps", Outcome),
    ("%(rdma).congestion(qcn).hyper", LOSSY, QCN, "", "2Gbps", Outcome),
    ("%(rdma).congestion(qcn).fast_recovery", LOSSY, QCN, "1", "4", Outcome),
    ("%(rdma).congestion(qcn).min_rate", LOSSY, QCN, "", "7Gbps", Outcome),
    ("%(rdma).congestion(qcn).reaction", LOSSY, QCN, "", "15us", Outcome),

    ("@.marking=pi", BUSY, PI, "{kind=\"pi\",reference=\"5KB\",update=\"10us\",a=0.0002,b=0.0001}", "{kind=\"step\",threshold=\"5KB\"}", Outcome),
    ("@.marking(pi).reference", BUSY, PI, "5KB", "9KB", Outcome),
    ("@.marking(pi).update", BUSY, PI, "10us", "30us", Outcome),
    ("@.marking(pi).a", BUSY, PI, "0.0002", "0.0004", Outcome),
    ("@.marking(pi).b", BUSY, PI, "0.0001", "0.00001", Outcome),
];
