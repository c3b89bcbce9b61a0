"""When faults strike and heal: what each one's anchor says, and how long it lasts."""

# Those that end with what they wait for, or at once.
ENDS_ITSELF = ("delay-message", "lose-message")
AT_ONCE = ("clock-step", "leap-second", "snapshot", "restore")


def about(event):
    """The nodes that an event is about: where it happens, and whose lease or request it is."""
    f = event.f if isinstance(event.f, dict) else {}
    nodes = {event.node, f.get("worker")}
    nodes.add(f.get("claim", {}).get("worker"))
    return nodes


def expected(run, fault):
    """When `fault` should strike; `None` if its anchor never comes."""
    [(kind, anchor)] = fault.when.items()
    if kind == "at":
        return anchor
    if kind == "fault":
        other = next(one for one in run.faults if one.name == anchor["name"])
        event = other.ended if anchor["end"] else other.began
        return event and event.at + anchor["delay"]
    nth = anchor["nth"]
    for event in run.of("point-passed" if kind == "point" else anchor["event"]):
        if kind == "point" and event.f != anchor["point"]:
            continue
        if event.at < anchor["after"]:
            continue
        nodes = {event.node} if kind == "point" else about(event)
        if anchor["node"] is not None and anchor["node"] not in nodes:
            continue
        nth -= 1
        if nth == 0:
            return event.at + anchor.get("delay", 0)
    return None


def struck(run, fault):
    """What of a fault's beginning isn't so."""
    at = expected(run, fault)
    if fault.began is None:
        if at is not None and at < run.ended_at:
            return f"it should have struck at {at}"
    elif at is None:
        return f"it struck at {fault.began.at}, though its anchor never came"
    elif fault.began.at != at:
        return f"it struck at {fault.began.at}, and not at {at}"
    return None


def healed(run, fault):
    """What of a fault's end isn't so."""
    if fault.began is None:
        return "it ended, and never began" if fault.ended else None
    if fault.ended is None:
        return "it never ended" if run.is_whole else None
    lasted = fault.ended.at - fault.began.at
    if fault.kind in ENDS_ITSELF:
        return None
    lasting = 0 if fault.kind in AT_ONCE else fault.f.get("lasting")
    if fault.kind == "crash" or lasting is None:
        return None
    if fault.ended.at == run.ended_at and lasted <= lasting:
        return None
    return None if lasted == lasting else f"it lasted for {lasted}, and not for {lasting}"


LINKS = ("partition", "latency", "loss", "duplicate", "reorder", "hold")


def became(run, fault, hit):
    """What should have become of a fault, as far as it is plain."""
    if fault.began is None:
        return "never-struck"
    if fault.kind in LINKS or fault.kind in ENDS_ITSELF:
        return "bit" if fault.number in hit else "missed"
    return None


def unlike(run):
    """What isn't so, as sentences."""
    seen = set()
    for event in run.of("fault-began", "fault-ended"):
        if (event.kind, event.f["fault"]) in seen:
            yield f"{event}: it did so before"
        seen.add((event.kind, event.f["fault"]))
    hit = {event.f["fault"] for event in run.of("message-dropped", "message-delayed", "message-repeated")}
    for fault, told in zip(run.faults, run.end["faults"]):
        for why in (struck(run, fault), healed(run, fault)):
            if why:
                yield f"fault {fault.number} ({fault.kind}, {fault.when}): {why}"
        should = became(run, fault, hit)
        if should and told != should:
            yield f"fault {fault.number} ({fault.kind}): holdover says {told}, the oracle {should}"
