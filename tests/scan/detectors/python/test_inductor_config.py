from __future__ import annotations

import pytest

RULE = "inductor_config"
TORCH = "import torch\n"
FOUND = TORCH + "torch._inductor.config.triton.cudagraphs = True\n"


@pytest.mark.parametrize(
    "text",
    [
        TORCH + "torch._inductor.config.triton.cudagraphs = False\n",
        TORCH + "torch._inductor.config.epilogue_fusion = True\n",
        TORCH + "# torch._inductor.config.max_autotune = True\n",
        TORCH + "note = 'max_autotune = True'\n",
        TORCH + "config.max_autotune = True\n",
        TORCH + "x = torch._inductor.config.max_autotune\n",
        TORCH + "torch.compile(m, options={'max_autotune': False})\n",
        TORCH + "f(options={'max_autotune': True})\n",
        TORCH + "if torch.version.hip is None:\n    torch._inductor.config.max_autotune = True\n",
        "import os\nos.environ['TORCHINDUCTOR_MAX_AUTOTUNE'] = '0'\n",
        TORCH + "torch._inductor.config.max_autotune =\n",
        TORCH + "torch.compile(m, options={**o})\n",
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
        ("import torch._inductor.config as ic\nic.coordinate_descent_tuning = True\r\n", [(2, 1)]),
        ("from torch._inductor import config\nconfig.max_autotune_gemm_backends = 'TRITON'\n", [(2, 1)]),
        (TORCH + "torch.compile(m, options={'triton.cudagraphs': True, 'x': 1})\n", [(2, 27)]),
        ("import os\nos.environ['TORCHINDUCTOR_MAX_AUTOTUNE'] = '1'\n", [(2, 1)]),
        (TORCH + "s = 'größe 日本'; torch._inductor.config.memory_planning = flag\n", [(2, 17)]),
    ],
)
def test_place(places, text, where):
    assert places(RULE, "a.py", text) == where


def test_odd_bytes_and_syntax_errors_before_the_hit_are_survived(places):
    text = b"# \xff\xe9\nprint 'two'\n" + FOUND.encode()

    assert places(RULE, "a.py", text) == [(4, 1)]


def test_message_names_the_option(findings):
    (found,) = findings(RULE, "a.py", "import torch\ntorch._inductor.config.max_autotune = True\n")

    assert (found.code, found.severity) == ("PY302", "warning")
    assert found.message == "max_autotune is set for the compiler: a long search, often without benefit"
