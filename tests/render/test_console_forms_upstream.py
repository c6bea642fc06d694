from __future__ import annotations

from datetime import date

from rocm3d.model.upstream import Draft, Drafts, Fix, Ledger
from rocm3d.render import console

DAY = date(2026, 11, 15)
LINK = "https://github.com/a/b/pull/1"


def test_a_fix_without_a_link_is_not_shown_as_sent():
    fixes = (
        Fix(id="knn", dependency="knn", repositories=("a\x1b[31m", "b"), note="wait", first=DAY, changed=DAY),
        Fix(id="gsplat", dependency="gsplat", state="merged", links=(LINK,), first=DAY, changed=DAY),
    )
    shown = console.render(Ledger(fixes=fixes))

    assert "\x1b" not in shown
    assert "open    knn unblocks 2: a" in shown
    assert "no link: not sent yet" in shown
    assert f"merged  gsplat unblocks none yet\n  {LINK}" in shown
    assert console.summary(Ledger(fixes=fixes)) == "1 open, 1 merged, 0 refused; waiting repositories: 2\n"


def test_drafts_are_counted_by_what_was_tested():
    draft = Draft(
        name="knn", part="submodule", kind="issue", title="T", folder="knn", origin="https://x/y", passed=1, failed=0,
        not_tested=7, fix="knn-1",
    )  # fmt: skip
    document = Drafts(repository="demo", drafts=(draft,), files=())

    assert console.render(document) == (
        "knn/ issue for https://x/y: T\n  checks: 1 passed, 0 failed, 7 not tested; in the ledger as knn-1\n"
    )
    assert "nothing was sent" in console.summary(document)
