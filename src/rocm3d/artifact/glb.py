"""Reads and writes GLB, the binary container of glTF: registry.khronos.org/glTF/specs/2.0/glTF-2.0.html"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from rocm3d.artifact import gltf_scene
from rocm3d.artifact.sight import Sight, Unfit, Unread

if TYPE_CHECKING:
    from pathlib import Path

_JSON, _BINARY = 0x4E4F534A, 0x004E4942
MOST_JSON = 256 * 1024 * 1024


def look(path: Path) -> Sight:
    """The header declares the length of the file; a shorter file is truncated."""
    tree, binary = _chunks(path)

    def image(item: dict[str, Any]) -> bytes | None:
        return gltf_scene.part(tree, item["bufferView"], binary) if "bufferView" in item else None

    return gltf_scene.look(tree, path.read_bytes, image)


def packed(text: bytes, binary: bytes) -> bytes:
    """A GLB from its JSON chunk and its binary chunk."""
    text += b" " * (-len(text) % 4)
    binary += b"\0" * (-len(binary) % 4)
    body = struct.pack("<II", len(text), _JSON) + text + struct.pack("<II", len(binary), _BINARY) + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


def _chunks(path: Path) -> tuple[dict[str, Any], bytes]:
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(20)
        if len(head) < 20:
            raise Unfit("truncated: the header is incomplete")
        _, version, length, json_length, kind = struct.unpack("<IIIII", head)
        if version != 2:
            raise Unread(f"glTF {version} is not supported")
        if length > size:
            raise Unfit(f"truncated: the file has {size:,} of {length:,} bytes")
        if kind != _JSON or json_length > min(length - 20, MOST_JSON):
            raise Unfit("damaged: the first chunk is not JSON")
        text = file.read(json_length)
        binary = _binary(file.read(length - 20 - json_length))
    return gltf_scene.description(text), binary


def _binary(rest: bytes) -> bytes:
    if len(rest) < 8:
        return b""
    length, kind = struct.unpack_from("<II", rest)
    return rest[8 : 8 + length] if kind == _BINARY else b""
