"""What an option is: its default, help, rule and flag; and how a class of options is read."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from coevo.errors import bad_choice, bad_parameter

__all__ = [
    "LARGEST_PENALTY",
    "Field",
    "Option",
    "Rule",
    "as_choice",
    "as_int",
    "as_number",
    "as_switch",
    "as_text",
    "check_options",
    "fill_defaults",
    "get_defaults",
    "get_type_text",
    "list_options",
    "select_options",
]

LARGEST_PENALTY = 1_000_000  # nats; with more, rows would not count, and sums could overflow

Group = TypeVar("Group", bound=Mapping[str, Any])


@dataclass(frozen=True, slots=True)
class Rule:
    """Which values an option takes.

    Attributes
    ----------
    expected : str
        What a value must be, as an error says it; without None.
    is_valid : function
        Whether a value that is not None follows the rule.
    kind : type
        The type of a value on the command line.
    least : float, optional
        The smallest number.
    choices : tuple of str
        The only texts that are taken.
    is_optional : bool
        Whether None is taken, even if it is not the default.
    """

    expected: str
    is_valid: Callable[[Any], bool]
    kind: type
    least: float | None = None
    choices: tuple[str, ...] = ()
    is_optional: bool = False


# The checks import NumPy, which `coevo --help` must not do.


def as_int(least: int, is_optional: bool = False) -> Rule:
    """Return the rule of an int that is at least this."""

    def is_valid(value: Any) -> bool:
        from coevo.checks import is_int

        return is_int(value, least)

    return Rule(f"an int >= {least}", is_valid, int, least, is_optional=is_optional)


def as_number(expected: str, least: float = 0, most: float = math.inf) -> Rule:
    """Return the rule of a number from `least` to `most`, in these words."""

    def is_valid(value: Any) -> bool:
        from coevo.checks import is_number

        return is_number(value) and least <= float(value) <= most

    return Rule(expected, is_valid, float, least)


def as_choice(*choices: str) -> Rule:
    """Return the rule of one of these texts."""

    def is_valid(value: Any) -> bool:
        from coevo.checks import is_choice

        return is_choice(value, choices)

    return Rule("", is_valid, str, choices=choices)


def as_switch() -> Rule:
    """Return the rule of True and False."""

    def is_valid(value: Any) -> bool:
        from coevo.checks import is_bool

        return is_bool(value)

    return Rule("a bool", is_valid, bool)


def as_text(expected: str = "a str") -> Rule:
    """Return the rule of a text, in these words."""
    return Rule(expected, lambda value: isinstance(value, str), str)


@dataclass(frozen=True, slots=True)
class Field:
    """The field of an option in the form of the studio.

    Attributes
    ----------
    title : str
        The label.
    placeholder : str
        What an empty field means.
    hint : str
        A short sentence below the field.
    least : float, optional
        The smallest number, of an option without a rule.
    is_whole : bool
        Whether the number is an int, of an option without a rule.
    """

    title: str
    placeholder: str = ""
    hint: str = ""
    least: float | None = 0
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Option:
    """The declaration of one option, beside the type of its values.

    Attributes
    ----------
    default : object
        The value of an option that is not given.
    help : str
        What the option means, for the command line.
    rule : Rule, optional
        Which values are valid. Without it, the code that uses the option validates it.
    flags : str, optional
        The flags of the command line, with blanks between them (default: the name with hyphens).
        An empty text: the option is not on the command line.
    metavar : str, optional
        The placeholder of the value on the command line.
    said : str
        The default in words, where the value does not say it.
    doc : str
        What the option means, for Python, where that differs from `help`.
    field : Field, optional
        The field in the form of the studio.
    in_studio : bool
        Whether the studio takes the option from a request. Not an option that names a file or code.
    is_repeated : bool
        Whether the flag can be given several times.
    kind : type, optional
        The type on the command line, of an option without a rule (default: text).
    recorded : {'', 'always', 'set'}
        Whether run.json has the value: never, always, or if it is not zero.
    """

    default: Any
    help: str
    rule: Rule | None = None
    flags: str | None = None
    metavar: str | None = None
    said: str = ""
    doc: str = ""
    field: Field | None = None
    in_studio: bool = False
    is_repeated: bool = False
    kind: type | None = None
    recorded: str = ""

    @property
    def is_optional(self) -> bool:
        """Whether None is a valid value."""
        return self.default is None or (self.rule is not None and self.rule.is_optional)

    def list_flags(self, name: str) -> list[str]:
        """Return the flags of the command line; `name` is the name of the option."""
        if self.flags is not None:
            return self.flags.split()
        return [f"--{name.replace('_', '-')}"]

    def check(self, name: str, owner: str, value: Any) -> None:
        """Raise `ParameterError` if a value breaks the rule; `owner` is the function."""
        if self.rule is None or (value is None and self.is_optional) or self.rule.is_valid(value):
            return
        if not self.rule.expected:
            raise bad_choice(name, owner, self.rule.choices, value)
        expected = self.rule.expected
        if self.is_optional:
            expected = "True, False or None" if self.rule.kind is bool else f"{expected} or None"
        raise bad_parameter(name, owner, expected, value)


def list_options(group: type) -> dict[str, Option]:
    """Return the options of a class of this module by name, in its order.

    >>> from coevo.options import LimitOptions
    >>> list_options(LimitOptions)["max_generations"].default is None
    True
    """
    return {name: kind.__metadata__[0] for name, kind in group.__annotations__.items()}


def get_type_text(group: type, name: str) -> str:
    """Return the type of an option as it is written here."""
    kind = group.__annotations__[name].__origin__
    return str(getattr(kind, "__forward_arg__", getattr(kind, "__name__", kind)))


def get_defaults(group: type) -> dict[str, Any]:
    """Return the defaults of the options of a class, by name.

    >>> from coevo.options import ObjectiveOptions
    >>> get_defaults(ObjectiveOptions)["max_table"]
    10000
    """
    return {name: option.default for name, option in list_options(group).items()}


def fill_defaults(group: type[Group], options: Mapping[str, Any]) -> Group:
    """Return the options of a class, with the defaults of those that are not given."""
    return cast(Group, {**get_defaults(group), **options})


def select_options(group: type[Group], options: Mapping[str, Any]) -> Group:
    """Return those of the given options that a class has."""
    return cast(Group, {name: options[name] for name in group.__annotations__ if name in options})


def check_options(group: type, owner: str, options: Mapping[str, Any]) -> None:
    """Raise `ParameterError` for the first given option that breaks its rule.

    >>> from coevo.options import LimitOptions
    >>> check_options(LimitOptions, "learn", {"patience": 0})
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'patience' of learn must be an int >= 1 or None; got 0.
    """
    for name, option in list_options(group).items():
        if name in options:
            option.check(name, owner, options[name])
