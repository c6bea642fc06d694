"""The loaded knowledge base: frozen records with lookups by name."""

from __future__ import annotations

import difflib
import fnmatch
import hashlib
import re
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from rocm3d.knowledge.kinds import SCAN_KINDS
from rocm3d.model.errors import UserError
from rocm3d.model.target import Gpu

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from datetime import date

    from rocm3d.model.advice import Advice
    from rocm3d.model.backend import Backend
    from rocm3d.model.card import Card
    from rocm3d.model.condition import Condition
    from rocm3d.model.family import Family
    from rocm3d.model.lock import Distribution
    from rocm3d.model.method import Method
    from rocm3d.model.package import Package
    from rocm3d.model.package_index import PublicIndex
    from rocm3d.model.port import Port
    from rocm3d.model.recipe import Recipe
    from rocm3d.model.rule import Rule
    from rocm3d.model.source import Fact
    from rocm3d.model.stack import Stack
    from rocm3d.model.suite import Suite
    from rocm3d.model.target import Product, Target
    from rocm3d.model.tolerance import Tolerance
    from rocm3d.model.toolchain import WheelToolchain
    from rocm3d.model.variable import Variable
    from rocm3d.model.wheel import WheelRecord


# Kinds of records that are found by id, in the order of precedence. Tolerances and backends come last: their ids are
# internal.
_FOUND_KINDS = (
    "packages", "targets", "stacks", "families", "recipes", "variables", "ports", "advice", "host", "tolerances",
    "backends",
)  # fmt: skip


@dataclass(frozen=True)
class RecipeExample:
    """The example files of a recipe, which are its tests."""

    name: str
    before: bytes
    after: bytes
    untouched: bytes


@dataclass(frozen=True)
class Knowledge:
    """All records by id. `places` maps kind and id to the file of the record."""

    date: date
    codes: Mapping[str, Rule]
    targets: Mapping[str, Target]
    stacks: Mapping[str, Stack]
    packages: Mapping[str, Package]
    families: Mapping[str, Family]
    recipes: Mapping[str, Recipe]
    examples: Mapping[str, RecipeExample]
    places: Mapping[tuple[str, str], str]
    advice: Mapping[str, Advice] = field(default_factory=dict)
    variables: Mapping[str, Variable] = field(default_factory=dict)
    ports: Mapping[str, Port] = field(default_factory=dict)
    cards: Mapping[str, Card] = field(default_factory=dict)
    tolerances: Mapping[str, Tolerance] = field(default_factory=dict)
    backends: Mapping[str, Backend] = field(default_factory=dict)
    suites: Mapping[str, Suite] = field(default_factory=dict)
    indexes: Mapping[str, PublicIndex] = field(default_factory=dict)
    distributions: Mapping[str, Distribution] = field(default_factory=dict)
    wheels: Mapping[str, WheelRecord] = field(default_factory=dict)
    toolchains: Mapping[str, WheelToolchain] = field(default_factory=dict)
    host: Mapping[str, Condition] = field(default_factory=dict)
    methods: Mapping[str, Method] = field(default_factory=dict)  # one, by its name
    digests: Mapping[str, str] = field(default_factory=dict, compare=False)  # of the source files, by purpose

    @property
    def method(self) -> Method | None:
        """The porting method, or None if there is no method.toml."""
        return next(iter(self.methods.values()), None)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the records that a scan depends on."""
        if "scan" in self.digests:
            return self.digests["scan"]
        records = (record for kind in SCAN_KINDS for record in getattr(self, kind).values())
        return hashlib.sha256("".join(record.model_dump_json() for record in records).encode()).hexdigest()

    def is_public_index(self, url: str) -> bool:
        """Whether a URL is in a known public index. A conda channel may be given by its name."""
        scheme, separator, address = url.partition("://")
        if not separator:
            channel = scheme.partition("/label/")[0]
            return any(index.kind == "channels" and channel in index.urls for index in self.indexes.values())
        host, slash, path = address.partition("/")
        host = host.rpartition("@")[2].lower().removesuffix(":443")
        # `..` and a backslash can lead a server elsewhere than the text says.
        return ".." not in path and "\\" not in address and f"{host}{slash}{path}/".startswith(self._public_prefixes)

    @cached_property
    def _public_prefixes(self) -> tuple[str, ...]:
        urls = (url for index in self.indexes.values() for url in index.urls)
        return tuple(f"{url.rstrip('/')}/" for url in urls if "." in url.partition("/")[0])

    def is_public_name(self, name: str) -> bool:
        """Whether a distribution of this name on PyPI belongs to an established project."""
        return canonicalize_name(name) in self._public_names

    @cached_property
    def _public_names(self) -> frozenset[str]:
        return frozenset(canonicalize_name(name) for index in self.indexes.values() for name in index.names)

    def package_by_pip(self, name: str) -> Package | None:
        """The package of a distribution name, including patterns such as nvidia-*-cu12."""
        canonical_name = canonicalize_name(name)
        patterns = ((pattern, package) for pattern, package in self._pip_names.items() if "*" in pattern)
        return self._pip_names.get(canonical_name) or next(
            (package for pattern, package in patterns if fnmatch.fnmatchcase(canonical_name, pattern)), None
        )

    def cuda_package(self, name: str, extras: Collection[str] = (), *, conda: bool = False) -> Package | None:
        """The package whose CUDA build a requirement installs, or None. Some names install CUDA only with an extra.
        conda has no extras, but different names."""
        package = self.package_by_conda(name) if conda else self.package_by_pip(name)
        is_plain = package is None or not _needs_extra(package, name)
        return package if is_plain or self.cuda_extras(name, extras) else None

    def cuda_extras(self, name: str, extras: Collection[str]) -> dict[str, str]:
        """The extras that install CUDA packages, each with what it installs."""
        package = self.package_by_pip(name)
        terms = {} if package is None else {_split_extra(term): why for term, why in package.only_with_extra.items()}
        keys = {extra: _split_extra(f"{name}[{extra}]") for extra in sorted(extras)}
        return {extra: terms[key] for extra, key in keys.items() if key in terms}

    def package_by_conda(self, name: str) -> Package | None:
        """The package of a name on conda. Names in the pip list are accepted too."""
        patterns = ((package, pattern) for package in self.packages.values() for pattern in package.conda)
        matching = (package for package, pattern in patterns if fnmatch.fnmatchcase(name.lower(), pattern))
        return next(matching, None) or self.package_by_pip(name)

    def package_by_repository(self, name: str) -> Package | None:
        """The package that a repository of this name builds. Forks by other owners count too."""
        return self._repositories.get(canonicalize_name(name))

    @cached_property
    def _repositories(self) -> dict[str, Package]:
        return {
            canonicalize_name(name.rsplit("/", 1)[-1]): package
            for package in self.packages.values()
            if not package.harmless
            for name in package.repositories
        }

    def is_harmless_repository(self, url: str) -> bool:
        """Whether a URL is that of a repository whose record says that it needs no CUDA. A fork is another one."""
        return _owner_and_name(url) in self._harmless_repositories

    @cached_property
    def _harmless_repositories(self) -> frozenset[str]:
        records = (package for package in self.packages.values() if package.harmless)
        return frozenset(name.lower() for package in records for name in package.repositories)

    def package_by_import(self, module: str) -> Package | None:
        """The package that provides a module; the first by id if there are several."""
        return self._imports.get(module)

    @cached_property
    def _imports(self) -> dict[str, Package]:
        reversed_packages = sorted(self.packages.values(), key=lambda package: package.id, reverse=True)
        return {name: item for item in reversed_packages if not item.harmless for name in item.imports}

    def package_by_replacement(self, name: str) -> Package | None:
        """The package of which a route installs a distribution or a repository of this name."""
        return self.replacements.get(canonicalize_name(name))

    @cached_property
    def replacements(self) -> dict[str, Package]:
        """By what their routes install; of several packages the one with the better rank, then the first by id."""
        routes = sorted(
            ((route.rank, package.id, route) for package in self.packages.values() for route in package.routes),
            key=lambda item: item[:2],
        )
        by_name: dict[str, Package] = {}
        for _, package, route in routes:
            for name in route.installed_names:
                by_name.setdefault(canonicalize_name(name), self.packages[package])
        return by_name

    def top_level_modules(self, excluded_packages: frozenset[str] = frozenset()) -> frozenset[bytes]:
        """The top-level modules of all packages as bytes, except for the package ids in `without`."""
        if excluded_packages not in self._modules_without:
            names = (
                name
                for package in self.packages.values()
                if package.id not in excluded_packages
                for name in package.imports
            )
            self._modules_without[excluded_packages] = frozenset(name.split(".")[0].encode() for name in names)
        return self._modules_without[excluded_packages]

    @cached_property
    def _modules_without(self) -> dict[frozenset[str], frozenset[bytes]]:
        return {}

    @cached_property
    def _pip_names(self) -> dict[str, Package]:
        """By distribution name or pattern."""
        packages = (package for package in self.packages.values() if not package.harmless)
        return {canonicalize_name(name): package for package in packages for name in package.pip}

    @cached_property
    def integrated_targets(self) -> frozenset[str]:
        """Targets of integrated GPUs: all of their products share the system memory."""
        return frozenset(
            target.gfx
            for target in self.targets.values()
            if all(product.vram_gb is None for product in target.products)
        )

    def gpu(self, name: str) -> Gpu:
        """The GPU of a product name, or of a gfx id, which means its default product."""
        if name.lower() in self.targets:
            target = self.targets[name.lower()]
            return _gpu(target, target.product(target.default_product))
        products = [(target, product) for target in self.targets.values() for product in target.products]
        for target, product in products:
            if _is_named(product, name):
                return _gpu(target, product)
        known = [*self.targets, *(product.id for _, product in products)]
        raise UserError(f"unknown GPU {name!r}", hint=suggestion(name, known))

    def nvidia_card(self, name: str) -> Card:
        """The NVIDIA card of this name, for comparisons with an AMD GPU."""
        nvidia_cards = {card.id: card for card in self.cards.values() if not card.is_amd}
        for card in nvidia_cards.values():
            if _is_named(card, name):
                return card
        raise UserError(f"unknown NVIDIA card {name!r}", hint=suggestion(name, nvidia_cards))

    def recipe_for(self, code: str) -> Recipe | None:
        """The active recipe that fixes findings with this code."""
        return self._recipes.get(code)

    def recipe_also_resolving(self, code: str, package: str | None) -> Recipe | None:
        """The active recipe whose edit also resolves findings with this code about this package."""
        return self._recipes_by_also.get((code, package)) if package else None

    @cached_property
    def _recipes(self) -> dict[str, Recipe]:
        # Reversed, so that the first recipe for a code wins.
        return {recipe.code: recipe for recipe in [*self.recipes.values()][::-1] if recipe.status == "active"}

    @cached_property
    def _recipes_by_also(self) -> dict[tuple[str, str | None], Recipe]:
        recipes_with_code = [recipe for recipe in self._recipes.values() if recipe.code in self.codes]
        return {(code, self.codes[recipe.code].package): recipe for recipe in recipes_with_code for code in recipe.also}


def find_record(name: str, knowledge: Knowledge) -> Fact:
    """The record. If there is none, UserError with the closest names."""
    stripped = name.strip()
    for kind in _FOUND_KINDS:
        table: Mapping[str, Fact] = getattr(knowledge, kind)
        for spelling in (stripped, stripped.lower(), stripped.upper()):
            if spelling in table:
                return table[spelling]
    for code in knowledge.codes.values():
        if stripped.upper() == code.code or stripped.lower() == code.rule:
            return code
    package = (
        knowledge.package_by_pip(stripped)
        or knowledge.package_by_import(stripped)
        or knowledge.package_by_replacement(stripped)
    )
    if package is not None:
        return package
    # The id of an AMD card is also a product of a target, whose record has more facts. So only NVIDIA cards remain.
    with suppress(UserError):
        return knowledge.targets[knowledge.gpu(stripped).gfx]
    try:
        return knowledge.nvidia_card(stripped)
    except UserError:
        raise UserError(f"no record for {name!r}", hint=suggestion(stripped, known_names(knowledge))) from None


def advice_about(record: Fact, knowledge: Knowledge) -> list[Advice]:
    record_names = {
        name for key in ("id", "code", "rule", "gfx") if isinstance(name := getattr(record, key, None), str)
    }
    return [advice for advice in knowledge.advice.values() if advice is not record and record_names & set(advice.about)]


def known_names(knowledge: Knowledge) -> list[str]:
    """All names that `find` accepts."""
    products = (product.id for target in knowledge.targets.values() for product in target.products)
    pips = (name for package in knowledge.packages.values() for name in (*package.pip, *package.imports))
    codes = (spelling for code in knowledge.codes.values() for spelling in (code.code.lower(), code.rule))
    records = (key for kind in (*_FOUND_KINDS, "cards") for key in getattr(knowledge, kind))
    return [*records, *products, *pips, *knowledge.replacements, *codes]


def backend_of_kernel(name: str, backends: Iterable[Backend]) -> Backend | None:
    """The first backend whose pattern matches. The order of backends.toml is significant."""
    return next((backend for backend in backends if re.search(backend.pattern, name)), None)


def suggestion(name: str, known: Iterable[str]) -> str:
    """A hint with the closest names to a misspelt one; without a close match the first known names."""
    names = sorted(set(known))
    near = difflib.get_close_matches(name.lower(), names, n=3, cutoff=0.5)
    return f"did you mean {', '.join(near)}?" if near else f"known names: {', '.join(names[:12])}"


def _gpu(target: Target, product: Product) -> Gpu:
    return Gpu(
        gfx=target.gfx,
        product=product.id,
        title=product.title,
        wave_size=target.wave_size,
        vram_gb=product.vram_gb,
    )


def _split_extra(term: str) -> tuple[str, str]:
    """Name and extra of `name[extra]`, both normalised."""
    name, _, extra = term.rstrip("]").partition("[")
    return canonicalize_name(name), canonicalize_name(extra)


def _owner_and_name(url: str) -> str:
    """`owner/name` of a repository on GitHub, in lower case; empty for any other URL."""
    scheme, _, path = url.lower().partition("://github.com/")
    return path.removesuffix("/").removesuffix(".git") if scheme in ("https", "git+https") else ""


def _needs_extra(package: Package, name: str) -> bool:
    return canonicalize_name(name) in {_split_extra(term)[0] for term in package.only_with_extra}


def _is_named(record: Product | Card, name: str) -> bool:
    """Whether a name is one of its spellings, without case and punctuation."""
    return _alphanumeric(name) in map(_alphanumeric, (record.id, record.title, *record.names))


def _alphanumeric(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())
