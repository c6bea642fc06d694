from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rocm3d.verify.resolution.resolver import DependencyEdge
from rocm3d.verify.resolution.verdicts import chain_to

EDGES = [
    DependencyEdge("", "", "a"),
    DependencyEdge("a", "1", "b"),
    DependencyEdge("b", "1", "c"),
    DependencyEdge("a", "1", "c"),
    DependencyEdge("x", "1", "y"),
]
NAMES = st.sampled_from("abcdefgh")


def test_a_package_without_parents_is_its_own_chain():
    assert chain_to("z", EDGES) == "z"


def test_a_chain_that_does_not_reach_the_requirements_is_partial():
    assert chain_to("y", EDGES) == "x -> y"


def test_the_shortest_chain_is_returned():
    assert chain_to("c", EDGES, "==2.1") == "a -> c==2.1"


def test_a_direct_requirement_is_its_own_chain():
    assert chain_to("a", EDGES) == "a"


@given(st.lists(st.tuples(st.one_of(st.just(""), NAMES), NAMES)), NAMES)
def test_cycles_end_and_no_package_appears_twice(pairs, name):
    chain = chain_to(name, [DependencyEdge(parent, "1", child) for parent, child in pairs]).split(" -> ")

    assert chain[-1] == name
    assert len(chain) == len(set(chain))
