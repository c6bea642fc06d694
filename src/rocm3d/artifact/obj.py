"""Reads an OBJ and the textures of its materials."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.artifact import texture
from rocm3d.artifact.geometry import surface
from rocm3d.artifact.points import cloud
from rocm3d.artifact.sight import Sight, Unfit

if TYPE_CHECKING:
    from pathlib import Path

_MATERIALS = 16
_MATERIAL_BYTES = 1024 * 1024
_TEXTURE_BYTES = 512 * 1024 * 1024


def look(path: Path) -> Sight:
    """OBJ is text, so truncation shows only if a face refers to a missing vertex."""
    import numpy
    import trimesh

    _refuse_wrong_faces(path)
    with path.open("rb") as file:
        scene = trimesh.load_scene(file, file_type="obj", process=False, skip_materials=True)
    parts, points = [], []
    for item in scene.geometry.values():
        if hasattr(item, "faces"):
            parts.append((numpy.asarray(item.vertices), numpy.asarray(item.faces)))
        else:
            points.append(numpy.asarray(item.vertices))
    if points and not parts:
        return cloud(numpy.concatenate(points), coloured=False)
    sight = surface(parts)
    libraries = _named(path, b"mtllib")[:_MATERIALS]
    lost = [name for name in libraries if beside(path, name) is None]
    sight.object_to(lost, f"missing material files: {', '.join(lost)}")
    texture.judge(sight, *_textures(path, [name for name in libraries if name not in lost]))
    return sight


def _refuse_wrong_faces(path: Path) -> None:
    """trimesh silently skips faces whose vertices do not exist; here they are an error."""
    vertices = faces = largest = 0
    with path.open("rb") as file:
        for line in file:
            if line[:2] in (b"v ", b"v\t"):
                vertices += 1
            elif line[:2] in (b"f ", b"f\t"):
                faces += 1
                corners = [word.partition(b"/")[0] for word in line.split()[1:]]
                largest = max([largest, *(int(word) for word in corners if word.isdigit())])
    if largest > vertices:
        raise Unfit(f"truncated or damaged: a face refers to vertex {largest} of {vertices}")
    if not vertices:
        raise Unfit("empty: no vertices" + (f" for its {faces} faces" if faces else " and no faces"))


def _textures(path: Path, libraries: list[str]) -> tuple[dict[str, bytes | None], set[str]]:
    """Texture bytes by name (None: missing), and the names of base colour textures. Limits: `resolve_local`."""
    found, coloured = dict[str, bytes | None](), set[str]()
    for material in filter(None, (beside(path, name) for name in libraries)):
        colours = _named(material, b"map_Kd")
        coloured |= set(colours)
        for name in (*colours, *_named(material, b"map_Bump"), *_named(material, b"map_Ks")):
            place = beside(path, name)
            found[name] = place.read_bytes() if place and place.stat().st_size <= _TEXTURE_BYTES else None
    return found, coloured


def _named(path: Path, word: bytes) -> list[str]:
    """The last word of each line that starts with the keyword, within the first megabyte."""
    with path.open("rb") as file:
        lines = file.read(_MATERIAL_BYTES).splitlines()
    names = [line.split()[-1].decode("utf-8", "replace") for line in lines if line.split()[:1] == [word]]
    return list(dict.fromkeys(name for name in names if name.encode() != word))


def beside(path: Path, name: str) -> Path | None:
    """The file that `name` refers to, if it exists in the folder of `path` or below. Other places are never read."""
    try:
        place = (path.parent / name.replace("\\", "/")).resolve()
        return place if place.is_relative_to(path.parent.resolve()) and place.is_file() else None
    except (OSError, ValueError):
        # Not a valid file name.
        return None
