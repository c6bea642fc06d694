from __future__ import annotations

import pytest

from rocm3d.evidence.comparison_side import read_side
from rocm3d.model.errors import UserError


def test_a_bundle_that_was_changed_is_not_compared(make_bundle):
    path = make_bundle()
    (path / "files" / "log.txt").unlink()

    with pytest.raises(UserError, match=r"was changed after it was sealed: files/log\.txt is missing"):
        read_side(path)


@pytest.mark.parametrize(
    ("content", "reason"), [(b"{", "is not JSON"), (b"\xff", "cannot be read"), (b"[]", "is not a")]
)
def test_what_is_no_record_of_a_run(tmp_path, content, reason):
    (tmp_path / "run.json").write_bytes(content)

    with pytest.raises(UserError, match=reason):
        read_side(tmp_path / "run.json")


def test_what_is_missing(tmp_path):
    with pytest.raises(UserError, match="cannot be read: No such file"):
        read_side(tmp_path / "run.json")


def test_of_several_runs_one_must_be_chosen(make_bundle, make_run):
    result = read_side(make_bundle(runs=(make_run("a"), make_run("b"))))

    with pytest.raises(UserError, match="has several runs") as failure:
        result.run("")
    assert failure.value.hint == "choose one with --run: a, b"
    with pytest.raises(UserError, match="has no run 'c'"):
        result.run("c")
    assert result.run("b").name == "b"


def test_a_bundle_without_runs_has_none(make_bundle):
    assert read_side(make_bundle(runs=())).run("") is None


def test_files_are_found_by_the_name_they_had(make_bundle):
    result = read_side(make_bundle(files={"files/out/a.npz": b"1", "x/b": b"", "y/b": b""}))

    assert result.file("out/a.npz").read_bytes() == b"1"
    assert result.file("b") is None
    assert result.file("t/a.npz") is None


def test_the_record_of_one_run(tmp_path, make_run):
    (tmp_path / "run.json").write_text(make_run().to_json())

    assert read_side(tmp_path / "run.json").run("") == make_run()
