//! Proportional rate reduction (RFC 9937) in a sender, ACK by ACK.

use super::super::testing::*;
use super::super::*;

/// §3 and §6: of 20 segments, which arrive 1 us apart, the first is lost. Limited transmit sends two more; the third
/// duplicate ACK begins the repair, and the window becomes ten. RecoverFS is 20 (RFC 6937: 22), so that of what is
/// delivered a half may leave (RFC 6937: 10 of 22). While as much is in flight as the window allows, nothing does: at
/// 118 ten are. From 119 on one leaves for one, until the ACK of everything ends the repair with a window of ten.
#[test]
fn in_recovery_nothing_leaves_while_as_much_is_in_flight_as_the_window_allows() {
    let sent = |prr| {
        let spec = TcpSpec { initial_window: Bytes::new(20 * MSS), ..tcp() };
        let mut pair =
            Pair::new(TcpSpec { options: TcpOptions { prr, ..TcpOptions::default() }, ..spec }, 32);
        pair.run(|way, n, _| match (way, n) {
            (Way::ToReceiver, 0) => Fate::Drop,
            (Way::ToReceiver, n @ 1..20) => Fate::Late(Span::from_us(n)),
            _ => Fate::Deliver,
        });
        assert_eq!((pair.stats().threshold, pair.stats().timeouts), (Bytes::new(10 * MSS), 0));
        pair.sent().split_off(1)
    };
    let begins = ["101: 20", "102: 21", "103: 0r"];
    let new =
        ["106: 22", "108: 23", "110: 24", "112: 25", "114: 26", "116: 27", "119: 28", "201: 29", "202: 30"];
    let old =
        ["107: 22", "109: 23", "111: 24", "113: 25", "117: 26", "118: 27", "119: 28", "201: 29", "202: 30"];
    for (prr, repairs) in [(PrrRule::Rfc9937, new), (PrrRule::Rfc6937, old)] {
        let course = [&begins[..], &repairs, &["203: 31"]].concat();
        assert_eq!(sent(prr), course, "{prr:?}");
    }
}
