"""Code of the repository in places where a tool might start or import it."""

from __future__ import annotations

import os

from attacks.site import INJECTED, Site

INTERPRETERS = (".venv/bin/python", ".venv/bin/python3", "venv/bin/python", "env/bin/python", "bin/python")
TOOLS = (
    "git", "uv", "nvcc", "hipcc", "clang", "clang++", "cmake", "ninja", "python", "python3", "rocminfo", "hipify-perl",
    "hipconfig", "rocm-smi", "amd-smi", "bash", "sh", "pip",
)  # fmt: skip
MODULES = (
    "sitecustomize", "usercustomize", "conftest", "rocm3d", "torch", "triton", "json", "typing", "encodings", "pip",
    "setuptools", "numpy", "pydantic", "typer", "rich", "tomli", "libcst", "git", "logging",
)  # fmt: skip


def interpreter_in_the_tree(site: Site) -> None:
    """A committed environment whose Python is a script."""
    for path in INTERPRETERS:
        site.program("interpreter", path)
    site.write(".venv/pyvenv.cfg", "home = /usr/bin\n")
    site.write(".venv/lib/python3.11/site-packages/torch/__init__.py", site.python("venv-torch"))
    site.write(".venv/lib/python3.11/site-packages/evil.pth", f"import os; {site.python('pth')}")


def interpreter_links_out(site: Site) -> None:
    """The Python of the environment is a program elsewhere, which the repository chose."""
    program = site.program("linked-interpreter")
    target = site.outside / "python"
    program.rename(target)
    site.link(".venv/bin/python", target)
    site.write(".venv/pyvenv.cfg", f"home = {site.outside}\n")


def modules_of_our_names(site: Site) -> None:
    """Modules that an import would find first, if the repository were on the path."""
    for name in MODULES:
        path = site.random.choice([f"{name}.py", f"{name}/__init__.py"])
        site.write(path, site.python(f"module-{name}"))


def tools_in_the_tree(site: Site) -> None:
    """Programs of the names that we start."""
    for name in TOOLS:
        for folder in ("", "bin/", ".venv/bin/"):
            site.program(f"tool-{name}", f"{folder}{name}")


def build_scripts(site: Site) -> None:
    """Everything that a build would run."""
    code = site.python("build")
    setup = site.tree / "setup.py"
    site.write("setup.py", code + (setup.read_text("utf-8", "replace") if setup.is_file() else ""))
    site.write("backend/evil.py", code)
    site.write("pyproject.toml", '[build-system]\nrequires = []\nbuild-backend = "evil"\nbackend-path = ["backend"]\n')
    site.write("CMakeLists.txt", f'project(a CUDA)\nexecute_process(COMMAND sh -c "{site.shell("cmake")}")\n')
    site.write("Makefile", f"X := $(shell {site.shell('make')})\nall:\n\t{site.shell('make')}\n")
    site.write("noxfile.py", code)
    site.write("tox.ini", f"[testenv]\ncommands = {site.shell('tox')}\n")
    site.write(".envrc", f"{site.shell('envrc')}\n")
    site.write(
        ".pre-commit-config.yaml", f"repos: [{{repo: local, hooks: [{{id: a, entry: {site.shell('hook')}}}]}}]\n"
    )


def settings_of_package_tools(site: Site) -> None:
    """Settings of pip and uv that the repository brings: indexes, credentials, a local index."""
    url = f"https://{INJECTED}.invalid/simple"
    site.write("pip.conf", f"[global]\nindex-url = {url}\nextra-index-url = {url}\n")
    site.write("uv.toml", f'index-url = "{url}"\npython-preference = "only-managed"\n[[index]]\nurl = "{url}"\n')
    site.write(".netrc", "machine pypi.org login a password b\n")
    site.write(".pypirc", f"[pypi]\nrepository = {url}\n")
    site.write(".python-version", "../outside/python\n")
    site.write("pyproject.toml", f'[project]\nname = "a"\nversion = "1"\n[tool.uv]\nindex-url = "{url}"\n')


def commands_in_names_of_packages(site: Site) -> None:
    """Requirements, indexes, images and submodules whose text a shell would run."""
    run = f"$({site.shell('name')})"
    quoted = f"'; {site.shell('quote')}; '"
    site.write(
        "requirements.txt",
        f"torch==2.1\nflash-attn\nspconv-cu120\n--extra-index-url https://download.pytorch.org/whl/cu121/{run}\n"
        f"--extra-index-url 'https://a/{quoted}'\ngit+https://github.com/a/b.git@{run}#egg=b\n"
        f"git+ext::sh -c {site.shell('ext')}\n./local{run}\n-e {quoted}\nnvdiffrast @ git+https://h/{run}\n"
        f"xformers # {run} `{site.shell('tick')}`\n--find-links {run}\n",
    )
    site.write(
        "Dockerfile", f"FROM nvidia/cuda:12{run}\nRUN pip install {run} torch\nLABEL a=`{site.shell('label')}`\n"
    )
    site.write(".gitmodules", f'[submodule "{run}"]\n\tpath = "a{run}"\n\turl = "https://h/{quoted}"\n')
    site.write("environment.yml", f"name: a{run}\ndependencies: [pip, {{pip: ['torch{run}', \"b{quoted}\"]}}]\n")


def setting_hides_everything(site: Site) -> None:
    """The repository's own settings silence every finding; the output has to say so."""
    if site.random.random() < 0.5:
        site.write("rocm3d.toml", 'skip = ["CU", "BLD", "DEP", "PY", "RUN", "NUM"]\n')
        site.required_in_scan.append("rocm3d.toml")
    else:
        site.write("rocm3d.toml", 'only = ["ENV"]\n')
        site.required_in_scan.append("rocm3d.toml")


def odd_settings(site: Site) -> None:
    """Settings with other types, unknown keys, or of great size."""
    site.write("rocm3d.toml", site.random.choice([
        'knowledge = "."\n', 'gpu = ["a"]\n', "skip = 1\n", 'gpu = "$(touch a)"\n', "a = " + "[" * 5000 + "]" * 5000,
        'gpu = "\\u0000"\n', f'[{".".join(["a"] * 3000)}]\n', 'only = ["' + "A" * 1_000_000 + '"]\n', "\ufeffgpu = 1\n",
        'gpu = "\\u001b[2J"\n', 'work = "../outside"\npython = ".venv/bin/python"\n',
    ]))  # fmt: skip


def current_folder_on_the_path(site: Site) -> None:
    """A pth file and a tool beside the code, for whoever runs with the repository as the current folder."""
    site.write("evil.pth", f"import os; {site.python('pth')}")
    site.write("__main__.py", site.python("main"))
    for name in TOOLS[:4]:
        site.program(f"tool-{name}", name)
    os.chmod(site.tree, 0o777)  # noqa: S103, PTH101


SHAPES = (
    interpreter_in_the_tree, interpreter_links_out, modules_of_our_names, tools_in_the_tree, build_scripts,
    settings_of_package_tools, commands_in_names_of_packages, setting_hides_everything, odd_settings,
    current_folder_on_the_path,
)  # fmt: skip
