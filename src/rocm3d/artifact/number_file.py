"""Statistics of a .npy or .npz: shapes, types, NaN, ranges. Streams the file; only one piece is in memory."""

from __future__ import annotations

import math
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rocm3d.artifact.artifact_report import ArtifactReport, InvalidArtifactError, UnreadableArtifactError

if TYPE_CHECKING:
    from rocm3d.artifact.artifact_report import Array

_PIECE = 16 * 1024 * 1024
_MOST = 16 * 1024**3
_MEMBERS = 10_000
_MAX_REPORTED_ARRAYS = 100
# Names that programs use for the positions of a point cloud.
POINT_ARRAY_NAMES = ("points", "xyz", "pts", "pts3d", "positions", "point_cloud")


@dataclass
class _ArrayStatistics:
    """Running statistics of one array."""

    name: str
    shape: tuple[int, ...]
    dtype: Any
    nan: int = 0
    infinite: int = 0
    low: float = math.inf
    high: float = -math.inf

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    def add(self, piece: Array) -> None:
        import numpy

        if piece.dtype.kind == "c":
            piece = piece.view(f"{piece.dtype.byteorder}f{piece.dtype.itemsize // 2}")
        if piece.dtype.kind == "f":
            self.nan += int(numpy.isnan(piece).sum())
            self.infinite += int(numpy.isinf(piece).sum())
            piece = piece[numpy.isfinite(piece)]
        if piece.size:
            self.low, self.high = min(self.low, float(piece.min())), max(self.high, float(piece.max()))


def inspect_npy(path: Path) -> ArtifactReport:
    """A file with a single array."""
    with path.open("rb") as file:
        return _arrays_report([_count_array("array", file, path.stat().st_size)], [])


def inspect_npz(path: Path) -> ArtifactReport:
    """An archive of arrays. The unpacked size is checked before anything is unpacked."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            _refuse_bomb(members)
            arrays = [item for item in members if item.filename.endswith(".npy")]
            if not arrays:
                raise InvalidArtifactError(
                    "wrong extension: a zip archive without arrays" if members else "empty: no arrays"
                )
            statistics = []
            for item in arrays:
                with archive.open(item) as file:
                    statistics.append(_count_array(item.filename.removesuffix(".npy"), file, item.file_size))
            others = [item.filename for item in members if item not in arrays]
            report = _arrays_report(statistics, others)
            return _add_point_cloud(report, archive, statistics)
    except zipfile.BadZipFile as error:
        is_truncated = "not a zip file" in str(error)
        raise InvalidArtifactError(
            "truncated: the archive has no end" if is_truncated else f"damaged: {error}"
        ) from error
    except (NotImplementedError, RuntimeError) as error:
        raise UnreadableArtifactError(f"the archive's compression or encryption is not supported: {error}") from error


def _refuse_bomb(members: list[zipfile.ZipInfo]) -> None:
    unpacked_bytes = sum(item.file_size for item in members)
    if unpacked_bytes > _MOST or len(members) > _MEMBERS:
        packed_bytes = sum(item.compress_size for item in members)
        raise InvalidArtifactError(
            f"unpacks to {unpacked_bytes:,} bytes from {packed_bytes:,} in {len(members)} arrays: more than the limit"
        )


def _count_array(name: str, file: IO[bytes], size: int) -> _ArrayStatistics:
    """Reads the header, then the declared number of bytes in pieces. Pickled objects are never loaded."""
    import numpy

    shape, dtype = _read_header(name, file)
    numbers = _ArrayStatistics(name, shape, dtype)
    if dtype.hasobject:
        return numbers
    bytes_left = numbers.elements * dtype.itemsize
    if bytes_left > size - file.tell():
        raise InvalidArtifactError(
            f"truncated: {name} declares {bytes_left:,} bytes and has {max(0, size - file.tell()):,}"
        )
    while bytes_left:
        step = min(bytes_left, _PIECE // dtype.itemsize * dtype.itemsize or dtype.itemsize)
        data = file.read(step)
        if len(data) < step:
            raise InvalidArtifactError(f"truncated: {name} ends {bytes_left - len(data):,} bytes early")
        bytes_left -= step
        if dtype.kind in "fciub":
            numbers.add(numpy.frombuffer(data, dtype))
    return numbers


def _read_header(name: str, file: IO[bytes]) -> tuple[tuple[int, ...], Any]:
    """Shape and dtype. numpy limits the length of the header."""
    from numpy.lib import format as npy

    try:
        version = npy.read_magic(file)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read(file)
    except zipfile.BadZipFile:
        raise
    except Exception as error:
        # numpy passes the header to Python's parser, which raises many types of errors.
        message = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise InvalidArtifactError(f"truncated or damaged: the header of {name}: {message}") from error
    if dtype.itemsize == 0 or any(side < 0 for side in shape):
        raise InvalidArtifactError(f"damaged: {name} has the type {dtype} and the shape {list(shape)}")
    return shape, dtype


def _arrays_report(statistics: list[_ArrayStatistics], other_members: list[str]) -> ArtifactReport:
    if all(item.dtype.hasobject for item in statistics):
        raise UnreadableArtifactError("contains only pickled objects, which rocm3d never loads")
    report = ArtifactReport("arrays")
    report.metrics |= {
        "arrays": len(statistics),
        "elements": sum(item.elements for item in statistics),
        "nan": sum(item.nan for item in statistics),
        "infinite": sum(item.infinite for item in statistics),
    }
    ranged = [item for item in statistics if item.low <= item.high]
    if ranged:
        report.metrics |= {"minimum": min(i.low for i in ranged), "maximum": max(i.high for i in ranged)}
    by_name = sorted(statistics, key=lambda item: item.name)
    if len(by_name) > _MAX_REPORTED_ARRAYS:
        report.unread.append(f"statistics per array: the first {_MAX_REPORTED_ARRAYS} of {len(by_name)} are listed")
    for item in by_name[:_MAX_REPORTED_ARRAYS]:
        report.metrics |= {f"{item.name}.elements": item.elements, f"{item.name}.nan": item.nan}
        if item in ranged:
            report.metrics |= {f"{item.name}.minimum": item.low, f"{item.name}.maximum": item.high}
    for item in by_name:
        report.add_problem_if(item.nan, f"{item.nan} of {item.elements} numbers of {item.name} are NaN")
        report.add_problem_if(item.infinite, f"{item.infinite} of {item.elements} numbers of {item.name} are infinite")
        if item.dtype.hasobject:
            report.unread.append(f"{item.name}: pickled objects, which rocm3d never loads")
        elif item.dtype.kind not in "fciub":
            report.unread.append(f"{item.name}: not numeric ({item.dtype})")
    report.add_problem_if(not report.metrics["elements"], "empty: every array has 0 elements")
    report.unread += [f"{name[:80]}: not an array" for name in other_members]
    return report


def _add_point_cloud(
    report: ArtifactReport, archive: zipfile.ZipFile, statistics: list[_ArrayStatistics]
) -> ArtifactReport:
    """Turn the report into that of a point cloud if the archive holds points (n, 3); array statistics stay."""
    from numpy.lib import format as npy

    from rocm3d.artifact.geometry import point_cloud_report

    for array in statistics:
        is_points = array.name in POINT_ARRAY_NAMES and array.shape[-1:] == (3,) and array.dtype.kind == "f"
        if is_points and 0 < array.elements * array.dtype.itemsize <= _PIECE * 16:
            with archive.open(f"{array.name}.npy") as file:
                points = npy.read_array(file, allow_pickle=False).reshape(-1, 3)
            has_colours = any(other.name.startswith("col") for other in statistics)
            cloud_report = point_cloud_report(points, has_colours=has_colours)
            cloud_report.metrics = {**report.metrics, **cloud_report.metrics}
            cloud_report.unread, cloud_report.problems = report.unread, [*cloud_report.problems, *report.problems]
            return cloud_report
    return report
