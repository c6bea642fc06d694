"""Fixtures that scan one file with one rule."""

from __future__ import annotations

import pytest


@pytest.fixture
def findings(scanned):
    def run(rule: str, path: str, content: str | bytes):
        return scanned({path: content}, rule).findings

    return run


@pytest.fixture
def places(findings):
    """Lines and columns of the findings."""

    def run(rule: str, path: str, content: str | bytes):
        return [(found.line, found.column) for found in findings(rule, path, content)]

    return run
