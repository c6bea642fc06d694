"""Fake interpreters with fixed responses, and hand-made backend checks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rocm3d.model.look import BackendCheck
from rocm3d.verify.backends.environment import Environment


@pytest.fixture
def interpreter(tmp_path):
    """A program that is called like python, stores the request, and then runs the lines."""

    def make(lines: str) -> Path:
        place = tmp_path / "python"
        place.write_text(f'#!/bin/sh\ncp "$2" {tmp_path}/asked.json\n{lines}\n')
        place.chmod(0o755)
        return place

    return make


@pytest.fixture
def answering(interpreter):
    """An environment whose interpreter prints this response for every request."""

    def make(**answer) -> Environment:
        given = json.dumps({"probe": "p", "outcome": "accelerated", **answer})
        return Environment.of(interpreter(f"echo a line of its own\ncat <<'END'\n{given}\nEND"))

    return make


@pytest.fixture
def seen():
    def make(outcome="accelerated", **more) -> BackendCheck:
        return BackendCheck(package="fancy", probe="p", outcome=outcome, **more)

    return make
