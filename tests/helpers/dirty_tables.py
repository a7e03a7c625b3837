"""Tables as strangers have them: one small survey, written in many clean and dirty ways."""

import gzip
import json
import sqlite3
import zipfile

import numpy as np

CITIES = ("Zürich", "Köln", "Århus", "Genève")


def draw_survey(n_rows=240):
    """Return the columns of a survey: dependent columns of text, numbers, dates and amounts."""
    rng = np.random.default_rng(20)
    smoker = rng.random(n_rows) < 0.4
    city = rng.integers(0, len(CITIES), n_rows)
    age = np.where(smoker, rng.normal(61, 8, n_rows), rng.normal(42, 9, n_rows)).round(1)
    cost = np.where(age > 52, rng.normal(4200, 600, n_rows), rng.normal(1500, 300, n_rows)).round(2)
    day = np.datetime64("2021-01-04") + rng.integers(0, 700, n_rows)
    return {
        "smoker": ["yes" if s else "no" for s in smoker],
        "city": [CITIES[c] for c in city],
        "age": age.tolist(),
        "cost": cost.tolist(),
        "visits": (rng.integers(0, 3, n_rows) + 2 * smoker).tolist(),
        "seen": [str(d) for d in day],
    }


def as_text(columns, delimiter=",", header=True):
    """Return columns as a text table."""
    rows = [list(columns)] if header else []
    rows += [list(row) for row in zip(*columns.values(), strict=True)]
    return "\n".join(delimiter.join(map(str, row)) for row in rows) + "\n"


def change(columns, **changes):
    """Return the columns with some of them changed cell by cell, or added."""
    n = len(columns["age"])
    changed = dict(columns)
    for name, function in changes.items():
        cells = columns.get(name, range(n))
        changed[name] = [function(cell) for cell in cells]
    return changed


def format_comma(number):
    return f"{number:.2f}".replace(".", ",")


def format_german(number):
    return f"{number:,.2f}".replace(",", "_").replace(".", ",").replace("_", ".")


def quote(text):
    return f'"{text}"'


def iter_text_tables(survey):
    """Yield the name, the bytes and the expected kinds of decisions of each text table."""
    plain = as_text(survey)
    n = len(survey["age"])
    yield "clean.csv", plain.encode(), set()
    yield "bom.csv", b"\xef\xbb\xbf" + plain.encode(), set()
    yield "windows.csv", plain.encode("cp1252"), {"encoding"}
    yield "utf16.csv", plain.encode("utf-16"), set()
    yield "tabs.tsv", as_text(survey, "\t").encode(), set()
    yield "bars.txt", as_text(survey, "|").encode(), set()
    yield "crlf.csv", plain.replace("\n", "\r\n").encode(), set()
    comma = change(survey, age=format_comma, cost=format_comma)
    yield "decimal_comma.csv", as_text(comma, ";").encode(), {"number_format"}
    german = change(survey, cost=format_german)
    yield "german.csv", as_text(german, ";").encode(), {"number_format"}
    dollars = change(survey, cost=lambda c: quote(f"${c:,.2f}"))
    yield "dollars.csv", as_text(dollars).encode(), {"number_format"}
    percent = change(survey, age=lambda a: f"{a:.1f}%")
    yield "percent.csv", as_text(percent).encode(), {"number_format"}
    yield "index.csv", as_text({"": list(range(n)), **survey}).encode(), {"index"}
    yield (
        "identifier.csv",
        as_text({"id": [f"P{i:04d}" for i in range(n)], **survey}).encode(),
        {"identifier"},
    )
    yield "constant.csv", as_text(change(survey, country=lambda _: "CH")).encode(), {"constant"}
    notes = change(survey, note=lambda i: f"patient {i} came in at noon and left at {i % 24} h")
    yield "free_text.csv", as_text(notes).encode(), {"free_text"}
    few = change(survey, rare=lambda i: "x" if i % 40 == 0 else "")
    yield "nearly_empty.csv", as_text(few).encode(), {"nearly_empty"}
    copy = {**survey, "twin": [f"{s}!" for s in survey["smoker"]]}
    yield "copy.csv", as_text(copy).encode(), {"copy"}
    two = change(survey, smoker=lambda s: s)
    two["city"] = ["NA" if i in (7, 9) else c for i, c in enumerate(survey["city"])]
    yield "two_missing.csv", as_text(two).encode(), set()
    dashes = change(survey, age=lambda a: "-" if a > 70 else a)
    yield "dashes.csv", as_text(dashes).encode(), {"missing_word"}
    dotted = change(survey, seen=lambda d: ".".join(reversed(d.split("-"))))
    yield "day_first.csv", as_text(dotted).encode(), {"date"}
    yield "comments.csv", ("# survey of 2021\n# by hand\n" + plain).encode(), {"comments"}
    yield "title.csv", ("Survey of the four cities\n\n" + plain).encode(), {"titles"}
    yield "footer.csv", (plain + f"Total: {n}\n").encode(), {"footers"}
    numbers = {name: survey[name] for name in ("age", "cost", "visits")}
    yield "no_header.csv", as_text(numbers, header=False).encode(), {"header"}
    twice = as_text(survey).replace("visits", "age", 1)
    yield "same_name.csv", twice.encode(), {"names"}
    yield "spaces.csv", as_text({f" {k} ": v for k, v in survey.items()}).encode(), {"names"}
    yield "trailing.csv", plain.replace("\n", ",\n").encode(), {"empty"}
    yield "small.csv.gz", gzip.compress(plain.encode()), set()


def write_binary_tables(survey, folder):
    """Write the survey in the formats of other programs; return the files."""
    import pandas

    frame = pandas.DataFrame(survey)
    frame["seen"] = pandas.to_datetime(frame["seen"])
    text = frame.astype({"seen": str})
    frame.to_excel(folder / "book.xlsx", index=False)
    frame.to_parquet(folder / "table.parquet")
    frame.to_feather(folder / "table.feather")
    text.to_json(folder / "lines.jsonl", orient="records", lines=True)
    (folder / "records.json").write_text(json.dumps(text.to_dict(orient="records")))
    frame.to_stata(folder / "stata.dta", write_index=False)
    with sqlite3.connect(folder / "base.sqlite") as connection:
        text.to_sql("survey", connection, index=False)
    connection.close()
    with zipfile.ZipFile(folder / "packed.zip", "w") as archive:
        archive.writestr("survey.csv", as_text(survey))
    names = "book.xlsx table.parquet table.feather lines.jsonl records.json stata.dta base.sqlite"
    return [folder / name for name in (*names.split(), "packed.zip")]
