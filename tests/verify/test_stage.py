from __future__ import annotations

import pytest

from rocm3d.model.verdict import Verdicts
from rocm3d.verify.probe import probes
from rocm3d.verify.stage import LEVELS, verify

BEFORE = b"#include <x.h>\nint a;\n"
AFTER = b"#if !defined(USE_ROCM)\n#include <x.h>\n#endif\nint a;\n"
LEVELS_WITHOUT_PROBE = [level for level in LEVELS if not any(probe.level == level for probe in probes())]


def test_dry_run_is_not_run(case):
    (verdict,) = verify(case([("a.cu", BEFORE, AFTER)], dry_run=True), ["static"]).verdicts

    assert (verdict.outcome, verdict.reason) == ("not_run", "the patch is a dry run")


def test_a_level_that_needs_the_network_is_not_run_offline(ported):
    (verdict,) = verify(ported({"rocm-port/requirements.txt": "a\n"}, refused="--offline is set"), ["resolve"]).verdicts

    assert (verdict.probe, verdict.outcome, verdict.reason) == ("any", "not_run", "--offline is set")


def test_a_probe_may_return_several_verdicts(ported, index):
    index.wheel("a", "1.0")
    files = {"rocm-port/requirements.txt": "a\n", "rocm-port/requirements-more.txt": "missing\n"}

    port_verdicts = [item for item in verify(ported(files), ["resolve"]).verdicts if item.probe == "resolve_port"]

    assert [item.outcome for item in port_verdicts] == ["failed", "passed"]


@pytest.mark.parametrize("level", LEVELS_WITHOUT_PROBE)
def test_level_without_a_probe_is_not_run_with_a_reason(case, level):
    (verdict,) = verify(case(), [level]).verdicts

    assert (verdict.level, verdict.outcome) == (level, "not_run")
    assert f"no {level} probe" in verdict.reason


def test_only_requested_levels_are_checked(case):
    assert {item.level for item in verify(case([("a.cu", BEFORE, AFTER)]), ["static"]).verdicts} == {"static"}


def test_no_level_no_verdict(case):
    assert verify(case(), []).verdicts == ()


def test_levels_may_come_from_an_iterator(case):
    """The signature takes any iterable, one that can be read only once included."""
    assert len(verify(case(), iter(LEVELS)).verdicts) == len(verify(case(), LEVELS).verdicts)


def test_every_level_has_a_verdict_in_order(case):
    document = verify(case([("a.cu", BEFORE, AFTER)], planned=["a.cu"]))
    levels = list(dict.fromkeys(item.level for item in document.verdicts))

    assert levels == list(LEVELS)
    assert [item.outcome for item in document.verdicts if item.level == "static"] == ["passed"] * 3
    assert (document.repository, document.targets) == ("r", ("gfx942", "gfx1100"))


def test_tampered_file_fails(case):
    document = verify(case([("a.cu", BEFORE, AFTER)], tree={"a.cu": AFTER + b"int b;\n"}), ["static"])

    assert {item.probe: item.outcome for item in document.verdicts} == {
        "find_leftovers": "skipped",
        "match_patch": "failed",
        "prove_isolation": "failed",
    }


def test_round_trip(case):
    document = verify(case([("a.cu", BEFORE, AFTER)]))

    assert Verdicts.from_json(document.to_json(), "verdicts.json") == document
