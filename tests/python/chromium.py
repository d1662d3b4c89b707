"""A headless Chromium, driven by its debugging pipe: pages are opened, scripts run in them, pictures taken."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

# The browser's ends of the pipe must be descriptors 3 and 4.
LAUNCH = """import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
os.dup2(ends[0], 3), os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])"""
NAMES = ("chromium", "chromium-browser", "google-chrome")


def found() -> str | None:
    """The browser, if one is installed."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Page:
    """One page. `problems` collects what the console calls errors, and exceptions that no script caught."""

    def __init__(self, width: int = 1280, height: int = 900, dark: bool = False):
        self.problems: list[str] = []
        self._home = tempfile.TemporaryDirectory(prefix="thalweg-chromium-")
        (theirs_in, self._out), (self._in, theirs_out) = os.pipe(), os.pipe()
        options = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage")
        place = f"--user-data-dir={self._home.name}"
        browser = [found(), *options, place, "--remote-debugging-pipe", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, str(theirs_in), str(theirs_out), *browser],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._number, self._kept, self._session = 0, b"", None
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for name in ("Page.enable", "Runtime.enable", "Log.enable"):
            self._call(name)
        self._call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_) -> None:
        os.close(self._out)  # it ends
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        self._home.cleanup()

    def open(self, url: str) -> None:
        self._call("Page.navigate", url=url)

    def value(self, script: str) -> Any:
        """What an expression gives; a promise is waited for."""
        got = self._call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in got, got["exceptionDetails"]
        return got["result"].get("value")

    def until(self, script: str, seconds: float = 60) -> Any:
        """Waits until an expression is true, and gives its value."""
        end = time.monotonic() + seconds
        while not (value := self.value(script)):
            assert time.monotonic() < end, f"{script}: not after {seconds} s; {self.problems}"
            time.sleep(0.05)
        return value

    def picture(self, path: Path, whole: bool = True) -> None:
        data = self._call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def _call(self, method: str, **params) -> dict:
        self._number += 1
        order = {"id": self._number, "method": method, "params": params}
        if self._session:
            order["sessionId"] = self._session
        data = json.dumps(order).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data) :]
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self._note(answer)

    def _receive(self) -> dict:
        while b"\0" not in self._kept:
            assert select.select([self._in], [], [], 120)[0], "Chromium does not answer"
            more = os.read(self._in, 1 << 20)
            assert more, "Chromium has ended"
            self._kept += more
        text, _, self._kept = self._kept.partition(b"\0")
        return json.loads(text)

    def _note(self, event: dict) -> None:
        params = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(params["exceptionDetails"])[:500])
        elif event.get("method") == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.problems.append(json.dumps(params["args"])[:500])
        elif event.get("method") == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.problems.append(params["entry"]["text"])
