"""Runs a build script with stubs of torch and setuptools, and prints the extensions that it would build.

A build script is a setup.py, or a module that compiles when it is imported.


    python -I read_build.py REQUEST.json

The request: `script`; versions `torch`, `hip` and `cuda` (with `cuda` a CUDA build of torch, else a ROCm build); `gfx`,
`wave`; `cuda_home` (empty: none, as under ROCm). The stubs have the usual functions; others raise, so that the caller
knows that the result is incomplete. Prints one JSON line: `extensions`, and `error` with the `line` of the script.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import runpy
import sys
import traceback
import types
from pathlib import Path
from typing import Any

REQUEST: dict[str, Any] = {}
EXTENSIONS: list[dict[str, Any]] = []


class RecordedExtension:
    """A declared extension; scripts read and change its fields before they pass it to setup."""

    jit = False  # compiled on load, for which torch uses other flags and another translation

    def __init__(self, kind: str, name: str, sources: Any, **options: Any) -> None:
        """Store the options that affect compilation."""
        self.kind, self.name, self.line = kind, str(name), calling_line()
        self.sources = [os.fspath(item) for item in sources]
        self.include_dirs = list(options.get("include_dirs") or [])
        self.define_macros = list(options.get("define_macros") or [])
        self.undef_macros = list(options.get("undef_macros") or [])
        self.extra_compile_args = options.get("extra_compile_args") or []
        self.libraries = list(options.get("libraries") or [])
        self.library_dirs = list(options.get("library_dirs") or [])
        self.extra_link_args = list(options.get("extra_link_args") or [])

    def to_dict(self) -> dict[str, Any]:
        """The entry of the response."""
        arguments = self.extra_compile_args
        by_compiler = arguments if isinstance(arguments, dict) else {"cxx": arguments, "nvcc": arguments}
        return {
            "kind": self.kind,
            "name": self.name,
            "jit": self.jit,
            "line": self.line,
            "sources": [str(item) for item in self.sources],
            "include_dirs": [os.fspath(item) for item in self.include_dirs],
            "macros": [[str(name), None if value is None else str(value)] for name, value in self.define_macros],
            "undefined": [str(name) for name in self.undef_macros],
            "cxx": [str(flag) for flag in by_compiler.get("cxx", [])],
            "nvcc": [str(flag) for flag in by_compiler.get("nvcc", [])],
        }


def calling_line() -> int:
    """Current line of the build script."""
    frame = sys._getframe()
    while frame is not None and frame.f_code.co_filename != REQUEST["script"]:
        frame = frame.f_back  # type: ignore[assignment]
    return 1 if frame is None else frame.f_lineno


def extension_constructor(kind: str) -> Any:
    def extension(name: str, sources: Any, *_: Any, **options: Any) -> RecordedExtension:
        return RecordedExtension(kind, name, sources, **options)

    return extension


def setup(**options: Any) -> None:
    """Stub of setuptools.setup: collects the extensions."""
    EXTENSIONS.extend(
        extension.to_dict()
        for extension in options.get("ext_modules") or []
        if isinstance(extension, RecordedExtension)
    )


class CommandStub:
    """Base class of the command stubs, from which scripts derive."""

    @classmethod
    def with_options(cls, **_: Any) -> type:
        """Stub of BuildExtension.with_options."""
        return cls


class LoadedModuleStub:
    """Stub of a module that was compiled on load: every attribute is a function that does nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None


def load(
    name: str, sources: Any, extra_cflags: Any = None, extra_cuda_cflags: Any = None, *_: Any, **more: Any
) -> LoadedModuleStub:
    """Stub of torch's `load` and `_jit_compile`: collects the extension."""
    source_list = [sources] if isinstance(sources, str) else sources
    arguments = {"cxx": extra_cflags or [], "nvcc": extra_cuda_cflags or []}
    include = more.get("extra_include_paths")
    if include is None and len(_) > 1:  # positional, after linker flags and, since torch 2.7, SYCL flags
        include = next(
            (
                candidate
                for candidate in _
                if isinstance(candidate, list) and candidate and not str(candidate[0]).startswith("-")
            ),
            None,
        )
    extension = RecordedExtension("cuda", name, source_list, include_dirs=include, extra_compile_args=arguments)
    extension.jit = True
    EXTENSIONS.append(extension.to_dict())
    return LoadedModuleStub()


def build_directory(name: str, *_: Any, **__: Any) -> str:
    """An empty folder next to the script."""
    folder = Path(REQUEST["script"]).parent / ".jit" / name
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder)


def find_packages(where: str = ".", **_: Any) -> list[str]:
    """Names of folders that contain an __init__.py."""
    return sorted(path.parent.name for path in Path(where).glob("*/__init__.py"))


def install_stub(name: str, **members: Any) -> types.ModuleType:
    """Install a stub module for later imports."""
    stub = types.ModuleType(name)
    stub.__dict__.update(members, __path__=[], __file__=f"/stand-in/{name.replace('.', '/')}/__init__.py")
    sys.modules[name] = stub
    parent, _, attribute = name.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], attribute, stub)
    return stub


def gpu_properties() -> types.SimpleNamespace:
    gfx, cuda = REQUEST["gfx"], bool(REQUEST["cuda"])
    major, minor = (9, 0) if cuda else (int(gfx[3:-2]), int(gfx[-2], 16))
    architecture = {} if cuda else {"gcnArchName": gfx}
    return types.SimpleNamespace(
        name="NVIDIA GPU" if cuda else "AMD GPU", major=major, minor=minor, warp_size=REQUEST["wave"], **architecture
    )


def install_torch_stub() -> None:
    """Install a stub of torch with one GPU: the parts that build scripts use."""
    cuda, card = REQUEST["cuda"], gpu_properties()
    short = re.sub(r"\+.*$", "", REQUEST["torch"])
    local = f"cu{cuda.replace('.', '')}" if cuda else f"rocm{'.'.join(REQUEST['hip'].split('.')[:2])}"
    install_stub("torch", __version__=f"{short}+{local}", compiled_with_cxx11_abi=lambda: True)
    install_stub(
        "torch.version", cuda=cuda or None, hip=None if cuda else REQUEST["hip"], __version__=short, debug=False
    )
    install_stub(
        "torch.cuda",
        is_available=lambda: True,
        device_count=lambda: 1,
        current_device=lambda: 0,
        get_device_capability=lambda *_: (card.major, card.minor),
        get_device_name=lambda *_: card.name,
        get_device_properties=lambda *_: card,
        get_arch_list=lambda: [f"sm_{card.major}{card.minor}" if cuda else REQUEST["gfx"]],
    )
    install_stub("torch.__config__", parallel_info=lambda: "ATen parallel backend: OpenMP", show=lambda: "")
    install_stub("torch._C", _GLIBCXX_USE_CXX11_ABI=True)
    install_stub("torch.backends")
    install_stub("torch.backends.cudnn", enabled=True, version=lambda: None, is_available=lambda: True)
    install_stub("torch.backends.mps", is_available=lambda: False, is_built=lambda: False)
    install_stub("torch.utils")
    install_stub(
        "torch.utils.cpp_extension",
        CUDAExtension=extension_constructor("cuda"),
        CppExtension=extension_constructor("cpp"),
        BuildExtension=type("BuildExtension", (CommandStub,), {}),
        CUDA_HOME=REQUEST["cuda_home"] or None,
        ROCM_HOME=None if cuda else "/opt/rocm",
        HIP_HOME=None if cuda else "/opt/rocm/hip",
        CUDNN_HOME=None,
        IS_HIP_EXTENSION=not cuda,
        IS_WINDOWS=False,
        IS_MACOS=False,
        IS_LINUX=True,
        TORCH_LIB_PATH="/stand-in/torch/lib",
        load=load,
        load_inline=lambda *_, **__: LoadedModuleStub(),
        _jit_compile=load,
        _import_module_from_library=lambda *_, **__: LoadedModuleStub(),
        _find_cuda_home=lambda: REQUEST["cuda_home"] or None,
        _get_build_directory=build_directory,
        _TORCH_PATH="/stand-in/torch",
        include_paths=lambda *_, **__: [],
        library_paths=lambda *_, **__: [],
        is_ninja_available=lambda: True,
        verify_ninja_availability=lambda: None,
        check_compiler_abi_compatibility=lambda *_: True,
    )


def install_setuptools_stubs() -> None:
    """Install stubs of setuptools and distutils: the parts that build scripts use."""
    commands = {
        name: type(name, (CommandStub,), {}) for name in ("build_ext", "build_py", "install", "develop", "sdist")
    }
    packages = {"find_packages": find_packages, "find_namespace_packages": find_packages}
    install_stub(
        "setuptools",
        setup=setup,
        Extension=extension_constructor("plain"),
        Command=CommandStub,
        Distribution=CommandStub,
        **packages,
    )
    install_stub("setuptools.command")
    install_stub("setuptools.extension", Extension=extension_constructor("plain"))
    install_stub("setuptools.dist", Distribution=CommandStub)
    install_stub("distutils")
    install_stub("distutils.core", setup=setup, Extension=extension_constructor("plain"))
    install_stub("distutils.command")
    for name, command in commands.items():
        install_stub(f"setuptools.command.{name}", **{name: command})
        install_stub(f"distutils.command.{name}", **{name: command})
    install_stub("wheel")
    install_stub("wheel.bdist_wheel", bdist_wheel=type("bdist_wheel", (CommandStub,), {}))


def describe_error(error: BaseException) -> dict[str, Any]:
    """The error that ended the script, and its line."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == REQUEST["script"]]
    return {"error": f"{type(error).__name__}: {error}", "line": lines[-1] if lines else 1}


def main() -> None:
    """Run the script and print the response."""
    REQUEST.update(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    script = REQUEST["script"]
    os.chdir(Path(script).parent)
    sys.path.insert(0, str(Path(script).parent))
    sys.argv = ["setup.py", "build_ext"]
    response: dict[str, Any] = {}
    with contextlib.redirect_stdout(sys.stderr):  # scripts print
        install_setuptools_stubs()
        install_torch_stub()
        try:
            runpy.run_path(script, run_name="__main__")
        except (Exception, SystemExit) as error:  # noqa: BLE001  (any error of the script)
            response = describe_error(error)
    sys.__stdout__.write("\n" + json.dumps({"extensions": EXTENSIONS, **response}) + "\n")  # type: ignore[union-attr]


if __name__ == "__main__":
    main()
