from __future__ import annotations

import pytest

RULE = "vendored_glm"
TORCH = "from torch.utils.cpp_extension import CppExtension, CUDAExtension, load\n"
FOUND = TORCH + 'CUDAExtension("p", ["k.cu"], include_dirs=[os.path.join(here, "third_party/glm/")])\n'


@pytest.mark.parametrize(
    "text",
    [
        FOUND.replace(TORCH, ""),
        FOUND.replace("third_party/glm/", "third_party/glmnet/"),
        FOUND.replace("k.cu", "k.cpp"),
        TORCH + "# " + FOUND.removeprefix(TORCH),
        TORCH + 'CUDAExtension("p", ["k.cu"], extra_compile_args={"nvcc": ["-I" + join(here, "third_party/glm/")]})\n',
        FOUND + "if torch.version.hip is not None:\n    pass\n",
        FOUND + "from torch.utils.hipify import hipify_python\n",
    ],
)
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "setup.py", text) == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (FOUND, [(2, 1)]),
        (FOUND.replace("\n", "\r\n"), [(2, 1)]),
        (TORCH + 'g = join(here, "glm")\next = CUDAExtension("p", ["k.cu"], include_dirs=["csrc", g])\n', [(3, 7)]),
        (TORCH + 'load("m", ["k.cu"], extra_include_paths=["csrc/third_party/glm"])\n', [(2, 1)]),
        (TORCH + 'CUDAExtension("p", glob("*"), include_dirs=["glm"])\n', [(2, 1)]),
        (TORCH + 'CUDAExtension("p", sources(), include_dirs=["glm"])\n', [(2, 1)]),
    ],
)
def test_place(places, text, where):
    assert places(RULE, "setup.py", text) == where


def test_odd_bytes_are_survived(places):
    assert places(RULE, "setup.py", b"# \xff\n" + FOUND.encode()) == [(3, 1)]


def test_message_names_the_folder(findings):
    (found,) = findings(RULE, "setup.py", FOUND)

    assert (found.code, found.severity) == ("CU509", "error")
    assert found.message.startswith("third_party/glm/ is listed as an include folder")
