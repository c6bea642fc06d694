from __future__ import annotations

from datetime import date

from rocm3d.model.lock import Distribution, LockedFile
from rocm3d.model.plan import DependencyDecision
from rocm3d.model.source import Source
from rocm3d.plan.releases import releases, with_releases


def distribution(name: str, version: str) -> Distribution:
    return Distribution(
        id=f"{name}-{version}",
        name=name,
        version=version,
        index="https://pypi.org/simple",
        files=(LockedFile(name=f"{name}-{version}.tar.gz", sha256="0" * 64),),
        checked=date(2026, 11, 18),
        confidence="reported",
        sources=(Source(where="a test"),),
    )


KNOWN = (distribution("a", "1.0"), distribution("a", "2.0"), distribution("b", "1.0"))


def decision(*command: str, **more: str) -> DependencyDecision:
    arguments = {"name": "a", "package": "a", "decision": "replace", "route": "r", "reason": "why", **more}
    return DependencyDecision.model_validate({**arguments, "commands": (command,) if command else ()})


def test_nothing_of_another_index_or_of_a_repository_has_a_release():
    assert releases(["a>=3", "unknown", "git+https://host/a.git", "a @ https://host/a.whl"], KNOWN) == ()
    for item in (
        decision("pip", "install", "--index-url", "https://host/", "a"),
        decision(requirement="a", index="https://host/"),
        decision("pip", "install", "./a"),
    ):
        assert with_releases(item, KNOWN).locked == ()


def test_the_newest_release_in_the_range_is_taken():
    assert [item.version for item in releases(["A<2", "b"], KNOWN)] == ["1.0", "1.0"]
    assert [item.version for item in with_releases(decision("pip", "install", "--no-deps", "a"), KNOWN).locked] == [
        "2.0"
    ]
    assert [item.version for item in with_releases(decision(requirement="a==1.*"), KNOWN).locked] == ["1.0"]
