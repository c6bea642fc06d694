"""Checks the textures of a mesh: present, readable, more than one colour."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rocm3d.artifact.image import decoded
from rocm3d.artifact.sight import Sight, Unfit, Unread

if TYPE_CHECKING:
    from collections.abc import Mapping

# A constant texture with at most this many pixels is an intended placeholder.
_PLACEHOLDER = 64


def judge(sight: Sight, textures: Mapping[str, bytes | None], coloured: set[str]) -> None:
    """Add the textures to the report. None marks a missing file; `colour_textures` hold the base colour."""
    read, constant = 0, set()
    for name, data in textures.items():
        if data is None:
            sight.problems.append(f"texture {name} is missing")
            continue
        try:
            pixels = decoded(io.BytesIO(data))
        except Unfit as error:
            sight.problems.append(f"texture {name}: {error}")
        except Unread as error:
            sight.unread.append(f"texture {name}: {error}")
        else:
            read += 1
            rows, columns, _ = pixels.whole.shape
            if pixels.is_constant and rows * columns > _PLACEHOLDER:
                constant.add(name)
    sight.metrics |= {"textures": read, "constant_textures": len(constant)}
    if coloured and coloured <= constant:
        which = ", ".join(sorted(coloured)[:4])
        sight.problems.append(f"constant texture: only one colour in {which}")
