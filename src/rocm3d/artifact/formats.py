"""All artifact formats: their signatures (first bytes) and file name suffixes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.model.artifact import Kind

HEAD = 4096


@dataclass(frozen=True)
class Format:
    """A format without a kind is not an artifact; it is listed so that a misnamed file can be called what it is."""

    name: str
    start: bytes
    kind: Kind | None = None
    endings: tuple[str, ...] = ()
    read: bool = True
    written_as: str = ""  # the format that its first bytes show, if it has no signature

    @property
    def called(self) -> str:
        """Such as "an OBJ"."""
        return f"{'an' if self.name[0] in 'AEIOU' or self.name[:2] in ('NP', 'HT', 'HD', 'MP') else 'a'} {self.name}"


# The second value is a regular expression for the first bytes. The kind of a PLY depends on its header.
FORMATS = (
    Format("PLY", rb"ply\r?\n", "unknown", (".ply",)),
    Format("GLB", rb"glTF", "mesh", (".glb",)),
    Format("glTF", rb"(?!)", "mesh", (".gltf",), written_as="JSON text"),
    Format("Draco mesh", rb"DRACO", "mesh", (".drc",), read=False),
    Format("NPY", rb"\x93NUMPY", "arrays", (".npy",)),
    Format("zip archive", rb"PK(\x03\x04|\x05\x06)", "arrays", (".npz",)),
    Format("PNG", rb"\x89PNG\r\n\x1a\n", "image", (".png",)),
    Format("JPEG", rb"\xff\xd8\xff", "image", (".jpg", ".jpeg")),
    Format("WebP", rb"RIFF....WEBP", "image", (".webp",)),
    Format("TIFF", rb"II[*+]\x00|MM\x00[*+]", "image", (".tif", ".tiff")),
    Format("BMP", rb"BM.{4}\x00{4}", "image", (".bmp",)),
    Format("PPM", rb"P[2356]\s", "image", (".ppm", ".pgm")),
    Format("OpenEXR image", rb"\x76\x2f\x31\x01", "image", (".exr",), read=False),
    Format("Radiance HDR image", rb"#\?(RADIANCE|RGBE)", "image", (".hdr",), read=False),
    Format("PFM image", rb"P[Ff]\s", "image", (".pfm",), read=False),
    Format("GIF", rb"GIF8[79]a", "video", (".gif",)),
    Format("MP4", rb".{4}ftyp|.{4}(moov|mdat|wide|free|skip)", "video", (".mp4", ".m4v", ".mov")),
    Format("Matroska video", rb"\x1a\x45\xdf\xa3", "video", (".mkv", ".webm")),
    Format("AVI", rb"RIFF....AVI ", "video", (".avi",)),
    Format("HTML page", rb"(?i:\s*(<!doctype html|<html))"),
    Format("Git LFS pointer", rb"version https://git-lfs"),
    Format("JSON text", rb"\s*[\[{]\s*[\"\[{\]}]"),
    Format("pickle", rb"\x80[\x02-\x05]"),
    Format("gzip archive", rb"\x1f\x8b", "splat", (".spz",), read=False),
    Format("HDF5 file", rb"\x89HDF\r\n"),
    Format("PDF", rb"%PDF"),
    # Without a signature, so last: OBJ is text, the others are packed splats of viewers.
    Format("OBJ", rb"(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]*(?:v|vt|vn|vp|f|g|o|s|usemtl|mtllib)[ \t]", "mesh", (".obj",)),
    Format("splat", rb"(?!)", "splat", (".splat", ".ksplat"), read=False),
)
_BY_ENDING = {ending: form for form in FORMATS for ending in form.endings}


def by_name(path: Path) -> Format | None:
    """By the suffix; None for files that are not artifacts."""
    return _BY_ENDING.get(path.suffix.lower())


def by_content(head: bytes) -> Format | None:
    """By the first bytes; None if no signature matches."""
    return next((form for form in FORMATS if re.match(form.start, head, re.DOTALL)), None)
