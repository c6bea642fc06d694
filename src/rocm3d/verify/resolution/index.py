"""The package indexes of this machine: pip's settings, passed on to pip and to uv, which does not read them.

Only servers count. A folder of wheels or a file:// mirror is local, so other users would resolve differently. It is
used only if pip is configured with no-index.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rocm3d.workspace.process import run, scratch_folder

_UV_INDEX_VARIABLES = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL")
_UV_VARIABLES = (*_UV_INDEX_VARIABLES, "UV_KEYRING_PROVIDER", "UV_NATIVE_TLS", "UV_SYSTEM_CERTS", "UV_INSECURE_HOST")
_RANK = {"global": 1, "install": 2, ":env:": 3}
_TRUE = ("1", "true", "yes", "on")


@dataclass(frozen=True)
class IndexSettings:
    """An empty `default` is PyPI. `uv_is_configured`: uv has index settings, which take precedence over pip's."""

    default: str = ""
    extra: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    cert: str = ""
    uv_is_configured: bool = False

    def uv_environment(self, environment: Mapping[str, str], index: str = "") -> dict[str, str]:
        """Environment variables for uv. Precedence: `index`, then uv's settings, then pip's."""
        variables = {
            name: value
            for name, value in _without_environment_variables(environment).items()
            if not name.startswith("UV_")
        }
        variables |= {
            name: environment[name]
            for name in _UV_VARIABLES
            if name in environment and not (index and name in _UV_INDEX_VARIABLES)
        }
        if self.cert:
            variables.setdefault("SSL_CERT_FILE", self.cert)
        if index or (self.default and not self.uv_is_configured):
            variables["UV_DEFAULT_INDEX"] = index or self.default
        if self.extra and not (index or self.uv_is_configured):
            variables["UV_INDEX"] = " ".join(self.extra)
        return variables

    def pip_environment(self, environment: Mapping[str, str], index: str = "") -> dict[str, str]:
        """Environment variables for pip. Its configuration files are disabled, as they hold more than indexes."""
        variables = _without_environment_variables(environment) | {"PIP_CONFIG_FILE": os.devnull}
        variables |= {"PIP_INDEX_URL": index or self.default} if index or self.default else {}
        variables |= {"PIP_EXTRA_INDEX_URL": " ".join(self.extra)} if self.extra and not index else {}
        return variables | ({"PIP_CERT": self.cert} if self.cert else {})


def read_index_settings(environment: Mapping[str, str] = os.environ) -> IndexSettings:
    """Reads pip's settings. Precedence: environment variables, section `install`, section `global`."""
    entries = (item for item in _pip_settings(environment) if item[0] in _RANK)
    settings = {name: value for _, name, value in sorted(entries, key=lambda item: _RANK[item[0]])}
    extra = tuple(url for url in settings.get("extra-index-url", "").split() if _is_server(url))
    default = settings.get("index-url", "")
    links = settings.get("find-links", "").split() if settings.get("no-index", "").lower() in _TRUE else []
    return IndexSettings(
        default if _is_server(default) else "",
        extra,
        tuple(links),
        settings.get("cert", ""),
        any(name in environment for name in _UV_INDEX_VARIABLES) or _uv_has_settings(environment),
    )


def _pip_settings(environment: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Section, name and value of each setting. If pip is not installed, only PIP_ variables."""
    if importlib.util.find_spec("pip") is None:
        names = (name for name in environment if name.startswith("PIP_"))
        return [(":env:", name[4:].lower().replace("_", "-"), environment[name]) for name in names]
    settings = []
    for line in _pip_config_list(tuple(sorted(environment.items()))).splitlines():
        key, equals, value = line.partition("=")
        section, dot, name = key.rpartition(".")
        if equals and dot:
            settings.append((section, name, _unquoted(value)))
    return settings


@lru_cache(maxsize=4)  # pip takes half a second to start, and every probe needs its settings
def _pip_config_list(environment: tuple[tuple[str, str], ...]) -> str:
    command = [sys.executable, "-m", "pip", "config", "list"]
    # -m imports from the working folder first, which may be a repository with a module named pip.
    with scratch_folder() as folder:
        return run(command, cwd=folder, env=dict(environment)).stdout.decode("utf-8", "replace")


def _unquoted(value: str) -> str:
    try:
        return str(ast.literal_eval(value))
    except (ValueError, SyntaxError):
        return value


def uv_settings_options(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Options that limit uv to the settings of the user and the system.

    Otherwise uv searches every parent of its working folder, which is a temporary folder: other users may write to its
    parent. With both files uv has to search, because it merges only files that it finds itself.
    """
    files = [path for path in _uv_settings_files(environment) if path.is_file()]
    if len(files) > 1:
        return []
    return ["--config-file", str(files[0])] if files else ["--no-config"]


def _uv_settings_files(environment: Mapping[str, str]) -> tuple[Path, Path]:
    home = environment.get("XDG_CONFIG_HOME") or str(Path(environment.get("HOME", "/")) / ".config")
    return Path(home) / "uv" / "uv.toml", Path("/etc/uv/uv.toml")


def _uv_has_settings(environment: Mapping[str, str]) -> bool:
    for path in _uv_settings_files(environment):
        try:
            if "index" in path.read_text(encoding="utf-8"):
                return True
        except (OSError, UnicodeDecodeError):
            continue
    return False


def _without_environment_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Without variables that would point a resolver at the environment that rocm3d runs in."""
    excluded = ("PIP_", "PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX")
    return {name: value for name, value in environment.items() if not name.startswith(excluded)}


def _is_server(url: str) -> bool:
    return url.startswith(("http://", "https://"))
