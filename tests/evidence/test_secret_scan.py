from __future__ import annotations

import pytest

from rocm3d.evidence.folder import EVIDENCE_FILE, SEAL_FILE, UNFINISHED_FILE, BundleContents, mark_unfinished, seal
from rocm3d.evidence.secret_scan import find_leaks
from rocm3d.model.errors import UserError
from rocm3d.record.redact import Redactor

TOKEN = "ghp_" + "aB3dE5gH7jK9" * 3


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "bundle"
    path.mkdir()
    mark_unfinished(path)
    return path


def refusal(folder, redactor: Redactor | None = None) -> str:
    with pytest.raises(UserError) as failure:
        seal(folder, BundleContents(redactor=redactor or Redactor()))
    assert not (folder / SEAL_FILE).exists()
    assert (folder / UNFINISHED_FILE).exists()
    return failure.value.message


@pytest.mark.parametrize("name", ["output.txt", "files/mesh.obj", "deep/er/notes"])
def test_a_bundle_with_a_secret_is_not_sealed(folder, name):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f"one\ntwo {TOKEN}\n")
    message = refusal(folder)

    assert message == f"{folder} is not sealed: {name}, line 2: contains a github token"
    assert TOKEN not in message


def test_the_copy_of_an_artifact_with_a_secret_is_removed_and_other_files_stay(folder):
    for name in ("files/mesh.obj", "output.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(TOKEN)
    assert "(and 1 more files)" in refusal(folder)
    assert not (folder / "files/mesh.obj").exists()
    assert (folder / "output.txt").exists()


def test_a_secret_in_a_binary_file_is_found_by_its_format_or_value(folder):
    (folder / "a.png").write_bytes(b"\x89PNG\0\0" + TOKEN.encode())
    assert "a.png: contains a github token" in refusal(folder)
    (folder / "a.png").write_bytes(b"\x89PNG\0\0 token=hunter2x9 \0")
    assert "a.png: contains a secret of the command" in refusal(folder, Redactor(["hunter2x9"]))


def test_names_of_secrets_in_binary_files_are_no_findings(folder):
    (folder / "a.bin").write_bytes(b"\0\0 token=aB3dE5gH7jK9 \0")
    seal(folder, BundleContents())
    assert (folder / SEAL_FILE).exists()


def test_a_secret_in_a_file_name_is_found_and_not_shown(folder):
    (folder / f"{TOKEN}.txt").touch()
    message = refusal(folder)
    assert "(redacted).txt: contains a secret in its name" in message
    assert TOKEN not in message


@pytest.mark.parametrize("before", [0, 1024 * 1024 - 20, 1024 * 1024, 5 * 1024 * 1024 - 3])
@pytest.mark.parametrize("fill", [b"x\n", b"\0x", b"xy"])
def test_a_secret_at_the_border_of_two_blocks_is_found(folder, before, fill):
    data = (fill * (before // 2 + 1))[:before]
    (folder / "large").write_bytes(data + b" " + TOKEN.encode() + b" " + fill * 100)
    (leak,) = find_leaks(folder, Redactor())
    assert leak.line == (0 if b"\0" in fill else 1 + data.count(b"\n"))


def test_digests_of_the_bundle_are_no_secrets(folder, make_run):
    (folder / "token").write_text("a file whose name is that of a secret")
    run = make_run(command=("python", "--token", "(redacted)"))
    seal(folder, BundleContents(runs=(run,)))
    assert "sha256" in (folder / EVIDENCE_FILE).read_text()


def test_a_record_that_was_not_redacted_is_refused(folder, make_run):
    run = make_run(reason=f"exit code 1: {TOKEN}")
    with pytest.raises(UserError, match=r"evidence\.json, line [0-9]+: contains a secret"):
        seal(folder, BundleContents(runs=(run,)))
