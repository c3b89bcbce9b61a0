"""Plants mistakes in histories, and says which of them the oracle doesn't find.

Reads the lines of many runs. Each mistake is made in the first four short runs in which it can be made, one at a time, and
must be found in three of them. Ends with 1 if one wasn't found, or could be made nowhere.
"""

import copy
import sys

import history
import judge

FIND_IN = 4
MOST_LINES = 2_000


def kind(line):
    """What kind of event a line tells of."""
    what = line.get("what")
    return what if isinstance(what, str) or what is None else next(iter(what))


def first(told, *kinds, where=lambda line: True):
    """The place of the first event of these kinds."""
    return next((n for n, line in enumerate(told) if kind(line) in kinds and where(line)), None)


def fields(line):
    """The fields of an event."""
    return line["what"][kind(line)]


def changed(name, of, change, where=lambda fields: True):
    """A mistake in one field of the first event of a kind."""
    def plant(told):
        place = first(told, of, where=lambda line: where(fields(line)))
        if place is None:
            return False
        fields(told[place])[name] = change(fields(told[place])[name])
        return True
    return plant


def in_a_table(plant):
    """A mistake of the row that keeps a lease."""
    return lambda told: told[0]["world"]["lease"]["service"] == "table" and plant(told)


def read(clock, by):
    """A clock that is read wrong at an event in the middle."""
    def plant(told):
        told[len(told) // 2][clock] += by
        return len(told) > 30
    return plant


def dropped(*kinds):
    """An event that isn't there, with all numbers as if it never was."""
    def plant(told):
        place = first(told, *kinds)
        if place is None:
            return False
        gone = told.pop(place)
        for line in told[place:-1]:
            line["id"] -= 1
        for line in told[1:-1]:
            if line["cause"] == gone["id"]:
                line["cause"] = gone["cause"]
            elif line["cause"] is not None and line["cause"] > gone["id"]:
                line["cause"] -= 1
        return True
    return plant


def misjudged(rule):
    """Another verdict."""
    def plant(told):
        verdict = told[-1]["verdicts"][rule]
        verdict["verdict"] = "violated" if verdict["verdict"] == "holds" else "holds"
        return True
    return plant


def measured(name):
    """One sighting more."""
    def plant(told):
        told[-1]["seen"][name] += 1
        return True
    return plant


def renamed(of, to, where=lambda fields: True):
    """An event that says that something else happened."""
    def plant(told):
        place = first(told, of, where=lambda line: where(fields(line)))
        if place is None:
            return False
        told[place]["what"] = {to(fields(told[place]))[0]: to(fields(told[place]))[1]}
        return True
    return plant


def accepted(f):
    """An entry that was turned away is taken in."""
    return "write-accepted", {"claim": f["claim"], "op": f["op"], "entry": 1, "amount": 100}


def granted(f):
    """The lease is granted while another has it."""
    return "lease-granted", {"worker": f["worker"], "epoch": 999, "lease": 1, "token": 999, "until": 0}


def moved(of, by):
    """A fault that strikes or heals at another instant."""
    def plant(told):
        place = first(told, of)
        if place is None or told[place + 1].get("at", 0) < told[place]["at"] + by:
            return False
        told[place]["at"] += by
        return True
    return plant


def elsewhere(told):
    """Something that a paused worker did."""
    for fault, planned in enumerate(told[0]["plan"]):
        pause = planned["inject"].get("pause")
        if not pause or pause.get("task"):
            continue
        begins = first(told, "fault-began", where=lambda line: fields(line)["fault"] == fault)
        ends = first(told, "fault-ended", where=lambda line: fields(line)["fault"] == fault)
        if begins is None or ends is None:
            continue
        for line in told[begins + 1:ends]:
            if kind(line) == "point-passed":
                line["node"] = pause["node"]
                return True
    return False


def early(told):
    """A message that comes a nanosecond before it can."""
    for place, line in enumerate(told):
        if kind(line) == "message-delivered" and told[place - 1].get("at", 0) < line["at"]:
            line["at"] -= 1
            line["wall"] -= 1
            line["mono"] -= 1
            return True
    return False


def hasty(told):
    """A caller that waits less than it should."""
    told[0]["world"]["network"]["timeout"] += 1
    return first(told, "call-timed-out") is not None


def believed(told):
    """A nanosecond more of belief."""
    told[-1]["belief_overlap"] += 1
    return True


def harmless(told):
    """A fault that touched messages is told to have touched nothing."""
    for fault, planned in enumerate(told[0]["plan"]):
        if "bit" == told[-1]["faults"][fault] and {"loss", "partition"} & set(planned["inject"]):
            told[-1]["faults"][fault] = "missed"
            return True
    return False


def higher(token):
    """The next token, if there is one."""
    return token if token is None else token + 1


def refused(told):
    """A client that is told that it has the lease, and hasn't."""
    place = first(told, "lease-told", where=lambda line: fields(line)["told"] == "refused")
    if place is None or told[-1]["verdicts"]["linearizable"]["verdict"] != "holds":
        return False
    fields(told[place])["told"] = {"granted": {"token": 1_000_000}}
    return True


def has_token(f):
    """Whether it is about a token."""
    return f["token"] is not None


MISTAKES = {
    **{f"the verdict on {rule}": misjudged(rule) for rule in (
        "single-writer", "stale-write", "token-order", "export-agreement", "effect-once", "nothing-lost", "audit-kept",
        "repair-idempotent", "progress",
    )},
    **{f"one more {name}": measured(name) for name in (
        "takeover", "stale-write-tried", "stale-write-rejected", "leader-change", "call-timed-out",
    )},
    "an event that is missing": lambda told: bool(told.pop(len(told) // 2)),
    "a delivery that never was": dropped("message-delivered"),
    "a grant that never was": dropped("lease-granted"),
    "an entry that never was": dropped("write-accepted"),
    "an end of a fault that never was": dropped("fault-ended"),
    "a beginning of a process that never was": dropped("worker-started"),
    "a wall clock read wrong": read("wall", 1),
    "a monotonic clock read wrong": read("mono", -1),
    "a step of the wrong length": changed("by", "clock-corrected", lambda by: by + 1),
    "a slew of the wrong rate": changed("ppb", "clock-slewed", lambda ppb: ppb + 1_000),
    "a fault that strikes late": moved("fault-began", 1),
    "a fault that heals late": moved("fault-ended", 1),
    "a lease that lasts longer": changed("until", "lease-granted", lambda until: until + 1),
    "a renewal that lasts shorter": changed("until", "lease-renewed", lambda until: until - 1),
    "a token that is left out": changed("token", "lease-granted", higher, has_token),
    "a lease that is granted twice": renamed("lease-refused", granted),
    "a refusal in another's name": in_a_table(changed("holder", "lease-refused", lambda holder: holder + 1)),
    "a door that lets everybody in": renamed("write-rejected", accepted),
    "a door that names another token": changed(
        "why", "write-rejected", lambda why: {"token-too-low": {"highest": 999}}, lambda f: f["why"] != "no-token"
    ),
    "an entry of the wrong amount": changed("amount", "write-accepted", lambda amount: amount + 1),
    "an entry for another operation": changed("op", "write-repeated", lambda op: op + 1000),
    "a payout of the wrong amount": changed("amount", "payout-made", lambda amount: amount + 1),
    "a payout that is another's": changed("payout", "payout-repeated", lambda payout: payout + 1000),
    "a checkpoint that is too far": changed("next", "checkpoint-read", lambda op: op + 1),
    "a fence that tells too little": changed("next", "generation-opened", lambda op: op + 1),
    "a message from nobody": changed("from", "message-delivered", lambda node: node + 1),
    "a message to another": changed("to", "message-sent", lambda node: node + 1),
    "a link that is too fast": changed("latency", "message-sent", lambda latency: -1),
    "an answer to nobody": changed("about", "message-sent", lambda about: "x", lambda f: f["answer"]),
    "a message that comes early": early,
    "a caller that is hasty": hasty,
    "a step of a paused worker": elsewhere,
    "a nanosecond of belief": believed,
    "a fault that is called harmless": harmless,
    "a lease that a client hasn't": refused,
}


def finds(told):
    """Whether the oracle finds anything."""
    try:
        run = history.read(told)
    except (KeyError, IndexError):
        # No run can be told so.
        return True
    return any(True for _ in judge.unlike(run))


def main():
    made = dict.fromkeys(MISTAKES, 0)
    missed = {}
    for number, told in history.runs(sys.stdin):
        if len(told) > MOST_LINES or finds(copy.deepcopy(told)):
            continue
        for name, plant in MISTAKES.items():
            if made[name] >= FIND_IN:
                continue
            with_it = copy.deepcopy(told)
            if not plant(with_it):
                continue
            made[name] += 1
            if not finds(with_it):
                missed.setdefault(name, []).append(number)
    # Nothing shows a mistake that nothing comes after, so once it may go unseen.
    missed = {name: numbers for name, numbers in missed.items() if len(numbers) * FIND_IN > made[name]}
    for name, numbers in missed.items():
        print(f"not found: {name}, in runs {numbers}, of {made[name]}")
    for name, count in made.items():
        if not count:
            print(f"made nowhere: {name}")
    print(f"judged {sum(made.values())} mistakes of {len(made)} kinds")
    sys.exit(bool(missed) or not all(made.values()))


if __name__ == "__main__":
    main()
