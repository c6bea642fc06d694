"""Reads and writes GLB, the binary container of glTF: registry.khronos.org/glTF/specs/2.0/glTF-2.0.html"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from rocm3d.artifact import gltf_scene
from rocm3d.artifact.artifact_report import ArtifactReport, InvalidArtifactError, UnreadableArtifactError

if TYPE_CHECKING:
    from pathlib import Path

_JSON, _BINARY = 0x4E4F534A, 0x004E4942
MAX_JSON_BYTES = 256 * 1024 * 1024


def inspect(path: Path) -> ArtifactReport:
    """The header declares the length of the file; a shorter file is truncated."""
    tree, binary = _read_chunks(path)

    def image(entry: dict[str, Any]) -> bytes | None:
        return gltf_scene.view_bytes(tree, entry["bufferView"], binary) if "bufferView" in entry else None

    return gltf_scene.inspect(tree, path.read_bytes, image)


def pack_glb(json_text: bytes, binary: bytes) -> bytes:
    """A GLB from its JSON chunk and its binary chunk."""
    json_text += b" " * (-len(json_text) % 4)
    binary += b"\0" * (-len(binary) % 4)
    body = struct.pack("<II", len(json_text), _JSON) + json_text + struct.pack("<II", len(binary), _BINARY) + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


def _read_chunks(path: Path) -> tuple[dict[str, Any], bytes]:
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(20)
        if len(head) < 20:
            raise InvalidArtifactError("truncated: the header is incomplete")
        _, version, length, json_length, kind = struct.unpack("<IIIII", head)
        if version != 2:
            raise UnreadableArtifactError(f"glTF {version} is not supported")
        if length > size:
            raise InvalidArtifactError(f"truncated: the file has {size:,} of {length:,} bytes")
        if kind != _JSON or json_length > min(length - 20, MAX_JSON_BYTES):
            raise InvalidArtifactError("damaged: the first chunk is not JSON")
        text = file.read(json_length)
        binary = _binary_chunk(file.read(length - 20 - json_length))
    return gltf_scene.parse_description(text), binary


def _binary_chunk(data: bytes) -> bytes:
    if len(data) < 8:
        return b""
    length, kind = struct.unpack_from("<II", data)
    return data[8 : 8 + length] if kind == _BINARY else b""
