"""The report in a real browser: content, and a picture that is not blank."""

from __future__ import annotations

import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import pytest

from rocm3d.pipeline import LEVELS, Repository
from rocm3d.render.html import render

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="not run: Chromium is not installed"),
]


@pytest.fixture
def ported(example, knowledge, tmp_path):
    """A report of splat-trainer through every stage, and its page."""
    repository = Repository(example("splat-trainer"), knowledge)
    repository.apply(repository.plan(knowledge.gpu("gfx942")), review=False, dry_run=False)
    repository.verify(LEVELS, ())
    repository.evidence()
    report = repository.report()
    page = tmp_path / "report.html"
    page.write_text(render(report), encoding="utf-8")
    return report, page


def chromium(page: Path, profile: Path, *arguments: str) -> str:
    command = [CHROMIUM, *QUIET, f"--user-data-dir={profile}", *arguments, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=90).stdout


def pixels(png: bytes) -> tuple[int, int, list[bytes]]:
    """Width, height and decoded rows of an 8-bit RGB or RGBA picture."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed, head = 8, b"", b""
    while at < len(png):
        (length,), kind = struct.unpack(">I", png[at : at + 4]), png[at + 4 : at + 8]
        head = png[at + 8 : at + 8 + length] if kind == b"IHDR" else head
        packed += png[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
        at += 12 + length
    width, height, depth, colour = struct.unpack(">IIBB", head[:10])
    assert (depth, colour) in ((8, 2), (8, 6))
    step, raw = {2: 3, 6: 4}[colour], zlib.decompress(packed)
    rows, above = [], bytearray(width * step)
    for y in range(height):
        start = y * (width * step + 1)
        above = _unfiltered(raw[start], bytearray(raw[start + 1 : start + 1 + width * step]), above, step)
        rows.append(bytes(above))
    return width, height, rows


def _unfiltered(kind: int, line: bytearray, above: bytearray, step: int) -> bytearray:
    for x in range(len(line)):
        left, up, corner = (line[x - step] if x >= step else 0), above[x], (above[x - step] if x >= step else 0)
        guess = left + up - corner
        paeth = min((abs(guess - value), order, value) for order, value in enumerate((left, up, corner)))[2]
        line[x] = (line[x] + (0, left, up, (left + up) // 2, paeth)[kind]) & 255
    return line


def test_page_holds_counts_and_outcome(ported, tmp_path):
    report, page = ported

    dom = chromium(page, tmp_path / "profile", "--dump-dom")

    tally = report.evidence.tally
    assert f'<p class="outcome {report.tone}">{report.outcome}</p>' in dom
    for count, name in (
        (tally.changed, "changed"),
        (tally.left_for_person, "left for a person"),
        (tally.rejected, "rejected with reason"),
        (tally.not_verified, "not verified"),
    ):
        assert f"<li><b>{count}</b>{name}</li>" in dom
    assert tally.changed > 0
    assert "csrc/forward.cu" in dom


@pytest.mark.parametrize(("name", "width", "height"), [("wide", 1280, 900), ("phone", 390, 844)])
def test_page_is_drawn(ported, tmp_path, name, width, height):
    picture = tmp_path / f"{name}.png"

    chromium(ported[1], tmp_path / "profile", f"--screenshot={picture}", f"--window-size={width},{height}")
    drawn_width, drawn_height, rows = pixels(picture.read_bytes())

    assert (drawn_width, drawn_height) == (width, height)
    written = [y for y, row in enumerate(rows) if len(set(row)) > 8]
    assert len(written) > height // 8
    assert min(written) < height // 4
    assert max(written) > height // 2


def test_nothing_runs_over_the_right_edge_of_a_phone(ported, tmp_path):
    """The page keeps a margin there; ink in it means that the page scrolls sideways."""
    picture = tmp_path / "tall.png"

    chromium(ported[1], tmp_path / "profile", f"--screenshot={picture}", "--window-size=390,2400")
    width, _, rows = pixels(picture.read_bytes())
    step = len(rows[0]) // width
    margins = [row[-8 * step :] for row in rows]

    assert [y for y, margin in enumerate(margins) if margin != margins[0]] == []
