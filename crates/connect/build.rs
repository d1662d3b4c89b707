//! Compiles the kernel's datapath, where the feature is on. The object lies in the library, so that those who run it
//! need no compiler; those who build it need clang, as any source tree with C in it needs a compiler.

use std::env;
use std::path::PathBuf;
use std::process::Command;

const SOURCE: &str = "src/kernel/datapath.bpf.c";

fn main() {
    println!("cargo:rerun-if-changed={SOURCE}");
    println!("cargo:rerun-if-env-changed=CLANG");
    if env::var_os("CARGO_FEATURE_KERNEL").is_none() {
        return;
    }
    if let Err(why) = compile() {
        println!("cargo::error={why}");
    }
}

fn compile() -> Result<(), String> {
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return Err("feature `kernel`: the kernel's TCP is steered by BPF, which is Linux'".into());
    }
    let variable = |name: &str| env::var(name).map_err(|_| format!("cargo does not say {name}"));
    // libbpf's headers travel with the crate that links it; the kernel's are those of the C library.
    let headers = variable("DEP_BPF_INCLUDE")?;
    let architecture = match variable("CARGO_CFG_TARGET_ARCH")?.as_str() {
        "x86_64" => "x86",
        "aarch64" => "arm64",
        "riscv64" => "riscv",
        "s390x" => "s390",
        other => return Err(format!("feature `kernel`: nobody has tried it on {other}")),
    };
    let object = PathBuf::from(variable("OUT_DIR")?).join("datapath.bpf.o");
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".into());
    let mut command = Command::new(&clang);
    // Version 3 of the instruction set has atomic operations that return (Linux 5.12).
    command.args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Werror"]);
    command.arg(format!("-D__TARGET_ARCH_{architecture}")).arg("-I").arg(&headers);
    command.arg("-I").arg(format!("/usr/include/{}-linux-gnu", variable("CARGO_CFG_TARGET_ARCH")?));
    command.args(["-c", SOURCE, "-o"]).arg(&object);
    let made = command.output().map_err(|error| {
        format!("feature `kernel`: {clang}: {error}; install clang (Debian: apt-get install clang), or name one in CLANG")
    })?;
    if !made.status.success() {
        return Err(format!("{clang}: {}", String::from_utf8_lossy(&made.stderr).replace('\n', " | ")));
    }
    Ok(())
}
