from __future__ import annotations

import pytest

from rocm3d.host import snapshot
from rocm3d.host.files import MachineFiles, Mount
from rocm3d.host.snapshot import read_kernel_caches


@pytest.fixture
def read(knowledge, tmp_path):
    def run(environment=None, mounts=()):
        caches = read_kernel_caches(MachineFiles(tmp_path), environment or {}, knowledge, mounts)
        return {cache.variable: cache for cache in caches}

    return run


def test_path_below_a_file_is_not_writable(read, machines, tmp_path):
    machines.put(tmp_path, "cache", "")

    assert not read({"TRITON_CACHE_DIR": "/cache/triton"})["TRITON_CACHE_DIR"].writable


def test_folder_without_the_right_to_write(read, tmp_path, monkeypatch):
    (tmp_path / "ro").mkdir()
    monkeypatch.setattr(snapshot.os, "access", lambda path, mode: path.name != "ro")

    assert not read({"MIOPEN_USER_DB_PATH": "/ro/miopen"})["MIOPEN_USER_DB_PATH"].writable


def test_folder_that_can_be_created_is_writable_and_is_not_created(read, tmp_path):
    assert read({"TRITON_CACHE_DIR": "/a/b"})["TRITON_CACHE_DIR"].writable
    assert list(tmp_path.iterdir()) == []


def test_filesystem_is_read_and_the_user_name_is_hidden(read):
    caches = read({"TRITON_CACHE_DIR": "/net/triton"}, (Mount("/", "ext4", ""), Mount("/net", "nfs4", "")))

    assert caches["TRITON_CACHE_DIR"].filesystem == "nfs4"
    assert "{user}" in caches["TORCHINDUCTOR_CACHE_DIR"].path
