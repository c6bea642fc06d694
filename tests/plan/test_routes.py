from __future__ import annotations

import random

import pytest

from rocm3d.plan.routes import RepositoryConstraints, choose_routes


@pytest.fixture
def choose(make):
    """Routes for packages on one stack, by package."""

    def run(*packages, **arguments):
        return choose_routes(
            packages, make.stack("s"), make.knowledge().gpu("mi300x"), RepositoryConstraints(**arguments)
        )

    return run


def chosen_ids(result):
    return {name: entry.chosen and entry.chosen.id for name, entry in result.items()}


def test_two_routes_that_need_other_versions_are_never_taken_together(make, choose):
    result = choose(
        make.package("p", make.route("new", needs={"numpy": ">=2"}), make.route("old", rank=2, needs={"numpy": "<2"})),
        make.package("q", make.route("only", needs={"numpy": "<2"})),
    )

    assert chosen_ids(result) == {"p": "old", "q": "only"}
    assert result["p"].rejected[0].reason == "conflicts with only of q: numpy >=2 versus <2"
    assert result["p"].rejected[0].would_need == "another route for q"


def test_an_unavoidable_conflict_blocks_one_package(make, choose):
    result = choose(
        make.package("p", make.route("a", needs={"numpy": ">=2"})),
        make.package("q", make.route("b", needs={"numpy": "<2"})),
    )

    assert sorted(map(str, chosen_ids(result).values())) in (["None", "a"], ["None", "b"])


def test_a_moved_version_counts_as_required(make, choose):
    result = choose(
        make.package("p", make.route("mover", moves={"triton": "3.4"}), make.route("still", rank=2)),
        make.package("q", make.route("only", needs={"triton": ">=3.5"})),
    )

    assert chosen_ids(result) == {"p": "still", "q": "only"}


def test_best_combination_is_chosen(make, choose):
    """One package gives way for two."""
    result = choose(
        make.package("p", make.route("new", needs={"numpy": ">=2"}), make.route("old", rank=2)),
        make.package("q", make.route("a", needs={"numpy": "<2"}), make.route("b", rank=2)),
        make.package("r", make.route("c", needs={"numpy": "<2"}), make.route("d", rank=2)),
    )

    assert chosen_ids(result) == {"p": "old", "q": "a", "r": "c"}


def test_needs_that_agree_are_no_conflict(make, choose):
    result = choose(
        make.package("p", make.route("a", needs={"numpy": ">=1.24"})),
        make.package("q", make.route("b", needs={"numpy": "<2"})),
    )

    assert chosen_ids(result) == {"p": "a", "q": "b"}


def test_a_pin_of_the_repository_binds(make, choose):
    package = make.package("p", make.route("new", needs={"numpy": ">=2"}), make.route("any", rank=2))

    result = choose(package, versions={"numpy": ("==1.26.4",)})["p"]

    assert result.chosen.id == "any"
    assert result.rejected[0].reason == "needs numpy >=2; the repository requires ==1.26.4"
    assert choose(package, versions={"numpy": ("==1.26.4", ">=1.2")})["p"].chosen.id == "new"


def test_the_route_of_a_known_port_comes_first_where_it_fits(make, choose):
    package = make.package("p", make.route("wheel"), make.route("shim", rank=3))

    result = choose(package, pinned={"p": "shim"})["p"]

    assert (result.chosen.id, result.misses_pin, result.ranks_below_best) == ("shim", False, 0)
    assert result.rejected[0].reason == "fits too, but ranks below shim"


def test_the_route_of_a_known_port_is_left_where_it_does_not_fit(make, choose):
    package = make.package("p", make.route("wheel"), make.route("shim", rank=3, rocm="<1"))

    result = choose(package, pinned={"p": "shim"})["p"]

    assert (result.chosen.id, result.misses_pin) == ("wheel", True)


def test_order_of_packages_and_routes_does_not_matter(make, choose):
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
        results.add(str(sorted(chosen_ids(choose(*packages)).items())))

    assert len(results) == 1


def test_a_route_that_works_only_without_the_import(make, choose):
    package = make.package("p", make.route("off", "drop", unless_imported=True), make.route("none", "blocked", rank=2))

    assert choose(package)["p"].chosen.id == "off"
    result = choose(package, imported=frozenset({"p"}))["p"]
    assert result.chosen.id == "none"
    assert result.rejected[0].reason == "works only if no module imports it at the top"
