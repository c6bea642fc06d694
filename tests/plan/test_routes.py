from __future__ import annotations

import random

import pytest

from rocm3d.plan.routes import Circumstances, settle


@pytest.fixture
def settled(make):
    """Routes for packages on one stack, by package."""

    def run(*packages, **given):
        return settle(packages, make.stack("s"), make.knowledge().gpu("mi300x"), Circumstances(**given))

    return run


def taken(found):
    return {name: item.chosen and item.chosen.id for name, item in found.items()}


def test_two_routes_that_need_other_versions_are_never_taken_together(make, settled):
    found = settled(
        make.package("p", make.route("new", needs={"numpy": ">=2"}), make.route("old", rank=2, needs={"numpy": "<2"})),
        make.package("q", make.route("only", needs={"numpy": "<2"})),
    )

    assert taken(found) == {"p": "old", "q": "only"}
    assert found["p"].rejected[0].reason == "conflicts with only of q: numpy >=2 versus <2"
    assert found["p"].rejected[0].would_need == "another route for q"


def test_what_cannot_be_together_at_all_blocks_one(make, settled):
    found = settled(
        make.package("p", make.route("a", needs={"numpy": ">=2"})),
        make.package("q", make.route("b", needs={"numpy": "<2"})),
    )

    assert sorted(map(str, taken(found).values())) in (["None", "a"], ["None", "b"])


def test_what_a_route_moves_counts_as_a_need(make, settled):
    found = settled(
        make.package("p", make.route("mover", moves={"triton": "3.4"}), make.route("still", rank=2)),
        make.package("q", make.route("only", needs={"triton": ">=3.5"})),
    )

    assert taken(found) == {"p": "still", "q": "only"}


def test_least_is_given_up(make, settled):
    """One package gives way for two."""
    found = settled(
        make.package("p", make.route("new", needs={"numpy": ">=2"}), make.route("old", rank=2)),
        make.package("q", make.route("a", needs={"numpy": "<2"}), make.route("b", rank=2)),
        make.package("r", make.route("c", needs={"numpy": "<2"}), make.route("d", rank=2)),
    )

    assert taken(found) == {"p": "old", "q": "a", "r": "c"}


def test_needs_that_agree_are_no_conflict(make, settled):
    found = settled(
        make.package("p", make.route("a", needs={"numpy": ">=1.24"})),
        make.package("q", make.route("b", needs={"numpy": "<2"})),
    )

    assert taken(found) == {"p": "a", "q": "b"}


def test_a_pin_of_the_repository_binds(make, settled):
    package = make.package("p", make.route("new", needs={"numpy": ">=2"}), make.route("any", rank=2))

    found = settled(package, versions={"numpy": ("==1.26.4",)})["p"]

    assert found.chosen.id == "any"
    assert found.rejected[0].reason == "needs numpy >=2; the repository requires ==1.26.4"
    assert settled(package, versions={"numpy": ("==1.26.4", ">=1.2")})["p"].chosen.id == "new"


def test_the_route_of_a_known_port_comes_first_where_it_fits(make, settled):
    package = make.package("p", make.route("wheel"), make.route("shim", rank=3))

    found = settled(package, pinned={"p": "shim"})["p"]

    assert (found.chosen.id, found.misses_pin, found.below_best) == ("shim", False, 0)
    assert found.rejected[0].reason == "fits too, but ranks below shim"


def test_the_route_of_a_known_port_is_left_where_it_does_not_fit(make, settled):
    package = make.package("p", make.route("wheel"), make.route("shim", rank=3, rocm="<1"))

    found = settled(package, pinned={"p": "shim"})["p"]

    assert (found.chosen.id, found.misses_pin) == ("wheel", True)


def test_order_of_packages_and_routes_does_not_matter(make, settled):
    def package(name, order):
        routes = [
            make.route(f"{name}{at}", rank=at, needs={"numpy": ("<2", ">=2", "==1.5")[at % 3]}) for at in (1, 2, 3)
        ]
        return make.package(name, *sorted(routes, key=lambda _: order.random()))

    results = set()
    for seed in range(20):
        order = random.Random(seed)
        packages = [package(name, order) for name in "pqrs"]
        order.shuffle(packages)
        results.add(str(sorted(taken(settled(*packages)).items())))

    assert len(results) == 1


def test_a_route_that_holds_only_without_the_import(make, settled):
    package = make.package("p", make.route("off", "drop", unless_imported=True), make.route("none", "blocked", rank=2))

    assert settled(package)["p"].chosen.id == "off"
    found = settled(package, imported=frozenset({"p"}))["p"]
    assert found.chosen.id == "none"
    assert found.rejected[0].reason == "works only if no module imports it at the top"
