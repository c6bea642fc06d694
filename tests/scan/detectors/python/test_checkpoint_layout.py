from __future__ import annotations

import pytest

RULE = "checkpoint_layout"
SPCONV = "import spconv.pytorch as spconv\n"
SAMPLE = SPCONV + "m.load_state_dict(torch.load(p), strict=False)\n"


@pytest.mark.parametrize(
    "text",
    [
        "m.load_state_dict(s)\n",
        SPCONV + "# m.load_state_dict(s)\n",
        SPCONV + "note = 'm.load_state_dict(s)'\n",
        SPCONV + "s = m.state_dict()\n",
        SPCONV + "load_state_dict(s)\n",
        "import spconv_like\nm.load_state_dict(s)\n",
        "from . import spconv\nm.load_state_dict(s)\n",
        SPCONV + "import torch\nif torch.version.hip is None:\n    m.load_state_dict(s)\n",
        SPCONV + "m.load_state_dict(",
        SPCONV + "optimizer.load_state_dict(s)\nself.lr_scheduler.load_state_dict(s)\nscaler.load_state_dict(s)\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.py", text) == []


def test_other_files_are_not_searched(positions):
    assert positions(RULE, "a.cu", SAMPLE) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SAMPLE, [(2, 1)]),
        (SPCONV + "m.load_state_dict(s)\nn.load_state_dict(s)\r\n", [(2, 1)]),
        ("try:\n    import tinycudann as tcnn\nexcept ImportError:\n    pass\nm.load_state_dict(s)\n", [(5, 1)]),
        (SPCONV + "s = 'größe 日本'; self.net.load_state_dict(s)\n", [(2, 17)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.py", text) == expected


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(4, 1)]


def test_strict_load_is_a_warning(findings):
    text = "import torchsparse\nm.load_state_dict(s{})\n"

    assert [finding.severity for finding in findings(RULE, "a.py", text.format(""))] == ["warning"]
    assert [finding.severity for finding in findings(RULE, "a.py", text.format(", strict=True"))] == ["warning"]
    assert [finding.severity for finding in findings(RULE, "a.py", text.format(", strict=False"))] == ["error"]


def test_message_names_the_package(findings):
    (finding,) = findings(RULE, "a.py", "from torchsparse import nn\nm.load_state_dict(s, strict=False)\n")

    assert finding.code == "PY405"
    assert finding.message.startswith("weights saved by torchsparse are loaded; ")


LOAD = "model.load_state_dict(torch.load(path), strict=False)\n"


def test_no_finding_without_an_import_of_the_library(scanned):
    assert scanned({"net/models/load.py": LOAD, "net/conv.py": "import spconv_like\n"}, RULE).findings == ()


def test_imports_in_tests_do_not_count(scanned):
    assert scanned({"net/load.py": LOAD, "tests/conv.py": SPCONV}, RULE).findings == ()


def test_import_in_another_file(scanned):
    files = {"tools/load.py": LOAD, "net/models/load.py": LOAD, "net/conv.py": SPCONV + "import torchsparse\n"}
    (finding,) = scanned(files, RULE).findings

    assert (finding.path, finding.line, finding.severity) == ("net/models/load.py", 1, "warning")
    assert finding.message.startswith("weights saved by spconv are loaded; ")
