from __future__ import annotations

from rocm3d.evidence.bundle import tally
from rocm3d.model.evidence import Tally


def test_nothing(documents):
    assert tally(*documents()) == Tally(changed=0, left_for_person=0, rejected=0, not_verified=0)


def test_passed_failed_and_skipped_are_not_counted_as_not_verified(documents):
    assert tally(*documents(outcomes=["passed", "failed", "skipped"])).not_verified == 0


def test_unchanged_and_built_packages_are_not_counted(documents):
    assert tally(*documents(["keep", "drop", "replace", "build"])) == tally(*documents())


def test_each_count(documents):
    arguments = documents(
        ["blocked", "stub", "substitute", "keep"],
        changed=5,
        left=3,
        refused=2,
        outcomes=["not_run", "passed", "not_run"],
    )

    assert tally(*arguments) == Tally(changed=5, left_for_person=3, rejected=2 + 1, not_verified=2 + 2)
