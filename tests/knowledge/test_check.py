"""Each kind of inconsistency between records is reported with file and key."""

from __future__ import annotations

import pytest

from rocm3d.knowledge.check import ImplementedNames, RecordProblem, check_records
from rocm3d.model.errors import UserError

RULE = "mine/rules/odd/odd_thing/rule.toml"
IMPLEMENTED = ImplementedNames(rules={"odd_thing"}, rewrites={"do_it"}, matchers={"include"})


@pytest.fixture
def problems(overlay):
    """Problems of the overlay records, without the shipped ones."""

    def result() -> list[RecordProblem]:
        return [problem for problem in check_records(overlay.load(), IMPLEMENTED) if problem.file.startswith("mine/")]

    return result


def test_active_code_without_help_is_a_problem(overlay, problems):
    overlay.family().codes({"help": ""})
    assert problems() == [RecordProblem(RULE, "help", "an active code needs help")]


def test_active_code_without_detector_is_a_problem(overlay, problems):
    overlay.family().codes({"rule": "nobody_looks"})
    assert [str(problem) for problem in problems()] == [
        "mine/rules/odd/nobody_looks/rule.toml: rule: unknown detector 'nobody_looks'; use status = 'planned'"
    ]


def test_rule_with_an_unknown_matcher_is_a_problem(overlay, problems):
    overlay.family().codes({"rest": 'matcher = { kind = "no_such" }'})
    assert problems() == [RecordProblem(RULE, "matcher.kind", "unknown matcher 'no_such'")]


def test_active_rule_with_a_matcher_needs_no_detector(overlay, problems):
    overlay.family().codes({"rule": "nobody_looks", "rest": 'matcher = { kind = "include" }'})
    assert problems() == []


def test_two_codes_with_one_rule_are_a_problem(overlay, problems):
    overlay.family().codes({}, {"code": "NUM902"})
    assert problems() == [
        RecordProblem("mine/rules/more/odd_thing/rule.toml", "rule", "'odd_thing' is also the rule of NUM901")
    ]


CLONE = 'commands = [["git", "clone", "https://host/p.git"]]\n'
PIP = 'commands = [["pip", "install", "git+https://host/p.git"]]\n'
PINNED = f'pin = {{ commit = "{"a" * 40}", of = "the head of main", checked = 2026-11-15 }}\n'
UNPINNED = 'unpinned = "it could not be read"\n'
ROUTE = RecordProblem("mine/packages/p.toml", "routes.keep", "clones a repository: needs either `pin` or `unpinned`")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (CLONE, [ROUTE]),
        (PIP, [ROUTE]),
        (PIP + PINNED + UNPINNED, [ROUTE]),
        (PIP + PINNED, []),
        (CLONE + UNPINNED, []),
        (
            UNPINNED,
            [
                RecordProblem(
                    "mine/packages/p.toml", "routes.keep", "clones no repository: needs neither `pin` nor `unpinned`"
                )
            ],
        ),
    ],
)
def test_route_that_clones_needs_a_commit_or_the_reason_why_not(overlay, problems, lines, expected):
    path = overlay.family().package("p").folder / "packages" / "p.toml"
    path.write_text(path.read_text().replace('summary = "s"\n', f'summary = "s"\n{lines}'))
    assert problems() == expected


def test_commit_of_a_route_is_complete(overlay):
    path = overlay.family().package("p").folder / "packages" / "p.toml"
    path.write_text(
        path.read_text().replace('summary = "s"\n', f'summary = "s"\n{PIP}{PINNED.replace("a" * 40, "a" * 7)}')
    )
    with pytest.raises(UserError, match=r"pin\.commit"):
        assert overlay.load().packages["p"]


def test_image_needs_a_digest_or_the_reason_why_not(overlay, problems):
    path = overlay.stack("s", ["gfx942"]).folder / "stacks" / "s.toml"
    text = path.read_text()
    path.write_text(text.replace('form = "pip"\n', 'form = "pip"\nimage = "ubuntu:24.04"\n'))
    assert problems() == [
        RecordProblem("mine/stacks/s.toml", "image", "needs either `digest` or `unpinned`, and only an image does")
    ]
    path.write_text(text.replace('form = "pip"\n', f'form = "pip"\nimage = "u"\ndigest = "sha256:{"0" * 64}"\n'))
    assert problems() == []


def test_code_of_an_unknown_family_is_a_problem(overlay, problems):
    overlay.codes({})
    assert problems() == [RecordProblem(RULE, "family", "unknown family 'fam'")]


def test_package_of_an_unknown_family_is_a_problem(overlay, problems):
    overlay.package("p")
    assert problems() == [RecordProblem("mine/packages/p.toml", "family", "unknown family 'fam'")]


def test_distribution_with_two_owners_is_a_problem(overlay, problems):
    overlay.family().package("zz-a", pip=["Zz_Thing"]).package("zz-b", pip=["zz.thing"])
    assert problems() == [RecordProblem("mine/packages/zz-b.toml", "pip", "'zz-thing' also belongs to zz-a")]


def test_route_for_an_unknown_target_is_a_problem(overlay, problems):
    overlay.family().package("p", gfx=["gfx999"])
    assert problems() == [RecordProblem("mine/packages/p.toml", "routes.keep.gfx", "unknown target 'gfx999'")]


def test_route_for_an_unknown_product_is_a_problem(overlay, problems):
    overlay.family().package("p", products=["zz900x"])
    assert problems() == [RecordProblem("mine/packages/p.toml", "routes.keep.products", "unknown product 'zz900x'")]


def test_product_of_two_targets_is_a_problem(overlay, problems):
    overlay.target("gfx998", "zz900x").target("gfx999", "zz900x")
    assert problems() == [RecordProblem("mine/targets/gfx999.toml", "products", "'zz900x' also belongs to gfx998")]


def test_stack_for_an_unknown_target_is_a_problem(overlay, problems):
    overlay.stack("s", ["gfx999"])
    assert problems() == [RecordProblem("mine/stacks/s.toml", "gfx", "unknown target 'gfx999'")]


def test_fix_with_an_unknown_also_code_is_a_problem(overlay, problems):
    overlay.family().package("p").codes({"rest": 'package = "p"'}).fix("r", also=["NUM902"])
    assert problems() == [RecordProblem(RULE, "fix.also", "unknown code 'NUM902'")]


def test_fix_with_also_but_without_package_is_a_problem(overlay, problems):
    overlay.family().codes({}).fix("r", also=["NUM901"])
    assert problems() == [RecordProblem(RULE, "fix.also", "NUM901 has no package")]


def test_fix_of_an_unknown_family_is_a_problem(overlay, problems):
    overlay.family().codes({}).fix("r", family="gone")
    assert problems() == [RecordProblem(RULE, "fix.family", "unknown family 'gone'")]


@pytest.mark.parametrize("part", ["before", "after", "untouched"])
def test_fix_without_one_of_its_cases_is_a_problem(overlay, problems, part):
    overlay.family().codes({}).fix("r")
    (overlay.folder / "rules" / "odd" / "odd_thing" / "cases" / f"{part}.py").unlink()
    assert problems() == [RecordProblem(RULE, "cases", "needs before.*, after.* and untouched.*")]


def test_active_fix_without_its_rewrite_is_a_problem(overlay, problems):
    overlay.family().codes({}).fix("r", rewrite="not_there")
    assert problems() == [RecordProblem(RULE, "fix.rewrite", "unknown rewrite 'not_there'; use status = 'planned'")]


def test_port_that_ran_with_an_unknown_package_is_a_problem(overlay, problems):
    overlay.family().port("zz-port", gone="keep")
    assert problems() == [RecordProblem("mine/ports/zz-port.toml", "routes.gone", "unknown package 'gone'")]


def test_port_that_ran_with_an_unknown_route_is_a_problem(overlay, problems):
    overlay.family().package("p").port("zz-port", p="gone")
    assert problems() == [RecordProblem("mine/ports/zz-port.toml", "routes.p", "p has no route 'gone'")]


@pytest.mark.parametrize(
    "mark", ["/etc/hosts", "../setup.py", "src/../setup.py", "./setup.py", "src//a.py", "src\\a.py"]
)
def test_mark_outside_the_repository_is_a_problem(overlay, problems, mark):
    overlay.family().port("zz-port", marks=(mark,))
    result = problems()
    assert [(problem.file, problem.key) for problem in result] == [("mine/ports/zz-port.toml", "marks")]
    assert result[0].message.endswith("is not a relative path inside the repository")


def test_marks_that_another_port_has_too_are_a_problem(overlay, problems):
    overlay.family().port("zz-fork", marks=("zz/a.py", "zz/b.py")).port("zz-port", marks=("zz/a.py",))
    assert problems() == [RecordProblem("mine/ports/zz-port.toml", "marks", "zz-fork has all of these marks too")]


def test_ports_without_marks_are_no_problem_for_each_other(overlay, problems):
    overlay.family().package("p").port("zz-fork").port("zz-port", p="keep")
    assert problems() == []


def test_fact_newer_than_the_release_is_a_problem(overlay, problems):
    overlay.family().put("release.toml", "date = 2026-01-01\n")
    assert problems() == [
        RecordProblem("mine/families/fam.toml", "fam.checked", "2026-01-02 is later than the release of 2026-01-01")
    ]


def test_route_newer_than_the_release_is_a_problem(overlay, problems):
    overlay.family().package("p")
    path = overlay.folder / "packages" / "p.toml"
    head, mark, route = path.read_text().partition("[[routes]]")
    path.write_text(head + mark + route.replace("2026-01-02", "2999-01-01"))
    result = problems()
    assert [(problem.file, problem.key) for problem in result] == [("mine/packages/p.toml", "p.routes.keep.checked")]
    assert result[0].message.startswith("2999-01-01 is later than the release")


def test_planned_code_and_recipe_need_no_code_behind_them(overlay, problems):
    overlay.family().codes({"status": "planned", "rule": "some_day", "help": ""})
    overlay.fix("r", "odd/some_day", status="planned", rewrite="some_day")
    assert problems() == []


def test_sound_records_have_no_problem(overlay, problems):
    overlay.family().codes({}).fix("r").target("gfx999", "zz900x").stack("s", ["gfx999"])
    overlay.package("p", gfx=["gfx999"], products=["zz900x"]).port("zz-port", marks=("zz/a.py",), p="keep")
    assert problems() == []


def test_amd_card_that_is_no_product_is_a_problem(overlay, problems):
    overlay.card("zz900x", amd=True)
    assert problems() == [
        RecordProblem("mine/cards/zz900x.toml", "id", "'zz900x' is an AMD card, but no target has this product")
    ]


def test_nvidia_card_with_the_id_of_an_amd_product_is_a_problem(overlay, problems):
    overlay.target("gfx999", "zz900x").card("zz900x")
    assert [problem.message for problem in problems()] == ["'zz900x' is a product of an AMD target"]


def test_price_or_cloud_newer_than_its_record_is_a_problem(overlay, problems):
    later = 'known = 2026-01-03\nsource = { where = "a public place" }\n'
    price = f'[[prices]]\nway = "buy"\nlow = 1\nhigh = 2\ncurrency = "USD"\n{later}'
    overlay.card("zz", tail=f'{price}[cloud]\navailable = "yes"\nwhere = "w"\n{later}')
    assert [(problem.key, problem.message) for problem in problems()] == [
        ("prices.buy.known", "2026-01-03 is later than checked = 2026-01-02"),
        ("cloud.known", "2026-01-03 is later than checked = 2026-01-02"),
    ]


def test_sound_cards_are_no_problem(overlay, problems):
    overlay.target("gfx999", "zz900x").card("zz900x", amd=True).card("zz-rival")
    assert problems() == []


SUITE = (
    '[[suites]]\nid = "zz"\ntitle = "t"\npackages = ["{name}"]\nchecked = 2026-01-02\nconfidence = "reported"\n'
    'sources = [{{ where = "a public place" }}]\n'
)


def test_suite_of_an_unknown_package_is_a_problem(overlay, problems):
    overlay.put("suites.toml", SUITE.format(name="nobody"))
    assert problems() == [RecordProblem("mine/suites.toml", "zz.packages", "unknown package 'nobody'")]


def test_suite_of_a_package_without_a_probe_is_a_problem(overlay, problems):
    overlay.family().package("p").put("suites.toml", SUITE.format(name="p"))
    assert problems() == [RecordProblem("mine/suites.toml", "zz.packages", "'p' has no probe")]


def test_sound_suite_is_no_problem(overlay, problems):
    overlay.put("suites.toml", SUITE.format(name="gsplat"))
    assert problems() == []
