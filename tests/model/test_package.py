"""A route that installs code needs a proof, and routes have unique ids."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from rocm3d.model.package import Package, Route

FACT = {"checked": "2026-11-15", "confidence": "reported", "sources": [{"where": "a public place"}]}


def route(**fields: object) -> dict[str, object]:
    return {"id": "wheel", "decision": "keep", "summary": "s", "rank": 1, **FACT, **fields}


def package(*routes: dict[str, object]) -> Package:
    return Package.model_validate(
        {"id": "p", "pip": ["p"], "family": "gaussian", "purpose": "p", "routes": list(routes), **FACT}
    )


@pytest.mark.parametrize("decision", ["replace", "build", "substitute"])
def test_route_that_installs_code_without_proof_is_refused(decision):
    with pytest.raises(ValidationError, match="'wheel' installs code, so it needs `proof`"):
        Route.model_validate(route(decision=decision))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("rank", 0),
        ("decision", "maybe"),
        ("rocm", "6.4"),
        ("torch", "newest"),
        ("python", "=>3.10"),
        ("gfx", ["mi300x"]),
        ("products", ["MI300X"]),
        ("id", "Has Spaces"),
        ("sources", []),
        ("confidence", "certain"),
        ("checked", "yesterday"),
        ("status", "done"),
    ],
)
def test_route_with_a_wrong_value_is_refused_by_key(field, value):
    with pytest.raises(ValidationError, match=f"(?m)^{field}"):
        Route.model_validate(route(**{field: value}))


@pytest.mark.parametrize("term", ["p", "q[gpu]", "p[]", "p[gpu", "[gpu]"])
def test_extra_of_an_unknown_name_is_refused(term):
    with pytest.raises(ValidationError, match="must be a name from pip with an extra"):
        Package.model_validate({**package(route()).model_dump(), "only_with_extra": {term: "CUDA"}})


def test_package_without_a_route_is_refused():
    with pytest.raises(ValidationError, match="routes"):
        package()


def test_two_routes_of_one_name_are_refused():
    with pytest.raises(ValidationError, match="two routes have the same id"):
        package(route(), route(rank=2))


@pytest.mark.parametrize("decision", ["keep", "drop", "stub", "blocked"])
def test_route_that_installs_no_code_needs_no_proof(decision):
    assert Route.model_validate(route(decision=decision)).proof == ""


def test_route_with_proof_and_ranges_is_accepted():
    result = Route.model_validate(route(decision="build", proof="kernel names", rocm=">=6.4,<7", gfx=["gfx90a"]))
    assert (result.rocm, result.torch, result.gfx) == (">=6.4,<7", "", ("gfx90a",))


def test_two_routes_with_different_names_are_accepted():
    assert [r.id for r in package(route(), route(id="source", rank=2)).routes] == ["wheel", "source"]
