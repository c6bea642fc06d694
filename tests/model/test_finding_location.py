"""A location is 1-based and printed like a compiler message."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from rocm3d.model.finding import Finding, Location


@pytest.mark.parametrize(("line", "column"), [(0, 1), (1, 0), (-1, 1)])
def test_zero_based_position_is_refused(line, column):
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        Location(path="a.py", line=line, column=column)


def test_location_reads_as_compilers_write_it():
    assert str(Location(path="csrc/a.cu", line=212, column=18)) == "csrc/a.cu:212:18"


def test_finding_has_a_location():
    finding = Finding(code="CU1", rule="r", severity="note", path="a.cu", line=3, column=4, message="m", hint="h")
    assert finding.location == Location(path="a.cu", line=3, column=4)
