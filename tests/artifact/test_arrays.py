from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy
import plyfile
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.artifact.arrays import read_arrays, require_numpy
from rocm3d.model.errors import MachineError, UserError


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".ply", ".json"])
@pytest.mark.parametrize("data", [b"", b"nonsense", b"\x93NUMPY\x01", b"ply\nformat ascii 1.0\n", b"PK\x03\x04"])
def test_what_is_no_such_file_is_refused_in_one_line(tmp_path, suffix, data):
    path = tmp_path / f"x{suffix}"
    path.write_bytes(data)

    with pytest.raises(UserError, match="cannot be read"):
        list(read_arrays(path))


def test_objects_in_a_numpy_file_are_not_loaded(tmp_path):
    path = tmp_path / "x.npy"
    numpy.save(path, numpy.array([{"a": 1}], dtype=object), allow_pickle=True)

    with pytest.raises(UserError, match="cannot be read"):
        list(read_arrays(path))


def test_without_the_extra_it_names_the_package_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "plyfile", None)

    with pytest.raises(MachineError, match="plyfile") as failure:
        require_numpy()
    assert "rocm3d[numerics]" in failure.value.hint


def test_arrays_of_numpy_files(tmp_path):
    numpy.save(tmp_path / "one.npy", numpy.ones((2, 2)))
    numpy.savez(tmp_path / "two.npz", b=numpy.zeros(1), a=numpy.arange(3))

    assert [name for name, _ in read_arrays(tmp_path / "one.npy")] == [""]
    assert [(name, array.tolist()) for name, array in read_arrays(tmp_path / "two.npz")] == [
        ("a", [0, 1, 2]),
        ("b", [0]),
    ]


def test_properties_of_a_ply_file_with_its_lists(tmp_path):
    vertices = numpy.array([(0, 1, 2), (3, 4, 5)], dtype=[("x", "f4"), ("y", "f4"), ("z", "f4")])
    faces = numpy.empty(2, dtype=[("vertex_indices", object)])
    faces["vertex_indices"] = [numpy.array([0, 1, 1], "i4"), numpy.array([1, 0], "i4")]
    elements = [plyfile.PlyElement.describe(vertices, "vertex"), plyfile.PlyElement.describe(faces, "face")]
    plyfile.PlyData(elements).write(str(tmp_path / "x.ply"))

    result = {name: array.tolist() for name, array in read_arrays(tmp_path / "x.ply")}

    assert result == {
        "vertex.x": [0, 3], "vertex.y": [1, 4], "vertex.z": [2, 5],
        "face.vertex_indices.lengths": [3, 2], "face.vertex_indices": [0, 1, 1, 1, 0],
    }  # fmt: skip


def test_numbers_of_json_and_nothing_else(tmp_path):
    path = tmp_path / "x.json"
    value = {
        "psnr": 30.5,
        "steps": 7,
        "on": True,
        "name": "x",
        "none": None,
        "all": [1.5, 2],
        "mixed": [1, "a", {"b": 2}],
    }
    path.write_text(json.dumps(value))

    result = {name: (array.tolist(), str(array.dtype)) for name, array in read_arrays(path)}

    assert result == {
        "psnr": (30.5, "float32"), "steps": (7, "int64"), "all": ([1.5, 2], "float32"),
        "mixed.0": (1, "int64"), "mixed.2.b": (2, "int64"),
    }  # fmt: skip


NUMBERS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**80), 2**80) | st.floats(width=32) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
)


@given(NUMBERS)
def test_any_json_is_read(tmp_path_factory, value):
    path = Path(tmp_path_factory.mktemp("json"), "x.json")
    path.write_text(json.dumps(value))

    assert all(array.dtype.kind in "iuf" for _, array in read_arrays(path))
