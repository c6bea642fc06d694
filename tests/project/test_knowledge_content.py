"""Content of the knowledge base: minimum counts, public sources, and facts that were wrong before."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from rocm3d.knowledge.check import has_repository
from rocm3d.knowledge.worked_example import worked_example
from rocm3d.plan.releases import releases

ROOT = Path(__file__).resolve().parents[2]
MINIMUM = {
    "packages": 100, "targets": 20, "stacks": 8, "families": 12, "codes": 90, "recipes": 40, "backends": 60,
    "ports": 20, "cards": 25, "tolerances": 8, "advice": 60, "variables": 40,
}  # fmt: skip


def dated_facts(knowledge):
    """Every dated fact with its file and key, including routes."""
    for (kind, name), file in knowledge.places.items():
        record = getattr(knowledge, kind)[name]
        yield file, name, record
        for route in record.routes if kind == "packages" else ():
            yield file, f"{name}.{route.id}", route


@pytest.mark.parametrize("kind", sorted(MINIMUM))
def test_minimum_number_of_records(knowledge, kind):
    assert len(getattr(knowledge, kind)) >= MINIMUM[kind]


# Nobody else can open a path of a local machine, so it is no source.
LOCAL_PATH = re.compile(r"file://|(?<![\w.:/-])(?:~|/home|/root|/tmp|/Users)/")


def test_no_source_is_a_file_of_somebodys_machine(knowledge):
    sources = [(file, key, s) for file, key, fact in dated_facts(knowledge) for s in fact.sources]

    assert [] == [(file, key, s.where) for file, key, s in sources if LOCAL_PATH.search(f"{s.where} {s.says}")]


@pytest.mark.parametrize("where", ["file:///a", "/home/me/notes.txt", "see ~/notes.txt", "/tmp/x"])
def test_local_path_is_detected(where):
    assert LOCAL_PATH.search(where)


def test_nothing_is_called_verified_without_an_evidence_bundle(knowledge):
    assert [] == [key for _, key, fact in dated_facts(knowledge) if fact.confidence == "verified"]
    assert [] == [port.id for port in knowledge.ports.values() for r in port.results if r.status == "verified"]


def test_no_command_uses_an_extra_index(knowledge):
    commands = [c for p in knowledge.packages.values() for r in p.routes for c in r.commands]

    assert commands
    assert [] == [command for command in commands if any("extra-index-url" in word for word in command)]


def test_no_command_installs_torch_or_triton_from_the_default_index(knowledge):
    bare = {"torch", "torchvision", "torchaudio", "triton"}
    wrong = [
        command
        for package in knowledge.packages.values()
        for route in package.routes
        for command in route.commands
        if command[:2] == ("pip", "install") and bare & set(command) and "--index-url" not in command
    ]

    assert [] == wrong


# Distributions of the same project with the import name: the CPU wheels of ONNX Runtime and COLMAP.
SAME_NAME = {"onnxruntime", "pycolmap"}
# Names on PyPI that another project owns, or that nobody owns.
TRAPS = {"aiter", "simple-knn", "cumesh", "kaolin", "drtk"}


def test_no_route_turns_an_import_name_into_a_pip_name(knowledge):
    for package in knowledge.packages.values():
        imports = {name for name in package.imports if name not in package.pip} - SAME_NAME
        for route in package.routes:
            name = re.split(r"[\[=<>!~ @]", route.requirement, maxsplit=1)[0]
            assert name not in imports, (package.id, route.id)


def test_names_that_are_traps_are_never_installed(knowledge):
    commands = [(p.id, c) for p in knowledge.packages.values() for r in p.routes for c in r.commands]

    assert [] == [(name, command) for name, command in commands if command[0] == "pip" and TRAPS & set(command)]
    for name in ("simple-knn", "kaolin"):
        assert any("PyPI" in trap for trap in knowledge.packages[name].traps), name


def test_no_record_claims_to_be_the_newest(knowledge):
    texts = [f"{s.title} {' '.join(s.good_for)}".lower() for s in knowledge.stacks.values()]

    assert [] == [text for text in texts if "newest" in text or "latest" in text]


def test_stacks_reach_from_6_4_to_10(knowledge):
    majors = {stack.rocm.split(".")[0] for stack in knowledge.stacks.values()}

    assert {"6", "7", "10"} <= majors
    assert {"linux", "windows"} <= {platform for stack in knowledge.stacks.values() for platform in stack.platforms}
    assert {"container", "pip"} <= {stack.form for stack in knowledge.stacks.values()}


def test_every_recipe_has_its_rewrite_and_its_examples(knowledge):
    statuses = Counter(recipe.status for recipe in knowledge.recipes.values())

    assert statuses["planned"] == 0
    assert set(knowledge.examples) == set(knowledge.recipes)


def test_xformers_6_4_wheel_moves_torch_and_so_conflicts_with_wheels_for_2_6(knowledge):
    wheel = next(route for route in knowledge.packages["xformers"].routes if "torch" in route.moves)
    others = [
        route
        for name in ("gsplat", "pytorch3d")
        for route in knowledge.packages[name].routes
        if route.decision == "replace" and SpecifierSet(route.rocm).contains("6.4.3")
    ]

    assert SpecifierSet(wheel.rocm).contains("6.4.3")
    assert len(others) == 2
    assert not [route.id for route in others if SpecifierSet(route.torch).contains(wheel.moves["torch"])]


def test_flash_attn_needs_its_triton_variable_at_build_and_at_run_time(knowledge):
    route = next(r for r in knowledge.packages["flash-attn"].routes if r.id == "triton-backend")

    assert route.env["FLASH_ATTENTION_TRITON_AMD_ENABLE"] == "TRUE"
    assert any("at run time too" in trap for trap in route.traps)


def test_spconv_names_the_checkpoint_layout_conversion(knowledge):
    text = " ".join(trap for route in knowledge.packages["spconv"].routes for trap in route.traps)

    assert "KRSC" in text
    assert "Native" in text


def test_pytorch3d_builds_from_source_on_7_and_old_releases_are_silently_cpu_only(knowledge):
    package = knowledge.packages["pytorch3d"]
    builds = [route for route in package.routes if route.decision == "build"]

    assert any(SpecifierSet(route.rocm).contains("7.2") for route in builds)
    assert any("CPU" in trap and "CUDA_HOME" in trap for trap in package.traps)


def test_nvdiffrast_carries_the_licence_wording(knowledge):
    licence = knowledge.packages["nvdiffrast"].licence

    assert "compatibility-pattern example" in licence.wording
    assert "redistribution" in licence.note
    assert "AMD version of" not in licence.model_dump_json()


def test_fp8_differs_between_mi300x_and_mi350x(knowledge):
    assert knowledge.targets[knowledge.gpu("mi300x").gfx].fp8 == "fnuz"
    assert knowledge.targets[knowledge.gpu("mi350x").gfx].fp8 == "ocp"


def test_kaolin_is_stub_or_blocked_and_never_verified(knowledge):
    routes = knowledge.packages["kaolin"].routes

    assert {route.decision for route in routes} <= {"stub", "blocked"}
    assert not [route for route in routes if route.verified_on or route.confidence == "verified"]


@pytest.mark.parametrize(
    ("port", "figure"),
    [
        ("hunyuan3d-2.1", "344"), ("zipsplat", "51,840"), ("point-transformer-v3", "40 of 40"),
        ("matrix-game-3.0", "14.6"),
        ("groundingdino", "0.144"), ("groundingdino", "2.16e-6"), ("trellis.2", "5.99"), ("trellis.2", "308"),
        ("trellis", "145"), ("graspgen", "0.40"),
    ],
)  # fmt: skip
def test_reported_figures_are_expected_results_marked_as_claimed(knowledge, port, figure):
    results = [r for r in knowledge.ports[port].results if figure in r.value]

    assert results
    assert all(result.status == "claimed" and result.hardware for result in results)


@pytest.mark.parametrize(
    "name",
    [
        "hsa-override-always", "amd-waves-are-64-wide", "expandable-segments-safe", "hasattr-hip-detects-rocm",
        "allow-tf32-attribute-error", "pip-install-aiter", "ballot-macros-32-bit", "cuda-home-opt-rocm",
        "simplified-coarse-rasterizer", "extra-index-url",
    ],
)  # fmt: skip
def test_harmful_advice_is_on_record_with_what_to_do_instead(knowledge, name):
    record = knowledge.advice[name]

    assert record.verdict in ("refuted", "bounded")
    assert record.instead


def test_no_text_of_ours_calls_anything_an_amd_version_of():
    """The advice that forbids the words is the one place that must name them."""
    files = [path for path in (ROOT / "knowledge").rglob("*.toml") if path.stem != "nvidia-origin-wording"]

    assert [] == [path for path in files if "AMD version of" in path.read_text(encoding="utf-8")]


def test_the_flags_that_a_recipe_leaves_out_are_those_that_the_code_reports(knowledge):
    """The same list serves the detector and the edit; -U macros are reported but stay, as hipcc takes them."""
    flags = set(knowledge.recipes["nvcc-flags-by-backend"].parameters["nvcc_only"])

    assert flags == {term for term in knowledge.codes["BLD101"].terms if not term.startswith("-U")}


def test_every_price_and_cloud_has_a_public_source_and_is_no_guess_of_ours(knowledge):
    dated = [price for card in knowledge.cards.values() for price in card.prices]
    dated += [card.cloud for card in knowledge.cards.values() if card.cloud is not None]

    assert len(dated) > 30
    assert [] == [item for item in dated if not item.source.says]
    assert [] == [item for item in dated if LOCAL_PATH.search(item.source.where)]


def test_cards_of_both_vendors_include_one_with_shared_memory(knowledge):
    shared = {p.id for target in knowledge.targets.values() for p in target.products if p.vram_gb is None}
    amd = {card.id for card in knowledge.cards.values() if card.is_amd}
    nvidia_cards = [card for card in knowledge.cards.values() if not card.is_amd]

    assert {"mi300x", "rx-7900-xtx", "rx-9070-xt", "ryzen-ai-max-plus-395"} <= amd
    assert {"h100", "h200", "b200", "a100-80gb", "l40s", "rtx-3090", "rtx-4090", "rtx-5090"} <= {
        c.id for c in nvidia_cards
    }
    assert amd & shared
    assert [card.id for card in nvidia_cards if card.unified]


def test_mi250_is_two_devices(knowledge):
    assert (knowledge.cards["mi250"].devices, knowledge.cards["mi250x"].devices) == (2, 2)


def test_every_repository_of_a_route_has_a_commit_or_the_reason_why_not(knowledge):
    routes = [
        (package.id, route)
        for package in knowledge.packages.values()
        for route in package.routes
        if has_repository(route.commands)
    ]
    assert len(routes) >= 39
    assert [(name, route.id) for name, route in routes if (route.pin is None) == (not route.unpinned)] == []
    assert sum(route.pin is not None for _, route in routes) >= 26, "fewer commits than when they were recorded"


def test_every_image_has_a_digest_or_the_reason_why_not(knowledge):
    stacks = [stack for stack in knowledge.stacks.values() if stack.image]
    assert [stack.id for stack in stacks if (stack.digest is None) == (not stack.unpinned)] == []


def test_every_package_that_a_route_takes_from_pypi_has_its_hashes(knowledge):
    known = knowledge.distributions.values()
    for package in knowledge.packages.values():
        for route in package.routes:
            for command in route.commands if not route.index else ():
                names = [word for word in command[2:] if command[:2] == ("pip", "install") and word[0].isalpha()]
                if not {"--index-url", "-e"} & set(command):
                    for name in (name for name in names if "+" not in name and "://" not in name):
                        assert releases([name], known), f"{package.id}: {route.id}: {name}"


def test_a_reader_of_an_edit_graded_review_knows_what_to_check(knowledge):
    checks = {recipe.id: recipe.check for recipe in knowledge.recipes.values() if recipe.safety == "review"}

    assert len(checks) >= 30
    assert [name for name, text in checks.items() if not text.endswith(".") or text.count(". ") or len(text) < 30] == []
    assert [recipe.id for recipe in knowledge.recipes.values() if recipe.safety != "review" and recipe.check] == []


def test_a_task_of_any_rule_has_an_action_and_an_example(knowledge):
    """An error or a warning without an automatic fix becomes a task; so does one whose fix refuses."""
    rules = [rule for rule in knowledge.codes.values() if rule.status == "active" and rule.severity != "note"]
    examples = {rule.code: worked_example(rule.code, knowledge) for rule in rules}

    assert [rule.code for rule in rules if not (rule.action or rule.hint)] == []
    assert [code for code, example in examples.items() if not example.before or not example.after] == []
    assert [code for code, example in examples.items() if example.before == example.after] == []
    assert [code for code, example in examples.items() if len(example.after.splitlines()) > 16] == []
    # Nobody can act on a hint that only names the command that was run.
    texts = [(rule.code, rule.action or rule.hint) for rule in rules]
    assert [code for code, text in texts if text.startswith(("run `rocm3d apply`", "run `rocm3d plan`"))] == []
