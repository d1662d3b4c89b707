//! IRN's sender and receiver against a naive model: unbounded integers, a set instead of a bitmap, the steps
//! of §4.5.2 in words. Random event streams, also such as no network produces.

use super::super::Psn;
use super::super::irn::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

#[derive(Default)]
struct Model {
    nxt: i64,
    una: i64,
    rtx: i64,
    rec: i64,
    pend: bool,
    in_rec: bool,
    scan: bool,
    sacked: BTreeSet<i64>,
}

impl Model {
    fn tx_free(&mut self, more: bool, cap: i64) -> Option<(i64, bool)> {
        let mut out = None;
        if self.pend && self.rtx >= self.una {
            if self.rtx == self.una {
                self.in_rec = true;
            }
            out = Some((self.rtx, true));
            self.rec = self.nxt - 1;
            self.pend = false;
            self.scan = true;
        } else {
            if self.pend {
                self.scan = false;
            }
            self.pend = false;
            if more && self.nxt - self.una < cap {
                out = Some((self.nxt, false));
                self.nxt += 1;
            }
        }
        if self.scan {
            let start = (self.rtx + 1).max(self.una);
            let hole = (start..self.nxt + 64)
                .find(|h| !self.sacked.contains(h) && self.sacked.iter().any(|s| s > h));
            if let Some(h) = hole {
                self.rtx = h;
                self.pend = true;
            }
            self.scan = false;
        }
        out
    }

    fn on_ack(&mut self, cum: i64, sack: i64, is_nack: bool) {
        if cum > self.nxt {
            self.nxt = cum;
        }
        let adv = cum > self.una;
        if adv {
            self.una = cum;
            self.sacked.retain(|s| *s >= cum);
        }
        if is_nack {
            if sack >= self.una {
                self.sacked.insert(sack);
            }
            if self.in_rec {
                if self.pend && self.rtx == sack {
                    self.pend = false;
                    self.scan = true;
                } else if !self.pend && !self.sacked.iter().any(|s| *s > sack) {
                    self.scan = true;
                }
            }
        }
        if cum > self.rec {
            self.in_rec = false;
            self.scan = false;
            self.pend = false;
        }
        if adv {
            if self.in_rec && (self.rtx < self.una || (self.rtx == self.una && self.pend)) {
                self.rtx = self.una;
                self.pend = true;
                self.scan = false;
            }
        } else if !self.in_rec && self.una < self.nxt && is_nack {
            self.rtx = self.una;
            self.pend = true;
            self.scan = false;
        }
    }

    fn on_timeout(&mut self) {
        if self.una < self.nxt {
            self.rtx = self.una;
            self.pend = true;
            self.scan = false;
        }
    }
}

#[derive(Clone, Debug)]
enum Event {
    TxFree(bool),
    /// Cumulative and named PSN relative to `una`.
    Ack(i64, i64, bool),
    Timeout,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        5 => prop::bool::weighted(0.9).prop_map(Event::TxFree),
        6 => (prop_oneof![4 => Just(0i64), 2 => 0i64..6, 1 => -4i64..0], -3i64..40, prop::bool::weighted(0.7))
            .prop_map(|(cum, sack, nack)| Event::Ack(cum, sack, nack)),
        1 => Just(Event::Timeout),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn the_sender_takes_every_step_of_the_model_also_across_the_wrap(
        events in prop::collection::vec(event(), 0..300),
        first in prop_oneof![Just(0u32), (0u32..400).prop_map(|n| (1 << 24) - n)],
        cap in prop_oneof![Just(1u32), Just(8), Just(110), Just(275), Just(u32::MAX)],
    ) {
        let psn = |n: i64| Psn::new((i64::from(first) + n) as u32);
        let mut real = IrnSender::new(IrnOptions::default(), Psn::new(first));
        let mut model = Model::default();
        for event in events {
            match event {
                Event::TxFree(more) => {
                    let usable = real.can_send(more, cap);
                    let expected = model.tx_free(more, i64::from(cap));
                    prop_assert!(usable || expected.is_none());
                    prop_assert_eq!(real.tx_free(more, cap), expected.map(|(n, again)| (psn(n), again)));
                }
                Event::Ack(cum, sack, nack) => {
                    // Of the packets sent; also an acknowledgement older than `una`.
                    let cum = (model.una + cum).clamp(0, model.nxt);
                    let sack = (model.una + sack).max(0);
                    let (una, known) = (model.una, model.sacked.clone());
                    let waiting = model.pend.then_some(model.rtx);
                    model.on_ack(cum, sack, nack);
                    let acked = real.on_ack(psn(cum), psn(sack), nack);
                    prop_assert_eq!(i64::from(acked.advanced), model.una - una);
                    prop_assert_eq!(acked.absorbed as usize, known.iter().filter(|s| **s < model.una).count());
                    prop_assert_eq!(acked.sacked as usize, model.sacked.difference(&known).count());
                    prop_assert_eq!(acked.lost, model.pend && waiting != Some(model.rtx));
                }
                Event::Timeout => {
                    model.on_timeout();
                    real.on_timeout();
                }
            }
            let Model { nxt, una, rtx, rec, pend, in_rec, scan, .. } = model;
            let state = IrnState { nxt: psn(nxt), una: psn(una), rtx: psn(rtx), rec: psn(rec), pend, in_rec, scan };
            prop_assert_eq!(real.state(), state);
            prop_assert_eq!(real.sacked() as usize, model.sacked.len());
            for s in una - 2..nxt + 50 {
                prop_assert_eq!(real.is_sacked(psn(s)), model.sacked.contains(&s));
            }
        }
    }

    #[test]
    fn the_receiver_expects_the_lowest_packet_that_is_missing(
        arrivals in prop::collection::vec(0u32..500, 0..600),
        first in prop_oneof![Just(0u32), (0u32..500).prop_map(|n| (1 << 24) - n)],
    ) {
        let mut real = IrnReceiver::new(Psn::new(first));
        let mut have = BTreeSet::new();
        let mut expected = 0u32;
        // Around the front, so that gaps open and close.
        for n in arrivals.into_iter().map(|n| (n * n) % 331) {
            let n = n + expected.saturating_sub(150);
            let (before, new) = (expected, have.insert(n));
            while have.contains(&expected) {
                expected += 1;
            }
            let kind = match n {
                _ if n == before => ReplyKind::Ack,
                _ if n > before => ReplyKind::Nack,
                _ => ReplyKind::Duplicate,
            };
            let sack = Psn::new(first).plus(n);
            let cum = Psn::new(first).plus(expected);
            prop_assert_eq!(real.on_data(sack), Reply { cum, sack, kind, advanced: expected - before, new: new && n >= before });
            prop_assert_eq!(real.waiting() as usize, have.iter().filter(|h| **h >= expected).count());
            prop_assert!(real.holds(sack) && !real.holds(cum));
            // Everything below is held, whatever arrived first.
            have.extend(0..expected);
        }
    }
}
