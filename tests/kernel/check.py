"""One trace through a port of the simulator, the software datapath and the kernel's queueing discipline: the same kept,
in the same order. (What a simulated port does not run, or draws otherwise, goes through the other two.)

    python tests/kernel/check.py [--packets 1000] [--keep DIRECTORY]

It fetches a kernel with CONFIG_NET_SCH_BPF (Debian's trixie-backports) with a configuration of apt of its own,
unpacks the packages into a directory, and boots it under qemu (TCG) with an initramfs of busybox, iproute2 and
bpftool. Nothing is installed. What it needs and cannot have it names, and ends with exit code 77: skipped.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SKIPPED = 77
MIRROR = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org/debian")
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
TOOLS = ("apt-get", "dpkg", "qemu-system-x86_64", "cpio", "gcc", "xz", "readelf")
# Of the stable release; bpftool is of the kernel's own.
PACKAGES = [
    "busybox-static",
    "iproute2",
    "libc6",
    "libelf1t64",
    "zlib1g",
    "libzstd1",
    "libcap2",
    "libmnl0",
    "libbpf1",
    "libtirpc3t64",
    "libssl3t64",
    "libdb5.3t64",
    "libselinux1",
    "libxtables12",
    "libpcre2-8-0",
]
# What is compared: of the library, and what it says otherwise than the kernel can keep it.
LIBRARY = ("fifo", "algorithm-c", "strict", "two-priorities", "wfq", "crr", "a1", "policy-file", "rfifo")
OWN = ("srpt", "lqd", "steps")
SEED = 7
# Packets come so fast that queues fill: one each 500 ns, on a link that takes 625 for the mean one.
GAP, GAPS = "500ns", {"policy-file": "150ns"}


class Wanted(NamedTuple):
    """What becomes of a trace: the packets that leave, in order, how many are dropped; and whether a simulated port has
    done the same."""

    order: list[int]
    dropped: int
    simulated: bool = False


class Missing(Exception):
    """What the check needs and this machine does not have."""


def clang() -> str:
    """The newest clang there is: 14 loses the types of pointers in maps."""
    for name in (os.environ.get("CLANG"), *(f"clang-{n}" for n in range(25, 14, -1)), "clang"):
        if name and shutil.which(name):
            said = subprocess.run([name, "--version"], capture_output=True, text=True).stdout
            version = re.search(r"version (\d+)", said)
            if version and int(version.group(1)) >= 15:
                return name
    raise Missing("clang 15 or later (Debian: apt-get install clang-19)")


def fetch(into: Path) -> Path:
    """The kernel's packages and the tools', unpacked; a directory that has them is left as it is."""
    root, lists = into / "root", into / "apt"
    if (root / "complete").exists():
        return root
    for folder in ("lists/partial", "archives/partial"):
        (lists / folder).mkdir(parents=True, exist_ok=True)
    (lists / "status").touch()
    suites = "".join(f"deb [signed-by={KEYS}] {MIRROR} {suite} main\n" for suite in ("trixie-backports", "trixie"))
    (lists / "sources.list").write_text(suites)
    (lists / "conf").write_text(
        f'Dir::State "{lists}"; Dir::State::lists "{lists}/lists"; Dir::State::status "{lists}/status";\n'
        f'Dir::Cache "{lists}"; Dir::Cache::archives "{lists}/archives"; Dir::Etc::sourcelist "{lists}/sources.list";\n'
        f'Dir::Etc::sourceparts "{lists}/none"; Dir::Etc::preferencesparts "{lists}/none"; APT::Architecture "amd64";\n'
    )
    (lists / "none").mkdir(exist_ok=True)
    environment = {**os.environ, "APT_CONFIG": str(lists / "conf")}

    def apt(*arguments: str, at: Path = lists) -> str:
        done = subprocess.run(arguments, env=environment, cwd=at, capture_output=True, text=True)
        if done.returncode:
            raise Missing(f"Debian's packages: {' '.join(arguments[:2])}: {done.stderr.strip().splitlines()[-1:]}")
        return done.stdout

    apt("apt-get", "update", "-q")
    # Versions of backports move: the newest that is there.
    found = re.findall(r"^linux-binary-([\d.]+)(\S*-cloud-amd64) ", apt("apt-cache", "search", "linux-binary-"), re.M)
    if not found:
        raise Missing(f"a kernel of trixie-backports at {MIRROR}")
    version, rest = max(found, key=lambda one: [int(part) for part in one[0].split(".")])
    kernel = [f"linux-binary-{version}{rest}", f"linux-modules-{version}{rest}", "bpftool/trixie-backports"]
    (into / "packages").mkdir(exist_ok=True)
    apt("apt-get", "download", "-q", *kernel, *PACKAGES, at=into / "packages")
    for package in sorted((into / "packages").glob("*.deb")):
        subprocess.run(["dpkg", "-x", package, root], check=True)
    (root / "complete").touch()
    return root


def built(generator: list[str], file: Path, into: Path) -> None:
    """The object of a policy, which holds packets back until the player lets them go."""
    made = subprocess.run([*generator, str(file), "--target", "bpf-qdisc"], capture_output=True, text=True, check=True)
    source = into / "policy.c"
    source.write_text(made.stdout)
    options = ["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Werror", f"-DOQ_SEED={SEED}"]
    held = ["-include", HERE / "hold.h", "-c", source, "-o", into / "policy.o"]
    subprocess.run([clang(), *options, *held], check=True)
    source.unlink()


def simulated(name: str, packets: int) -> tuple[dict, list[int]] | None:
    """What came to a port of a simulated switch, and what that sent, in its order; nothing where it cannot run it."""
    from thalweg.papers import find

    study = find("openqueue").module("simulated")
    if name not in LIBRARY or name in study.REFUSED or name in study.APART:
        return None
    _, trace, start = study.offered(name, packets // study.HOSTS)
    return trace, study.in_order(start).tolist()


def expected(file: Path, packets: int, into: Path) -> Wanted:
    """What the software datapath does, and the simulator; and the trace, whose last column says how many packets leave
    after each that comes."""
    import numpy as np

    from thalweg import policies

    policy, port = policies.load(file), simulated(file.stem, packets)
    trace = (
        port[0]
        if port
        else policy.traffic(
            packets=packets, gap=GAPS.get(file.stem, GAP), tos=list(range(0, 256, 4)), values=(0, 99), seed=SEED
        )
    )
    packets = len(trace["at_ps"])
    ran = [policy.run(trace, link="10Gbps", engine=engine, seed=SEED).frame for engine in ("interpreter", "bytecode")]
    if not ran[0].equals(ran[1]):
        raise AssertionError(f"{file.name}: two engines of the datapath differ")
    sent = ran[0].filter(ran[0]["fate"] == "sent").sort("gone_ps")
    if port and sent["packet"].to_list() != port[1]:
        raise AssertionError(f"{file.name}: the simulator and the datapath differ")
    # A packet is taken off its queue when its first bit leaves.
    began = sent["gone_ps"].to_numpy() - trace["size"][sent["packet"].to_numpy()].astype(np.int64) * 800
    after = np.searchsorted(trace["at_ps"].astype(np.int64), began, side="right") - 1
    credit = np.bincount(after, minlength=packets)
    # The last lets go of all that still waits.
    credit[-1] = packets
    rows = zip(trace["queue"], trace["size"], trace["tos"], trace["value"], credit, strict=True)
    (into / "trace").write_text("".join(" ".join(str(int(one)) for one in row) + "\n" for row in rows))
    return Wanted(sent["packet"].to_list(), int((ran[0]["fate"] == "dropped").sum()), port is not None)


def image(root: Path, policies: Path, into: Path) -> Path:
    """The initramfs."""
    tree = into / "tree"
    for folder in ("bin", "proc", "sys", "dev", "lib64", "lib", "usr/sbin"):
        (tree / folder).mkdir(parents=True)
    libraries = root / "usr/lib/x86_64-linux-gnu"
    shutil.copy(root / "usr/bin/busybox", tree / "bin/busybox")
    shutil.copy(libraries / "ld-linux-x86-64.so.2", tree / "lib64")
    for tool in ("usr/sbin/bpftool", "usr/sbin/tc", "usr/bin/ip"):
        shutil.copy(root / tool, tree / "usr/sbin")
    waiting, seen = list((tree / "usr/sbin").iterdir()), set()
    while waiting:
        said = subprocess.run(["readelf", "-d", waiting.pop()], capture_output=True, text=True, check=True).stdout
        for name in set(re.findall(r"NEEDED.*\[(.*)\]", said)) - seen:
            seen.add(name)
            # What only prints the help of other families of addresses may be absent.
            if (libraries / name).exists():
                waiting.append(Path(shutil.copy(libraries / name, tree / "lib")))
    module = next(root.glob("usr/lib/modules/*/kernel/drivers/net/veth.ko.xz"))
    (tree / "lib/veth.ko").write_bytes(subprocess.run(["xz", "-dc", module], stdout=subprocess.PIPE, check=True).stdout)
    subprocess.run(["gcc", "-O2", "-static", "-Wall", "-Werror", "-o", tree / "play", HERE / "play.c"], check=True)
    shutil.copytree(policies, tree / "policies")
    shutil.copy(HERE / "init.sh", tree / "init")
    (tree / "init").chmod(0o755)
    archive = into / "initramfs"
    with archive.open("wb") as out:
        names = subprocess.run(["find", "."], cwd=tree, stdout=subprocess.PIPE, check=True).stdout
        subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"], cwd=tree, input=names, stdout=out, check=True)
    return archive


def boot(root: Path, archive: Path, seconds: int) -> str:
    """What the machine said."""
    kernel = next(root.glob("usr/lib/modules/*/vmlinuz"))
    machine = [
        "qemu-system-x86_64",
        "-accel",
        "tcg",
        "-cpu",
        "max",
        "-m",
        "768",
        "-smp",
        "1",
        "-nographic",
        "-nodefaults",
    ]
    machine += ["-no-reboot", "-serial", "stdio", "-kernel", kernel, "-initrd", archive]
    machine += ["-append", "console=ttyS0 quiet panic=-1 mitigations=off"]
    done = subprocess.run(machine, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds)
    return done.stdout.replace("\r", "")


def judge(said: str, wanted: Mapping[str, Wanted]) -> int:
    """Prints a line for each policy; how many differ."""
    wrong = 0
    kernel = re.search(r"KERNEL (\S+)", said)
    print(f"kernel {kernel.group(1) if kernel else 'did not start'}, seed {SEED}")
    for name, (order, dropped, is_simulated) in wanted.items():
        part = re.search(rf"^POLICY {re.escape(name)}\n(.*?)(?=^POLICY |^FINISHED|\Z)", said, re.M | re.S)
        found = re.search(r"^ORDER ([\d ]*)$", part.group(1), re.M) if part else None
        lost = re.search(r"^DROPPED (\d+)$", part.group(1), re.M) if part else None
        if not found or not lost:
            wrong += 1
            print(f"{name}: did not run: {part.group(1).strip() if part else said[-400:]}")
            continue
        came = [int(one) for one in found.group(1).split()]
        first = next((n for n, pair in enumerate(zip(came, order, strict=False)) if pair[0] != pair[1]), None)
        same = came == order and int(lost.group(1)) == dropped
        wrong += not same
        print(
            f"{name}: {len(order)} kept, {dropped} dropped{' by the simulator, too' if is_simulated else ''}, order "
            + ("identical" if same else f"DIFFERS: kernel {len(came)} kept, {lost.group(1)} dropped, first at {first}")
        )
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packets", type=int, default=1000, help="packets of each trace")
    parser.add_argument("--keep", type=Path, help="a directory for Debian's packages, used again if they are there")
    parser.add_argument("--seconds", type=int, default=300, help="longest time for the machine")
    parser.add_argument("--generator", nargs="+", default=[sys.executable, "-m", "thalweg", "policy", "compile"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        try:
            absent = [tool for tool in TOOLS if not shutil.which(tool)]
            if absent:
                raise Missing(", ".join(absent))
            clang()
            root = fetch(options.keep or work)
        except Missing as why:
            print(f"skipped: it needs {why}")
            return SKIPPED
        files = [ROOT / f"crates/policy/library/{name}.oq" for name in LIBRARY]
        files += [HERE / f"policies/{name}.oq" for name in OWN]
        wanted = {}
        for file in files:
            into = work / "policies" / file.stem
            into.mkdir(parents=True)
            built(options.generator, file, into)
            wanted[file.stem] = expected(file, options.packets, into)
        wrong = judge(boot(root, image(root, work / "policies", work), options.seconds), wanted)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
