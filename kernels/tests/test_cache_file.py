"""Whatever lies at the place of a cache file means that there is no entry, and is replaced."""

from __future__ import annotations

import json
import multiprocessing
import os
import socket

import pytest

from rocm3d_kernels.cache_file import MAX_BYTES, read_entry, write_entry

ENTRY = {"key": "k", "works": True}


def as_link(path):
    target = path.with_name("target")
    target.write_text(json.dumps(ENTRY))
    path.symlink_to(target)


def as_socket(path):
    os.chdir(path.parent)  # the name of a socket is limited to about 100 bytes
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(path.name)


def as_folder(path):
    (path / "inner").mkdir(parents=True)
    (path / "inner" / "file").write_text("")


DAMAGED = {
    "empty": b"",
    "truncated": json.dumps(ENTRY).encode()[:-4],
    "deep lists": b"[" * 10_000,
    "deep objects": b'{"a":' * 3_000,
    "deep and closed": b"[" * 5_000 + b"]" * 5_000,
    "binary": bytes(range(256)) * 16,
    "no UTF-8": b'{"key": "\xff"}',
    "surrogate": b'{"key": "\\ud800"',
    "zeros": b"\0" * 4096,
    "too large": b" " * MAX_BYTES + json.dumps(ENTRY).encode(),
    "a list": b"[]",
    "a number": b"1",
    "a long number": b"1" * 5_000,
    "null": b"null",
    "a text": b'"key"',
}
OTHERS = {
    "link": as_link,
    "link to itself": lambda path: path.symlink_to(path),
    "dangling link": lambda path: path.symlink_to(path.with_name("nowhere")),
    "link to a device": lambda path: path.symlink_to("/dev/zero"),
    "folder": lambda path: path.mkdir(),
    "full folder": as_folder,
    "FIFO": os.mkfifo,
    "socket": as_socket,
}


def check_replaced(path):
    assert read_entry(path) is None
    assert write_entry(path, ENTRY)
    assert not path.is_symlink()
    assert read_entry(path) == ENTRY


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_damaged_file_is_no_entry_and_is_replaced(tmp_path, content):
    (tmp_path / "entry.json").write_bytes(content)

    check_replaced(tmp_path / "entry.json")


@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS)
def test_what_is_no_file_is_no_entry_and_is_replaced(tmp_path, make, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "entry.json")

    check_replaced(tmp_path / "entry.json")


def test_target_of_a_link_is_not_written(tmp_path):
    (tmp_path / "precious").write_text("original")
    (tmp_path / "entry.json").symlink_to(tmp_path / "precious")
    write_entry(tmp_path / "entry.json", ENTRY)

    assert (tmp_path / "precious").read_text() == "original"


def test_unreadable_file_is_no_entry_and_is_replaced(tmp_path, monkeypatch):
    (tmp_path / "entry.json").write_text("")
    (tmp_path / "entry.json").chmod(0)
    with monkeypatch.context() as patch:
        # root reads every file
        patch.setattr(os, "open", lambda *_: (_ for _ in ()).throw(PermissionError(13, "Permission denied")))
        assert read_entry(tmp_path / "entry.json") is None

    check_replaced(tmp_path / "entry.json")


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.write_text(""), lambda path: path.symlink_to(path)])
def test_unusable_folder_is_no_cache(tmp_path, make):
    make(tmp_path / "cache")

    assert read_entry(tmp_path / "cache" / "entry.json") is None
    assert not write_entry(tmp_path / "cache" / "entry.json", ENTRY)


def test_failed_write_leaves_the_former_entry_and_no_other_file(tmp_path, monkeypatch):
    write_entry(tmp_path / "entry.json", ENTRY)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)

    assert not write_entry(tmp_path / "entry.json", {"key": "other"})
    assert read_entry(tmp_path / "entry.json") == ENTRY
    assert list(tmp_path.iterdir()) == [tmp_path / "entry.json"]


def _write_many(path, number):
    for _ in range(200):
        write_entry(path, {"key": str(number) * 2000})


def test_concurrent_writers_never_leave_half_an_entry(tmp_path):
    path = tmp_path / "entry.json"
    write_entry(path, {"key": "0" * 2000})
    writers = [multiprocessing.get_context("fork").Process(target=_write_many, args=(path, one)) for one in (1, 2, 3)]
    for one in writers:
        one.start()
    entries = []
    while any(one.is_alive() for one in writers):
        entries.append(read_entry(path))
    for one in writers:
        one.join()

    assert all(entry is not None and len(set(entry["key"])) == 1 and len(entry["key"]) == 2000 for entry in entries)
    assert list(tmp_path.iterdir()) == [tmp_path / "entry.json"]
