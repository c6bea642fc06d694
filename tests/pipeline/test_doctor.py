"""An untrusted snapshot or plan is read, or refused with a one-line message."""

from __future__ import annotations

import json

import pytest

from rocm3d.model.errors import MachineError, UserError
from rocm3d.model.snapshot import Snapshot
from rocm3d.pipeline import doctor
from rocm3d.pipeline.doctor import MAX_BYTES, read_plan, read_snapshot, save_snapshot, take_snapshot

SOUND = json.loads(Snapshot(taken="2026-11-15T12:00:00Z").to_json())


def hostile() -> dict[str, bytes]:
    def spoilt(**changes) -> bytes:
        return json.dumps({**SOUND, **changes}).encode()

    gpu = {"pci": "0000:03:00.0"}
    return {
        "empty": b"",
        "garbage": bytes(range(256)),
        "truncated": json.dumps(SOUND).encode()[:-30],
        "a list": b"[]",
        "deep": b"[" * 100_000,
        "deep inside": b'{"schema_version": "1.0", "taken": ' + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"}",
        "newer": spoilt(schema_version="2.0", tool_version="9\x1b[31m\n9"),
        "newer minor": spoilt(schema_version="1.99"),
        "no schema": json.dumps({"taken": "x"}).encode(),
        "another document": b'{"schema_version": "1.0", "repository": "x"}',
        "control characters": spoilt(**{"\x1b[2J\x07evil\n": 1}),
        "huge number": spoilt(gpus=[{**gpu, "vram_bytes": 10**40}]),
        "negative": spoilt(gpus=[{**gpu, "width": -1}]),
        "not a number": b'{"schema_version": "1.0", "taken": "x", "gpus": [{"pci": "x", "speed": NaN}]}',
        "too many": spoilt(gpus=[gpu] * 300),
        "long text": spoilt(kernel="x" * 5000),
        "odd list of processors": spoilt(processor={"l3": [{"kib": 1, "cpus": "0; rm -rf /"}]}),
        "command for an address": spoilt(gpus=[{"pci": "0000:03:00.0; reboot"}]),
        "command for an id": spoilt(gpus=[{**gpu, "uuid": "$(reboot)"}]),
        "command for a group": spoilt(devices=[{"path": "/dev/kfd", "usable": False, "group": "a b; reboot"}]),
        "command for a variable": spoilt(variables={"A;reboot": "1"}),
        "wrong kind": spoilt(gpus="many"),
        "unknown form": spoilt(rocm=[{"form": "magic", "path": "/"}]),
        "too large": b" " * (MAX_BYTES + 1),
        "endless digits": b'{"schema_version": "1.0", "taken": ' + b"1" * 10_000 + b"}",
    }


@pytest.mark.parametrize("name", sorted(hostile()))
def test_hostile_snapshot_is_one_clear_line(tmp_path, name):
    path = tmp_path / "machine.json"
    path.write_bytes(hostile()[name])

    with pytest.raises(UserError) as refused:
        read_snapshot(path)

    assert refused.value.message.startswith("--from ")
    assert (refused.value.message + refused.value.hint).isprintable()
    assert len(refused.value.message) <= 300


def test_newer_schema_has_an_install_hint(tmp_path):
    path = tmp_path / "machine.json"
    path.write_text(json.dumps({**SOUND, "schema_version": "2.0", "tool_version": "3.1.0"}))

    with pytest.raises(UserError, match=r"has schema 2\.0") as refused:
        read_snapshot(path)

    assert refused.value.hint.startswith("install rocm3d 3.1.0")


@pytest.mark.parametrize("read", [read_snapshot, read_plan])
def test_missing_file(tmp_path, read):
    with pytest.raises(UserError, match="No such file"):
        read(tmp_path / "nowhere.json")


def test_folder_without_a_plan(tmp_path):
    with pytest.raises(UserError, match=r"plan\.json"):
        read_plan(tmp_path)


def test_snapshot_is_not_a_plan(tmp_path):
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(SOUND))

    with pytest.raises(UserError, match="--plan"):
        read_plan(path)


def test_unwritable_path(tmp_path):
    with pytest.raises(UserError, match="--save"):
        save_snapshot(Snapshot(taken="x"), tmp_path / "no" / "folder.json")


def test_other_systems_get_a_hint(knowledge, monkeypatch):
    monkeypatch.setattr(doctor.sys, "platform", "darwin")

    with pytest.raises(MachineError, match="Linux or WSL 2"):
        take_snapshot(None, knowledge)


def test_this_machine_is_read_saved_and_read_back(tmp_path, knowledge, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    result = take_snapshot(None, knowledge)
    save_snapshot(result, tmp_path / "machine.json")

    assert result.no_python == "no Python environment found: pass --python path/to/python"
    assert result.processor.memory_bytes > 0
    assert read_snapshot(tmp_path / "machine.json") == result
