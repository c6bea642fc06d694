from __future__ import annotations

from rocm3d.verify.probes.compare_results import probe


def test_it_is_of_the_level_numerics_and_says_why_it_was_not_run(ported):
    (verdict,) = probe.attempt(ported())

    assert (verdict.level, verdict.probe, verdict.outcome) == ("numerics", "compare_results", "not_run")
