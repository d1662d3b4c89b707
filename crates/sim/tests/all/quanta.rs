//! Pauses that expire: refreshed in time, and what becomes of lost frames. 8 Gb/s: a byte takes a nanosecond.
use crate::common::*;
use thalweg_machines::buffer::{InputMemory, InputSpec};
use thalweg_machines::pause::{PauseSpec, pfc};
use thalweg_machines::schedule::{DisciplineSpec, OrderSpec};
use thalweg_machines::transport::UdpPace;
use thalweg_net::spec::*;
use thalweg_sim::{FlowEnd, PauseRecord};
use thalweg_units::{Bytes, FlowId, PortId, Rate, Span, Time};

/// 200 quanta of 64 B: 12.8 us, refreshed every 6.4.
const QUANTA: Option<u16> = Some(200);
const LASTS: Span = Span::from_ns(12_800);

/// Hosts 0 and 1 send 400 packets each to host 2 at twice its rate; their inputs pause them.
fn incast(quanta: Option<u16>, incidents: Vec<Incident>) -> NetworkSpec {
    let flows = vec![flow(0, 2, 400_000, Time::ZERO), flow(1, 2, 400_000, Time::ZERO)];
    let udp = udp(1000, UdpPace::Burst);
    let mut spec = star(3, Rate::from_gbps(8), Span::from_us(1), udp, flows);
    spec.inputs = Some(InputSpec {
        memory: InputMemory::PerInput(Bytes::new(30_000)),
        pause: Some(PauseSpec::Pfc(pfc::Params { quanta, ..pfc::Params::fixed(20_000, 10_000, 10_000) })),
        release_at_start: false,
        one_per_input: false,
    });
    spec.disciplines = vec![DisciplineSpec { order: OrderSpec::input_round_robin(), ..fifo() }];
    spec.incidents = incidents;
    spec.stop.until = Time::from_ms(20);
    spec
}

fn finished(spec: NetworkSpec) -> Network {
    let mut sim = Network::new(spec).expect("a network");
    while sim.run_checked(1000, 1).expect("laws hold") {}
    sim
}

/// Pauses of host 0's port.
fn pauses(sim: &Network) -> Vec<PauseRecord> {
    sim.pauses().iter().copied().filter(|p| p.port == PortId(0)).collect()
}

/// Frames to host 0 are lost at this instant, and at no other.
fn lost_at(at: Time) -> Vec<Incident> {
    let what = |chance| IncidentKind::PauseLoss(Some(PortId(1)), chance);
    let before = Time::from_ps(at.ps() - 1);
    vec![Incident { at: before, what: what(1.0) }, Incident { at, what: what(0.0) }]
}

#[test]
fn refreshed_in_time_a_pause_lasts_as_long_as_without_quanta() {
    let (plain, timed) = (finished(incast(None, vec![])), finished(incast(QUANTA, vec![])));
    assert_eq!(plain.pauses(), timed.pauses());
    let longest = plain.pauses().iter().map(|p| p.ended.since(p.began)).max().expect("pauses");
    assert!(longest > LASTS, "{longest}: none would have expired");
    // One more frame for each whole half of the quanta that a pause lasts.
    let again: u64 =
        timed.pauses().iter().map(|p| (p.ended.since(p.began).ps() - 1) / (LASTS / 2).ps()).sum();
    let (requested, repeated) = (plain.counters().pause_frames, timed.counters().pause_frames);
    assert!(again > 0);
    // The last of a pause may leave while the XON that ends it is due.
    assert!(repeated >= requested + again, "{requested} + {again}, {repeated}");
    assert!(repeated <= requested + again + timed.pauses().len() as u64, "{requested} + {again}, {repeated}");
    assert_eq!(plain.counters().resume_frames, timed.counters().resume_frames);
    assert_eq!(timed.counters().packets_dropped, 0);
}

#[test]
fn a_lost_xon_is_replaced_by_the_end_of_the_quanta() {
    let PauseRecord { began, ended, .. } = pauses(&finished(incast(None, vec![])))[0];
    // For good, without quanta: the ingress has sent XON and has no reason to send it again.
    let hung = finished(incast(None, lost_at(ended)));
    assert_eq!(pauses(&hung)[0].ended, Time::MAX);
    assert_ne!(hung.outcome(FlowId(0)).end, FlowEnd::Completed);
    let healed = finished(incast(QUANTA, lost_at(ended)));
    assert_eq!(healed.lost_to_incidents().frames, 1);
    let refreshes = (ended.since(began).ps() - 1) / (LASTS / 2).ps();
    assert!(refreshes > 0);
    assert_eq!(pauses(&healed)[0].began, began);
    assert_eq!(pauses(&healed)[0].ended, began + (LASTS / 2) * refreshes + LASTS);
    assert_eq!(healed.outcome(FlowId(0)).end, FlowEnd::Completed);
    assert_eq!(healed.counters().packets_dropped, 0);
}

#[test]
fn a_lost_request_comes_again() {
    let PauseRecord { began, .. } = pauses(&finished(incast(None, vec![])))[0];
    // Without quanta the ingress has sent XOFF and waits: its memory overflows.
    let lossy = finished(incast(None, lost_at(began)));
    assert!(lossy.counters().packets_dropped > 0);
    let repaired = finished(incast(QUANTA, lost_at(began)));
    assert_eq!(repaired.lost_to_incidents().frames, 1);
    assert_eq!(pauses(&repaired)[0].began, began + LASTS / 2);
    assert_eq!(repaired.counters().packets_dropped, 0);
    assert_eq!(repaired.outcome(FlowId(0)).end, FlowEnd::Completed);
}

#[test]
fn half_of_all_frames_lost_and_everything_ends() {
    let loss = vec![Incident { at: Time::ZERO, what: IncidentKind::PauseLoss(None, 0.5) }];
    let ended = |sim: &Network| pauses(sim).iter().all(|p| p.ended != Time::MAX);
    let (plain, timed) = (finished(incast(None, loss.clone())), finished(incast(QUANTA, loss.clone())));
    assert!(!ended(&plain) && ended(&timed));
    // Cut, saved and resumed.
    let mut straight = Network::new(incast(QUANTA, loss)).expect("a network");
    for events in [500, 1001, 2002] {
        let mut first = straight.clone();
        first.run(events);
        let mut second = Network::load(&first.save()).expect("a saved run");
        while second.run(1_000_000) {}
        assert_eq!(second.digest(), timed.digest(), "cut after {events} events");
    }
    while straight.run(1_000_000) {}
    assert_eq!(straight.digest(), timed.digest(), "releases deferred or not");
}

#[test]
fn a_failed_link_gets_no_xoff_and_a_restored_one_gets_it_again() {
    let PauseRecord { began, .. } = pauses(&finished(incast(None, vec![])))[0];
    let later = |us| began.saturating_add(Span::from_us(us));
    let fails = vec![
        Incident { at: later(1), what: IncidentKind::LinkDown(0) },
        Incident { at: later(100), what: IncidentKind::LinkUp(0) },
    ];
    let sim = finished(incast(QUANTA, fails));
    assert_eq!(pauses(&sim)[0].ended, later(1), "no neighbour can say any more whether the port may send");
    assert!(pauses(&sim).iter().all(|p| p.ended != Time::MAX));
    let frames = sim.lost_to_incidents().frames;
    assert!(frames <= 2, "{frames} frames sent onto a failed link");
}
