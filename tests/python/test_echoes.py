"""Marks over the kernel's TCP: the receiving half of an attached controller echoes each of them and no other (RFC 8257
§3.2), and the sending half counts them exactly; with a receiver of RFC 3168 it counts too many."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from thalweg import _core

pytestmark = pytest.mark.skipif("kernel" not in _core.CONNECTS, reason="a build without the feature `kernel`")

THALWEG = [sys.executable, "-m", "thalweg"]

# A sender by hand, on a device of its own: segments with and without marks (CE), and after each the ACKs that it has
# caused by the time that its write is over. Delayed ACKs are on.
BY_HAND = """
import fcntl, json, os, socket, struct, subprocess, sys
device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
fcntl.ioctl(device, 0x400454CA, struct.pack("16sH14x", b"tun0", 0x1001))  # TUNSETIFF, IFF_TUN | IFF_NO_PI
for words in ("address add 10.9.0.1/24 dev tun0", "link set tun0 up"):
    subprocess.run(["ip", *words.split()], check=True)
here, there = socket.inet_aton("10.9.0.2"), socket.inet_aton("10.9.0.1")
open("/proc/sys/net/ipv4/tcp_ecn", "w").write(sys.argv[2])
server = socket.create_server(("10.9.0.1", 5000))

def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF

def send(seq, ack, flags, tos=0, options=b"", payload=b""):
    words = (4000, 5000, seq % 2**32, ack % 2**32, (5 + len(options) // 4) << 12 | flags, 65535)
    def tcp(check):
        return struct.pack("!HHIIHHHH", *words, check, 0) + options + payload
    pseudo = here + there + struct.pack("!HH", 6, len(tcp(0)))
    segment = tcp(checksum(pseudo + tcp(0)))
    def ip(check):
        return struct.pack("!BBHHHBBH", 0x45, tos, 20 + len(segment), 0, 0, 64, 6, check) + here + there
    os.write(device, ip(checksum(ip(0))) + segment)

def received():
    while True:
        try:
            packet = os.read(device, 2048)
        except BlockingIOError:
            return
        if packet[0] == 0x45 and packet[9] == 6:
            yield struct.unpack("!II", packet[24:32]) + (packet[33], packet[1] & 3)

SYN, ACK, ECE, CWR, SIZE, FIRST = 0x02, 0x10, 0x40, 0x80, 1000, 1000
send(FIRST - 1, 0, SYN | ECE | CWR, options=struct.pack("!BBH", 2, 4, SIZE))
(theirs, _, flags, _), = received()
assert flags == SYN | ACK | ECE, flags
send(FIRST, theirs + 1, ACK)
connection, _ = server.accept()
connection.setsockopt(socket.IPPROTO_TCP, 12, 0)  # TCP_QUICKACK
found = []
for n, mark in enumerate(sys.argv[1]):
    send(FIRST + n * SIZE, theirs + 1, ACK, tos=3 if mark == "1" else 2, payload=bytes(SIZE))
    found.append([((ack - FIRST) / SIZE, bool(flags & ECE)) for _, ack, flags, _ in received()])
print(json.dumps(found))
"""


def acknowledged(tmp_path, marks: str, attached: bool) -> list[list[tuple[float, bool]]]:
    """The ACKs after each segment: how many segments they acknowledge, and whether they say ECE."""
    (tmp_path / "by_hand.py").write_text(BY_HAND)
    # An attached controller gets ECN even where the machine grants none.
    command = ["unshare", "-n", sys.executable, str(tmp_path / "by_hand.py"), marks, "0" if attached else "2"]
    if attached:
        command = [*THALWEG, "attach", "--quiet", "dctcp", "--", *command]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if said.returncode and any(why in said.stderr for why in ("not allowed", "this kernel", "cgroup", "/dev/net/tun")):
        pytest.skip(said.stderr)
    assert said.returncode == 0, said.stderr
    return [[tuple(one) for one in acks] for acks in json.loads(said.stdout.splitlines()[0])]


# Changes after one segment, after several, and back; none at the end.
MARKS = "0011101000011010011111"


def test_an_ack_speaks_of_segments_of_one_kind_and_a_change_is_acknowledged_at_once(tmp_path):
    """RFC 8257 §3.2, Figure 1, arrow by arrow."""
    reached, kind, late = 0, "0", 0
    for n, (mark, acks) in enumerate(zip(MARKS, acknowledged(tmp_path, MARKS, attached=True), strict=True)):
        if mark == kind:
            # None, or one with the mark of all that it acknowledges.
            assert acks in ([], [(n + 1, mark == "1")]), (n, acks)
        elif reached < n:
            # What was put off goes first, as what it was.
            assert acks == [(n, kind == "1"), (n + 1, mark == "1")], (n, acks)
            late += 1
        else:
            assert acks == [(n + 1, mark == "1")], (n, acks)
        kind, reached = mark, acks[-1][0] if acks else reached
    assert late >= 3, "ACKs were put off"


def test_a_receiver_of_rfc_3168_says_ece_until_it_is_answered(tmp_path):
    acks = [one for acks in acknowledged(tmp_path, MARKS, attached=False) for one in acks]
    first = next(n for n, (_, ece) in enumerate(acks) if ece)
    assert acks[first][0] > MARKS.index("1") and len(acks) > first + 5
    assert all(ece for _, ece in acks[first:]), acks


# At the far end: asks for ECN as RFC 3168 has it, unless a controller does that, and receives.
RECEIVE = """
import socket, sys, time
open("/proc/sys/net/ipv4/tcp_ecn", "w").write("1")
for _ in range(300):
    try:
        peer = socket.create_connection((sys.argv[1], 5001))
        break
    except OSError:
        time.sleep(0.1)
while peer.recv(65536):
    pass
"""
# On the path: accepts, sends, and is done when all has come. What the last ACK says is read before it ends.
SEND = """
import socket, time
connection, _ = socket.create_server(("", 5001)).accept()
connection.sendall(bytes(6_000_000))
connection.shutdown(socket.SHUT_WR)
connection.recv(1)
time.sleep(0.3)
"""


def marks(tmp_path, exact: bool) -> tuple[int, int]:
    """Of a transfer over a port that marks by a threshold: what it has marked, what ACKs have said of it."""
    if why := _core.emulate_refusal():
        pytest.skip(why)
    if not any(Path("/sys/fs/cgroup", place, "cgroup.procs").exists() for place in (".", "unified")):
        pytest.skip("cgroup v2 is not mounted here")
    (tmp_path / "receive.py").write_text(RECEIVE)
    (tmp_path / "send.py").write_text(SEND)
    attach = [*THALWEG, "attach", "--json", "dctcp", "--"]
    there = " ".join([*(attach if exact else []), sys.executable, "receive.py", "{peer}", "> there"])
    path = ["--rate", "50Mbps", "--delay", "5ms", "--queue", "step", "--set", "switch.marking.threshold=20pkts"]
    words = [*path, "--json", "--no-out", "--at-both-ends", there, "--", *attach, sys.executable, "send.py"]
    ended = subprocess.run([*THALWEG, "shell", *words], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    if ended.returncode == 2 and ("not allowed" in ended.stderr or "this kernel" in ended.stderr):
        pytest.skip(ended.stderr)
    assert ended.returncode == 0, ended.stderr
    (sent,) = json.loads(ended.stdout)["per_connection"]
    up = json.loads(ended.stderr.splitlines()[-1])["up"]["statistics"]
    assert (sent["ecn"], sent["acked"] >= 6_000_000, up["dropped"]) == (True, True, 0), (sent, up)
    return up["marked"], sent["marked_segments"]


def test_the_sender_counts_every_mark_and_no_other_if_both_ends_are_attached(tmp_path):
    """To three segments, in one of three transfers: on a host that stalls the kernel puts ACKs off while the receiver
    holds its socket, and such an ACK is of both kinds. (The other kind of echo is never that near: see below.)"""
    found = []
    while len(found) < 3 and not any(abs(counted - marked) <= 3 for marked, counted in found):
        found.append(marks(tmp_path, exact=True))
    assert all(marked > 50 for marked, _ in found), found
    assert any(abs(counted - marked) <= 3 for marked, counted in found), found


def test_of_a_receiver_of_rfc_3168_it_counts_too_many(tmp_path):
    marked, counted = marks(tmp_path, exact=False)
    assert marked > 10 and counted > 1.3 * marked, (marked, counted)
