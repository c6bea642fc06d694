"""All artifact formats: their signatures (first bytes) and file name suffixes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.model.artifact import ArtifactKind

HEAD_BYTES = 4096


@dataclass(frozen=True)
class ArtifactFormat:
    """A format without a kind is not an artifact; it is listed so that a misnamed file can be called what it is."""

    name: str
    signature: bytes
    kind: ArtifactKind | None = None
    suffixes: tuple[str, ...] = ()
    is_readable: bool = True
    container: str = ""  # the format that its first bytes show, if it has no signature

    @property
    def name_with_article(self) -> str:
        """Such as "an OBJ"."""
        return f"{'an' if self.name[0] in 'AEIOU' or self.name[:2] in ('NP', 'HT', 'HD', 'MP') else 'a'} {self.name}"


# The second value is a regular expression for the first bytes. The kind of a PLY depends on its header.
FORMATS = (
    ArtifactFormat("PLY", rb"ply\r?\n", "unknown", (".ply",)),
    ArtifactFormat("GLB", rb"glTF", "mesh", (".glb",)),
    ArtifactFormat("glTF", rb"(?!)", "mesh", (".gltf",), container="JSON text"),
    ArtifactFormat("Draco mesh", rb"DRACO", "mesh", (".drc",), is_readable=False),
    ArtifactFormat("NPY", rb"\x93NUMPY", "arrays", (".npy",)),
    ArtifactFormat("zip archive", rb"PK(\x03\x04|\x05\x06)", "arrays", (".npz",)),
    ArtifactFormat("PNG", rb"\x89PNG\r\n\x1a\n", "image", (".png",)),
    ArtifactFormat("JPEG", rb"\xff\xd8\xff", "image", (".jpg", ".jpeg")),
    ArtifactFormat("WebP", rb"RIFF....WEBP", "image", (".webp",)),
    ArtifactFormat("TIFF", rb"II[*+]\x00|MM\x00[*+]", "image", (".tif", ".tiff")),
    ArtifactFormat("BMP", rb"BM.{4}\x00{4}", "image", (".bmp",)),
    ArtifactFormat("PPM", rb"P[2356]\s", "image", (".ppm", ".pgm")),
    ArtifactFormat("OpenEXR image", rb"\x76\x2f\x31\x01", "image", (".exr",), is_readable=False),
    ArtifactFormat("Radiance HDR image", rb"#\?(RADIANCE|RGBE)", "image", (".hdr",), is_readable=False),
    ArtifactFormat("PFM image", rb"P[Ff]\s", "image", (".pfm",), is_readable=False),
    ArtifactFormat("GIF", rb"GIF8[79]a", "video", (".gif",)),
    ArtifactFormat("MP4", rb".{4}ftyp|.{4}(moov|mdat|wide|free|skip)", "video", (".mp4", ".m4v", ".mov")),
    ArtifactFormat("Matroska video", rb"\x1a\x45\xdf\xa3", "video", (".mkv", ".webm")),
    ArtifactFormat("AVI", rb"RIFF....AVI ", "video", (".avi",)),
    ArtifactFormat("HTML page", rb"(?i:\s*(<!doctype html|<html))"),
    ArtifactFormat("Git LFS pointer", rb"version https://git-lfs"),
    ArtifactFormat("JSON text", rb"\s*[\[{]\s*[\"\[{\]}]"),
    ArtifactFormat("pickle", rb"\x80[\x02-\x05]"),
    ArtifactFormat("gzip archive", rb"\x1f\x8b", "splat", (".spz",), is_readable=False),
    ArtifactFormat("HDF5 file", rb"\x89HDF\r\n"),
    ArtifactFormat("PDF", rb"%PDF"),
    # Without a signature, so last: OBJ is text, the others are packed splats of viewers.
    ArtifactFormat(
        "OBJ", rb"(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]*(?:v|vt|vn|vp|f|g|o|s|usemtl|mtllib)[ \t]", "mesh", (".obj",)
    ),
    ArtifactFormat("splat", rb"(?!)", "splat", (".splat", ".ksplat"), is_readable=False),
)
_BY_SUFFIX = {ending: form for form in FORMATS for ending in form.suffixes}


def format_by_name(path: Path) -> ArtifactFormat | None:
    """By the suffix; None for files that are not artifacts."""
    return _BY_SUFFIX.get(path.suffix.lower())


def format_by_content(head: bytes) -> ArtifactFormat | None:
    """By the first bytes; None if no signature matches."""
    return next((form for form in FORMATS if re.match(form.signature, head, re.DOTALL)), None)
