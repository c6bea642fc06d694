from __future__ import annotations

import pytest

RULE = "inductor_config"
TORCH = "import torch\n"
SAMPLE = TORCH + "torch._inductor.config.triton.cudagraphs = True\n"


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
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.py", text) == []


def test_other_files_are_not_searched(positions):
    assert positions(RULE, "a.cu", SAMPLE) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SAMPLE, [(2, 1)]),
        ("import torch._inductor.config as ic\nic.coordinate_descent_tuning = True\r\n", [(2, 1)]),
        ("from torch._inductor import config\nconfig.max_autotune_gemm_backends = 'TRITON'\n", [(2, 1)]),
        (TORCH + "torch.compile(m, options={'triton.cudagraphs': True, 'x': 1})\n", [(2, 27)]),
        ("import os\nos.environ['TORCHINDUCTOR_MAX_AUTOTUNE'] = '1'\n", [(2, 1)]),
        (TORCH + "s = 'größe 日本'; torch._inductor.config.memory_planning = flag\n", [(2, 17)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.py", text) == expected


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(4, 1)]


def test_message_names_the_option(findings):
    (finding,) = findings(RULE, "a.py", "import torch\ntorch._inductor.config.max_autotune = True\n")

    assert (finding.code, finding.severity) == ("PY302", "warning")
    assert finding.message == "max_autotune is set for the compiler: a long search, often without benefit"
