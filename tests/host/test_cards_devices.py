from __future__ import annotations

import os

import pytest

from rocm3d.host import cards
from rocm3d.host.cards import User, group_names, read_devices
from rocm3d.host.files import MachineFiles


@pytest.fixture
def files(machines, tmp_path):
    machines.put(tmp_path, "etc/group", f"root:x:0:\nodd\nrender:x:{os.getgid()}:\nvideo:x:44:\nwheel:x:10:")
    for name in ("kfd", "dri/renderD128", "dri/renderD129", "dri/card0"):
        machines.put(tmp_path, f"dev/{name}", "")
    return MachineFiles(tmp_path)


def test_no_devices(tmp_path):
    assert read_devices(MachineFiles(tmp_path), User.current()) == ()


def test_group_by_name_and_membership_by_number(files):
    mine, others = (read_devices(files, User(1000, frozenset({number}))) for number in (os.getgid(), 4711))

    assert [item.path for item in mine] == ["/dev/kfd", "/dev/dri/renderD128", "/dev/dri/renderD129"]
    assert {(item.group, item.member) for item in mine} == {("render", True)}
    assert {item.member for item in others} == {False}


def test_device_that_does_not_open(files, monkeypatch):
    monkeypatch.setattr(cards.os, "access", lambda path, mode: path.name != "kfd")

    assert [item.usable for item in read_devices(files, User.current())] == [False, True, True]


def test_unrelated_groups_are_left_out(files):
    assert group_names(files, User(1000, frozenset({10, 44, os.getgid()}))) == ("render", "video")
