"""The report in a real browser: what it draws on a screen, a phone and paper, and that the keyboard reaches all."""

from __future__ import annotations

import base64
import io
import json
import os
import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import numpy
import pytest
from PIL import Image

from rocm3d.model.bundle import Bundle
from rocm3d.model.report import BundleReport
from rocm3d.pipeline import LEVELS, Repository
from rocm3d.render.html import render

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "splat-trainer"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe",
]  # fmt: skip

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="not run: Chromium is not installed"),
]


class Browser:
    """Chromium by its own protocol over two pipes: keys, screens and paper, and what it complains of."""

    def __init__(self, profile: Path) -> None:
        theirs_in, self.out = os.pipe()
        self.into, theirs_out = os.pipe()

        def place() -> None:
            # It reads from 3 and writes to 4; the copies keep one from closing the other.
            first, second = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen(
            [CHROMIUM, *QUIET, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=place,  # noqa: PLW1509  (no thread is running)
            close_fds=False, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(theirs_in)
        os.close(theirs_out)
        self.number, self.session, self.rest, self.events = 0, None, b"", []
        (page,) = [item for item in self("Target.getTargets")["targetInfos"] if item["type"] == "page"]
        self.session = self("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self(f"{domain}.enable")

    def __call__(self, method: str, **parameters):
        self.number += 1
        asked = {"id": self.number, "method": method, "params": parameters}
        asked |= {"sessionId": self.session} if self.session else {}
        os.write(self.out, json.dumps(asked).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def _next(self):
        while b"\0" not in self.rest:
            piece = os.read(self.into, 1 << 20)
            assert piece, "Chromium has ended"
            self.rest += piece
        line, _, self.rest = self.rest.partition(b"\0")
        return json.loads(line)

    def show(self, page: Path, *, width=1280, height=900, scheme="light", media="") -> None:
        self("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        self("Page.navigate", url=page.as_uri())
        until = time.monotonic() + 30
        while not any(item.get("method") == "Page.loadEventFired" for item in self.events):
            assert time.monotonic() < until, "the page did not load"
            self.events.append(self._next())

    def value(self, script: str):
        return self("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def picture(self) -> numpy.ndarray:
        data = self("Page.captureScreenshot", format="png")["data"]
        return numpy.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"))

    def press(self, key: str) -> None:
        code = {"Tab": 9, "Enter": 13}[key]
        typed = {"text": "\r"} if key == "Enter" else {}
        self("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, **typed)
        self("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def complaints(self) -> list[str]:
        """What a console shows, and every address that was asked for but the page itself."""
        found = []
        for item in self.events:
            about = item.get("params", {})
            if item.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
                found.append(json.dumps(about)[:300])
            if item.get("method") == "Network.requestWillBeSent" and not about["request"]["url"].startswith(
                ("file:", "data:")
            ):
                found.append(about["request"]["url"])
        return found

    def end(self) -> None:
        self.process.kill()
        self.process.wait(timeout=30)
        os.close(self.out)
        os.close(self.into)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    found = Browser(tmp_path_factory.mktemp("profile"))
    yield found
    found.end()


@pytest.fixture(scope="module")
def ported(tmp_path_factory, knowledge, make):
    """A report of splat-trainer through every stage with a run, and its page."""
    folder = tmp_path_factory.mktemp("ported")
    shutil.copytree(EXAMPLE, folder / EXAMPLE.name, ignore=shutil.ignore_patterns(".rocm3d"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROCM3D_CACHE", str(folder / "cache"))
        repository = Repository(folder / EXAMPLE.name, knowledge)
        repository.apply(repository.plan(knowledge.gpu("gfx942")), review=False, dry_run=False)
        repository.verify(LEVELS, ())
        repository.evidence()
    bad = make.artifact("out/nan.ply", outcome="bad", problems=("all 9 Gaussians hold NaN",), preview={})
    long = make.artifact(f"out/{'long' * 40}.ply")
    run = make.run(artifacts=(make.artifact(), bad, long), command=("python", "train.py", "--data=" + "x" * 300))
    report = replace(repository.report(), runs=(make.joined(run),))
    page = folder / "report.html"
    page.write_text(render(report), encoding="utf-8")
    return report, page


def test_the_console_is_silent_and_nobody_is_asked(browser, ported):
    browser.show(ported[1])

    assert browser.complaints() == []


def test_page_holds_counts_and_outcome(browser, ported):
    report, page = ported
    browser.show(page)
    text = browser.value("document.querySelector('header').innerText")

    tally = report.evidence.tally
    assert report.outcome in text
    for count, name in (
        (tally.changed, "changed"),
        (tally.left_for_person, "left for a person"),
        (tally.rejected, "rejected with reason"),
        (tally.not_verified, "not verified"),
    ):
        assert f"{count}\n{name}" in text
    assert tally.changed > 0
    assert "csrc/forward.cu" in browser.value("document.body.innerText")


@pytest.mark.parametrize(("scheme", "ground"), [("light", (247, 248, 247)), ("dark", (18, 21, 24))])
@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)], ids=["wide", "phone"])
def test_page_is_drawn(browser, ported, scheme, ground, width, height):
    browser.show(ported[1], width=width, height=height, scheme=scheme)
    picture = browser.picture()

    assert picture.shape == (height, width, 3)
    assert tuple(int(part) for part in picture[2, 2]) == ground
    written = (numpy.ptp(picture.astype(int), axis=1) > 60).any(axis=1)
    assert written.sum() > height // 8
    assert written[: height // 4].any()
    assert written[height // 2 :].any()


@pytest.mark.parametrize("width", [320, 390, 768, 1024, 1280])
def test_nothing_makes_the_page_scroll_sideways(browser, ported, width):
    browser.show(ported[1], width=width, height=844)
    browser.value("document.querySelectorAll('details').forEach(item => item.open = true)")

    assert browser.value("document.documentElement.scrollWidth") <= width
    # Nor is anything cut off: whatever is wider than its box can be scrolled by itself.
    cut = browser.value(
        "[...document.querySelectorAll('main *')].filter(item => getComputedStyle(item).display != 'inline'"
        " && item.scrollWidth > item.clientWidth + 1 && item.clientWidth > 0 && !item.closest('svg, pre, thead'))"
        ".map(item => item.outerHTML.slice(0, 120))"
    )
    assert cut == []


@pytest.mark.parametrize(("width", "shown", "hidden"), [(1280, "wide", "narrow"), (390, "narrow", "wide")])
def test_pictures_are_those_for_the_screen(browser, ported, width, shown, hidden):
    browser.show(ported[1], width=width)

    assert browser.value(f"document.querySelectorAll('.chart.{shown} svg').length") >= 5
    assert browser.value(f"document.querySelector('.chart.{shown} svg').getBoundingClientRect().width") > 250
    assert browser.value(f"document.querySelector('.chart.{hidden} svg').getBoundingClientRect().width") == 0
    smallest = browser.value(
        f"Math.min(...[...document.querySelectorAll('.chart.{shown} svg')].map(item =>"
        " item.getBoundingClientRect().width / item.viewBox.baseVal.width))"
    )
    assert smallest * 11 > 9  # letters of 11 stay readable


def test_no_text_of_a_picture_runs_out_of_it(browser, ported):
    for width in (1280, 390):
        browser.show(ported[1], width=width)
        out = browser.value(
            "[...document.querySelectorAll('.chart svg text')].filter(item => {"
            " const box = item.getBoundingClientRect(), all = item.ownerSVGElement.getBoundingClientRect();"
            " return box.width && (box.left < all.left - 3 || box.right > all.right + 3);"
            "}).map(item => item.textContent)"
        )
        assert out == []


def test_the_keyboard_reaches_every_link_in_its_order(browser, ported):
    browser.show(ported[1])
    seen = []
    for _ in range(12):
        browser.press("Tab")
        seen.append(browser.value("document.activeElement.innerText"))
        assert browser.value("getComputedStyle(document.activeElement).outlineStyle") == "solid", seen[-1]

    assert seen[:2] == ["Skip to the content", "See the runs"]
    assert seen[2:9] == [
        "Mind this first",
        "Proven and not",
        "Dependencies",
        "Changes",
        "Left for a person",
        "Runs",
        "Base",
    ]


def test_the_skip_link_is_seen_when_it_is_reached_and_leads_to_the_content(browser, ported):
    browser.show(ported[1])
    browser.press("Tab")
    assert browser.value("document.activeElement.getBoundingClientRect().left") >= 0
    browser.press("Enter")
    time.sleep(0.2)

    assert browser.value("document.activeElement.id || location.hash.slice(1)") == "content"


def test_details_open_with_the_keyboard(browser, ported):
    browser.show(ported[1])
    browser.value("document.querySelector('#dependencies').scrollIntoView()")
    browser.value("document.querySelector('#dependencies ~ details > summary').focus()")
    browser.press("Enter")

    assert browser.value("document.activeElement.parentElement.open") is True


def test_on_paper_everything_is_open_and_dark_on_white(browser, ported, tmp_path):
    browser.show(ported[1], scheme="dark", media="print")
    ink = browser.value("getComputedStyle(document.body).color")
    heights = browser.value(
        "[...document.querySelectorAll('details:not([open]):not(.aside, .aside *) > :not(summary)')]"
        ".map(item => item.getBoundingClientRect().height)"
    )
    data = base64.b64decode(browser("Page.printToPDF", printBackground=True)["data"])
    (tmp_path / "report.pdf").write_bytes(data)

    assert ink == "rgb(0, 0, 0)"
    assert heights
    assert min(heights) > 0
    assert data.startswith(b"%PDF")
    assert data.count(b"/Type /Page\n") + data.count(b"/Type /Page ") + data.count(b"/Type/Page") >= 3


def test_the_page_of_a_bundle_alone(browser, make, tmp_path):
    joined = make.joined()
    held = Bundle(repository="demo", runs=(joined.run,), chains=(joined.chain,))
    page = tmp_path / "bundle.html"
    page.write_text(render(BundleReport(name="train", sha256="a" * 64, bundle=held)), encoding="utf-8")

    browser.show(page, width=390)

    assert browser.complaints() == []
    assert browser.value("document.documentElement.scrollWidth") <= 390
    assert browser.value("document.querySelector('img').naturalWidth") == 1


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_of_a_scan(browser, make, tmp_path, width):
    page = tmp_path / "scan.html"
    found = make.finding(path=f"csrc/{'long' * 40}.cu", family="native-op")
    page.write_text(render(make.scan(found, skipped=[("a" * 200, "holds NUL bytes")])), encoding="utf-8")

    browser.show(page, width=width)

    assert browser.complaints() == []
    assert browser.value("document.documentElement.scrollWidth") <= width
