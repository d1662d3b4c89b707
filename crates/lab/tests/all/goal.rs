//! Jobs from GOAL traces: exact schedules, and the same job as another kind of traffic.

use crate::common::*;
use serde_json::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use thalweg_lab::Run;

/// Hosts around a switch at 8 Gb/s, 3 us away, that send packets of 1000 B: n packets alone take n + 7 us.
const STAR: &str = "[topology]\nkind = \"star\"\nhosts = 4\nrate = \"8Gbps\"\ndelay = \"3us\"\n\
    [transport]\nkind = \"udp\"\npayload = \"1000B\"\nheader = \"0B\"\n";

/// A folder with a trace.
struct Folder(PathBuf);

impl Folder {
    fn with(name: &str, trace: &str) -> Self {
        let path = std::env::temp_dir().join(format!("thalweg-goal-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        std::fs::write(path.join("t.goal"), trace).expect("written");
        Self(path)
    }

    fn scenario(&self, text: &str) -> thalweg_scenario::Scenario {
        scenario(text, &self.0, &[])
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn job(run: &Run) -> Value {
    run.summary()["groups"][0]["job"].clone()
}

fn us(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is a number"))
}

/// A ring of four ranks that compute 20 and 10 us on one processor, send after each, and compute with what comes.
fn ring() -> String {
    let mut text = String::from("num_ranks 4\n");
    for rank in 0..4 {
        let (next, last) = ((rank + 1) % 4, (rank + 3) % 4);
        write!(
            text,
            "rank {rank} {{ a: calc 20000 b: calc 10000\n\
             s1: send 5000b to {next} tag 1 s1 requires a\n s2: send 5000b to {next} tag 2 s2 requires b\n\
             r2: recv 5000b from {last} tag 2 r1: recv 5000b from {last} tag 1\n\
             c: calc 4000 cpu 1 c requires r1\n d: calc 6000 d requires r2 d requires c }}\n"
        )
        .expect("text");
    }
    text
}

/// a until 20 us and b until 30 us; the messages, of 5 packets, from 20 to 32 us and from 30 to 42 us; c from 32 to 36
/// us on the other processor, d from 42 to 48 us. The longest chain is a, b, d.
#[test]
fn a_ring_with_computations_takes_as_long_as_by_hand() {
    let folder = Folder::with("ring", &ring());
    let run = finish(&folder.scenario(&format!("[[traffic]]\nkind = \"goal\"\nfile = \"t.goal\"\n{STAR}")));
    let begun: Vec<i128> = column(&run, "works", "begun_ps").into_iter().map(|ps| ps / 1_000_000).collect();
    let mut sorted = begun;
    sorted.sort_unstable();
    assert_eq!(sorted, [[0; 4], [20; 4], [32; 4], [42; 4]].concat());
    let job = job(&run);
    assert_eq!(
        (us(&job["completion_us"]), us(&job["compute_us"]), us(&job["exposed_us"])),
        (48.0, 36.0, 12.0)
    );
    assert_eq!((us(&job["spread_us"]), job["computations"].as_u64()), (0.0, Some(16)));
    assert_eq!((job["hosts_us"]["count"].as_u64(), us(&job["hosts_us"]["max"])), (Some(4), 48.0));
}

/// z takes no time and begins and ends at 1 us on the processor that l has from then on: what follows z has nothing of
/// l's 50 us. The longest chain is a and l; the other one is b, s (of 8 us, no computation), and c.
#[test]
fn a_computation_of_no_time_does_not_take_part_in_the_one_that_begins_with_it() {
    let trace = "num_ranks 2\n\
        rank 0 { a: calc 1000 cpu 0 b: calc 500 cpu 1\n z: calc 0 cpu 0 z requires b\n\
        l0: calc 900 cpu 2 l: calc 50000 cpu 0 l requires l0\n s: send 1000b to 1 s requires z }\n\
        rank 1 { r: recv 1000b from 0\n c: calc 40000 c requires r }";
    let folder = Folder::with("no-time", trace);
    let run = finish(&folder.scenario(&format!("[[traffic]]\nkind = \"goal\"\nfile = \"t.goal\"\n{STAR}")));
    let job = job(&run);
    assert_eq!(
        (us(&job["completion_us"]), us(&job["compute_us"]), us(&job["exposed_us"])),
        (51.0, 51.0, 0.0)
    );
}

/// Two jobs compute for 100 us on one processor, one after the other, and then send a packet, which takes 8 us. What
/// the second one waits for its processor is no communication; only what came after its start is its own time.
#[test]
fn a_job_that_waits_for_the_computation_of_another_is_computing() {
    let trace = "num_ranks 2\nrank 0 { c: calc 100000\n s: send 1000b to 1\n s requires c }\nrank 1 { recv 1000b from 0 }";
    let folder = Folder::with("shared", trace);
    let section = "[[traffic]]\nkind = \"goal\"\nfile = \"t.goal\"";
    for (start, waited) in [(0, 100.0), (40, 60.0), (130, 0.0)] {
        let text = format!("{section}\n{section}\nname = \"second\"\nstart = \"{start}us\"\n{STAR}");
        let run = finish(&folder.scenario(&text));
        let times = |group: usize| {
            let job = &run.summary()["groups"][group]["job"];
            ["completion_us", "compute_us", "exposed_us"].map(|key| us(&job[key]))
        };
        assert_eq!(times(0), [108.0, 100.0, 8.0]);
        assert_eq!(times(1), [waited + 108.0, waited + 100.0, 8.0], "started after {start} us");
    }
}

#[test]
fn rendezvous_waits_for_the_receiver_and_overhead_for_processors() {
    let trace = "num_ranks 2\nrank 0 { send 5000b to 1 }\n\
        rank 1 { a: calc 9000\n r: recv 5000b from 0\n r requires a }";
    let folder = Folder::with("rendezvous", trace);
    let completion = |keys: &str| {
        let text = format!("[[traffic]]\nkind = \"goal\"\nfile = \"t.goal\"\n{keys}\n{STAR}");
        us(&job(&finish(&folder.scenario(&text)))["completion_us"])
    };
    assert_eq!(completion(""), 12.0);
    assert_eq!(completion("rendezvous = \"4999B\""), 9.0 + 12.0);
    assert_eq!(completion("overhead = \"2us\""), 2.0 + 12.0 + 2.0);
    assert_eq!(completion("rendezvous = \"1B\"\noverhead = \"2us\"\nstart = \"1ms\""), 9.0 + 12.0 + 2.0);
}

/// The steps of a ring all-reduce, with a computation between two iterations.
#[test]
fn a_ring_all_reduce_as_a_trace_takes_as_long_as_the_kind_to_the_picosecond() {
    let (steps, iterations) = (6, 3);
    let mut trace = String::from("num_ranks 4\n");
    for rank in 0..4 {
        let (next, last) = ((rank + 1) % 4, (rank + 3) % 4);
        writeln!(trace, "rank {rank} {{").expect("text");
        for step in 0..steps * iterations {
            writeln!(trace, "s{step}: send 3000b to {next}\nr{step}: recv 3000b from {last}").expect("text");
            match step {
                0 => {}
                step if step % steps == 0 => writeln!(
                    trace,
                    "c{step}: calc 11000\nc{step} requires r{}\ns{step} requires c{step}",
                    step - 1
                )
                .expect("text"),
                step => writeln!(trace, "s{step} requires r{}", step - 1).expect("text"),
            }
        }
        trace.push_str("}\n");
    }
    let folder = Folder::with("all-reduce", &trace);
    let kind = "kind = \"ring-all-reduce\"\nsize = \"12KB\"\niterations = 3\ncompute = \"11us\"";
    let both = ["kind = \"goal\"\nfile = \"t.goal\"", kind].map(|traffic| {
        let run = finish(&folder.scenario(&format!("[[traffic]]\n{traffic}\n{STAR}")));
        let last = column(&run, "flows", "received_ps").into_iter().max().expect("flows");
        (last, job(&run)["completion_us"].clone(), job(&run)["compute_us"].clone())
    });
    assert_eq!(both[0], both[1]);
    assert_eq!((both[0].0, us(&both[0].2)), (3 * 6 * 10_000_000 + 2 * 11_000_000, 22.0));
}

/// Two jobs, each among the hosts of a switch of its own, and flows between both.
#[test]
fn jobs_are_the_same_on_several_threads_and_in_pieces() {
    let folder = Folder::with("threads", &ring());
    let text = |threads: u32| {
        format!(
            "run.threads = {threads}\nrun.until = \"10ms\"\n\
             [[traffic]]\nkind = \"goal\"\nfile = \"t.goal\"\nhosts = [0, 2, 1, 3]\n\
             [[traffic]]\nkind = \"goal\"\nfile = \"t.goal\"\nhosts = [4, 5, 6, 7]\nstart = \"7us\"\n\
             [[traffic]]\nkind = \"permutation\"\nsize = \"100KB\"\n\
             [topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 1\nhosts_per_leaf = 4\n"
        )
    };
    let whole = finish(&folder.scenario(&text(1)));
    let parted = finish(&folder.scenario(&text(2)));
    assert_eq!((parted.digest(), bytes(&parted)), (whole.digest(), bytes(&whole)));
    for threads in [1, 2] {
        let mut cut = Run::new(&folder.scenario(&text(threads))).expect("a network");
        while cut.step(97) {
            cut = Run::load(&cut.save()).expect("a saved run");
        }
        assert_eq!((cut.digest(), bytes(&cut)), (whole.digest(), bytes(&whole)), "{threads} threads");
    }
}

#[test]
fn the_example_runs_and_reports_what_its_job_took() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/job");
    let text = std::fs::read_to_string(folder.join("scenario.toml")).expect("the example");
    let job = job(&finish(&scenario(&text, &folder, &[])));
    let (all, compute, exposed) = (us(&job["completion_us"]), us(&job["compute_us"]), us(&job["exposed_us"]));
    assert_eq!(compute, 36.0);
    assert!(all > compute && (all - compute - exposed).abs() < 1e-9, "{job}");
}

#[test]
fn the_example_of_a_workload_runs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/job");
    let text = std::fs::read_to_string(folder.join("simai.toml")).expect("the example");
    let job = job(&finish(&scenario(&text, &folder, &[])));
    let (all, compute, exposed) = (us(&job["completion_us"]), us(&job["compute_us"]), us(&job["exposed_us"]));
    // 2271.003 us of computations one after the other, and 100 ns after each of 11 operations that are waited for.
    assert_eq!(compute, 2272.103);
    assert!(exposed > 100.0 && (all - compute - exposed).abs() < 1e-9, "{job}");
}
