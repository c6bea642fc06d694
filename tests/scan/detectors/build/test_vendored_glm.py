from __future__ import annotations

import pytest

RULE = "vendored_glm"
TORCH = "from torch.utils.cpp_extension import CppExtension, CUDAExtension, load\n"
SAMPLE = TORCH + 'CUDAExtension("p", ["k.cu"], include_dirs=[os.path.join(here, "third_party/glm/")])\n'


@pytest.mark.parametrize(
    "text",
    [
        SAMPLE.replace(TORCH, ""),
        SAMPLE.replace("third_party/glm/", "third_party/glmnet/"),
        SAMPLE.replace("k.cu", "k.cpp"),
        TORCH + "# " + SAMPLE.removeprefix(TORCH),
        TORCH + 'CUDAExtension("p", ["k.cu"], extra_compile_args={"nvcc": ["-I" + join(here, "third_party/glm/")]})\n',
        SAMPLE + "if torch.version.hip is not None:\n    pass\n",
        SAMPLE + "from torch.utils.hipify import hipify_python\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "setup.py", text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SAMPLE, [(2, 1)]),
        (SAMPLE.replace("\n", "\r\n"), [(2, 1)]),
        (TORCH + 'g = join(here, "glm")\next = CUDAExtension("p", ["k.cu"], include_dirs=["csrc", g])\n', [(3, 7)]),
        (TORCH + 'load("m", ["k.cu"], extra_include_paths=["csrc/third_party/glm"])\n', [(2, 1)]),
        (TORCH + 'CUDAExtension("p", glob("*"), include_dirs=["glm"])\n', [(2, 1)]),
        (TORCH + 'CUDAExtension("p", sources(), include_dirs=["glm"])\n', [(2, 1)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "setup.py", text) == expected


def test_invalid_utf8(positions):
    assert positions(RULE, "setup.py", b"# \xff\n" + SAMPLE.encode()) == [(3, 1)]


def test_message_names_the_folder(findings):
    (finding,) = findings(RULE, "setup.py", SAMPLE)

    assert (finding.code, finding.severity) == ("CU509", "error")
    assert finding.message.startswith("third_party/glm/ is listed as an include folder")
