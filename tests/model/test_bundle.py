from __future__ import annotations

from rocm3d.model.bundle import Bundle, Chain, DiffRow, Link


def test_empty_bundle_round_trips_through_json():
    bundle = Bundle(repository="r")

    assert Bundle.from_json(bundle.to_json(), "evidence.json") == bundle


def test_missing_links():
    present, gone = Link(link="workload", there=True, what="x"), Link(link="profile", there=False, what="y")

    assert Chain(run="r", links=(present, gone)).missing == (gone,)


def test_row_with_a_change_differs_even_if_values_are_equal():
    assert not DiffRow(section="numerics", name="s", a="f4 [2]", b="f4 [2]").differs
    assert DiffRow(section="numerics", name="s", a="f4 [2]", b="f4 [2]", change="greatest difference 1").differs
