from __future__ import annotations

import re

import pytest

from rocm3d.evidence.chain import evidence_chain
from rocm3d.model.bundle import AlteredFile, Bundle, BundleReport, UnreadRun
from rocm3d.render.html import PortReportView
from rocm3d.render.report_text import render, render_bundle

EVIL = "<img src=x> | @someone `code` ](http://x)"


@pytest.fixture
def report(make):
    def build(**values) -> PortReportView:
        diff = "--- a/a.cu\n+++ b/a.cu\n@@ -1 +1,2 @@\n a\n+````\n+\u202ehidden\n"
        fields = {
            "scan": make.scan(),
            "plan": make.plan(make.decision("gsplat", "stub", EVIL)),
            "patch": make.patch(
                make.change("a.cu", diff), refused=[("b.py", "unsure", "left_out")], left=[make.finding()]
            ),
            "verdicts": make.verdicts(),
            "evidence": make.evidence(),
            **values,
        }
        return PortReportView(**fields)

    return build


def test_text_of_the_repository_stays_text(make, report, knowledge):
    text = render(report(runs=(make.joined(make.hostile_run(EVIL)),)), knowledge)

    assert "<img" not in text
    assert "\u202e" not in text
    assert not re.search(r"(?<!`)@someone", text)
    assert not re.search(r"(?<!\\)\]\(http", text)


def test_no_diff_ends_its_fence(report, knowledge):
    text = render(report(), knowledge)

    assert text.count("`````") == 2
    assert "\n+````\n" in text


def test_the_state_and_the_next_command_come_first(report, knowledge):
    text = render(report(), knowledge)

    assert text.startswith("# demo on AMD Instinct MI300X\n\n**Edited failed: the guard leaks.**")
    assert "| compiled | Does it compile to AMD machine code? | not run | no compiler is here |" in text
    assert (
        "\n1 task for a person; stub or substitute, never verified: gsplat.\n\nnext: rocm3d toolchain prepare" in text
    )
    assert "| compile | `any` | not run | no compiler is here |" in text
    assert "| `a.cu` | edited | holds | byte-identical |" in text
    assert "`b.py` `header`: unsure" in text
    assert "- `csrc/a.cu:2` CU301 spaced_launch: no recipe. **close it**\n" in text
    assert "  ```text\n  before();\n  \n  becomes\n  \n  after();\n  ```\n" in text


def test_nothing_is_listed_as_left_or_changed_where_nothing_is(make, report, knowledge):
    text = render(report(patch=make.patch(), plan=make.plan()), knowledge)

    assert "Nothing was changed." in text
    assert "Left for a person" not in text
    assert "## Dependencies" not in text


def test_runs_have_their_chain_and_artifacts(make, report, knowledge):
    half = UnreadRun(folder="half", reason="half is incomplete")
    text = render(report(runs=(make.joined(),), unread=(half,), moved=("plan.json",)), knowledge)

    assert "### train\n\n**Finished in 128.4 s.**" in text
    assert "| workload | finished in 128.4 s |" in text
    assert "| `out/scene.ply` | Gaussian splat, PLY, 2 KiB | valid | gaussians 40,000 |" in text
    assert "- `half` cannot be shown: half is incomplete" in text
    assert "**Changed since it was sealed: `plan.json`.**" in text


def test_a_bundle_by_itself(make):
    held = Bundle(runs=(make.run(),), chains=(evidence_chain(make.run()),), verdicts=make.verdicts().verdicts)
    report = BundleReport(name="train", sha256="a" * 64, bundle=held, altered=(AlteredFile(path="x", how="added"),))
    text = render_bundle(report)

    assert "**Changed since it was sealed.**" in text
    assert "- x: not part of the bundle" in text
    assert "## Proven and not proven" in text
    assert "### train" in text


def test_an_empty_bundle_reports_that_no_run_exists():
    assert "No run was recorded." in render_bundle(BundleReport(name="b", sha256="a" * 64, bundle=Bundle()))
