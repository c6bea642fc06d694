from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.model.errors import UserError
from rocm3d.workspace.seal import NoKeyError, is_sealed, seal_of


@pytest.fixture
def key(tmp_path, monkeypatch):
    monkeypatch.setenv("ROCM3D_DATA", str(tmp_path / "data"))
    return tmp_path / "data" / "key"


def test_without_a_key_nothing_is_sealed_and_none_is_created(key):
    assert not is_sealed("a", b"x", "0" * 64)
    assert not key.exists()


@pytest.mark.parametrize("seal", ["", "0" * 64, "\ud800", "é", "0" * 100_000])
def test_invented_seal_is_refused(key, seal):
    seal_of("a", b"x")
    assert not is_sealed("a", b"x", seal)


def test_seal_holds_for_one_content_and_one_purpose(key):
    seal = seal_of("a", b"x")
    assert is_sealed("a", b"x", seal)
    assert not is_sealed("a", b"y", seal)
    assert not is_sealed("b", b"x", seal)


@given(st.text(), st.binary(), st.text(), st.binary())
def test_different_content_or_purpose_has_a_different_seal(purpose, content, other_purpose, other):
    same = (purpose, content) == (other_purpose, other)
    assert (seal_of(purpose, content) == seal_of(other_purpose, other)) == same


def test_key_is_readable_by_its_user_alone(key):
    seal_of("a", b"")
    assert key.stat().st_mode & 0o777 == 0o600
    key.chmod(0o644)
    seal = seal_of("a", b"")
    assert key.stat().st_mode & 0o777 == 0o600
    assert is_sealed("a", b"", seal)
    assert [path.name for path in key.parent.iterdir()] == ["key"]


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_damaged_key_is_one_line(key, content):
    key.parent.mkdir()
    key.write_bytes(content)
    with pytest.raises(UserError, match="is not a key of rocm3d"):
        seal_of("a", b"")


def test_folder_in_the_place_of_the_key_is_one_line(key):
    key.mkdir(parents=True)
    with pytest.raises(UserError, match="is not a key"):
        seal_of("a", b"")


def test_data_folder_that_cannot_be_made_is_one_line(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ROCM3D_DATA", str(tmp_path / "file" / "data"))
    with pytest.raises(NoKeyError, match="cannot use the key") as failure:
        seal_of("a", b"")
    assert "ROCM3D_DATA" in failure.value.hint


def test_processes_that_start_at_once_share_one_key(key):
    code = "from rocm3d.workspace.seal import seal_of\nprint(seal_of('a', b'x'))"
    environment = {**os.environ, "ROCM3D_DATA": str(Path(key).parent)}
    started = [
        subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(6)
    ]
    assert len({process.communicate()[0] for process in started}) == 1
