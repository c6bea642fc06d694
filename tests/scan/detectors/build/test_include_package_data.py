from __future__ import annotations

import pytest

RULE = "include_package_data"
HEAD = "import torch\nfrom torch.utils.cpp_extension import CUDAExtension\n"
CALL = "setup(ext_modules=[CUDAExtension('a', ['a.cu'])], include_package_data=True, python_requires='>=3.7')\n"


@pytest.mark.parametrize(
    "text",
    [
        CALL,  # no CUDAExtension
        HEAD.replace("CUDA", "Cpp") + CALL.replace("CUDA", "Cpp"),
        HEAD + CALL.replace("True", "False"),
        HEAD + CALL.replace("True", "torch.version.hip is None"),
        HEAD + CALL.replace("=True", "=WHOLE"),
        HEAD + "WHOLE = True\nif torch.version.hip:\n    WHOLE = False\n" + CALL.replace("=True", "=WHOLE"),
        HEAD + f"if torch.version.hip is None:\n    {CALL}",
        HEAD + f"# {CALL}",
        HEAD + "setup(ext_modules=[CUDAExtension('a', ['a.cu'])])\n",
        HEAD + "setup(include_package_data=",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "setup.py", text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEAD + CALL, [(3, 51)]),
        (HEAD + "WHOLE = True\n" + CALL.replace("=True", "=WHOLE"), [(4, 51)]),
        (HEAD + "options = {'include_package_data': True}\nsetup(**options)\n", [(3, 12)]),
        ((HEAD + CALL).replace("\n", "\r\n"), [(3, 51)]),
        (b"# \xff\n" + (HEAD + CALL).encode(), [(4, 51)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "setup.py", text) == expected
