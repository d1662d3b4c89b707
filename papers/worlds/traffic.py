"""The two ends of a flow: `traffic.py receive` and `traffic.py send HOST SECONDS START [ALGORITHM]`, over TCP.

Nothing but the data crosses the path, from its first packet on. It begins START seconds after the path; an algorithm is
one of the kernel's."""

import contextlib
import os
import socket
import struct
import sys
import time
from pathlib import Path

PORT = 5001
CHUNK = bytes(1 << 17)
# Buffers that no window of the study fills.
MEMORY = "4096 1048576 67108864"


def roomy() -> None:
    """Of this network namespace, where that is allowed."""
    for name in ("tcp_rmem", "tcp_wmem"):
        with contextlib.suppress(OSError):
            Path(f"/proc/sys/net/ipv4/{name}").write_text(MEMORY, encoding="ascii")


def receive() -> None:
    with socket.create_server(("", PORT)) as server:
        peer, _ = server.accept()
        with peer, contextlib.suppress(ConnectionResetError):
            while peer.recv(1 << 20):
                pass


def age() -> float:
    """Of the path, in seconds: its first process is number 1 in here."""
    ticks = int(Path("/proc/1/stat").read_text(encoding="ascii").rpartition(")")[2].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


def send(host: str, seconds: float, start: float, algorithm: str | None = None) -> None:
    with socket.socket() as flow:
        if algorithm:
            flow.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, algorithm.encode())
        time.sleep(max(0.0, start - age()))
        flow.connect((host, PORT))
        flow.settimeout(1)
        # What has not left when the time is over never does.
        flow.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(TimeoutError):
                flow.send(CHUNK)


if __name__ == "__main__":
    roomy()
    if sys.argv[1] == "receive":
        receive()
    else:
        send(sys.argv[2], float(sys.argv[3]), float(sys.argv[4]), *sys.argv[5:])
