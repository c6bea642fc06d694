from __future__ import annotations

import shutil
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.evidence.matrix import RepositoryDocuments, matrix, read
from rocm3d.model.backend_check import BackendCheck, ImportedModule
from rocm3d.model.errors import UserError
from rocm3d.model.finding import Location
from rocm3d.model.inventory import Dependency, FileCounts, Inventory, Scan
from rocm3d.model.plan import Plan
from rocm3d.model.verdict import Verdicts
from rocm3d.plan.stage import plan
from rocm3d.repository import Repository
from rocm3d.verify.backends.package_checks import backend_verdict
from rocm3d.verify.probe import Probe
from rocm3d.workspace.documents import Documents

PACKAGES = ("nvdiffrast", "spconv", "gsplat", "flash-attn")


def scan(name: str, *packages: str) -> Scan:
    path = Location(path="requirements.txt", line=1, column=1)
    named = tuple(Dependency(name=entry, requirement=entry, location=path, package=entry) for entry in packages)
    inventory = Inventory(
        repository=name, counts=FileCounts(files=1, bytes=1, python=1, cuda=0, manifests=1), dependencies=named,
        extensions=(), families={}, skipped=(), readiness="needs-edits", reasons=(),
    )  # fmt: skip
    return Scan(inventory=inventory, findings=())


def test_a_folder_without_an_inventory_is_refused(tmp_path):
    with pytest.raises(UserError, match="has no inventory"):
        read([tmp_path])


def test_a_folder_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(UserError, match="is not a folder"):
        read([tmp_path / "none"])


def test_two_repositories_of_one_name_are_refused(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        Documents(tmp_path / folder).write(scan("same"))
    with pytest.raises(UserError, match="two repositories are named same"):
        read([tmp_path / "a", tmp_path / "b"])


def test_repositories_are_found_by_themselves_and_below_a_folder(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name / ".rocm3d").mkdir(parents=True)
        Documents(tmp_path / name / ".rocm3d").write(scan(name))

    assert [entry.scan.inventory.repository for entry in read([tmp_path])] == ["a", "b"]
    assert [entry.scan.inventory.repository for entry in read([tmp_path / "b"])] == ["b"]


def test_the_state_is_that_of_the_files_now(example, knowledge, tmp_path):
    repository = Repository(example("pins-only"), knowledge)
    repository.port(knowledge.gpu("gfx942"), ("static",))
    work = shutil.copytree(repository.documents.folder, tmp_path / "elsewhere")
    folders = {"repository": repository.root, "work folder": work}

    def states(name):
        (column,) = matrix(read([folders[name]]), knowledge.packages).columns
        return column.state.rung("edited").outcome

    assert (states("repository"), states("work folder")) == ("complete", "complete")
    (repository.root / "added.py").write_text("import torch\n")
    assert (states("repository"), states("work folder")) == ("not_run", "complete")


def test_a_package_without_a_record_is_no_library_of_the_map(knowledge):
    known = RepositoryDocuments(scan("a", "nobody-has-this"))

    assert matrix([known], knowledge.packages).rows == ()
    assert matrix([known], knowledge.packages).free == ("a",)


def test_the_library_that_frees_the_most_comes_first(knowledge):
    repositories = [
        RepositoryDocuments(scan("a", "nvdiffrast")),
        RepositoryDocuments(scan("b", "nvdiffrast")),
        RepositoryDocuments(scan("c", "nvdiffrast", "spconv")),
        RepositoryDocuments(scan("d", "gsplat")),
        RepositoryDocuments(scan("e")),
    ]
    result = matrix(repositories, knowledge.packages)

    assert [(step.package, step.frees) for step in result.order] == [
        ("nvdiffrast", ("a", "b")), ("gsplat", ("d",)), ("spconv", ("c",)),
    ]  # fmt: skip
    assert [(row.package, len(row.waiting)) for row in result.rows] == [("nvdiffrast", 3), ("gsplat", 1), ("spconv", 1)]
    assert result.free == ("e",)


def planned(knowledge, decision: str) -> Plan:
    """A plan with this decision for gsplat."""
    complete = plan(scan("a", "gsplat"), knowledge.gpu("mi300x"), knowledge, date(2026, 11, 15))
    return complete.model_copy(
        update={"decisions": (complete.decisions[0].model_copy(update={"package": "gsplat", "decision": decision}),)}
    )


@pytest.mark.parametrize(
    ("decision", "state"),
    [("blocked", "blocked"), ("build", "work"), ("stub", "work"), ("keep", "works"), ("replace", "works")],
)
def test_a_plan_lists_the_work(knowledge, decision, state):
    (row,) = matrix([RepositoryDocuments(scan("a", "gsplat"), planned(knowledge, decision))], knowledge.packages).rows

    assert row.states == {"a": state}


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({"import_kept": True}, "works"),
        ({"import_kept": False}, "work"),
        ({"import_kept": False, "verified_on": ("gfx942",)}, "works"),
    ],
)
def test_a_renamed_replacement_waits_until_it_is_verified(knowledge, fields, state):
    document = planned(knowledge, "replace")
    decision = document.decisions[0].model_copy(update={"verified_on": (), **fields})
    known = RepositoryDocuments(scan("a", "gsplat"), document.model_copy(update={"decisions": (decision,)}))

    assert matrix([known], knowledge.packages).rows[0].states == {"a": state}
    assert matrix([known], knowledge.packages).free == (("a",) if state == "works" else ())


@pytest.mark.parametrize(("outcome", "state"), [("accelerated", "proven"), ("fallback", "work")])
def test_what_verify_saw_at_work_is_proven(knowledge, outcome, state):
    view = BackendCheck(
        package="gsplat", probe="gsplat", outcome=outcome, reason="r", evidence="library", libraries=("/a.so",),
        modules=(ImportedModule(name="gsplat", version="1.5.3", file="/gsplat.py", origin="environment"),),
    )  # fmt: skip
    verdicts = Verdicts(
        repository="a", targets=(), verdicts=(backend_verdict(view, Probe("gsplat", "backend", lambda case: ()), ""),)
    )
    (row,) = matrix(
        [RepositoryDocuments(scan("a", "gsplat"), planned(knowledge, "build"), verdicts)], knowledge.packages
    ).rows

    assert row.states == {"a": state}


@given(st.lists(st.sets(st.sampled_from(PACKAGES)), max_size=6))
def test_in_the_end_everything_is_free_once(knowledge, wants):
    result = matrix([RepositoryDocuments(scan(f"r{n}", *names)) for n, names in enumerate(wants)], knowledge.packages)
    freed = [*result.free, *(name for step in result.order for name in step.frees)]

    assert sorted(freed) == [f"r{n}" for n in range(len(wants))]
    assert len({step.package for step in result.order}) == len(result.order)
