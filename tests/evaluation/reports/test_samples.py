"""Samples of several styles side by side."""

from tfmrc.evaluation import sample_table

KNOWN = {"qa": {"q|1": ["Ode", "Ode"]}, "nlg": {"q|1": ["Ode came.", "It was Ode."]}}


def test_a_row_a_style_with_its_own_references():
    answers = {"qa": {"q|1": "*Ada*"}, "nlg": {"q|1": ""}}
    assert sample_table(answers, KNOWN, {"q|1": "Who | came?"}, title="T") == (
        "# T\n\n## q\\|1: Who \\| came?\n\n| | answer | references |\n| --- | --- | --- |\n"
        "| qa | \\*Ada\\* | Ode |\n| nlg | (none) | Ode came. / It was Ode. |\n"
    )
