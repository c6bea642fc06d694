from __future__ import annotations

import pytest

from rocm3d.scan.extensions import torch_extensions
from rocm3d.syntax.python import PythonUnit

IMPORT = "from torch.utils.cpp_extension import CppExtension, CUDAExtension, load\n"


def find_extensions(text: str, path: str = "setup.py"):
    return [(entry.name, entry.how, entry.sources) for entry in torch_extensions(PythonUnit(path, text.encode()))]


@pytest.mark.parametrize(
    "text",
    [
        'CUDAExtension(name="a", sources=["a.cu"])\n',  # no import of torch
        IMPORT,
        IMPORT + "# CUDAExtension(name='a', sources=['a.cu'])\n",
        IMPORT + "note = \"CUDAExtension(name='a', sources=['a.cu'])\"\n",
        IMPORT + "Extension(name='a', sources=['a.c'])\n",
        IMPORT + "json.load(stream)\n",
        IMPORT + 'torch.load("weights.pt", "cpu")\n',
        IMPORT + 'mine.load("m", ["m.cu"])\n',
        "import torch.utils.cpp_extension\nfrom mine import load\nload('m', ['m.cu'])\n",
        IMPORT + "load('m')\n",
        IMPORT + "load(*given, ['m.cu'])\n",
    ],
)
def test_no_extension(text):
    assert find_extensions(text) == []


def test_build_extension_by_keyword():
    assert find_extensions(IMPORT + 'CUDAExtension(name="p._C", sources=["a.cu", "b.cpp"])\n') == [
        ("p._C", "build_extension", ("a.cu", "b.cpp"))
    ]


def test_cpp_extension_and_dotted_name():
    text = IMPORT + 'torch.utils.cpp_extension.CppExtension(name="c", sources=["c.cpp"])\n'

    assert find_extensions(text) == [("c", "build_extension", ("c.cpp",))]


def test_build_extension_by_position():
    """As in the examples deform-op, cpu-only-gate and already-portable."""
    assert find_extensions(IMPORT + 'CUDAExtension("p._C", ["a.cu", "b.cpp"], define_macros=[])\n') == [
        ("p._C", "build_extension", ("a.cu", "b.cpp"))
    ]


def test_jit():
    assert find_extensions(IMPORT + 'm = load(name="m", sources=["m.cu"])\n') == [("m", "jit", ("m.cu",))]


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("from torch.utils.cpp_extension import load", "load"),
        ("from torch.utils.cpp_extension import load as compiled", "compiled"),
        ("from torch.utils import cpp_extension", "cpp_extension.load"),
        ("import torch.utils.cpp_extension as ext", "ext.load"),
        ("import torch.utils.cpp_extension", "torch.utils.cpp_extension.load"),
    ],
)
@pytest.mark.parametrize(
    "arguments", ['"m", ["m.cu"]', '"m", sources=["m.cu"]', '"m", "m.cu"', '"m", ["m.cu"], **more']
)
def test_jit_by_position_under_every_name_of_load(line, call, arguments):
    assert find_extensions(f"{line}\nm = {call}({arguments})\n") == [("m", "jit", ("m.cu",))]


def test_flags_of_jit_by_position():
    entry = single_extension('load("m", ["m.cu"], ["-O2"], ["-O3", "--use_fast_math"], verbose=True)\n')

    assert (entry.flags, entry.device_flags) == (("-O2",), ("-O3", "--use_fast_math"))


def test_joined_paths_are_one_source_each():
    text = (
        IMPORT + 'load(name="m", sources=[os.path.join(here, "csrc", "a.cpp"), os.path.join(here, "csrc", "m.cu")])\n'
    )

    assert find_extensions(text) == [("m", "jit", ("csrc/a.cpp", "csrc/m.cu"))]


def test_computed_name_and_sources_stay_unknown():
    assert find_extensions(IMPORT + "CUDAExtension(name=NAME, sources=glob('*.cu'))\n")[0][:2] == (
        "?",
        "build_extension",
    )


def single_extension(text: str):
    (extension,) = torch_extensions(PythonUnit("setup.py", (IMPORT + text).encode()))
    return extension


def test_flags_macros_and_folders_by_literals_and_by_name():
    entry = single_extension(
        'flags = ["-O3"]\nflags += ["--use_fast_math"]\nargs = {"cxx": ["-O2"], "nvcc": flags}\n'
        'CUDAExtension("p", ["k.cu"], include_dirs=[os.path.join(here, "csrc")],\n'
        '              define_macros=[("A", None), ("B", "2")], extra_compile_args=args)\n'
    )

    assert (entry.flags, entry.device_flags) == (("-O2",), ("-O3", "--use_fast_math"))
    assert entry.macros == ("A", "B=2")
    assert entry.include_dirs == ("csrc",)


def test_flag_list_applies_to_both_compilers():
    entry = single_extension('CUDAExtension("p", ["k.cu"], extra_compile_args=["-O3"])\n')

    assert (entry.flags, entry.device_flags) == (("-O3",), ("-O3",))


def test_wrapper_of_load_is_recognised_by_its_keywords():
    entry = single_extension(
        'load_extension(name="m", sources=["k.cu"], extra_cuda_cflags=["-O3"], extra_include_paths=["inc"])\n'
    )

    assert (entry.how, entry.sources, entry.device_flags, entry.include_dirs) == ("jit", ("k.cu",), ("-O3",), ("inc",))


def test_self_referencing_variable_ends():
    assert single_extension('a = a + ["k.cu"]\nCUDAExtension("p", a)\n').sources == ("k.cu",)


def test_location_is_the_call():
    (entry,) = torch_extensions(PythonUnit("a/setup.py", (IMPORT + 'é = load(name="m", sources=[])\n').encode()))

    assert str(entry.location) == "a/setup.py:2:5"


@pytest.mark.parametrize("text", ["load(", "CUDAExtension(sources=)", "CUDAExtension(name=, sources=[", "load(*, **)"])
def test_incomplete_calls_do_not_raise(text):
    assert len(find_extensions(IMPORT + text)) <= 1
