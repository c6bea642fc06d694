from __future__ import annotations

import re
from pathlib import Path

import pytest

from rocm3d.apply import guarded_lines

NAMES = sorted(path.stem for path in Path(guarded_lines.__file__).with_name("device").glob("*.h"))


@pytest.mark.parametrize("name", NAMES)
def test_every_helper_defines_its_name_on_device_and_ends_its_lines(name):
    text = guarded_lines.read_helper(name)

    assert re.search(rf"\b(?:rocm3d|_)_{name}\b", text)
    assert "__device__" in text or text.startswith("#define")
    assert text.endswith("\n")
    assert max(map(len, text.splitlines())) <= 120
    assert text.count("{") == text.count("}")


def test_a_helper_comes_once_and_after_its_dependencies():
    text = guarded_lines.helper_sources(["match_any", "wave_peers", "labeled_partition"])

    assert text.count("#define ROCM3D_HAS_WAVE_PEERS") == 1
    assert text.index("ROCM3D_HAS_WAVE_PEERS") < text.index("ROCM3D_HAS_MATCH_ANY")
    assert text.count("#if ") == text.count("#endif") == 3


def test_called_helpers_are_declared_as_dependencies():
    for name in NAMES:
        called = set(re.findall(r"\brocm3d_(\w+)", guarded_lines.helper_sources([name])))
        defined = set(re.findall(r"!defined\(ROCM3D_HAS_(\w+)\)", guarded_lines.helper_sources([name])))

        assert {name, *(word for word in called if word in NAMES)} == {word.lower() for word in defined}
