"""``coevo explain`` prints the explanation of the library, as text and as JSON."""

from __future__ import annotations

from coevo.bundled import load_network


def test_the_burglar_alarm(run):
    """Mr. Holmes hears of an earthquake: it explains the calls away."""
    arguments = ["earthquake", "Burglary", "--given", "JohnCalls=True,Earthquake=True", "--top", 1]
    assert run("explain", *arguments) == (
        0,
        "Burglary\n"
        "     prior  posterior\n"
        "  0.010000   0.028384  True\n"
        "  0.990000   0.971616  False\n"
        "\n"
        "The 2 findings raise P(Burglary=True) from 0.010 to 0.028 (+1.06 nats).\n"
        "\n"
        "Earthquake=True lowers P(Burglary=True) from 0.133 to 0.028 (-1.66 nats), given the other "
        "finding.\n"
        "  Alone it leaves P(Burglary=True) at 0.010.\n"
        "  It reaches Burglary along Earthquake -> Alarm <- Burglary (open because JohnCalls is "
        "known).\n"
        "  It points the other way than all findings together.\n"
        "\n"
        "JohnCalls=True raises P(Burglary=True) from 0.010 to 0.028 (+1.06 nats), given the other "
        "finding.\n"
        "  Alone it raises P(Burglary=True) from 0.010 to 0.133 (+2.72 nats).\n"
        "  It reaches Burglary along JohnCalls <- Alarm <- Burglary.\n"
        "\n"
        "what to observe next\n"
        "  Observing Alarm would remove 2% of the uncertainty on average (0.00317 nats): "
        "P(Burglary=True) would be 0.001 if Alarm=False (probability 0.116), and 0.032 if "
        "Alarm=True (probability 0.884).\n",
        "",
    )


def test_without_evidence_and_without_a_next_observation(run):
    assert run("explain", "earthquake", "Burglary", "--top", 0).out == (
        "Burglary\n"
        "     prior\n"
        "  0.010000  True\n"
        "  0.990000  False\n"
        "\n"
        "P(Burglary=True) is 0.010 without evidence.\n"
    )
    given = ("--given", "either=no,smoke=yes")
    assert run("explain", "asia", "lung", *given).out.endswith(
        "\n\nNothing is unknown about lung.\n"
    )
    given = ("--given", "tub=yes,smoke=yes,bronc=yes,dysp=no,asia=no,either=yes,lung=no")
    assert run("explain", "asia", "xray", *given).out.endswith(
        "\n\nNo unobserved variable tells more about xray.\n"
    )


def test_json_is_the_record_of_the_library(as_json):
    options = ("--given", "dysp=yes,xray=no", "--state", "no", "--top", 2)
    found = load_network("asia").explain("lung", {"dysp": "yes", "xray": "no"}, state="no", top=2)
    assert as_json("explain", "asia", "lung", *options) == found.as_dict()
    impossible = as_json("explain", "asia", "lung", "--given", "either=no")
    assert impossible["weight"] is None


def test_errors(refused):
    assert refused("explain", "asia", "lung,tub") == (
        "'explain' is about one variable; got 2. Name one."
    )
    assert refused("explain", "asia", "lungs") == (
        "There is no variable 'lungs' in the network. Did you mean 'lung'?"
    )
    assert refused("explain", "asia", "lung", "--given", "lung=yes") == (
        "'lung' is both a target and evidence. Remove it from one of them."
    )
    assert refused("explain", "asia", "lung", "--state", "maybe") == (
        "'lung' has no state 'maybe'; its states are 'yes', 'no'."
    )
    assert refused("explain", "asia", "lung", "--given", "either=no,tub=yes") == (
        "The evidence has probability 0 under the network: 'either' = 'no', 'tub' = 'yes'."
    )
