from __future__ import annotations

from rocm3d.verify.probe import probes


def test_all_probes_are_listed_in_name_order():
    names = [probe.name for probe in probes()]

    assert names == sorted(names)
    assert {"find_leftovers", "match_patch", "prove_isolation"} <= set(names)
