"""Fixtures that scan one file with one rule."""

from __future__ import annotations

import pytest


@pytest.fixture
def findings(scanned):
    def run(rule: str, path: str, content: str | bytes):
        return scanned({path: content}, rule).findings

    return run


@pytest.fixture
def positions(findings):
    """Lines and columns of the findings."""

    def run(rule: str, path: str, content: str | bytes):
        return [(finding.line, finding.column) for finding in findings(rule, path, content)]

    return run
