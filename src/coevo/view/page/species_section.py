"""The section "Both species at work": what orders and masks are, and what each did for the other.

The sentences and the tables are part of the document. The script of the page draws the pictures
into the empty figures (``species_charts.js``), as the studio does while a search runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from coevo.errors import format_count
from coevo.view.page.model import Page
from coevo.view.picture.markup import escape, make_element, make_scroll_area, make_table

__all__ = ["name_species", "render_species"]

# What an individual is, and what scores it: with credit (CCMA), without it (CCGA), orders alone.
ORDER = (
    "An order is a sequence of all variables. A parent must come before its child, so no order "
    "allows a cycle."
)
WITH_CREDIT = (
    "A mask lists candidate parents for each child; it decides which families are scored. An order "
    "is scored by the best families that the masks have found for it. A mask is scored by its "
    "credit: what the orders gain by its families, for each family that it scores. The higher the "
    "credit of a mask, the more families it may score."
)
WITHOUT_CREDIT = (
    "A mask says for each two positions whether an arc joins them. An order with a mask is a "
    "network. The score of an order is that of its network with the best mask, or with a random "
    "one if that is higher. A mask is scored by the orders in the same way."
)
ORDERS_ALONE = (
    "This method has one species. The score of an order is that of the network which K2 finds "
    "along it."
)
MAX_POSITIONS = 100  # in the table of orders
USES = {1: "yes", -1: "as its reverse", 0: "no"}


def name_species(page: Page) -> str:
    """Return the title of the section."""
    has_masks = page.species is not None and page.species.get("masks")
    return "Both species at work" if has_masks else "The orders at work"


def render_species(page: Page) -> str:
    """Return the section; empty for a run without species."""
    species = page.species
    if species is None:
        return ""
    orders = species["orders"]
    masks, work, row = (species.get(key) for key in ("masks", "work", "row"))
    about = WITH_CREDIT if work else WITHOUT_CREDIT if masks else ORDERS_ALONE
    figures, tables = "", ""
    if row:
        figures += _render_figure("individuals", "What an individual is", _describe_row(species))
    if work:
        figures += _render_figure("work", "Masks: budget and credit", _describe_work(species))
        figures += _render_figure("children", "Children: budget", _describe_children(species))
        figures += _render_figure("paid", "Candidates that paid", _describe_paid(work))
        tables = _render_work_tables(species)
    figures += _render_figure("orders", "Orders", _describe_orders(orders))
    if masks and not work:
        figures += _render_figure("masks", "Masks: pairs", _describe_masks(masks))
        tables = _render_pair_table(species, masks)
    tables += _render_order_table(species)
    box = make_element("div", figures, class_="pictures", id="species")
    return f"<p class='about'>{escape(f'{ORDER} {about}')}</p>{box}{tables}"


def _render_figure(name: str, title: str, text: str) -> str:
    """Return an empty figure; the script of the page draws into its box."""
    caption = make_element("figcaption", f"<strong>{escape(title)}.</strong> {escape(text)}")
    return make_element("figure", f"{caption}<div class='picture'></div>", id=f"species-{name}")


def _describe_row(species: Mapping[str, Any]) -> str:
    row, place = species["row"], species["orders"]["best"]
    name = species["variables"][row["child"]]
    before = sum(place[other] < place[row["child"]] for other in row["candidates"])
    n_before = f", of which {before:,} come before it" if before < len(row["candidates"]) else ""
    stems = "" if row.get("values") is None else "A stem is as high as the value. "
    return (
        f"Above, the best order. Below, one row of {row['mask']}: its "
        f"{format_count(len(row['candidates']), 'candidate')} for the child {name}{n_before}. "
        f"{stems}Arrows are arcs of the best network."
    )


def _describe_work(species: Mapping[str, Any]) -> str:
    work, row = species["work"], species.get("row")
    families = format_count(work["families"], "family", "families")
    text = (
        f"The masks scored {families}, and the orders gained {work['nats']:,.1f} nats by them on "
        "average. The darker a square, the higher the credit at that time: the nats for each "
        "family. A mask without a turn keeps its credit."
    )
    if row and len(row["candidates"]) >= len(species["variables"]) - 1:
        text += (
            " With so few variables each mask holds all pairs; masks differ in what they extend."
        )
    return text


def _describe_children(species: Mapping[str, Any]) -> str:
    work, names = species["work"], species["variables"]
    if not work["families"]:
        return "No family was scored for a mask."
    share = work["families_of_earning"] / work["families"]
    named = ", ".join(f"{names[child]} ({families:,})" for child, families, _ in work["busiest"])
    return (
        f"{work['n_earning']:,} of {format_count(work['n_children'], 'child', 'children')} brought "
        f"nats; {share:.0%} of the families were spent on them. Most families: {named}."
    )


def _describe_paid(work: Mapping[str, Any]) -> str:
    n_used = sum(use != 0 for *_, use in work["paid"])
    return (
        f"The {format_count(len(work['paid']), 'pair')} of the highest value: the nats that the "
        f"parent last added to a parent set of the child. The best network joins {n_used:,} of "
        "them. Filled: it has this arc; pale: it has the reverse; empty: it has neither."
    )


def _describe_orders(orders: Mapping[str, Any]) -> str:
    return (
        f"The agreement of {format_count(orders['n'], 'order')} is {orders['agreement']:.2f}: 1 if "
        "all are the same, about 0 if they are random. Dot: position in the best order; bar: "
        "positions in all orders."
    )


def _describe_masks(masks: Mapping[str, Any]) -> str:
    return (
        f"The agreement of {format_count(masks['n'], 'mask')} is {masks['agreement']:.2f}. "
        f"{masks['n_common']:,} of {format_count(masks['n_pairs'], 'pair')} are in all of them. "
        "Rows are parents and columns children, in the best order. The darker, the more masks "
        "have the pair; a frame is an arc of the best network."
    )


def _render_work_tables(species: Mapping[str, Any]) -> str:
    work, names = species["work"], species["variables"]
    masks = [
        (
            escape(mask["name"]),
            escape(mask["meaning"]),
            f"{mask['families']:,}",
            f"{mask['nats']:,.2f}",
            f"{mask['credit']:.3g}",
        )
        for mask in work["masks"]
    ]
    children = [
        (escape(names[child]), f"{families:,}", f"{nats:,.2f}")
        for child, families, nats in work["children"]
    ]
    paid = [
        (escape(names[parent]), escape(names[child]), f"{value:,.2f}", USES[use])
        for parent, child, value, use in work["paid"]
    ]
    headers = ("mask", "what a turn of it does", "families", "nats", "credit at the end")
    return (
        _render_table("The masks as a table", headers, masks, range(2, 5))
        + _render_table("The children as a table", ("child", "families", "nats"), children, (1, 2))
        + _render_table(
            "The pairs as a table", ("parent", "child", "nats", "in the network"), paid, (2,)
        )
    )


def _render_pair_table(species: Mapping[str, Any], masks: Mapping[str, Any]) -> str:
    names = species["variables"]
    rows = [
        (escape(names[parent]), escape(names[child]), f"{share:.2f}")
        for parent, child, share in masks["pairs"]
    ]
    return _render_table("The pairs as a table", ("parent", "child", "share of masks"), rows, (2,))


def _render_order_table(species: Mapping[str, Any]) -> str:
    """Return the positions of the first variables of the best order."""
    orders, names = species["orders"], species["variables"]
    ranked = sorted(range(len(names)), key=orders["best"].__getitem__)[:MAX_POSITIONS]
    rows = [
        (
            escape(names[i]),
            f"{orders['best'][i] + 1:,}",
            f"{orders['low'][i] + 1:,}",
            f"{orders['high'][i] + 1:,}",
            f"{orders['mean'][i] + 1:,.1f}",
        )
        for i in ranked
    ]
    title = "The positions in the orders as a table"
    title += f" (the first {len(rows):,} of {len(names):,})" if len(rows) < len(names) else ""
    headers = ("variable", "in the best order", "lowest", "highest", "mean")
    return _render_table(title, headers, rows, range(1, 5))


def _render_table(
    title: str, headers: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int]
) -> str:
    table = make_scroll_area(make_table(headers, rows, numbers=numbers), title)
    return make_element("details", f"<summary>{title}</summary>{table}")
