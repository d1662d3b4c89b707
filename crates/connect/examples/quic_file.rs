//! A file over QUIC under a controller of the simulator, to a receiver in the same program.
//!
//! `cargo run -p thalweg-connect --features quic --example quic_file -- FILE [CONTROLLER]`

use std::error::Error;
use std::time::Duration;
use thalweg_connect::Sender;
use thalweg_connect::quic::{Receiving, Sending};
use thalweg_machines::congestion::ControllerSpec;

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut args = std::env::args().skip(1);
    let file = args.next().ok_or("give a file, and a controller if you like")?;
    let name = args.next().unwrap_or("copa".into());
    let controller =
        ControllerSpec::all().into_iter().find(|c| c.key() == name).ok_or("no such controller")?;

    let folder = std::env::temp_dir().join(format!("quic_file-{}", std::process::id()));
    std::fs::create_dir(&folder)?;
    let mut receiving = Receiving::new("127.0.0.1:0".parse()?, &folder)?;
    let (to, fingerprint) = (receiving.address()?, receiving.fingerprint());
    std::thread::spawn(move || while receiving.step(Duration::from_secs(1)).is_ok() {});

    let mut sending = Sending::new(file.as_ref(), to, fingerprint, controller, Sender::default())?;
    while !sending.step(Duration::from_secs(1))? {
        println!("{:>12} bytes", sending.statistics().written);
    }
    let done = sending.statistics();
    println!("{name}: {:.1} Mb/s, rtt {:.2} ms", done.goodput() / 1e6, done.rtt * 1e3);
    println!("{} of {} packets lost, {:?}", done.lost_packets, done.sent_packets, done.permit);
    Ok(std::fs::remove_dir_all(folder)?)
}
