//! Scenarios as ports, frames, and where the tests of whole paths run.

use thalweg_emulate::chain::{Chain, Passed, Watch};
use thalweg_emulate::path::{Arrival, Decision, Path};
use thalweg_emulate::{Port, Refused, Shell, Way, passable};
use thalweg_units::{FlowId, HostId, Time};
use thalweg_wire::{Ecn, Kind};

/// A dumbbell of 8 Mb/s, where 1000 bytes take a millisecond, and 5 ms; `more` replaces or adds sections.
pub fn scenario(rate: &str, delay: &str, more: &str) -> String {
    format!(
        "[topology]\nkind = \"dumbbell\"\npairs = 1\nbottleneck_rate = \"{rate}\"\ndelay = \"{delay}\"\nhost_delay = \"0ns\"\n\
         [[traffic]]\nkind = \"backlogged\"\nsrc = 0\ndst = 1\n[run]\nuntil = \"10s\"\n{more}"
    )
}

/// Both directions of its bottleneck.
pub fn ports(text: &str) -> Result<[Port; 2], Refused> {
    let scenario = thalweg_scenario::load(text, "t.toml", std::path::Path::new("."), &[])
        .unwrap_or_else(|all| panic!("{}", all[0]));
    let up = scenario.port("switch0", "switch1").unwrap_or_else(|why| panic!("{why}"));
    let down = scenario.port("switch1", "switch0").unwrap_or_else(|why| panic!("{why}"));
    Ok([passable(&up, "up".into())?, passable(&down, "down".into())?])
}

pub fn port(text: &str) -> Port {
    let [up, _] = ports(text).unwrap();
    up
}

/// A packet of so many bytes.
pub fn arrival(at: Time, flow: u32, wire: u32) -> Arrival {
    let (flow, dst) = (FlowId(flow), HostId(0));
    Arrival { at, flow, dst, wire, payload: wire - 40, kind: Kind::Data, ecn: Ecn::Ect0, class: 0 }
}

/// All decisions, looked for only when a packet comes and at the end.
pub fn decisions(port: &Port, arrivals: &[Arrival], end: Time) -> Vec<Decision> {
    let mut path = Path::new(port).unwrap();
    let mut all = Vec::new();
    arrivals.iter().for_each(|a| path.arrive(a, 0, &mut |d| all.push(d)));
    path.advance(end, &mut |d| all.push(d));
    all
}

/// True where paths can be emulated; otherwise says that a test is skipped, and why.
pub fn allowed(test: &str) -> bool {
    possible(test, false)
}

/// True where paths with a way out can be emulated; otherwise says that a test is skipped, and why.
pub fn allowed_outside(test: &str) -> bool {
    possible(test, true)
}

fn possible(test: &str, outside: bool) -> bool {
    match thalweg_emulate::available(outside) {
        Ok(()) => true,
        Err(why) => {
            eprintln!("SKIPPED {test}: {why}");
            false
        }
    }
}

/// True if the program is installed; otherwise says that a test is skipped.
pub fn installed(test: &str, program: &str) -> bool {
    let found = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()));
    if !found {
        eprintln!("SKIPPED {test}: {program} is not installed");
    }
    found
}

/// A run of a command on the path of a scenario.
pub fn shell(text: &str, command: &[&str]) -> Shell {
    let [up, down] = ports(text).unwrap();
    let command = command.iter().map(|word| (*word).to_owned()).collect();
    let (up, down) = (up.into(), down.into());
    Shell {
        up,
        down,
        command,
        peer: None,
        environment: Vec::new(),
        record: None,
        capture: None,
        wire: None,
        outside: false,
    }
}

/// This test program again, as another of its tests.
pub fn again(test: &str) -> Vec<String> {
    let program = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    [&program, test, "--exact", "--nocapture", "--ignored"].map(|word| word.to_owned()).to_vec()
}

/// What happened on a chain, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    Arrival(usize, Arrival),
    Decision(usize, Decision),
    Over(Passed),
}

/// Keeps all that happens.
#[derive(Default)]
pub struct Log(pub Vec<Seen>);

impl Watch for Log {
    fn arrival(&mut self, hop: usize, arrival: &Arrival) {
        self.0.push(Seen::Arrival(hop, *arrival));
    }
    fn decision(&mut self, hop: usize, decision: &Decision) {
        self.0.push(Seen::Decision(hop, *decision));
    }
    fn over(&mut self, passed: &Passed) {
        self.0.push(Seen::Over(*passed));
    }
}

impl Log {
    /// What became of packets, in the order in which it did.
    pub fn over(&self) -> Vec<Passed> {
        self.0
            .iter()
            .filter_map(|seen| if let Seen::Over(passed) = seen { Some(*passed) } else { None })
            .collect()
    }
    /// When packets arrived at a port.
    pub fn arrivals(&self, at: usize) -> Vec<Arrival> {
        let of = |seen: &Seen| match seen {
            Seen::Arrival(hop, arrival) if *hop == at => Some(*arrival),
            _ => None,
        };
        self.0.iter().filter_map(of).collect()
    }
    /// What a port decided.
    pub fn decisions(&self, at: usize) -> Vec<Decision> {
        let of = |seen: &Seen| match seen {
            Seen::Decision(hop, decision) if *hop == at => Some(*decision),
            _ => None,
        };
        self.0.iter().filter_map(of).collect()
    }
}

/// The forward ports of several scenarios, one behind the other.
pub fn row(texts: &[&str]) -> Way {
    let mut ports = texts.iter().map(|text| port(text));
    Way::new("a row".into(), ports.next().unwrap(), ports)
}

/// All that happens on a chain, looked for only when a packet comes and at the end. Labels are positions.
pub fn passed(way: &Way, arrivals: &[Arrival], end: Time) -> Log {
    let (mut chain, mut log) = (Chain::new(way).unwrap(), Log::default());
    (0..).zip(arrivals).for_each(|(label, a)| chain.arrive(a, 0, label, &mut log));
    chain.advance(end, &mut log);
    log
}
