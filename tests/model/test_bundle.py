from __future__ import annotations

from rocm3d.model.bundle import Bundle, Chain, DiffRow, Link


def test_an_empty_bundle_survives_the_way_through_json():
    bundle = Bundle(repository="r")

    assert Bundle.from_json(bundle.to_json(), "evidence.json") == bundle


def test_missing_links():
    there, gone = Link(link="workload", there=True, what="x"), Link(link="profile", there=False, what="y")

    assert Chain(run="r", links=(there, gone)).missing == (gone,)


def test_a_change_is_a_difference_even_where_both_look_the_same():
    assert not DiffRow(section="numerics", name="s", a="f4 [2]", b="f4 [2]").differs
    assert DiffRow(section="numerics", name="s", a="f4 [2]", b="f4 [2]", change="greatest difference 1").differs
