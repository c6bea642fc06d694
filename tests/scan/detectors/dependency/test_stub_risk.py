from __future__ import annotations

from dataclasses import replace

import pytest

from rocm3d.scan.file_scan import scan_file
from rocm3d.scan.selection import Selection

RULE = "stub_risk"
STUB = 'import sys, types\nsys.modules["kaolin"] = types.ModuleType("kaolin")\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (STUB, [(2, 1)]),
        ("import sys\nfrom unittest.mock import MagicMock\nsys.modules['a.b'] = MagicMock()\n", [(3, 1)]),
        ("import sys, types\nm = types.ModuleType('a')\nif True:\n    sys.modules['a'] = m\n", [(4, 5)]),
        ("import sys, types\nsys.modules.setdefault('a', types.ModuleType('a'))\n", [(2, 1)]),
        ("import sys, types\nfor n in N:\n\tsys.modules[n] = types.SimpleNamespace()\n", [(3, 2)]),
        # Code inside a ROCm guard is reported too, because ports put their stubs there.
        ("import sys, types, torch\nif torch.version.hip:\n    sys.modules['a'] = types.ModuleType('a')\n", [(3, 5)]),
        ("# größe\r\nimport sys, types\r\nsys.modules['a'] = types.ModuleType('a')\r\n", [(3, 1)]),
        ("import sys, types\ndef broken(:\nsys.modules['a'] = types.ModuleType('a')\n", [(3, 1)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.py", text) == expected


def test_only_modules_of_known_packages_are_warnings(known):
    kaolin = known.packages["gsplat"].model_copy(update={"id": "kaolin", "imports": ("kaolin",)})
    knowledge = replace(known, packages={"kaolin": kaolin})
    text = STUB + "".join(f"sys.modules['{name}'] = types.ModuleType('x')\n" for name in ("helper", "kaolin.ops"))
    first, second, third = scan_file("a.py", text.encode(), knowledge, Selection(only=(RULE,))).findings

    assert (first.code, first.severity) == ("DEP302", "warning")
    assert (second.severity, third.severity) == ("note", "note")
    assert first.message == "kaolin is replaced by a stub (an empty module)"
