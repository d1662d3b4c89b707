//! What every congestion point obeys.

use super::*;
use proptest::prelude::*;
use thalweg_units::Span;

#[derive(Clone, Debug)]
enum Told1 {
    Joins(u32),
    Leaves,
    Notified(u32),
    Tick,
}

fn stories() -> impl Strategy<Value = Vec<Told1>> {
    let one = prop_oneof![3 => (0u32..5).prop_map(Told1::Joins), 2 => Just(Told1::Leaves), 1 => Just(Told1::Tick),
        1 => (0u32..5).prop_map(Told1::Notified)];
    prop::collection::vec(one, 1..120)
}

proptest! {
    /// Only flows that have been seen are notified; each tick names a later one, or none; a point that is saved and
    /// loaded goes on as before.
    #[test]
    fn points_keep_the_laws(story in stories()) {
        for spec in PointSpec::variants() {
            let mut point = spec.make(Stream::new(7, "point", 3), Rate::from_gbps(10)).unwrap();
            let mut saved: PointMachine = postcard::from_bytes(&postcard::to_allocvec(&point).unwrap()).unwrap();
            let (mut queue, mut seen) = (std::collections::VecDeque::new(), std::collections::BTreeSet::new());
            let mut now = Time::ZERO;
            for event in &story {
                now += Span::from_us(1);
                let bytes = queue.len() as u64 * 1000;
                let rate = Rate::from_gbps(10);
                let view = View { packets: queue.len() as u32, bytes, wire: 1000, rate, sent: 0, idle_for: Span::ZERO, waited: Span::ZERO };
                let (mut notices, mut again) = (Notices::new(), Notices::new());
                match event {
                    Told1::Joins(flow) => {
                        let packet = Packet { flow: FlowId(*flow), wire: 1000, ..Packet::default() };
                        queue.push_back(packet);
                        seen.insert(*flow);
                        point.on_join(now, &view, &packet, &mut notices);
                        saved.on_join(now, &view, &packet, &mut again);
                    }
                    Told1::Leaves => {
                        if let Some(packet) = queue.pop_front() {
                            point.on_leave(&packet);
                            saved.on_leave(&packet);
                        }
                    }
                    Told1::Notified(flow) => {
                        let packet = Packet { flow: FlowId(*flow), wire: 1000, ..Packet::default() };
                        seen.insert(*flow);
                        point.on_notify(now, &packet);
                        saved.on_notify(now, &packet);
                    }
                    Told1::Tick => {
                        if let Some(at) = point.wake() {
                            now = now.max(at);
                            point.tick(now, &view, &mut notices);
                            saved.tick(now, &view, &mut again);
                            prop_assert!(point.wake().is_none_or(|next| next > now));
                        }
                    }
                }
                prop_assert!(notices.iter().all(|(flow, _)| seen.contains(&flow.0)), "{:?}", spec);
                prop_assert_eq!(&notices, &again);
            }
        }
    }
}

#[test]
fn a_spec_is_the_same_after_files_of_both_sorts_and_nothing_is_wrong_with_defaults() {
    for spec in PointSpec::variants().into_iter().chain(PointSpec::all()) {
        let text = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<PointSpec>(&text).unwrap(), spec);
        let bytes = postcard::to_stdvec(&spec).unwrap();
        assert_eq!(postcard::from_bytes::<PointSpec>(&bytes).unwrap(), spec);
        assert_eq!(spec.problems(), []);
    }
}
