from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rocm3d.verify.resolution.answer import Edge
from rocm3d.verify.resolution.chain import chain_to

EDGES = [Edge("", "", "a"), Edge("a", "1", "b"), Edge("b", "1", "c"), Edge("a", "1", "c"), Edge("x", "1", "y")]
NAMES = st.sampled_from("abcdefgh")


def test_something_that_nobody_asked_for_stands_alone():
    assert chain_to("z", EDGES) == "z"


def test_where_no_way_leads_to_the_requirements_it_begins_as_far_as_is_known():
    assert chain_to("y", EDGES) == "x -> y"


def test_the_shortest_way_is_told():
    assert chain_to("c", EDGES, "==2.1") == "a -> c==2.1"


def test_what_the_requirements_name_is_its_own_chain():
    assert chain_to("a", EDGES) == "a"


@given(st.lists(st.tuples(st.one_of(st.just(""), NAMES), NAMES)), NAMES)
def test_rings_end_and_nobody_stands_twice(pairs, name):
    told = chain_to(name, [Edge(asker, "1", asked) for asker, asked in pairs]).split(" -> ")

    assert told[-1] == name
    assert len(told) == len(set(told))
