from __future__ import annotations

import pytest

RULE = "checkpoint_layout"
SPCONV = "import spconv.pytorch as spconv\n"
FOUND = SPCONV + "m.load_state_dict(torch.load(p), strict=False)\n"


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
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "a.py", text) == []


def test_is_not_looked_for_in_other_files(places):
    assert places(RULE, "a.cu", FOUND) == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (FOUND, [(2, 1)]),
        (SPCONV + "m.load_state_dict(s)\nn.load_state_dict(s)\r\n", [(2, 1)]),
        ("try:\n    import tinycudann as tcnn\nexcept ImportError:\n    pass\nm.load_state_dict(s)\n", [(5, 1)]),
        (SPCONV + "s = 'größe 日本'; self.net.load_state_dict(s)\n", [(2, 17)]),
    ],
)
def test_place(places, text, where):
    assert places(RULE, "a.py", text) == where


def test_odd_bytes_and_syntax_errors_before_the_hit_are_survived(places):
    text = b"# \xff\xe9\nprint 'two'\n" + FOUND.encode()

    assert places(RULE, "a.py", text) == [(4, 1)]


def test_a_strict_load_is_a_warning_as_it_fails_aloud(findings):
    text = "import torchsparse\nm.load_state_dict(s{})\n"

    assert [found.severity for found in findings(RULE, "a.py", text.format(""))] == ["warning"]
    assert [found.severity for found in findings(RULE, "a.py", text.format(", strict=True"))] == ["warning"]
    assert [found.severity for found in findings(RULE, "a.py", text.format(", strict=False"))] == ["error"]


def test_message_names_the_package(findings):
    (found,) = findings(RULE, "a.py", "from torchsparse import nn\nm.load_state_dict(s, strict=False)\n")

    assert found.code == "PY405"
    assert found.message.startswith("weights saved by torchsparse are loaded; ")


LOAD = "model.load_state_dict(torch.load(path), strict=False)\n"


def test_a_load_alone_is_nothing(scanned):
    assert scanned({"net/models/load.py": LOAD, "net/conv.py": "import spconv_like\n"}, RULE).findings == ()


def test_tests_that_import_the_library_are_no_clue(scanned):
    assert scanned({"net/load.py": LOAD, "tests/conv.py": SPCONV}, RULE).findings == ()


def test_another_file_may_import_the_library(scanned):
    files = {"tools/load.py": LOAD, "net/models/load.py": LOAD, "net/conv.py": SPCONV + "import torchsparse\n"}
    (found,) = scanned(files, RULE).findings

    assert (found.path, found.line, found.severity) == ("net/models/load.py", 1, "warning")
    assert found.message.startswith("weights saved by spconv are loaded; ")
