"""Compares two golden recordings tensor by tensor, each with a named tolerance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.artifact.arrays import compare, read_arrays, require_numpy, tolerance_dtype
from rocm3d.knowledge.base import Knowledge, suggestion
from rocm3d.model.backend_check import ComparedTensor, GoldenComparison, Recording
from rocm3d.model.errors import UserError
from rocm3d.model.tolerance import Tolerance
from rocm3d.record.golden import read_recording

if TYPE_CHECKING:
    from rocm3d.artifact.artifact_report import Array

    Tensors = Mapping[str, tuple[Array, str]]

EXACT = "int-exact"


@dataclass(frozen=True)
class Tolerances:
    """Selects the tolerance of a tensor: by a pattern for its name, otherwise by data type and class of operation."""

    known: Mapping[str, Tolerance]
    operation: str = "operator"
    chosen: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, knowledge: Knowledge, operation: str, chosen: tuple[str, ...]) -> Tolerances:
        """From options of the command line; each of `chosen` is PATTERN=TOLERANCE."""
        known = knowledge.tolerances
        if not any(name.endswith(f"-{operation}") for name in known):
            classes = {name.partition("-")[2] for name in known}
            raise UserError(f"no tolerance for operation {operation!r}", hint=suggestion(operation, classes))
        pairs = []
        for option in chosen:
            pattern, equals, name = option.rpartition("=")
            if not equals or name not in known:
                raise UserError(f"--tolerance {option}: expected PATTERN=TOLERANCE", hint=suggestion(name, known))
            pairs.append((pattern, name))
        return cls(known, operation, tuple(pairs))

    def for_tensor(self, name: str, dtype: str) -> Tolerance:
        """Integers must be equal, whatever the class of operation. Raises UserError if there is no such tolerance."""
        chosen = next((tolerance for pattern, tolerance in self.chosen if fnmatchcase(name, pattern)), None)
        tolerance_name = chosen or (EXACT if dtype == "int" else f"{dtype}-{self.operation}")
        if tolerance_name not in self.known:
            same_dtype = [known for known in self.known if known.startswith(f"{dtype}-")]
            hint = f"choose one with --tolerance '{name}=NAME': {', '.join(same_dtype) or f'none exists for {dtype}'}"
            raise UserError(f"{name} is {dtype}, but there is no tolerance {tolerance_name}", hint=hint)
        return self.known[tolerance_name]


def compare_golden(reference: Path, candidate: Path, tolerances: Tolerances) -> GoldenComparison:
    """Compares every tensor of either recording. One that exists on one side only does not agree."""
    require_numpy()
    first, second = read_recording(reference), read_recording(candidate)
    a, b = _tensors(reference, first), _tensors(candidate, second)
    return GoldenComparison(
        reference=str(reference),
        candidate=str(candidate),
        reference_environment={"machine": first.machine, **first.environment},
        candidate_environment={"machine": second.machine, **second.environment},
        tensors=tuple(_compare_tensor(name, a, b, tolerances) for name in dict.fromkeys((*a, *b))),
    )


def _tensors(folder: Path, recording: Recording) -> Tensors:
    return {
        name: value
        for file in recording.files
        for name, value in _file_tensors(folder / file.path, file.name, file.dtype)
    }


def _file_tensors(path: Path, name: str, dtype: str) -> Iterator[tuple[str, tuple[Array, str]]]:
    for part, array in read_arrays(path):
        number_kind = tolerance_dtype(array, dtype)
        if number_kind is not None:
            yield f"{name}:{part}" if part else name, (array, number_kind)


def _compare_tensor(name: str, a: Tensors, b: Tensors, tolerances: Tolerances) -> ComparedTensor:
    if name not in a or name not in b:
        missing_side = "the candidate" if name in a else "the reference"
        return ComparedTensor(name=name, agrees=False, reason=f"missing in {missing_side}")
    (first, dtype), (second, other_dtype) = a[name], b[name]
    if dtype != other_dtype:
        return ComparedTensor(name=name, agrees=False, reason=f"is {other_dtype}, not {dtype}", dtype=dtype)
    return compare(name, first, second, dtype, tolerances.for_tensor(name, dtype))
