from __future__ import annotations

import numpy
import pytest

from rocm3d.artifact.inspection import inspect_file
from rocm3d.evidence import difference
from rocm3d.evidence.difference import array_rows


@pytest.fixture(autouse=True)
def _check_in_this_process(monkeypatch):
    """Checks run in this process; the subprocess has its own tests."""
    monkeypatch.setattr(difference, "check_all", lambda paths: [inspect_file(path) for path in paths])


@pytest.fixture
def rows(tmp_path):
    def compare(a, b):
        numpy.savez(tmp_path / "a.npz", **a)
        numpy.savez(tmp_path / "b.npz", **b)
        return [
            (row.name, row.a, row.b, row.change) for row in array_rows("x.npz", tmp_path / "a.npz", tmp_path / "b.npz")
        ]

    return compare


def test_a_damaged_file_is_not_compared(tmp_path):
    numpy.save(tmp_path / "a.npy", numpy.ones(3))
    (tmp_path / "b.npy").touch()

    (row,) = array_rows("x.npy", tmp_path / "a.npy", tmp_path / "b.npy")

    assert row.change == "not compared: empty: 0 bytes"


def test_more_numbers_than_are_compared(rows, monkeypatch):
    monkeypatch.setattr(difference, "_MOST", 2)

    assert rows({"s": [1.0, 2, 3]}, {"s": [1.0, 2, 3]}) == [("x.npz", "", "", "not compared: too many elements")]


def test_other_shapes_and_words(rows):
    assert [row[3] for row in rows({"s": [1.0], "t": ["a"]}, {"s": [1.0, 2], "t": ["b"]})] == ["not comparable"] * 2


def test_an_array_of_one_side_only(rows):
    assert rows({"s": [1.0]}, {"s": [1.0], "t": [1]})[1] == ("x.npz:t", "", "int64 [1]", "")


def test_equal_arrays_have_no_change(rows):
    assert rows({"s": [1.0, numpy.nan]}, {"s": [1.0, numpy.nan]})[0][3] == ""


def test_the_largest_difference(rows):
    assert rows({"s": [1.0, 4.0]}, {"s": [1.0, 4.5]}) == [
        ("x.npz:s", "float64 [2]", "float64 [2]", "largest difference 0.5 (largest value 4)")
    ]
    assert rows({"s": [1.0, 4.0]}, {"s": [numpy.nan, 4.0]})[0][3].endswith("; 1 finite in only one of them")
    assert rows({"s": [numpy.nan]}, {"s": [1.0]})[0][3].startswith("largest difference 0 (largest value")
