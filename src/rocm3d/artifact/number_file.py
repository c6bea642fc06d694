"""Statistics of a .npy or .npz: shapes, types, NaN, ranges. Streams the file; only one piece is in memory."""

from __future__ import annotations

import math
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rocm3d.artifact.points import cloud
from rocm3d.artifact.sight import Sight, Unfit, Unread

if TYPE_CHECKING:
    from rocm3d.artifact.sight import Array

_PIECE = 16 * 1024 * 1024
_MOST = 16 * 1024**3
_MEMBERS = 10_000
_TOLD = 100
# Names that programs use for the positions of a point cloud.
POINTS = ("points", "xyz", "pts", "pts3d", "positions", "point_cloud")


@dataclass
class _Numbers:
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


def look_npy(path: Path) -> Sight:
    """A file with a single array."""
    with path.open("rb") as file:
        return _sight([_counted("array", file, path.stat().st_size)], [])


def look_npz(path: Path) -> Sight:
    """An archive of arrays. The unpacked size is checked before anything is unpacked."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            _refuse_bomb(members)
            arrays = [item for item in members if item.filename.endswith(".npy")]
            if not arrays:
                raise Unfit("wrong extension: a zip archive without arrays" if members else "empty: no arrays")
            numbers = []
            for item in arrays:
                with archive.open(item) as file:
                    numbers.append(_counted(item.filename.removesuffix(".npy"), file, item.file_size))
            others = [item.filename for item in members if item not in arrays]
            sight = _sight(numbers, others)
            return _with_points(sight, archive, numbers)
    except zipfile.BadZipFile as error:
        cut = "not a zip file" in str(error)
        raise Unfit("truncated: the archive has no end" if cut else f"damaged: {error}") from error
    except (NotImplementedError, RuntimeError) as error:
        raise Unread(f"the archive's compression or encryption is not supported: {error}") from error


def _refuse_bomb(members: list[zipfile.ZipInfo]) -> None:
    whole = sum(item.file_size for item in members)
    if whole > _MOST or len(members) > _MEMBERS:
        packed = sum(item.compress_size for item in members)
        raise Unfit(f"unpacks to {whole:,} bytes from {packed:,} in {len(members)} arrays: more than the limit")


def _counted(name: str, file: IO[bytes], size: int) -> _Numbers:
    """Reads the header, then the declared number of bytes in pieces. Pickled objects are never loaded."""
    import numpy

    shape, dtype = _header(name, file)
    numbers = _Numbers(name, shape, dtype)
    if dtype.hasobject:
        return numbers
    left = numbers.elements * dtype.itemsize
    if left > size - file.tell():
        raise Unfit(f"truncated: {name} declares {left:,} bytes and has {max(0, size - file.tell()):,}")
    while left:
        step = min(left, _PIECE // dtype.itemsize * dtype.itemsize or dtype.itemsize)
        data = file.read(step)
        if len(data) < step:
            raise Unfit(f"truncated: {name} ends {left - len(data):,} bytes early")
        left -= step
        if dtype.kind in "fciub":
            numbers.add(numpy.frombuffer(data, dtype))
    return numbers


def _header(name: str, file: IO[bytes]) -> tuple[tuple[int, ...], Any]:
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
        said = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise Unfit(f"truncated or damaged: the header of {name}: {said}") from error
    if dtype.itemsize == 0 or any(side < 0 for side in shape):
        raise Unfit(f"damaged: {name} has the type {dtype} and the shape {list(shape)}")
    return shape, dtype


def _sight(found: list[_Numbers], others: list[str]) -> Sight:
    if all(item.dtype.hasobject for item in found):
        raise Unread("contains only pickled objects, which rocm3d never loads")
    sight = Sight("arrays")
    whole = {"arrays": len(found), "elements": sum(item.elements for item in found)}
    whole |= {"nan": sum(item.nan for item in found), "infinite": sum(item.infinite for item in found)}
    sight.metrics |= whole
    ranged = [item for item in found if item.low <= item.high]
    if ranged:
        sight.metrics |= {"minimum": min(i.low for i in ranged), "maximum": max(i.high for i in ranged)}
    several = sorted(found, key=lambda item: item.name)
    if len(several) > _TOLD:
        sight.unread.append(f"statistics per array: the first {_TOLD} of {len(several)} are listed")
    for item in several[:_TOLD]:
        sight.metrics |= {f"{item.name}.elements": item.elements, f"{item.name}.nan": item.nan}
        if item in ranged:
            sight.metrics |= {f"{item.name}.minimum": item.low, f"{item.name}.maximum": item.high}
    for item in several:
        sight.object_to(item.nan, f"{item.nan} of {item.elements} numbers of {item.name} are NaN")
        sight.object_to(item.infinite, f"{item.infinite} of {item.elements} numbers of {item.name} are infinite")
        if item.dtype.hasobject:
            sight.unread.append(f"{item.name}: pickled objects, which rocm3d never loads")
        elif item.dtype.kind not in "fciub":
            sight.unread.append(f"{item.name}: not numeric ({item.dtype})")
    sight.object_to(not whole["elements"], "empty: every array has 0 elements")
    sight.unread += [f"{name[:80]}: not an array" for name in others]
    return sight


def _with_points(sight: Sight, archive: zipfile.ZipFile, found: list[_Numbers]) -> Sight:
    """Turn the report into that of a point cloud if the archive holds points (n, 3); array statistics stay."""
    for item in found:
        flat = item.name in POINTS and item.shape[-1:] == (3,) and item.dtype.kind == "f"
        if flat and 0 < item.elements * item.dtype.itemsize <= _PIECE * 16:
            with archive.open(f"{item.name}.npy") as file:
                seen = cloud(_array(file).reshape(-1, 3), coloured=any(o.name.startswith("col") for o in found))
            seen.metrics = {**sight.metrics, **seen.metrics}
            seen.unread, seen.problems = sight.unread, [*seen.problems, *sight.problems]
            return seen
    return sight


def _array(file: Any) -> Array:
    from numpy.lib import format as npy

    return npy.read_array(file, allow_pickle=False)
