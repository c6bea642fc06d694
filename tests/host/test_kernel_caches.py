from __future__ import annotations

import pytest

from rocm3d.host import kernel_caches
from rocm3d.host.files import Files
from rocm3d.host.kernel_caches import read_caches
from rocm3d.host.mounts import Mount


@pytest.fixture
def read(knowledge, tmp_path):
    def run(environment=None, mounts=()):
        found = read_caches(Files(tmp_path), environment or {}, knowledge, mounts)
        return {cache.variable: cache for cache in found}

    return run


def test_a_file_in_the_way_cannot_be_written(read, machines, tmp_path):
    machines.put(tmp_path, "cache", "")

    assert not read({"TRITON_CACHE_DIR": "/cache/triton"})["TRITON_CACHE_DIR"].writable


def test_folder_without_the_right_to_write(read, tmp_path, monkeypatch):
    (tmp_path / "ro").mkdir()
    monkeypatch.setattr(kernel_caches.os, "access", lambda path, mode: path.name != "ro")

    assert not read({"MIOPEN_USER_DB_PATH": "/ro/miopen"})["MIOPEN_USER_DB_PATH"].writable


def test_folder_that_can_be_made_is_writable_and_is_not_made(read, tmp_path):
    assert read({"TRITON_CACHE_DIR": "/a/b"})["TRITON_CACHE_DIR"].writable
    assert list(tmp_path.iterdir()) == []


def test_filesystem_and_a_default_that_bears_a_name(read):
    found = read({"TRITON_CACHE_DIR": "/net/triton"}, (Mount("/", "ext4", ""), Mount("/net", "nfs4", "")))

    assert found["TRITON_CACHE_DIR"].filesystem == "nfs4"
    assert "{user}" in found["TORCHINDUCTOR_CACHE_DIR"].path
