"""Fake interpreters with fixed responses, and hand-made backend checks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rocm3d.model.backend_check import BackendCheck
from rocm3d.verify.backends.environment import Environment


@pytest.fixture
def interpreter(tmp_path):
    """A program that is called like python, stores the request, and then runs the lines."""

    def make(lines: str) -> Path:
        path = tmp_path / "python"
        path.write_text(f'#!/bin/sh\ncp "$2" {tmp_path}/asked.json\n{lines}\n')
        path.chmod(0o755)
        return path

    return make


@pytest.fixture
def fixed_response(interpreter):
    """An environment whose interpreter prints this response for every request."""

    def make(**answer) -> Environment:
        response = json.dumps({"probe": "p", "outcome": "accelerated", **answer})
        return Environment.of(interpreter(f"echo a line of its own\ncat <<'END'\n{response}\nEND"))

    return make


@pytest.fixture
def make_check():
    def make(outcome="accelerated", **more) -> BackendCheck:
        return BackendCheck(package="fancy", probe="p", outcome=outcome, **more)

    return make
