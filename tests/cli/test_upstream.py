from __future__ import annotations

import json

import pytest

from rocm3d.pipeline import Repository


@pytest.fixture
def ported(example, knowledge):
    """A port that is made without a child process, to save time."""
    repository = Repository(example("point-backbone"), knowledge)
    repository.apply(repository.plan(knowledge.gpu("gfx942")))
    repository.verify(("static", "compile"), ())
    return repository


def test_upstream_before_a_port_names_the_stage_to_run(rocm3d, tmp_path):
    ended = rocm3d("upstream", tmp_path)

    assert ended.code == 2
    assert "first" in ended.err


def test_drafts_are_written_and_added_to_the_ledger(rocm3d, ported, tmp_path):
    ended = rocm3d("upstream", ported.root, "--ledger", tmp_path / "ledger.json")

    assert ended.code == 0, ended.err
    assert "point-backbone/ pr: Guarded edits for ROCm (1 file)" in ended.out
    assert "nothing was sent" in ended.err
    body = (ported.documents.folder / "upstream" / "point-backbone" / "body.md").read_text()
    assert "**Nothing was run on a GPU. Code that compiles may still be wrong.**" in body
    (fix,) = json.loads((tmp_path / "ledger.json").read_text())["fixes"]
    assert (fix["state"], fix["repositories"], fix["links"]) == ("open", ["point-backbone"], [])


def test_a_failed_check_exits_1(rocm3d, ported, tmp_path):
    (ported.root / "rocm-port" / "install.sh").write_text("echo changed\n")
    ported.verify(("static",), ())

    ended = rocm3d(
        "upstream", ported.root, "--no-ledger", "--format", "json", "--kind", "issue", "-o", tmp_path / "out"
    )

    assert ended.code == 1
    (draft,) = json.loads(ended.out)["drafts"]
    assert (draft["failed"], draft["kind"], draft["fix"]) == (1, "issue", "")
    assert (tmp_path / "out" / "point-backbone" / "title.txt").read_text().startswith("Building with ROCm: ")
