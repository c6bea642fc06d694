from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rocm3d.model.finding import Finding, fingerprints, new_findings


def finding(line=2, column=1, rule="spaced_launch", path="a.cu", message="it is spaced", hint="close it") -> Finding:
    return Finding(
        code="CU301", rule=rule, severity="error", path=path, line=line, column=column, message=message, hint=hint
    )


def test_rule_path_and_message_each_make_another():
    four = (finding(), finding(rule="other"), finding(path="b.cu"), finding(message="else"))

    assert len({fingerprints((item,))[0] for item in four}) == 4


def test_parts_do_not_run_into_each_other():
    assert fingerprints((finding(rule="a", path="bc"),)) != fingerprints((finding(rule="ab", path="c"),))


def test_line_column_hint_and_spacing_make_no_other():
    moved = finding(line=90, column=7, hint="reworded", message="  it is\n spaced ")

    assert fingerprints((finding(),)) == fingerprints((moved,))


def test_equal_messages_in_a_file_are_numbered_by_position():
    first, second = finding(line=2), finding(line=2, column=9)

    assert len(set(fingerprints((first, second)))) == 2
    assert fingerprints((second, first)) == fingerprints((first, second))[::-1]


def test_the_digest_stays_what_it_is():
    """Baselines and code-scanning pages store it: a change needs a new name in SARIF."""
    assert fingerprints((finding(),)) == ("efda1849bf7130bec0e9ab3fe0a05b1d",)


def test_findings_beyond_the_known_number_are_new():
    findings = (finding(line=2), finding(line=5), finding(line=9))

    assert new_findings(findings, (finding(line=40), finding(line=50))) == (finding(line=9),)
    assert new_findings(findings, ()) == findings
    assert new_findings((), findings) == ()


@given(st.lists(st.tuples(st.integers(1, 9), st.sampled_from("ab"), st.text(max_size=3))), st.integers(0, 99))
def test_moved_lines_are_not_new(places, by):
    before = tuple(finding(line=line, path=path, message=text) for line, path, text in places)
    after = tuple(finding(line=item.line + by, path=item.path, message=item.message) for item in before)

    assert new_findings(after, before) == ()
    assert len(set(fingerprints(after))) == len(after)
