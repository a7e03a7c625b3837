"""Draw the shortest tour of kroA100, as ``coevo solve tsp kroA100 --figure`` draws it."""

from __future__ import annotations

from figure_style import HERE

from coevo.problems import solve_tour


def main() -> None:
    """Write the picture. It needs no matplotlib."""
    solve_tour("kroA100", random_state=0).plot().save(HERE / "solve-tour.svg")


if __name__ == "__main__":
    main()
