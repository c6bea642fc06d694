from __future__ import annotations

from datetime import date

import pytest

from rocm3d.model.port import ExpectedValue, Workload
from rocm3d.model.source import Source
from rocm3d.record.expectation import is_workload, port_expectations

TRAIN = ("python", "train.py", "-s", "<scene>", "--iterations", "1000")


def workload(*command):
    return Workload(command=command, does="d", minutes=1, artifact="a", check="c")


@pytest.mark.parametrize(
    "command",
    [
        (),
        ("python",),
        ("python", "render.py", "-s", "room", "--iterations", "1000"),
        ("python", "train.py", "-s", "room", "--iterations", "7"),
        ("python", "train.py", "--iterations", "1000", "-s", "room"),
        ("python", "train.py", "-s", "--iterations", "1000"),
        ("bash", "train.py", "-s", "room", "--iterations", "1000"),
        ("python", "pretrain.py", "-s", "room", "--iterations", "1000"),
    ],
)
def test_other_commands_do_not_match(command):
    assert not is_workload(command, workload(*TRAIN))


def test_workload_without_a_command_matches_nothing():
    assert not is_workload(("python",), workload())


@pytest.mark.parametrize(
    "command",
    [
        ("python", "train.py", "-s", "room", "--iterations", "1000"),
        (".venv/bin/python3.12", "train.py", "-s", "/data/room", "--iterations", "1000"),
        ("python3", "-u", "/home/me/repo/train.py", "-s", "room", "--quiet", "--iterations", "1000", "--eval"),
    ],
)
def test_equivalent_commands_match(command):
    assert is_workload(command, workload(*TRAIN))


def test_placeholder_inside_an_argument_matches_any_folder():
    record = workload("bash", "run.sh", "<models>/a.yml")

    assert is_workload(("/bin/bash", "run.sh", "/data/models/a.yml"), record)
    assert not is_workload(("bash", "run.sh", "/data/models/b.yml"), record)


def test_expectations_of_a_record_have_their_source(knowledge):
    expected = ExpectedValue(expect="gaussians > 5", known=date(2026, 6, 10), source=Source(where="a blog"))
    port = knowledge.ports["zipsplat"]
    port = port.model_copy(update={"workload": port.workload.model_copy(update={"expect": (expected,)})})

    (expectation,) = port_expectations(port, knowledge.backends.values())

    assert (str(expectation), expectation.source) == ("gaussians > 5", "a blog, 2026-06-10")


def test_a_port_without_a_workload_expects_nothing(knowledge):
    port = knowledge.ports["zipsplat"].model_copy(update={"workload": None})

    assert port_expectations(port, knowledge.backends.values()) == ()


def test_every_record_is_valid_and_matches_its_own_command(knowledge):
    for port in knowledge.ports.values():
        port_expectations(port, knowledge.backends.values())
        if port.workload and port.workload.command:
            typed = [argument.strip("<>") for argument in port.workload.command]
            assert is_workload(typed, port.workload)
