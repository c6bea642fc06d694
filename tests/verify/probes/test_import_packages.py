from __future__ import annotations

from rocm3d.verify.probes.import_packages import probe


def test_not_run_without_an_interpreter(ported):
    (verdict,) = probe.attempt(ported())

    assert (verdict.level, verdict.probe, verdict.outcome) == ("import", "import_packages", "not_run")
