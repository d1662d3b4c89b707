//! Runs a command on an emulated path.

use crate::capture::Capture;
use crate::clock::{self, Clock};
use crate::direction::{Direction, Ended};
use crate::emulator::Emulator;
use crate::lateness::{Lateness, allowed};
use crate::namespaces::{Addresses, DEVICES, Network};
use crate::outcome::{self, Outcome, Status};
use crate::outside;
use crate::ports::packet::Packet;
use crate::ports::xdp::Xdp;
use crate::ports::{Wire, WireKind};
use crate::processes::{self, Init};
use crate::record::Recorder;
use crate::signals::Passing;
use crate::sys::{self, wrong};
use crate::task;
use crate::way::Way;
use crate::words::Words;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Mutex;
use thalweg_machines::schedule::policy::Stopped;
use thalweg_record::Port;
use thalweg_units::Time;

/// A command, and the path on which it runs.
#[derive(Clone, Debug)]
pub struct Shell {
    /// From the application to the far end.
    pub up: Way,
    /// From the far end to the application.
    pub down: Way,
    /// Program and arguments. In them and in `environment`, `{peer}` is replaced by the far end's address, `{here}` by
    /// the application's, `{peer6}` and `{here6}` by the IPv6 addresses, `{level}` by the number of nested paths.
    pub command: Vec<String>,
    /// A program that runs at the far end during the run, and is killed at its end; `{peer}` is the application's
    /// address.
    pub peer: Option<Vec<String>>,
    /// Further environment variables of both programs.
    pub environment: Vec<(String, String)>,
    /// A folder for records: `up.port`, `down.port`; if there are several ports, one for each, as in
    /// `up-1-switch0-switch1.port`.
    pub record: Option<PathBuf>,
    /// A folder for captures: `up.pcapng`, `down.pcapng`.
    pub capture: Option<PathBuf>,
    /// How frames are received and sent. If not given, by AF_PACKET.
    pub wire: Option<WireKind>,
    /// The far end has a way out to the network in which the path is started, by `slirp4netns`.
    pub outside: bool,
}

/// The report of the emulator's process.
#[derive(Serialize, Deserialize)]
enum Report {
    Done(Box<Outcome>),
    Failed(String),
}

/// One run at a time: signals have one destination.
static ONE: Mutex<()> = Mutex::new(());

/// Checks that paths can be emulated here, with a way out if `outside` is set.
///
/// # Errors
/// The refusal of the kernel, or a missing program, with a hint.
///
/// ```
/// if let Err(why) = thalweg_emulate::available(false) {
///     eprintln!("no paths here: {why}");
/// }
/// ```
pub fn available(outside: bool) -> io::Result<()> {
    in_child(|_| Network::make(&[], outside).map(|_| Report::Failed(String::new()))).and_then(|report| {
        match report {
            Report::Failed(why) if !why.is_empty() => Err(io::Error::other(why)),
            _ => Ok(()),
        }
    })
}

/// Creates a file in a folder, which is made if needed.
fn created<T>(
    folder: Option<&PathBuf>,
    name: &str,
    begin: impl FnOnce(File) -> io::Result<T>,
) -> io::Result<Option<T>> {
    let Some(folder) = folder else { return Ok(None) };
    let file = folder.join(name);
    let made = std::fs::create_dir_all(folder).and_then(|()| File::create(&file)).and_then(begin);
    made.map(Some).map_err(|error| wrong(&file.display().to_string(), &error))
}

impl Shell {
    /// Runs the command and waits for its end. During the run the signals SIGINT, SIGTERM, SIGHUP and SIGQUIT go to the
    /// command.
    ///
    /// # Errors
    /// If paths cannot be emulated here, or a way out is not possible.
    pub fn run(&self) -> io::Result<Outcome> {
        let report = in_child(|signals| self.emulate(signals));
        task::take_terminal_back();
        match report? {
            Report::Done(outcome) => Ok(*outcome),
            Report::Failed(why) => Err(io::Error::other(why)),
        }
    }

    /// Runs in a process of its own, which has one thread.
    fn emulate(&self, signals: &OwnedFd) -> io::Result<Report> {
        let cpus = task::cpus();
        // The emulator has the last CPU; the ends process received packets on the others.
        let (own, others) = match &cpus[..] {
            [others @ .., own] if !others.is_empty() => (Some(*own), others),
            _ => (None, &[][..]),
        };
        let network = Network::make(others, self.outside)?;
        match self.wire.unwrap_or_default() {
            WireKind::Packet => {
                let wires = [Packet::open(DEVICES[0])?, Packet::open(DEVICES[1])?];
                self.emulate_by(network, signals, own, WireKind::Packet, wires)
            }
            WireKind::Xdp => {
                let open = || Ok([Xdp::open(DEVICES[0])?, Xdp::open(DEVICES[1])?]);
                let wires =
                    open().map_err(|error| wrong("AF_XDP is not allowed here: use `packet`", &error))?;
                self.emulate_by(network, signals, own, WireKind::Xdp, wires)
            }
        }
    }

    fn emulate_by<W: Wire>(
        &self,
        mut network: Network,
        signals: &OwnedFd,
        cpu: Option<usize>,
        wire: WireKind,
        wires: [W; 2],
    ) -> io::Result<Report> {
        let (notes, addresses) = (std::mem::take(&mut network.notes), network.addresses);
        let outside = network.outside.take();
        // Before the process namespace is made, because no thread can be started after that.
        let directions = [self.direction(&self.up, "up")?, self.direction(&self.down, "down")?];
        let (ended, status) = sys::pipe()?;
        let init = self.start(network, signals, status)?;
        let mut emulator = Emulator { wires, directions, overrun: [0; 2] };
        let mut ran = Ran { notes, realtime: false, wire, addresses, status: 0, end: Time::ZERO };
        ran.realtime = first(cpu, &mut ran.notes)?;
        let clock = Clock::start();
        emulator.directions.iter_mut().for_each(|direction| direction.begin(clock.wall()));
        emulator.run(&clock, ended.as_raw_fd())?;
        ran.end = clock.now();
        emulator.count();
        let mut status = [0; 4];
        // An empty pipe means that number 1 was killed.
        let read = sys::read(ended.as_raw_fd(), &mut status) == 4;
        ran.status = if read { i32::from_ne_bytes(status) } else { libc::SIGKILL };
        ran.notes.extend(outside.and_then(|outside| outside.doubt()));
        ran.notes
            .extend(Stopped::take().map(|stopped| format!("{stopped}; all that came later was dropped")));
        drop(init);
        Ok(Report::Done(Box::new(self.outcome(ran, emulator.directions, emulator.overrun))))
    }

    fn outcome(&self, ran: Ran, directions: [Direction; 2], overrun: [u64; 2]) -> Outcome {
        let Ran { mut notes, realtime, wire, addresses, status, end } = ran;
        let round_trip = self.up.delay() + self.down.delay();
        let mut of = |direction: Direction, way: &Way, overrun| {
            let Ended { statistics, hops, lateness, unrecorded, uncaptured } = direction.finish(end, overrun);
            let records =
                unrecorded.into_iter().map(|(hop, why)| ("record", way.ports()[hop].name.as_str(), why));
            let captures = uncaptured.into_iter().map(|why| ("capture", way.name(), why));
            for (what, whose, why) in records.chain(captures) {
                notes.push(format!("the {what} of {whose} is not whole: {why}"));
            }
            let hop = |(port, counted): (&Port, _)| outcome::Hop {
                port: port.name.clone(),
                bps: port.rate().bps(),
                delay_ns: port.delay().ps() / 1000,
                counted,
            };
            outcome::Direction {
                port: way.name().to_owned(),
                bps: way.rate().bps(),
                delay_ns: way.delay().ps() / 1000,
                statistics,
                hops: way.ports().iter().zip(hops).map(hop).collect(),
                lateness: Lateness::new(lateness, allowed(way, round_trip)),
            }
        };
        let [up, down] = directions;
        let (up, down) = (of(up, &self.up, overrun[0]), of(down, &self.down, overrun[1]));
        let (code, signal) = processes::ended(status);
        let fastest = self.up.rate().max(self.down.rate());
        notes.extend(outside::limit(fastest, round_trip).filter(|_| self.outside));
        Outcome {
            status: Status { code, signal },
            late: up.lateness.late || down.lateness.late,
            up,
            down,
            realtime,
            wire,
            addresses,
            seconds: end.secs(),
            cpu_seconds: clock::cpu_time().secs(),
            notes,
        }
    }

    fn direction(&self, way: &Way, name: &str) -> io::Result<Direction> {
        let recorder = |(hop, port): (usize, &Port)| {
            let file = format!("{}.port", way.file(name, hop));
            created(self.record.as_ref(), &file, |file| Recorder::new(port, file)).transpose()
        };
        let recorders = way.ports().iter().enumerate().filter_map(recorder).collect::<io::Result<_>>()?;
        let capture =
            created(self.capture.as_ref(), &format!("{name}.pcapng"), |file| Capture::new(way, file))?;
        Direction::new(way, recorders, capture).map_err(|why| io::Error::other(why.to_string()))
    }

    /// Starts number 1, which starts the programs.
    fn start(&self, network: Network, signals: &OwnedFd, status: OwnedFd) -> io::Result<Started> {
        let (ends, level) = (network.addresses, network.addresses.level.to_string());
        let command =
            Words { peer: (ends.far, ends.far6), here: (ends.application, ends.application6), level };
        let peer = Words { peer: command.here, here: command.peer, level: command.level.clone() };
        let init = Init {
            command: command.program(&self.command, &self.environment)?,
            peer: self.peer.as_ref().map(|words| peer.program(words, &self.environment)).transpose()?,
            application: network.application,
            far: network.far,
            signals: signals.as_raw_fd(),
            status,
            ambient: task::ids().0 != 0,
            outside: self.outside,
        };
        sys::unshare(libc::CLONE_NEWPID).map_err(|error| wrong("a process namespace", &error))?;
        match processes::fork()? {
            Some(child) => Ok(Started(child)),
            None => {
                init.close_others();
                match init.die_with_emulator() {
                    Ok(()) => init.run(),
                    Err(_) => task::exit(1),
                }
            }
        }
    }
}

/// Results of a run other than those of its directions.
struct Ran {
    notes: Vec<String>,
    realtime: bool,
    wire: WireKind,
    addresses: Addresses,
    /// In the encoding of `waitpid`.
    status: i32,
    end: Time,
}

/// Gives this thread real-time priority and its CPU, if that is allowed. Returns true if so.
fn first(cpu: Option<usize>, notes: &mut Vec<String>) -> io::Result<bool> {
    task::exact_timers();
    if let Err(error) = task::real_time() {
        notes.push(format!("no real-time priority ({error}): run as root, or raise RLIMIT_RTPRIO"));
        return Ok(false);
    }
    cpu.map_or(Ok(()), task::stay_on)?;
    Ok(true)
}

/// Number 1, which is killed with all its processes when this value is dropped.
struct Started(i32);

impl Drop for Started {
    fn drop(&mut self) {
        task::kill(self.0, libc::SIGKILL);
        let _ = processes::wait(self.0);
    }
}

/// Executes something in a process of its own, which dies with this one, and returns its report.
fn in_child(what: impl FnOnce(&OwnedFd) -> io::Result<Report>) -> io::Result<Report> {
    let _one = ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let (report, to) = sys::pipe()?;
    let (signals, passed) = sys::pipe()?;
    let parent = task::process() as i32;
    let Some(child) = processes::fork()? else {
        drop((report, passed));
        // Other files and pipes of the caller are closed, because a pipe ends when all its writers are gone.
        task::close_others([to.as_raw_fd(), signals.as_raw_fd()]);
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP] {
                task::ignore(signal);
            }
            die_with(parent).and_then(|()| what(&signals))
        }));
        let report = match done {
            Ok(Ok(report)) => report,
            Ok(Err(error)) => Report::Failed(error.to_string()),
            Err(_) => Report::Failed("the emulator panicked; please report this".into()),
        };
        let text = serde_json::to_vec(&report).unwrap_or_default();
        let _ = sys::write(to.as_fd(), &text);
        task::exit(0)
    };
    drop((to, signals));
    let passing = Passing::to(passed.as_raw_fd());
    let mut text = Vec::new();
    let read = File::from(report).read_to_end(&mut text);
    drop(passing);
    processes::wait(child)?;
    read?;
    serde_json::from_slice(&text).map_err(|_| io::Error::other("the emulator was killed"))
}

/// Makes the kernel kill this process when its parent dies, which was `parent`.
fn die_with(parent: i32) -> io::Result<()> {
    task::die_with_parent()?;
    if task::parent() == parent { Ok(()) } else { Err(io::Error::other("the caller is gone")) }
}
