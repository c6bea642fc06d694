from __future__ import annotations

import json
import sys

import numpy
import pytest

from rocm3d.model.errors import UserError
from rocm3d.record.golden import RecordingRequest, record
from rocm3d.verify.golden import Tolerances, compare_golden


@pytest.fixture
def recording(tmp_path):
    """A recording of arrays, as a program would have written them."""

    def make(name: str, **arrays):
        out = tmp_path / f"{name}-out"
        source = tmp_path / f"{name}.npz"
        numpy.savez(source, **arrays)
        line = f"import os, shutil; os.makedirs({str(out)!r}); shutil.copy({str(source)!r}, {str(out / 'a.npz')!r})"
        record(RecordingRequest((sys.executable, "-c", line), (out,)), tmp_path / name, f"machine {name}")
        return tmp_path / name

    return make


@pytest.fixture
def operator_tolerances(knowledge):
    return Tolerances.of(knowledge, "operator", ())


@pytest.mark.parametrize("word", ["x", "x=nothing", "float32-operator"])
def test_an_unknown_tolerance_is_refused(knowledge, word):
    with pytest.raises(UserError, match="expected PATTERN=TOLERANCE"):
        Tolerances.of(knowledge, "operator", (word,))


def test_an_unknown_operation_is_refused(knowledge):
    with pytest.raises(UserError, match="no tolerance for operation 'operators'") as failure:
        Tolerances.of(knowledge, "operators", ())
    assert "operator" in failure.value.hint


def test_a_dtype_without_a_tolerance_for_the_operation_is_refused(knowledge, recording):
    a = recording("a", x=numpy.ones(2))

    with pytest.raises(UserError, match="there is no tolerance float64-network") as failure:
        compare_golden(a, a, Tolerances.of(knowledge, "network", ()))
    assert "float64-reference" in failure.value.hint


def test_missing_tensors_other_shapes_and_other_types_do_not_agree(recording, operator_tolerances):
    one = numpy.float32
    a = recording("a", gone=one(1), kind=one(1), shape=numpy.ones(2, one), poisoned=numpy.ones(2, one))
    poisoned = numpy.array([1, numpy.nan], one)
    b = recording("b", new=one(1), kind=numpy.float16(1), shape=numpy.ones(3, one), poisoned=poisoned)

    by_tensor = {
        item.name: item.reason for item in compare_golden(a, b, operator_tolerances).tensors if not item.agrees
    }

    assert by_tensor == {
        "a.npz:gone": "missing in the candidate",
        "a.npz:new": "missing in the reference",
        "a.npz:kind": "is float16, not float32",
        "a.npz:shape": "shape is [3], expected [2]",
        "a.npz:poisoned": "1 of 2 elements are NaN where the reference is not",
    }


def test_nothing_to_compare_does_not_agree(recording, operator_tolerances):
    a = recording("a", words=numpy.array(["x"]))

    assert compare_golden(a, a, operator_tolerances).agrees is False


def test_tolerances_are_by_dtype_and_operation_unless_a_pattern_matches(recording, knowledge):
    a = recording("a", half=numpy.float16([1]), whole=numpy.int32([1]), wide=numpy.float32([1]))

    chosen = Tolerances.of(knowledge, "operator", ("*:wide=float32-gemm",))
    by_tensor = {item.name: item.tolerance for item in compare_golden(a, a, chosen).tensors}

    assert by_tensor == {"a.npz:half": "float16-operator", "a.npz:whole": "int-exact", "a.npz:wide": "float32-gemm"}


def test_both_machines_are_part_of_the_document(recording, operator_tolerances):
    a, b = recording("a", x=numpy.float32([1])), recording("b", x=numpy.float32([1.00005]))

    document = compare_golden(a, b, operator_tolerances)

    assert document.agrees is True
    assert document.reference_environment["machine"] == "machine a"
    assert document.candidate_environment["machine"] == "machine b"
    assert json.loads(document.to_json())["tensors"][0]["worst"]["wanted"] == "1.0"
