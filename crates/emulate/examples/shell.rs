//! A command on the bottleneck of a scenario, and back by the other direction of its link:
//!
//! ```text
//! cargo run -p thalweg-emulate --example shell -- \\
//!   SCENARIO.toml [--record DIR] [--wire xdp] [--outside] [--peer 'iperf3 -s'] -- iperf3 -c {peer}
//! ```
//!
//! At the end what the run was is printed as JSON, to standard error. The exit status is the command's.

#[cfg(target_os = "linux")]
fn main() {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(code) => std::process::exit(code),
        Err(why) => {
            eprintln!("{why}");
            std::process::exit(2);
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("paths are emulated on Linux only");
}

#[cfg(target_os = "linux")]
fn run(arguments: &[String]) -> Result<i32, String> {
    use thalweg_emulate::{Shell, WireKind, passable};

    let split =
        arguments.iter().position(|word| word == "--").ok_or("which command? (SCENARIO.toml -- COMMAND)")?;
    let (options, command) = (&arguments[..split], &arguments[split + 1..]);
    let [file, options @ ..] = options else { return Err("which scenario?".into()) };
    let option = |name: &str| options.iter().position(|word| word == name).and_then(|at| options.get(at + 1));
    let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
    let dir = std::path::Path::new(file).parent().unwrap_or(std::path::Path::new("."));
    let scenario = thalweg_scenario::load(&text, file, dir, &[])
        .map_err(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
    let names = &scenario.graph().names;
    let up = scenario.bottleneck().map_err(|e| e.to_string())?;
    let down = scenario.port(&names.of(up.to.0), &names.of(up.from.0)).map_err(|e| e.to_string())?;
    let port = |spec: &thalweg_net::port::PortSpec| {
        let name = format!("{} -> {}", names.of(spec.from.0), names.of(spec.to.0));
        passable(spec, name).map_err(|e| format!("{file}: {e}"))
    };
    let shell = Shell {
        up: port(&up)?.into(),
        down: port(&down)?.into(),
        command: command.to_vec(),
        peer: option("--peer").map(|words| ["sh", "-c", words].map(String::from).to_vec()),
        environment: Vec::new(),
        record: option("--record").map(Into::into),
        capture: option("--pcap").map(Into::into),
        wire: option("--wire").map(|name| if name == "xdp" { WireKind::Xdp } else { WireKind::Packet }),
        outside: options.iter().any(|word| word == "--outside"),
    };
    let outcome = shell.run().map_err(|e| e.to_string())?;
    eprintln!("{}", serde_json::to_string(&outcome).map_err(|e| e.to_string())?);
    Ok(outcome.status.code)
}
