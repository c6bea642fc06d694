from __future__ import annotations

from rocm3d.verify.probes.import_packages import probe


def test_it_is_of_the_level_import_and_says_why_it_was_not_run(ported):
    (verdict,) = probe.attempt(ported())

    assert (verdict.level, verdict.probe, verdict.outcome) == ("import", "import_packages", "not_run")
