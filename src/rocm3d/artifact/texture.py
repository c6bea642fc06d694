"""Checks the textures of a mesh: present, readable, more than one colour."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rocm3d.artifact.artifact_report import ArtifactReport, InvalidArtifactError, UnreadableArtifactError
from rocm3d.artifact.image import decode

if TYPE_CHECKING:
    from collections.abc import Mapping

# A constant texture with at most this many pixels is an intended placeholder.
_PLACEHOLDER_PIXELS = 64


def check_textures(report: ArtifactReport, textures: Mapping[str, bytes | None], colour_textures: set[str]) -> None:
    """Add the textures to the report. None marks a missing file; `colour_textures` hold the base colour."""
    decoded_count, constant = 0, set()
    for name, data in textures.items():
        if data is None:
            report.problems.append(f"texture {name} is missing")
            continue
        try:
            pixels = decode(io.BytesIO(data))
        except InvalidArtifactError as error:
            report.problems.append(f"texture {name}: {error}")
        except UnreadableArtifactError as error:
            report.unread.append(f"texture {name}: {error}")
        else:
            decoded_count += 1
            rows, columns, _ = pixels.channels.shape
            if pixels.is_constant and rows * columns > _PLACEHOLDER_PIXELS:
                constant.add(name)
    report.metrics |= {"textures": decoded_count, "constant_textures": len(constant)}
    if colour_textures and colour_textures <= constant:
        names = ", ".join(sorted(colour_textures)[:4])
        report.problems.append(f"constant texture: only one colour in {names}")
