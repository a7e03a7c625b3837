"""Events: each tab receives every one, in order, once, whenever it connects."""

import asyncio
import errno
import json
import os
import random

import pytest

from coevo.studio.events import EVENTS, EventLog, Feed, format_event, parse_event, read_events

N_CLIENTS, N_EVENTS = 200, 120


def parse(stream):
    """Return the (number, event) pairs of a stream of Server-Sent Events."""
    found = []
    for block in stream.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line[1:])
        if "data" in fields:
            found.append(
                (int(fields["id"]) if "id" in fields else None, json.loads(fields["data"]))
            )
    return found


async def read_until_done(feed, folder, rng, n_events):
    """Follow a run; lose the connection at random moments, and continue after the last event."""
    seen = []
    while len(seen) < n_events:
        after = seen[-1][0] if seen else 0
        patience = rng.randint(1, 40)
        stream = feed.follow([("r", folder, after)])
        async for part in stream:
            seen += [pair for pair in parse(part) if pair[0] is not None]
            patience -= 1
            if not patience or len(seen) >= n_events:
                break
        await stream.aclose()
    return seen


def test_many_clients_lose_no_event(tmp_path, seed):
    async def follow_all():
        feed, log = Feed(), EventLog(tmp_path)
        clients = [
            asyncio.create_task(read_until_done(feed, tmp_path, random.Random(seed + i), N_EVENTS))
            for i in range(N_CLIENTS)
        ]
        for number in range(N_EVENTS):
            log.append("step", {"number": number})
            feed.wake(tmp_path)
            if number % 3 == 0:
                await asyncio.sleep(0)
        found = await asyncio.gather(*clients)
        log.close()
        return found

    expected = [(i + 1, {"kind": "step", "number": i}) for i in range(N_EVENTS)]
    for seen in asyncio.run(follow_all()):
        assert seen == expected


async def read_notices(feed, stamp):
    """Return the notices that a stream after a stamp begins with; there is at least one."""
    stream = feed.follow(stamp=stamp)
    await anext(stream)
    found = [content for _, content in parse(await anext(stream))]
    await stream.aclose()
    return found


def test_notices_reach_those_who_listen(tmp_path):
    async def follow():
        feed = Feed()
        stream = feed.follow()
        assert await anext(stream) == b": connected\n\n"
        feed.notify("runs")
        content = json.dumps({"kind": "runs", "stamp": feed.stamp}).encode()
        assert await anext(stream) == format_event(content)
        feed.close()
        with pytest.raises(StopAsyncIteration):
            await anext(stream)

    asyncio.run(follow())


def test_notices_reach_those_who_come_back():
    """After a stamp comes the last notice about each list that changed since, in order, once."""

    async def follow():
        feed = Feed()
        begin = feed.stamp
        for kind in ("runs", "tables", "runs"):
            feed.notify(kind)
        found = await read_notices(feed, begin)
        assert [content["kind"] for content in found] == ["tables", "runs"]
        assert found[-1]["stamp"] == feed.stamp
        (last,) = await read_notices(feed, found[0]["stamp"])
        assert last == found[1]
        stream = feed.follow(stamp=feed.stamp)  # who has seen all waits for the next one
        await anext(stream)
        feed.notify("networks")
        assert [content["kind"] for _, content in parse(await anext(stream))] == ["networks"]

    asyncio.run(follow())


@pytest.mark.parametrize("stamp", ["", "x", "x.1", "{}.-1", "{}.x", "{}.²", "{}." + "9" * 16])
def test_a_stamp_of_another_server_stands_before_all_notices(stamp):
    feed = Feed()
    feed.notify("tables")
    found = asyncio.run(read_notices(feed, stamp.format(feed.stamp.partition(".")[0])))
    assert [content["kind"] for content in found] == ["networks", "runs", "tables"]
    assert found[-1]["stamp"] == feed.stamp


def test_no_notice_is_lost_however_often_a_tab_connects(seed):
    """Whenever a tab has heard all notices, it has heard of every change before."""

    async def follow():
        feed, rng = Feed(), random.Random(seed)
        stamp, seen, n_changes = feed.stamp, {}, {"runs": 0, "tables": 0}
        for _ in range(300):
            for _ in range(rng.randint(0, 3)):
                kind = rng.choice(list(n_changes))
                n_changes[kind] += 1
                feed.notify(kind)
            if stamp == feed.stamp:
                continue
            found = await read_notices(feed, stamp)
            for content in found[: rng.randint(1, len(found))]:  # the connection may end early
                stamp, seen[content["kind"]] = content["stamp"], n_changes[content["kind"]]
            if stamp == feed.stamp:
                assert seen == {kind: n for kind, n in n_changes.items() if n}

    asyncio.run(follow())


def test_a_file_that_was_made_anew_starts_again(tmp_path):
    async def follow():
        feed, log = Feed(), EventLog(tmp_path)
        log.append("begin", {})
        stream = feed.follow([("r", tmp_path, 7)])
        await anext(stream)
        return parse(await anext(stream))

    assert asyncio.run(follow()) == [(None, {"kind": "restart"}), (1, {"kind": "begin"})]


def test_an_incomplete_line_is_removed(tmp_path):
    (tmp_path / EVENTS).write_bytes(b'{"kind": "begin"}\n{"kind": "ro')
    assert read_events(tmp_path) == [{"kind": "begin"}]
    log = EventLog(tmp_path)
    log.append("done", {})
    log.close()
    assert read_events(tmp_path) == [{"kind": "begin"}, {"kind": "done"}]


ORDERS = {"n": 2, "agreement": 1.0, "best": [0], "low": [0], "high": [0], "mean": [0.0]}
OLD = {"kind": "species", "generation": 3, "orders": ORDERS}
ROWS = {"kind": "rows", "rows": [[0, 1, 0.1, 0, -5.0, 0]], "left": None, "fraction": None}


@pytest.mark.parametrize(
    ("event", "is_event"),
    [
        (OLD, True),  # of 0.2.0: no work, no row
        ({**OLD, "row": {"mask": "m", "child": 0, "candidates": [], "values": None}}, True),
        ({**OLD, "row": {"mask": "m", "child": 0, "candidates": [1], "values": []}}, False),
        ({**OLD, "work": {"families": 1}}, False),
        (ROWS, True),
        ({**ROWS, "credit": [[0, 0.5, 0.0]]}, True),
        ({**ROWS, "credit": [["0"]]}, False),
        ({**ROWS, "credit": [[]]}, False),
    ],
)
def test_events_of_older_versions_are_events(event, is_event):
    assert (parse_event(json.dumps(event).encode()) == event) is is_event


def test_damaged_lines_are_passed_over_and_counted(tmp_path):
    (tmp_path / EVENTS).write_bytes(b'{"kind": "begin"}\n[1]\n{"kind": "ro\n{"kind": "done"}\n')

    async def follow():
        stream = Feed().follow([("r", tmp_path, 0)])
        await anext(stream)
        return parse(await anext(stream))

    assert asyncio.run(follow()) == [
        (1, {"kind": "begin"}),
        (2, {"kind": "done"}),
        (None, {"kind": "damaged", "n_lines": 2}),
    ]


@pytest.mark.parametrize("n_written", [0, 7])
def test_events_wait_while_the_disk_is_full(tmp_path, monkeypatch, n_written):
    """A part of a line may be written before the disk is full: the file has none of it."""
    log, write = EventLog(tmp_path), os.write
    assert log.append("begin", {}) == b""

    def fail(file, content):
        if n_written:
            monkeypatch.setattr("os.write", refuse)
            return write(file, content[:n_written])
        raise OSError(errno.ENOSPC, "No space left on device")

    def refuse(file, content):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.write", fail)
    unsaved = [log.append("step", {"number": i}) for i in range(3)]
    assert [json.loads(line)["number"] for line in unsaved] == [0, 1, 2]
    assert read_events(tmp_path) == [{"kind": "begin"}]
    monkeypatch.undo()
    assert log.append("done", {}) == b""  # there is space again
    kinds = [event["kind"] for event in read_events(tmp_path)]
    assert kinds == ["begin", "step", "step", "step", "done"]


def test_short_writes_are_completed(tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr("os.write", lambda file, content: write(file, content[:3]))
    EventLog(tmp_path).append("step", {"text": "abcdefghij"})
    assert read_events(tmp_path) == [{"kind": "step", "text": "abcdefghij"}]


def test_events_without_space_reach_all_tabs_once(tmp_path):
    async def follow():
        feed, log = Feed(), EventLog(tmp_path)
        log.append("begin", {})
        stream = feed.follow([("r", tmp_path, 0)])
        await anext(stream)
        found = [*parse(await anext(stream))]
        feed.wake(tmp_path, [b'{"kind": "step"}'])
        found += parse(await anext(stream))
        late = feed.follow([("r", tmp_path, 0)])
        await anext(late)
        assert len(parse(await anext(late))) == 2
        log.append("step", {})
        log.append("done", {})
        feed.wake(tmp_path)
        return found + parse(await anext(stream))

    kinds = [(number, event["kind"]) for number, event in asyncio.run(follow())]
    assert kinds == [(1, "begin"), (2, "step"), (3, "done")]


@pytest.mark.parametrize("value", ["-1", "x", "9" * 40, "1e9", ""])
def test_any_last_event_id_is_answered(client, studio, value):
    (studio.workspace.root / "runs" / "r").mkdir()
    studio.close()  # so that the stream ends
    answer = client.get("/api/events?run=r", headers={"last-event-id": value})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")


def test_a_run_with_the_name_of_a_removed_one_has_its_own_events(tmp_path):
    """A tab follows a run; the run is removed, and another one gets its name."""

    async def follow():
        feed, first, second, found = Feed(), tmp_path / "one", tmp_path / "trash", []
        first.mkdir()
        write_events(first, ["old", "older"])
        stream = feed.follow([("one", first, 0)])
        found.append(await read_part(stream))
        first.rename(second)
        first.mkdir()
        write_events(first, ["new", "newer", "newest"])
        late = feed.follow([("one", first, 0)])
        assert [event["kind"] for event in await read_part(late)] == ["new", "newer", "newest"]
        feed.wake(first)
        found.append(await read_part(stream))
        await stream.aclose()
        await late.aclose()
        return [[event["kind"] for event in part] for part in found]

    assert asyncio.run(follow()) == [["old", "older"], ["restart", "new", "newer", "newest"]]


def write_events(folder, kinds):
    log = EventLog(folder)
    for kind in kinds:
        log.append(kind, {})
    log.close()


async def read_part(stream):
    """Return the next events of a stream."""
    async for part in stream:
        if found := parse(part):
            return [event for _, event in found]
    return []
