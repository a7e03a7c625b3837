"""A word for the gain of an arc: decisive, strong, weak or against.

The gain is the loss of score if the arc is removed. For a Bayesian score (``'bdeu'``, ``'bds'``,
``'k2'``) it is the logarithm of a Bayes factor: of the network with the arc against the network
without it. Kass and Raftery [1]_ put Bayes factors into words. Their limits are Bayes factors of
20 and 150, which are 3 and 5 nats:

    decisive   above 5 nats; "very strong" in their table
    strong     from 3 to 5 nats
    weak       below 3 nats; "positive" or "not worth more than a bare mention" in their table
    against    below 0: the score is higher without the arc (a required arc, or an early stop)

For ``'bic'`` the gain approximates that logarithm. ``'aic'`` and ``'loglik'`` have no such
meaning; the words are then only a way to read the number. Arc weights and a parent penalty are
part of the gain.

.. [1] R. E. Kass and A. E. Raftery, Bayes factors, Journal of the American Statistical
   Association 90, 1995.
"""

from __future__ import annotations

from typing import Literal

__all__ = ["GAIN_WORDS", "STRONG", "GainWord", "name_gain"]

GainWord = Literal["decisive", "strong", "weak", "against"]
GAIN_WORDS: tuple[GainWord, ...] = ("decisive", "strong", "weak", "against")
STRONG, DECISIVE = 3.0, 5.0  # nats: Bayes factors of 20 and 150


def name_gain(gain: float) -> GainWord:
    """Return the word for a gain in nats.

    >>> [name_gain(gain) for gain in (5.01, 5, 3, 2.99, 0, -0.01)]
    ['decisive', 'strong', 'strong', 'weak', 'weak', 'against']
    """
    if gain > DECISIVE:
        return "decisive"
    if gain >= STRONG:
        return "strong"
    return "weak" if gain >= 0 else "against"
