"""The sentences of the page follow from the numbers, whichever way they come out."""

import pytest

from coevo.experiments.related_methods.findings import (
    describe_against,
    describe_claim_of_paper,
    describe_older_systems,
    describe_reasons,
    describe_winner,
)
from coevo.experiments.related_methods.report import format_readme
from helpers.reviews import FEW, make_invented


def spread(mean, width=1.0):
    """Return the scores of three runs around a mean."""
    return [mean - width, mean, mean + width]


def shifted(*means):
    """Return the scores of the systems CCGA, GA and K2GA on as many data sets as there are means.

    CCGA is at -1100; a mean is that of GA above it. K2GA is always five nats above CCGA.
    """
    return {
        60 + i: {
            "ccga": spread(-1100),
            "ga": [-1100 + mean + noise for noise in (-1, 0.1, 1)],
            "k2ga": [-1095 + noise for noise in (-1, -0.1, 1)],
        }
        for i, mean in enumerate(means)
    }


# -- the older systems and CCGA


def test_older_systems_that_win():
    assert describe_older_systems(make_invented(shifted(200, 100.4))) == (
        "With no more evaluations than the CCGA of the paper, GA and K2GA beat it on both data "
        "sets.\n"
        "\n"
        "- GA beats CCGA on both data sets, by 100 to 200 nats.\n"
        "- K2GA beats CCGA on both data sets, by 5 nats."
    )


def test_one_older_system_that_wins():
    assert describe_older_systems(make_invented(shifted(200, -100))) == (
        "With no more evaluations than the CCGA of the paper, K2GA beats it on both data sets.\n"
        "\n"
        "- GA is significantly better than CCGA on 1 of 2 data sets and significantly worse on 1 "
        "of 2 data sets; the mean difference is -100 to +200 nats.\n"
        "- K2GA beats CCGA on both data sets, by 5 nats."
    )


def test_older_systems_that_lose():
    scores = shifted(-200, -3000, -10)
    for systems in scores.values():
        del systems["k2ga"]
    assert describe_older_systems(make_invented(scores)) == (
        "No older system that evolves beats the CCGA of the paper on all 3 data sets.\n"
        "\n"
        "- GA loses to CCGA on all 3 data sets, by 10 to 3,000 nats."
    )


def test_a_difference_that_may_be_chance():
    """The runs overlap: no sentence may call the difference a win."""
    scores = {60: {"ccga": [-1100, -1000, -1050], "ga": [-1000, -1099, -1040]}}
    results = make_invented(scores)
    assert describe_older_systems(results) == (
        "No older system that evolves beats the CCGA of the paper on the data set.\n"
        "\n"
        "- GA is significantly better than CCGA on no data set and significantly worse on no data "
        "set; the mean difference is +4 nats."
    )


@pytest.mark.parametrize(
    ("k2", "sentence"),
    [
        (
            -1200,
            "The main statement of the paper holds here. CCGA beats K2 on the data set, by 100 "
            "nats.",
        ),
        (
            -1000,
            "The main statement of the paper does not hold on every data set here. CCGA loses to "
            "K2 on the data set, by 100 nats.",
        ),
    ],
)
def test_the_claim_of_the_paper(k2, sentence):
    results = make_invented({60: {"ccga": spread(-1100), "k2": [k2 - 1, k2 + 0.1, k2 + 1]}})
    assert describe_claim_of_paper(results) == sentence


def test_a_comparison_reads_from_either_side():
    results = make_invented(shifted(200, 100))
    assert describe_against(results, "ga", "ccga") == (
        "GA beats CCGA on both data sets, by 100 to 200 nats."
    )
    assert describe_against(results, "ccga", "ga") == (
        "CCGA loses to GA on both data sets, by 100 to 200 nats."
    )


# -- CCMA


def with_champion(*scores, others=None):
    """Return results where CCMA has these scores, and the others are below -1000."""
    chosen = {"ccga": spread(-1100), "k2ga": spread(-1010, 6), "hill_climb": [-1020.0]}
    return make_invented({60: {**chosen, **(others or {}), "ccma": list(scores)}})


def test_ccma_is_best():
    assert describe_winner(with_champion(-900, -900, -900)) == (
        "CCMA has the highest mean score of all systems on the data set. In 3 comparisons with "
        "other systems it is significantly better in 3 and significantly worse in 0. 3 of its 3 "
        "runs end at the best score that any run found, and none of all runs of the other systems."
    )


def test_ccma_is_not_best():
    found = describe_winner(with_champion(-1015, -1015, -1015))
    assert found == (
        "CCMA has the highest mean score of all systems on no data set. In 3 comparisons with "
        "other systems it is significantly better in 2 and significantly worse in 0. 0 of its 3 "
        "runs end at the best score that any run found, and 1 of all runs of the other systems.\n"
        "\n"
        "- On Asia 60, K2GA is 5.0 nats above CCMA, which is not significant."
    )
    found = describe_winner(with_champion(-1050, -1050, -1050))
    assert found.splitlines()[2:] == [
        "- On Asia 60, K2GA is 40.0 nats above CCMA.",
        "- On Asia 60, hill climbing is 30.0 nats above CCMA.",
    ]


def test_a_tie_is_no_loss():
    found = describe_winner(with_champion(*[-900] * 3, others={"ges": [-900.0]}))
    assert found.startswith("CCMA has the highest mean score of all systems on the data set. In 4 ")
    assert "significantly better in 3 and significantly worse in 0." in found
    assert found.endswith(" found, and 1 of all runs of the other systems.")


def test_the_reasons_give_the_signs_that_were_measured():
    above = describe_reasons(with_champion(-900, -900, -900))
    assert above.startswith("## Why CCMA is better\n")
    assert " it is 90 nats above CCGA." in above
    assert " CCMA is 110 nats above K2GA." in above
    assert " CCMA is 120 nats above hill climbing alone." in above
    below = describe_reasons(with_champion(-1200, -1200, -1200))
    assert below.startswith("## What CCMA does differently\n")
    assert " CCMA is 190 nats below K2GA." in below
    assert " CCMA is 180 nats below hill climbing alone." in below
    assert below.endswith(" Half of its runs never pass the final mean of CCGA.\n")


def test_when_ccma_passes_ccga():
    steps = {"ccma": ((20, -1150.0), (40, -1099.0), (300, -900.0))}
    scores = {60: {"ccga": spread(-1100), "ccma": [-900.0] * 3}}
    assert describe_reasons(make_invented(scores, improvements=steps)).endswith(
        " CCMA uses 50 % of the evaluations that it may use. It passes the final mean of CCGA "
        "after 40 evaluations (median over its runs), which is 4.0 % of those of CCGA.\n"
    )


def test_sentences_about_systems_that_were_left_out():
    """None of the sentences may be about them."""
    results = make_invented({60: {"ga": spread(-1100), "pc": [-1000.0]}})
    for describe in (
        describe_claim_of_paper,
        describe_older_systems,
        describe_winner,
        describe_reasons,
    ):
        assert describe(results) == ""


@pytest.mark.parametrize(
    ("shd", "sentence"),
    [
        (
            {"ccma": 3},
            "The system with the highest mean score also has the smallest distance.",
        ),
        (
            {"ccma": 12},
            "On 1 of 1 data sets, the system with the highest mean score is not the one with the "
            "smallest distance: the K2 score and the distance are two aims.",
        ),
    ],
)
def test_the_distances(shd, sentence):
    results = make_invented({60: {"ccga": spread(-1100), "ccma": [-900.0] * 3}}, shd=shd)
    tables = dict.fromkeys(("scores", "shd", "evaluations", "tests-ccga", "tests-ccma"))

    class NoTable:
        def to_markdown(self):
            return ""

    page = format_readme(FEW, results, {name: NoTable() for name in tables}, [])
    assert f"\n{sentence}\n" in page
    smallest = "CCMA (3.0)" if shd["ccma"] < 9 else "CCGA (9.0)"
    assert f"\n- Asia 60: {smallest}\n" in page
