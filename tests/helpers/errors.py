"""Check the error of a refused call: one exception with one complete message."""

import pytest


def refusal(kind, call, *arguments, **options):
    """Return the sentence with which a call is refused."""
    with pytest.raises(kind) as raised:
        call(*arguments, **options)
    assert raised.value.args == (str(raised.value),)
    return str(raised.value)
