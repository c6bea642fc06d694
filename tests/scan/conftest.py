"""Scans of small trees with the shipped codes and fixed packages, independent of the package records."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from rule_matches import check_prefilters

from rocm3d.knowledge.base import Knowledge
from rocm3d.knowledge.load import tomllib
from rocm3d.model.package import Package, Route
from rocm3d.model.rule import Rule
from rocm3d.model.source import Source
from rocm3d.scan.selection import Selection
from rocm3d.scan.stage import scan
from rocm3d.workspace.tree import Tree

FACT = {"checked": date(2026, 11, 1), "confidence": "reported", "sources": (Source(where="a test"),)}

# The CUDA-only packages of examples/README.md, and NVIDIA's wheels.
PIP_NAMES = {
    "cupy": "cupy-cuda12x",
    "flash-attn": "flash-attn",
    "gsplat": "gsplat",
    "jax": "jax",
    "nvdiffrast": "nvdiffrast",
    "nvidia-wheels": "nvidia-*-cu11",
    "onnxruntime-gpu": "onnxruntime-gpu",
    "rembg": "rembg",
    "spconv": "spconv-cu120",
    "tensorflow": "tensorflow",
    "torch-scatter": "torch-scatter",
    "xformers": "xformers",
}


# Packages that need CUDA only with an extra.
EXTRAS = {
    "jax": {"jax[cuda12]": "NVIDIA's plugin", "jax[cuda12_pip]": "NVIDIA's plugin"},
    "rembg": {"rembg[gpu]": "onnxruntime-gpu"},
    "tensorflow": {"tensorflow[and-cuda]": "NVIDIA's libraries"},
}


def package(name: str, pip: str, decision: str = "drop") -> Package:
    route = Route(id="only", decision=decision, summary="the only way", rank=1, **FACT)
    about = {"family": "cleanup", "purpose": f"what {name} is for", "routes": (route,)}
    return Package(id=name, pip=(pip,), only_with_extra=EXTRAS.get(name, {}), **about, **FACT)


@pytest.fixture(scope="session")
def known():
    """The shipped codes and recipes, with test packages."""
    folder = Path(__file__).parents[2] / "knowledge"
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("rules/*/*/rule.toml"))]
    rules = [Rule.model_validate(tomllib.loads(text)) for text in texts]
    recipes = [rule.recipe for rule in rules if rule.recipe is not None]
    return Knowledge(
        date=date(2026, 11, 15),
        codes={rule.code: rule for rule in rules},
        targets={},
        stacks={},
        packages={name: package(name, pip) for name, pip in PIP_NAMES.items()},
        families={},
        recipes={recipe.id: recipe for recipe in recipes},
        examples={},
        places={},
    )


@pytest.fixture
def make_package():
    return package


@pytest.fixture
def scanned(tmp_path, known):
    """Scans a tree with these files; rule names select rules."""

    def run(files: dict[str, str | bytes], *only: str, limits=None):
        root = tmp_path / "repository"
        root.mkdir(exist_ok=True)
        for name, content in files.items():
            file_path = root / name
            file_path.parent.mkdir(parents=True, exist_ok=True)
            file_path.write_bytes(content.encode() if isinstance(content, str) else content)
        return scan(Tree.open(root, limits), known, Selection(only=only), lambda path: None)

    return run


@pytest.fixture
def findings(scanned):
    """Findings of one file with one rule."""

    def run(rule: str, path: str, content: str | bytes):
        return scanned({path: content}, rule).findings

    return run


@pytest.fixture
def positions(findings):
    """Lines and columns of the findings."""

    def run(rule: str, path: str, content: str | bytes):
        return [(finding.line, finding.column) for finding in findings(rule, path, content)]

    return run


@pytest.fixture(autouse=True)
def _check_prefilter(monkeypatch):
    """Every detector test also checks that the prefilter rejects no unit with a match."""
    check_prefilters(monkeypatch)
