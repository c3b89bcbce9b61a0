"""What holdover measures in a run and judges nothing by: sightings, and for how long two workers both thought that they
held the lease."""

from rules import ACCEPTED, MUTATIONS

CLOCKS = {"wall": "wall", "monotonic": "mono", "raw": "raw", "boottime": "boot"}
BILLION = 1_000_000_000
LIMIT = 100_000_000


def slope(stretch, clock):
    """What a clock advances in a second of a stretch."""
    if stretch["motion"] == "frozen" or (stretch["motion"] == "suspended" and clock in ("mono", "raw")):
        return 0
    if stretch["motion"] == "suspended":
        return BILLION
    return BILLION + stretch["drift"] + (0 if clock == "raw" else stretch["slew"])


def not_reached(node, clock, reading, begin, end):
    """The times from `begin` to `end` in which a node's clock hasn't reached `reading`."""
    stretches = node["clocks"]
    for index, stretch in enumerate(stretches):
        until = stretches[index + 1]["from"] if index + 1 < len(stretches) else end
        first, last = max(begin, stretch["from"]), min(end, until)
        if first >= last:
            continue
        missing, rate = reading - stretch[clock], slope(stretch, clock)
        if missing <= 0:
            reached = stretch["from"]
        elif rate == 0:
            reached = last
        else:
            reached = stretch["from"] - (-missing * BILLION // rate)
        if reached > first:
            yield first, min(reached, last)


def beliefs(run):
    """For each worker, the times in which it thinks that it holds the lease."""
    found = {}
    for node, record in enumerate(run.nodes):
        if record["role"] == "worker":
            held = list(spans(run, node))
            found[node] = without(held, stopped(run, node))
    return found


def holdings(run, node, end=None):
    """The events of a worker up to one, each with the lease that it knew of before it and the one that it knows of after."""
    holding, at_snapshot = None, {}
    for event in run.events[:end]:
        if event.kind == "fault-began" and run.faults[event.f["fault"]].kind == "snapshot":
            if run.faults[event.f["fault"]].f["node"] in (node, original(run, node)):
                at_snapshot[event.id] = held_by(run, run.faults[event.f["fault"]].f["node"], event)
        if event.node != node:
            continue
        before = holding
        if event.kind == "lease-held":
            holding = event.f
        elif event.kind in ("worker-died", "worker-finished"):
            holding = None
        elif event.kind == "lease-dropped" or (event.kind == "lease-checked" and not event.f["valid"]):
            if holding and holding["epoch"] == event.f["epoch"]:
                holding = None
        elif event.kind == "worker-restored":
            holding = at_snapshot.get(event.f["snapshot"])
        yield event, before, holding


def held_by(run, node, at):
    """The lease that a worker knows of at an event."""
    last = None
    for *_, holding in holdings(run, node, at.id):
        last = holding
    return last


def reading(run, node, event, clock):
    """What a clock of the event's own node read at it."""
    if clock in ("wall", "monotonic"):
        return event.wall if clock == "wall" else event.mono
    [*_, stretch] = [stretch for stretch in run.nodes[node]["clocks"] if stretch["from"] <= event.at]
    clock = CLOCKS[clock]
    return stretch[clock] + (event.at - stretch["from"]) * slope(stretch, clock) // BILLION


def goes_by_no_end(run, node):
    """The grants that a worker found to hold past the end that it knew for them: it has them until it is without them."""
    endless = set()
    for event, holding, _ in holdings(run, node):
        if event.kind == "lease-checked" and event.f["valid"] and holding and holding["epoch"] == event.f["epoch"]:
            until = holding["until"]
            if reading(run, node, event, until["clock"]) >= until["reading"]:
                endless.add(event.f["epoch"])
    return endless


def spans(run, node):
    """The times in which a worker has a lease that hasn't run out by its clock, or whose end it doesn't go by."""
    holding, since = None, 0
    endless = goes_by_no_end(run, node) | goes_by_no_end(run, original(run, node))

    def held_until(at):
        if holding["epoch"] in endless:
            yield since, at
        else:
            until = holding["until"]
            yield from not_reached(run.nodes[node], CLOCKS[until["clock"]], until["reading"], since, at)

    for event, before, after in holdings(run, node):
        if after is not before:
            if holding:
                yield from held_until(event.at)
            holding, since = after, event.at
    if holding:
        yield from held_until(run.ended_at)


def original(run, node):
    """The node itself, or of whom it is a copy."""
    copied = run.nodes[node]["copy_of"]
    return node if copied is None else copied


def stopped(run, node):
    """The times in which a node's process stands still."""
    found, throttled = [], {}
    for fault in run.faults:
        if fault.began and fault.kind == "pause" and not fault.f.get("task"):
            if node in (fault.f["node"], *fault.f.get("beside", [])):
                found.append((fault.began.at, fault.ended.at if fault.ended else run.ended_at))
    for event in run.of("throttled", "unthrottled"):
        if event.node == node:
            # Two throttles of one node stall it each in periods of its own.
            if event.kind == "throttled":
                throttled[event.f["fault"]] = event.at
            elif event.f["fault"] in throttled:
                found.append((throttled.pop(event.f["fault"]), event.at))
    return found + [(since, run.ended_at) for since in throttled.values()]


def without(spans, holes):
    """The times of `spans` that are in none of `holes`."""
    for begin, end in holes:
        spans = [
            part for first, last in spans
            for part in ((first, min(last, begin)), (max(first, end), last)) if part[0] < part[1]
        ]
    return spans


def overlap(run):
    """For how long two workers both thought that they held the lease."""
    turns = []
    for spans_of in beliefs(run).values():
        for begin, end in spans_of:
            turns += [(begin, 1), (end, -1)]
    turns.sort()
    total, count, last = 0, 0, 0
    for at, by in turns:
        if count > 1:
            total += at - last
        count, last = count + by, at
    return total


def again(asked, made):
    """How often something was asked for that had been made before."""
    known, times = set(), 0
    for event in asked:
        times += event.f["op"] in known
        if event.kind == made:
            known.add(event.f["op"])
    return times


def sightings(run):
    """How often each sighting was seen, of those that are plain."""
    last = None
    takeovers = 0
    for event in run.of("lease-granted"):
        takeovers += last is not None and event.f["worker"] != last
        last = event.f["worker"]
    highest = tried = rejected = 0
    for event in run.of(*ACCEPTED, "fence-rejected", "write-rejected", "checkpoint-rejected", "export-rejected"):
        epoch = event.f["claim"]["epoch"]
        is_stale = epoch < highest
        tried += is_stale
        if event.kind in ACCEPTED:
            highest = max(highest, epoch)
        else:
            rejected += is_stale
    yield "takeover", takeovers
    yield "duplicate-entry-tried", again(run.of("write-accepted", "write-repeated", "write-rejected"), "write-accepted")
    yield "duplicate-payout-tried", again(run.of("payout-made", "payout-repeated", "payout-rejected"), "payout-made")
    yield "stale-write-tried", tried
    yield "stale-write-rejected", rejected
    yield "leader-change", len(run.of("leader-elected"))
    yield "call-timed-out", len(run.of("call-timed-out"))


def unlike(run):
    """What holdover measured otherwise, as sentences."""
    for name, count in sightings(run):
        if run.end["seen"][name] != count:
            yield f"{name}: holdover saw {run.end['seen'][name]}, the oracle {count}"
    total = overlap(run)
    if run.end["belief_overlap"] != total:
        yield f"belief overlap: holdover says {run.end['belief_overlap']}, the oracle {total}"
