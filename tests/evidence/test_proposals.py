from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.evidence.proposals import (
    NOT_REQUESTED,
    PatchedClone,
    changed_lines_digest,
    edited_file,
    proposals,
    public_address,
)
from rocm3d.model.patch import FileChange, Patch, Proof, SubmodulePatch
from rocm3d.model.verdict import Verdict, Verdicts

PROOF = Proof(kind="cpp-directives-evaluated", holds=True, detail="byte-identical")


def change(path, kind="edited", diff="diff\n--- a\n+++ b\n@@ -1 +1,2 @@\n-a\n+b\n+c\n"):
    before = None if kind == "added" else "0" * 64
    return FileChange(path=path, kind=kind, before=before, after="1" * 64, recipes=("r",), proof=PROOF, diff=diff)


def patch(*changes, modules=()):
    return Patch(
        repository="demo", folder="rocm-port", dry_run=False, changes=changes, refused=(), left=(), modules=modules
    )


def verdicts(*result):
    return Verdicts(repository="demo", targets=("gfx942",), verdicts=result)


KNN = SubmodulePatch(
    path="libs/knn", name="knn", commit="c" * 40, file="rocm-port/patches/knn.patch", changes=(change("libs/knn/a.cu"),)
)


def checks(result):
    """The checks of requested levels."""
    requested = (entry for entry in result.checks if entry.reason != NOT_REQUESTED)
    return [(entry.level, entry.outcome, entry.looked_at, entry.reason) for entry in requested]


def test_a_patch_that_changes_nothing_gives_nothing_to_send():
    assert () == proposals(patch(), verdicts())


def test_a_level_that_was_not_requested_was_not_run():
    passed = Verdict(level="compile", probe="p", outcome="passed", looked_at=("a.cu (x)",))
    own, module = proposals(patch(change("a.cu"), modules=(KNN,)), verdicts(passed))
    values = {"static", "resolve", "nvidia", "import", "backend", "numerics", "workload"}

    for result in (own, module):
        assert {entry.level for entry in result.checks if entry.reason == NOT_REQUESTED} == values
        assert {entry.outcome for entry in result.checks if entry.reason == NOT_REQUESTED} == {"not_run"}


def test_a_pass_that_did_not_cover_a_part_is_no_pass_for_it():
    passed = Verdict(level="static", probe="prove_isolation", outcome="passed", looked_at=("a.cu", "rocm-port/x"))
    own, module = proposals(patch(change("a.cu"), modules=(KNN,)), verdicts(passed))

    assert checks(own) == [("static", "passed", ("a.cu", "rocm-port/x"), "")]
    reason = "passed for other code of the port; this code was not covered"
    assert checks(module) == [("static", "not_run", (), reason)]


def test_units_of_the_compiler_go_to_the_part_that_they_are_of():
    units = (
        Verdict(level="compile", probe="p", outcome="passed", looked_at=("a.cu (ext)", "gfx942: 3 kernels")),
        Verdict(
            level="compile", probe="p", outcome="failed", reason="libs/knn/a.cu (knn), gfx942: no", looked_at=("x",)
        ),
    )
    own, module = proposals(patch(change("a.cu"), modules=(KNN,)), verdicts(*units))

    assert checks(own) == [("compile", "passed", ("a.cu (ext)", "gfx942: 3 kernels"), "")]
    assert checks(module) == [("compile", "failed", ("x",), "a.cu (knn), gfx942: no")]


def test_a_unit_that_was_not_run_is_reported_for_its_own_part_only():
    units = (
        Verdict(level="compile", probe="p", outcome="not_run", reason="libs/knn/a.cu (knn): glm.hpp is nowhere"),
        Verdict(level="compile", probe="p", outcome="not_run", reason="a.cu (ext): took too long"),
    )
    own, module = proposals(patch(change("a.cu"), modules=(KNN,)), verdicts(*units))

    assert [entry[3] for entry in checks(own)] == ["a.cu (ext): took too long"]
    assert [entry[3] for entry in checks(module)] == ["a.cu (knn): glm.hpp is nowhere"]


def test_what_was_not_run_stays_not_run_for_everybody():
    entry = Verdict(level="workload", probe="judge_runs", outcome="not_run", reason="no run is kept")
    own, module = proposals(patch(change("a.cu"), modules=(KNN,)), verdicts(entry))

    assert checks(own) == checks(module) == [("workload", "not_run", (), "no run is kept")]


def test_an_imported_module_is_known_by_its_name():
    entry = Verdict(level="backend", probe="p", outcome="passed", looked_at=("knn 1.0 from /x", "gsplat 1.5 from /y"))
    own, module = proposals(patch(change("a.cu"), modules=(KNN,)), verdicts(entry))

    assert checks(module)[0][2] == ("knn 1.0 from /x",)
    assert "gsplat 1.5 from /y" in checks(own)[0][2]


def test_paths_of_a_submodule_are_its_own_and_sizes_are_counted():
    _, module = proposals(
        patch(change("a.cu"), modules=(KNN,)), verdicts(), origins={"libs/knn": "https://me:pw@host.org/acme/knn.git"}
    )

    (file,) = module.edited
    assert (file.path, file.plus, file.minus, file.is_proven, file.recipes) == ("a.cu", 2, 1, True, ("r",))
    assert (module.part, module.inside, module.commit) == ("submodule", "libs/knn", "c" * 40)
    assert module.origin == "https://host.org/acme/knn.git"


def test_a_dependency_from_git_has_neither_proof_nor_checks():
    clone = PatchedClone(
        "raster", "d" * 40, "https://host.org/acme/raster", (edited_file("a.cu", "\n@@ -1 +1 @@\n-a\n+b\n"),), ("n",)
    )
    passed = Verdict(level="static", probe="prove_isolation", outcome="passed", looked_at=("a.cu",))
    own, result = proposals(patch(change("a.cu"), change("rocm-port/x", "added")), verdicts(passed), clones=[clone])

    assert (own.added, result.added) == (("rocm-port/x",), ("n",))
    assert (result.part, result.checks, result.edited[0].is_proven) == ("dependency", (), False)
    assert (result.edited[0].plus, result.edited[0].minus) == (1, 1)


def test_the_same_lines_at_another_place_are_the_same_change():
    first = changed_lines_digest([("a.cu", b"--- a\n+++ b\n@@ -1,2 +1,3 @@\n x\n-old\n+new\n")])
    moved = changed_lines_digest([("a.cu", b"--- a\n+++ b\n@@ -90,3 +90,4 @@ f()\n y\n-old\n+new\n z\n")])

    assert first == moved
    assert first != changed_lines_digest([("b.cu", b"@@ -1 +1 @@\n-old\n+new\n")])
    assert first != changed_lines_digest([("a.cu", b"@@ -1 +1 @@\n-old\n+newer\n")])


@pytest.mark.parametrize("url", ["/home/me/knn", "../knn.git", "file:///home/me/knn", "", "ext::sh -c id", "C:\\knn"])
def test_a_place_on_a_disk_is_nobodys_address(url):
    assert public_address(url) == ""


def test_an_address_of_ssh_stays():
    assert public_address("git@github.com:acme/knn.git") == "git@github.com:acme/knn.git"


@given(st.text(max_size=20), st.text(max_size=20))
def test_no_password_is_left_in_an_address(name, password):
    result = public_address(f"https://{name}:{password}@host.org/acme/knn")

    assert result in ("", "https://host.org/acme/knn") or "@" not in result


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://host.org/acme/splats.git", "splats"),
        ("git@github.com:acme/splats", "splats"),
        ("https://me:pw@host.org/acme/splats/", "splats"),
        ("/home/me/whatever", "demo"),
        ("", "demo"),
    ],
)
def test_a_repository_is_called_by_its_address_and_not_by_its_folder(url, name):
    (own,) = proposals(patch(change("a.cu")), verdicts(), origins={"": url})

    assert own.name == name
    assert "pw" not in own.origin
