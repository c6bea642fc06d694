"""One headless Chromium for all tests of a run, driven by its debugging protocol over two pipes.

Each test opens a page in its own browser context: no cookies, storage or sizes are shared.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
from PIL import Image
from processes import Program, end_family
from waiting import DEADLINE, missed, wait_until

from rocm3d.viewer.picture import PROGRAMS

CHROMIUM = next(filter(None, map(shutil.which, PROGRAMS)), None)
# For every test that drives a browser. One group: all of them run in the process that has the browser.
MARKS = [
    pytest.mark.engines,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(CHROMIUM is None, reason="not run: Chromium is not installed"),
]
# WebGL is rendered on the CPU; background pages are rendered as fast as the one in front.
ARGUMENTS = [
    "--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist", "--hide-scrollbars", "--no-first-run", "--disable-quic", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--disable-extensions",
    "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding", "--disable-breakpad", "--remote-debugging-pipe",
]  # fmt: skip
# Chromium reads commands from file descriptor 3 and writes responses to 4.
PLACE_PIPES = """
import fcntl, os, sys
given = [int(word) for word in sys.argv[1:3]]
copies = [fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, 10) for file in given]
for file in given:
    os.close(file)
os.dup2(copies[0], 3)
os.dup2(copies[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
KEYS = {"Tab": 9, "Enter": 13}
BROWSER = pytest.StashKey["Browser"]()


def drives_browser(test):
    """Decorates one test with all of MARKS."""
    for mark in MARKS:
        test = mark(test)
    return test


def shared_browser(config: pytest.Config) -> Browser:
    """The browser of this run, for fixtures of scope session; it ends with the run."""
    if BROWSER not in config.stash:
        config.stash[BROWSER] = browser = Browser()
        config.add_cleanup(browser.end)
    return config.stash[BROWSER]


class Browser:
    """The process and its two pipes."""

    def __init__(self) -> None:
        self.profile = tempfile.TemporaryDirectory(prefix="rocm3d-test-browser-", ignore_cleanup_errors=True)
        their_input, self.commands = os.pipe()
        self.answers, their_output = os.pipe()
        files = (their_input, their_output)
        chromium = [str(CHROMIUM), *ARGUMENTS, f"--user-data-dir={self.profile.name}", "about:blank"]
        self.process = Program(
            [sys.executable, "-I", "-S", "-c", PLACE_PIPES, *map(str, files), *chromium],
            pass_fds=files, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for file in files:
            os.close(file)
        self.number, self.rest = 0, b""
        self.pages: dict[str, Page] = {}
        self.call("Browser.getVersion")

    def call(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        """The response; events of pages that arrive meanwhile are added to them."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        os.write(self.commands, json.dumps({**message, **({"sessionId": session} if session else {})}).encode() + b"\0")
        while True:
            answer = self.next_message(f"the answer to {method}")
            if answer.get("id") == self.number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    def next_message(self, event: str) -> dict[str, Any]:
        """A response, or an event of a page, which is added to its events."""
        while b"\0" not in self.rest:
            if not select.select([self.answers], [], [], DEADLINE)[0]:
                missed(f"{event} of Chromium")
            piece = os.read(self.answers, 1 << 20)
            assert piece, f"Chromium ended before {event}"
            self.rest += piece
        line, _, self.rest = self.rest.partition(b"\0")
        message = json.loads(line)
        page = self.pages.get(message.get("sessionId", ""))
        if page is not None and "method" in message:
            page.events.append(message)
        return message

    @contextlib.contextmanager
    def open_page(self, width: int = 1280, height: int = 900) -> Iterator[Page]:
        """A page in its own browser context; both are closed afterwards."""
        context = self.call("Target.createBrowserContext", disposeOnDetach=True)["browserContextId"]
        try:
            target = self.call(
                "Target.createTarget", url="about:blank", browserContextId=context, width=width, height=height
            )["targetId"]
            session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            self.pages[session] = page = Page(self, session)
            for domain in ("Page", "Runtime", "Log", "Network"):
                page.call(f"{domain}.enable")
            # Keys reach the page as if it were in front.
            page.call("Emulation.setFocusEmulationEnabled", enabled=True)
            page.resize(width, height)
            yield page
            del self.pages[session]
        finally:
            self.call("Target.disposeBrowserContext", browserContextId=context)

    def end(self) -> None:
        """End the browser at once, with all its processes and its profile."""
        end_family(self.process)
        os.close(self.commands)
        os.close(self.answers)
        self.profile.cleanup()


class Page:
    """One page; `events` are those since the last navigation."""

    def __init__(self, browser: Browser, session: str) -> None:
        self.browser, self.session = browser, session
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self.browser.call(method, self.session, **parameters)

    def resize(self, width: int, height: int) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def show(self, url: str) -> None:
        """Navigate, and wait until it is loaded."""
        self.events.clear()
        self.call("Page.navigate", url=url)
        while not self.happened("Page.loadEventFired"):
            self.browser.next_message(f"the load of {url}")

    def show_file(self, path: Path, *, width=1280, height=900, scheme="light", media="") -> None:
        """Show a file on a screen of this size and colour scheme, or on paper (media: print)."""
        self.resize(width, height)
        self.call(
            "Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}]
        )
        self.show(path.as_uri())

    def value(self, script: str) -> Any:
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def wait_for_text(self, words: str) -> str:
        """All text of the page once these words are on it."""

        def text() -> str:
            shown = self.value("document.body?.innerText ?? ''")
            return shown if words in shown else ""

        return wait_until(text, f"{words!r} on the page")

    def picture(self) -> numpy.ndarray:
        """The screen as an array (h, w, 3)."""
        data = self.call("Page.captureScreenshot", format="png")["data"]
        return numpy.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"))

    def press(self, key: str) -> None:
        text = {"text": "\r"} if key == "Enter" else {}
        about = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
        self.call("Input.dispatchKeyEvent", type="keyDown", **about, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **about)

    def happened(self, method: str) -> list[dict[str, Any]]:
        """Parameters of the events of this kind."""
        return [event["params"] for event in self.events if event["method"] == method]

    def console(self) -> list[tuple[str, str]]:
        """Kind and text of each console message, including exceptions and messages of the browser."""
        self.value("0")  # all earlier events have been read when the response arrives
        messages = []
        for event in self.events:
            about = event["params"]
            if event["method"] == "Runtime.consoleAPICalled":
                messages.append((about["type"], " ".join(str(part.get("value", "")) for part in about["args"])))
            elif event["method"] == "Runtime.exceptionThrown":
                messages.append(("exception", json.dumps(about["exceptionDetails"])))
            elif event["method"] == "Log.entryAdded":
                messages.append((about["entry"]["level"], about["entry"]["text"]))
        return messages

    def requests(self) -> list[str]:
        """URLs that the page requested, other than file: and data:."""
        urls = [about["request"]["url"] for about in self.happened("Network.requestWillBeSent")]
        return [url for url in urls if not url.startswith(("file:", "data:"))]
