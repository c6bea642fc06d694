from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.choose_cmake_language import edit
from rocm3d.syntax.isolation import prove_isolation

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "cmake-lib" / "CMakeLists.txt"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("enable_language(CUDA\n", "does not parse as CMake"),
        ("enable_language(CUDA) add_library(a a.cu)\n", "share a line"),
        ("if(X) enable_language(CUDA)\nendif()\n", "share a line"),
        ("enable_language(CUDA)", "no newline"),
        ("find_package(CUDA)\ncuda_add_library(a a.cu)\n", "belongs to FindCUDA"),
        ("find_package(CUDAToolkit)\ntarget_link_libraries(a CUDA::cublas)\n", "CUDA::cublas"),
        ("enable_language(CUDA)\nset(S a.cpp b.cu)\nadd_library(a ${S})\n", "mixes .cu files"),
    ],
)
def test_unsupported_code_is_refused(text, reason):
    with pytest.raises(RewriteRefusedError, match=reason):
        edit(text.encode(), {})


def test_refuses_a_guard_that_cannot_be_proven():
    with pytest.raises(RewriteRefusedError, match="USE_ROCM"):
        edit(b"enable_language(CUDA)\n", {"define": "WITH_HIP"})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "project(CUDA LANGUAGES CXX)\n",
        "# enable_language(CUDA)\nmessage(STATUS CUDA)\n",
        "add_library(a a.cu)\n",
        "enable_language(CUDA)\nif(USE_ROCM)\n  enable_language(HIP)\nendif()\n",
        "option(USE_HIP OFF)\nenable_language(CUDA)\n",
        "enable_language(CUDA)\nfind_package(hip)\n",
    ],
)
def test_files_without_cuda_or_with_rocm_stay(text):
    assert edit(text.encode(), {}) == text.encode()


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_preserves_indentation_and_line_ends(newline):
    before = b"project(a\n  LANGUAGES CXX CUDA) # both\nif(X)\n  find_package(CUDAToolkit 11 REQUIRED)\nendif()\n"
    after = (
        b"if(USE_ROCM)\n  project(a LANGUAGES CXX HIP)\nelse()\nproject(a\n  LANGUAGES CXX CUDA) # both\nendif()\n"
        b"if(X)\n  if(USE_ROCM)\n    find_package(hip REQUIRED)\n  else()\n  find_package(CUDAToolkit 11 REQUIRED)\n"
        b"  endif()\nendif()\n"
    )
    assert edit(before.replace(b"\n", newline), {}) == after.replace(b"\n", newline)


def test_sets_the_language_of_named_and_listed_sources():
    before = (
        b"enable_language(CUDA)\nfile(GLOB S csrc/*.cu)\nadd_library(a a.cpp b.cu ${S} ${T})\ntarget_sources(a c.cpp)\n"
    )
    lines = edit(before, {}).decode().splitlines()
    assert [line.strip() for line in lines if "LANGUAGE HIP" in line] == [
        "set_source_files_properties(b.cu ${S} PROPERTIES LANGUAGE HIP)"
    ]


def executed_commands(text: bytes, folder: Path, *options: str) -> list[str]:
    """The commands that real CMake reaches in script mode; stubs print them instead of running them."""
    libraries = ("add_library", "add_executable", "set_source_files_properties")
    targets = ("link_libraries", "include_directories", "compile_options")
    commands = ("project", "enable_language", "find_package", *libraries, *(f"target_{name}" for name in targets))
    stubs = "".join(
        f'macro({name})\nmessage("called {name} ${{ARGV}}")\nendmacro()\n'
        for name in (*commands, "set_target_properties")
    )
    folder.mkdir(exist_ok=True)
    (folder / "file.cmake").write_bytes(text)
    (folder / "all.cmake").write_text(f"cmake_minimum_required(VERSION 3.18)\n{stubs}include({folder}/file.cmake)\n")
    command = ["cmake", *options, "-P", str(folder / "all.cmake")]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return [line for line in finished.stderr.splitlines() if line.startswith("called ")]


def test_real_cmake_runs_the_same_commands_without_rocm_and_hip_with_it(tmp_path):
    if shutil.which("cmake") is None:
        pytest.skip("not run: cmake is not installed")
    before = EXAMPLE.read_bytes()
    after = edit(before, {})

    assert executed_commands(before, tmp_path / "a") == executed_commands(after, tmp_path / "b")
    with_rocm = executed_commands(after, tmp_path / "b", "-DUSE_ROCM=ON")
    assert "called project gridsample;VERSION;0.2.0;LANGUAGES;CXX;HIP" in with_rocm
    assert "called set_source_files_properties src/gridsample.cu;PROPERTIES;LANGUAGE;HIP" in with_rocm
    assert not [line for line in with_rocm if "CUDAToolkit" in line or "CUDA::" in line]


LINES = st.sampled_from(
    [
        "project(a LANGUAGES CXX CUDA)",
        "  enable_language(CUDA)  # x",
        "find_package(CUDA REQUIRED)",
        "find_package(CUDAToolkit",
        "  QUIET)",
        "add_library(a a.cpp b.cu)",
        "target_link_libraries(a PUBLIC CUDA::cudart b)",
        "set(S c.cu)",
        "add_executable(e ${S})",
        "if(X)",
        "else()",
        "endif()",
        "# caf\u00e9",
        'message("enable_language(CUDA)")',
        "",
    ]
)


@given(st.lists(LINES, max_size=12), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["utf-8", "latin-1"]))
def test_any_edit_is_proven_and_idempotent(parts, newline, encoding):
    data = (newline.join(parts) + newline).encode(encoding)
    try:
        once = edit(data, {})
    except RewriteRefusedError:
        return
    assert edit(once, {}) == once
    assert prove_isolation("CMakeLists.txt", data, once).holds
