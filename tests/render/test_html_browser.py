"""The report in a real browser: screen, phone, print and keyboard."""

from __future__ import annotations

import base64
import shutil
from dataclasses import replace
from pathlib import Path

import numpy
import pytest
from browser import MARKS, shared_browser
from waiting import wait_until

from rocm3d.model.bundle import Bundle, BundleReport
from rocm3d.pipeline import LEVELS, Repository
from rocm3d.render.html import render

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "splat-trainer"

pytestmark = MARKS


@pytest.fixture(scope="session")
def browser(request):
    return shared_browser(request.config)


@pytest.fixture
def page(browser):
    with browser.open_page() as page:
        yield page


def complaints(page) -> list[str]:
    """Console messages, and every requested address except the page itself."""
    return [*(f"{kind}: {text}" for kind, text in page.console()), *page.requests()]


@pytest.fixture(scope="module")
def ported(tmp_path_factory, knowledge, make):
    """A report of splat-trainer through every stage with a run, and its page."""
    folder = tmp_path_factory.mktemp("ported")
    shutil.copytree(EXAMPLE, folder / EXAMPLE.name, ignore=shutil.ignore_patterns(".rocm3d"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROCM3D_CACHE", str(folder / "cache"))
        repository = Repository(folder / EXAMPLE.name, knowledge)
        repository.apply(repository.plan(knowledge.gpu("gfx942")))
        repository.verify(LEVELS, ())
        repository.evidence()
    bad = make.artifact("out/nan.ply", outcome="bad", problems=("all 9 Gaussians hold NaN",), preview={})
    long = make.artifact(f"out/{'long' * 40}.ply")
    run = make.run(artifacts=(make.artifact(), bad, long), command=("python", "train.py", "--data=" + "x" * 300))
    report = replace(repository.report(), runs=(make.joined(run),))
    page = folder / "report.html"
    page.write_text(render(report), encoding="utf-8")
    return report, page


def test_the_console_is_silent_and_nothing_is_requested(page, ported):
    page.show_file(ported[1])

    assert complaints(page) == []


def test_page_holds_the_state_and_the_next_command(page, ported):
    report, report_file = ported
    page.show_file(report_file)
    text = page.value("document.querySelector('header').innerText")

    assert report.outcome in text
    for rung in report.state.rungs:
        assert rung.name in text.lower()
    assert report.next in text
    assert "csrc/forward.cu" in page.value("document.body.innerText")


@pytest.mark.parametrize(("scheme", "ground"), [("light", (247, 248, 247)), ("dark", (18, 21, 24))])
@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)], ids=["wide", "phone"])
def test_page_is_drawn(page, ported, scheme, ground, width, height):
    page.show_file(ported[1], width=width, height=height, scheme=scheme)
    picture = page.picture()

    assert picture.shape == (height, width, 3)
    assert tuple(int(part) for part in picture[2, 2]) == ground
    written = (numpy.ptp(picture.astype(int), axis=1) > 60).any(axis=1)
    assert written.sum() > height // 8
    assert written[: height // 4].any()
    assert written[height // 2 :].any()


@pytest.mark.parametrize("width", [320, 390, 768, 1024, 1280])
def test_nothing_makes_the_page_scroll_sideways(page, ported, width):
    page.show_file(ported[1], width=width, height=844)
    page.value("document.querySelectorAll('details').forEach(item => item.open = true)")

    assert page.value("document.documentElement.scrollWidth") <= width
    # Nor is anything cut off: whatever is wider than its box can be scrolled by itself.
    cut = page.value(
        "[...document.querySelectorAll('main *')].filter(item => getComputedStyle(item).display != 'inline'"
        " && item.scrollWidth > item.clientWidth + 1 && item.clientWidth > 0 && !item.closest('svg, pre, thead'))"
        ".map(item => item.outerHTML.slice(0, 120))"
    )
    assert cut == []


@pytest.mark.parametrize(("width", "shown", "hidden"), [(1280, "wide", "narrow"), (390, "narrow", "wide")])
def test_pictures_are_those_for_the_screen(page, ported, width, shown, hidden):
    page.show_file(ported[1], width=width)

    assert page.value(f"document.querySelectorAll('.chart.{shown} svg').length") >= 5
    assert page.value(f"document.querySelector('.chart.{shown} svg').getBoundingClientRect().width") > 250
    assert page.value(f"document.querySelector('.chart.{hidden} svg').getBoundingClientRect().width") == 0
    smallest = page.value(
        f"Math.min(...[...document.querySelectorAll('.chart.{shown} svg')].map(item =>"
        " item.getBoundingClientRect().width / item.viewBox.baseVal.width))"
    )
    assert smallest * 11 > 9  # letters of 11 stay readable


def test_no_text_of_a_picture_runs_out_of_it(page, ported):
    for width in (1280, 390):
        page.show_file(ported[1], width=width)
        out = page.value(
            "[...document.querySelectorAll('.chart svg text')].filter(item => {"
            " const box = item.getBoundingClientRect(), all = item.ownerSVGElement.getBoundingClientRect();"
            " return box.width && (box.left < all.left - 3 || box.right > all.right + 3);"
            "}).map(item => item.textContent)"
        )
        assert out == []


def test_the_keyboard_reaches_every_link_in_its_order(page, ported):
    page.show_file(ported[1])
    visible = []
    for _ in range(12):
        page.press("Tab")
        visible.append(page.value("document.activeElement.innerText"))
        assert page.value("getComputedStyle(document.activeElement).outlineStyle") == "solid", visible[-1]

    assert visible[:2] == ["Skip to the content", "See the runs"]
    assert visible[2:9] == [
        "Read this first",
        "Proof",
        "Dependencies",
        "Changes",
        "Tasks for a person",
        "Runs",
        "Base",
    ]


def test_the_skip_link_is_visible_on_focus_and_leads_to_the_content(page, ported):
    page.show_file(ported[1])
    page.press("Tab")
    assert page.value("document.activeElement.getBoundingClientRect().left") >= 0
    page.press("Enter")
    wait_until(lambda: page.value("document.activeElement.id || location.hash.slice(1)") == "content", "the content")


def test_details_open_with_the_keyboard(page, ported):
    page.show_file(ported[1])
    page.value("document.querySelector('#dependencies').scrollIntoView()")
    page.value("document.querySelector('#dependencies ~ details > summary').focus()")
    page.press("Enter")

    wait_until(lambda: page.value("document.activeElement.parentElement.open") is True, "open details")


def test_on_paper_everything_is_open_and_dark_on_white(page, ported, tmp_path):
    page.show_file(ported[1], scheme="dark", media="print")
    ink = page.value("getComputedStyle(document.body).color")
    heights = page.value(
        "[...document.querySelectorAll('details:not([open]):not(.aside, .aside *) > :not(summary)')]"
        ".map(item => item.getBoundingClientRect().height)"
    )
    data = base64.b64decode(page.call("Page.printToPDF", printBackground=True)["data"])
    (tmp_path / "report.pdf").write_bytes(data)

    assert ink == "rgb(0, 0, 0)"
    assert heights
    assert min(heights) > 0
    assert data.startswith(b"%PDF")
    assert data.count(b"/Type /Page\n") + data.count(b"/Type /Page ") + data.count(b"/Type/Page") >= 3


def test_the_page_of_a_bundle_alone(page, make, tmp_path):
    joined = make.joined()
    held = Bundle(repository="demo", runs=(joined.run,), chains=(joined.chain,))
    report_file = tmp_path / "bundle.html"
    report_file.write_text(render(BundleReport(name="train", sha256="a" * 64, bundle=held)), encoding="utf-8")

    page.show_file(report_file, width=390)

    assert complaints(page) == []
    assert page.value("document.documentElement.scrollWidth") <= 390
    assert page.value("document.querySelector('img').naturalWidth") == 1


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_of_a_scan(page, make, tmp_path, width):
    report_file = tmp_path / "scan.html"
    result = make.finding(path=f"csrc/{'long' * 40}.cu", family="native-op")
    report_file.write_text(render(make.scan(result, skipped=[("a" * 200, "holds NUL bytes")])), encoding="utf-8")

    page.show_file(report_file, width=width)

    assert complaints(page) == []
    assert page.value("document.documentElement.scrollWidth") <= width
