"""Reads an OBJ and the textures of its materials."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from rocm3d.artifact.artifact_report import ArtifactReport, InvalidArtifactError
from rocm3d.artifact.image import check_textures

if TYPE_CHECKING:
    from pathlib import Path

_MAX_MATERIALS = 16
_MAX_MATERIAL_BYTES = 1024 * 1024
_MAX_TEXTURE_BYTES = 512 * 1024 * 1024


def inspect(path: Path) -> ArtifactReport:
    """OBJ is text, so truncation shows only if a face refers to a missing vertex."""
    _refuse_invalid_faces(path)
    with path.open("rb") as file:
        report = scene_report(file, "obj", skip_materials=True)
    if report.kind == "points":
        return report
    libraries = _referenced_names(path, b"mtllib")[:_MAX_MATERIALS]
    missing = [name for name in libraries if resolve_local(path, name) is None]
    report.add_problem_if(missing, f"missing material files: {', '.join(missing)}")
    check_textures(report, *_read_textures(path, [name for name in libraries if name not in missing]))
    return report


def scene_report(file: IO[bytes], file_type: str, **options: Any) -> ArtifactReport:
    """The geometry of a file that trimesh reads; points are reported only if there is no mesh."""
    import numpy
    import trimesh

    from rocm3d.artifact.geometry import mesh_report, point_cloud_report

    geometries = trimesh.load_scene(file, file_type=file_type, process=False, **options).geometry.values()
    meshes = [
        (numpy.asarray(each.vertices), numpy.asarray(each.faces)) for each in geometries if hasattr(each, "faces")
    ]
    points = [numpy.asarray(each.vertices) for each in geometries if isinstance(each, trimesh.PointCloud)]
    if points and not meshes:
        return point_cloud_report(numpy.concatenate(points), has_colours=False)
    return mesh_report(meshes)


def _refuse_invalid_faces(path: Path) -> None:
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
        raise InvalidArtifactError(f"truncated or damaged: a face refers to vertex {largest} of {vertices}")
    if not vertices:
        raise InvalidArtifactError("empty: no vertices" + (f" for its {faces} faces" if faces else " and no faces"))


def _read_textures(path: Path, libraries: list[str]) -> tuple[dict[str, bytes | None], set[str]]:
    """Texture bytes by name (None: missing), and the names of base colour textures. Limits: `resolve_local`."""
    textures, colour_textures = dict[str, bytes | None](), set[str]()
    for material in filter(None, (resolve_local(path, name) for name in libraries)):
        colours = _referenced_names(material, b"map_Kd")
        colour_textures |= set(colours)
        for name in (*colours, *_referenced_names(material, b"map_Bump"), *_referenced_names(material, b"map_Ks")):
            texture_path = resolve_local(path, name)
            textures[name] = (
                texture_path.read_bytes()
                if texture_path and texture_path.stat().st_size <= _MAX_TEXTURE_BYTES
                else None
            )
    return textures, colour_textures


def _referenced_names(path: Path, keyword: bytes) -> list[str]:
    """The last word of each line that starts with the keyword, within the first megabyte."""
    with path.open("rb") as file:
        lines = file.read(_MAX_MATERIAL_BYTES).splitlines()
    names = [line.split()[-1].decode("utf-8", "replace") for line in lines if line.split()[:1] == [keyword]]
    return list(dict.fromkeys(name for name in names if name.encode() != keyword))


def resolve_local(path: Path, name: str) -> Path | None:
    """The file that `name` refers to, if it exists in the folder of `path` or below. Other places are never read."""
    try:
        resolved = (path.parent / name.replace("\\", "/")).resolve()
        return resolved if resolved.is_relative_to(path.parent.resolve()) and resolved.is_file() else None
    except (OSError, ValueError):
        # Not a valid file name.
        return None
