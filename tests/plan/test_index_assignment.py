from __future__ import annotations

import pytest

from rocm3d.model.finding import Location
from rocm3d.model.inventory import Dependency, OtherIndex
from rocm3d.model.plan import DependencyDecision
from rocm3d.plan.index_assignment import assign_indexes, index_tasks

URL = "https://packages.example.com/simple"


def index(*names: str, line: int = 1, url: str = URL, **more: object) -> OtherIndex:
    location = Location(path="requirements.txt", line=line, column=1)
    return OtherIndex.model_validate({"url": url, "location": location, "names": names, **more})


def keep(name: str, package: str | None = None) -> DependencyDecision:
    return DependencyDecision(name=name, package=package, decision="keep", route=None, reason="r")


def entries(*texts: str) -> list[Dependency]:
    location = Location(path="requirements.txt", line=2, column=1)
    return [
        Dependency(name=text.split(">")[0].split("<")[0].split(" ")[0], requirement=text, location=location)
        for text in texts
    ]


def test_names_of_no_such_index_and_known_packages_are_unchanged():
    decisions = (keep("numpy"), keep("a", package="a"))
    assert assign_indexes(decisions, (index("a"),), ()) == decisions
    assert assign_indexes(decisions, (), ()) == decisions


@pytest.mark.parametrize(
    ("indexes", "texts", "reason"),
    [
        ((index("a"), index("a", url="https://b/", line=2)), (), "several indexes may serve it"),
        ((index("a", problem="its URL has a variable"),), (), "its URL has a variable"),
        ((index("a"),), ("a ; python_version > '3'",), "its entry has a URL or a condition"),
    ],
)
def test_a_task_has_its_reason_and_its_places(indexes, texts, reason):
    (decision,) = assign_indexes((keep("a"),), indexes, entries(*texts))
    assert decision.task.endswith(f": {reason}")
    assert (decision.index, decision.commands, decision.is_of_other_index) == ("", (), True)
    tasks = index_tasks((decision,), indexes)
    assert set(tasks) == {(item.location.path, item.location.line) for item in indexes}
    assert all(text.startswith("install a: from ") for text in tasks.values())


def test_one_index_becomes_the_only_one_for_all_entries_of_a_name():
    (decision,) = assign_indexes((keep("a"),), (index("a"), index("a", line=5)), entries("a>=1", "a<2"))
    assert (decision.index, decision.requirement, decision.task) == (URL, "a<2,>=1", "")
    assert index_tasks((decision,), (index("a"),)) == {}


def test_a_page_of_links_excludes_every_index():
    (decision,) = assign_indexes((keep("a"),), (index("a", links=True, url="./wheels"),), ())
    assert decision.commands == (("pip", "install", "--no-deps", "--no-index", "--find-links", "./wheels", "a"),)
