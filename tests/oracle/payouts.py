"""What became of each payout, and the rules on that: `effect-once` and `repair-idempotent`.

A provider that lost what it wrote has forgotten payouts, which takes none back; and one that it still knows, and of which
it has forgotten that somebody took it back, goes on as if nobody had. Of the two halves of a split provider each has a book
of its own. When the deposed one is gone, what it alone knew stays as it left it, and the rest is as the other half has it.
"""

from typing import NamedTuple

from rules import Ledger, said


class Payout:
    """A payout, and what took it back."""

    def __init__(self, event):
        self.made = event
        self.op = event.f["op"]
        self.fails = False
        # The events that agreed to take it back, and didn't fail; the halves that did.
        self.backs = []

    @property
    def counts(self):
        """Whether it counts in the end."""
        return not self.fails and not self.backs


class Books:
    """What the provider has, followed event by event; and what was taken back a second time."""

    def __init__(self, run):
        self.run = run
        self.all = []
        self.book = {}
        self.old, self.old_by = {}, None
        self.taken_back_twice = []
        provider = run.node_of("provider")
        for event in run.events:
            if event.kind == "fault-began" and splits(run, event, "provider"):
                # A second split leaves the newest old primary alone.
                self.forget_old()
                self.old, self.old_by = dict(self.book), event.f["fault"]
            elif event.kind == "fault-ended" and splits(run, event, "provider"):
                if event.f["fault"] == self.old_by:
                    self.forget_old()
            elif event.node == provider:
                self.take(event)
        self.forget_old()

    def forget_old(self):
        """The deposed half is gone: what it did to payouts that the other half knows never was."""
        for payout in self.book.values():
            payout.backs = [back for back in payout.backs if back.id not in self.run.deposed]
        self.old, self.old_by = {}, None

    def take(self, event):
        """Follows one event at the provider."""
        deposed = event.id in self.run.deposed
        book = self.old if deposed else self.book
        if event.kind == "payout-made":
            self.made(event, book)
        elif event.kind == "payout-taken-in":
            book[event.f["payout"]].fails = event.f["fails"]
        elif event.kind in ("payout-voided", "refund-begun"):
            payout = book[event.f["payout"]]
            if any((back.id in self.run.deposed) == deposed for back in payout.backs):
                self.taken_back_twice.append(event)
            if not event.f.get("fails"):
                payout.backs.append(event)
        elif event.kind == "writes-lost":
            since = event.f["since"]
            self.book = {number: one for number, one in self.book.items() if one.made.at <= since}
            for payout in self.book.values():
                payout.backs = [b for b in payout.backs if b.at <= since or b.id in self.run.deposed]

    def made(self, event, book):
        """A payout is made."""
        payout = Payout(event)
        self.all.append(payout)
        book[event.f["payout"]] = payout

    def by_operator(self, payout):
        """Whether an operator asked for it."""
        return self.run.role(payout.made.f["claim"]["worker"]) == "operator"


def effect_once(run, books):
    """At the end each operation's net effect at the provider is exactly one; one that has none can't be told before an
    export is published that stands."""
    published = Ledger(run).is_published()
    effects = [0] * len(run.batch)
    for payout in books.all:
        effects[payout.op - 1] += payout.counts
    times = sum(count > 1 or (count == 0 and published) for count in effects)
    return said(times, missing=sum(count == 0 for count in effects)), times


def repair_idempotent(run, books):
    """A repair that is run again decides the same for what was closed, and takes nothing back and pays nothing twice."""
    paid = [payout.op for payout in books.all if payout.counts and books.by_operator(payout)]
    times = len(books.taken_back_twice) + len(paid) - len(set(paid)) + Closed(run).times
    return said(times), times


class Split(NamedTuple):
    """A service of which there are two halves: by which fault, since which event, and whom the old one answers."""

    fault: int
    since: int
    old: tuple

    def half(self, node):
        """The half that answers a node: 0 is the one that goes by the service's name."""
        return self.since if node in self.old else 0


NO_SPLIT = Split(None, 0, ())


class Close(NamedTuple):
    """How an operation was closed: with which payout, which half of the provider answered, and by which event."""

    payout: int
    half: int
    by: int

    def answers(self, half):
        """Whether a half is that one, or began with what that one had."""
        return self.half == half or (self.half == 0 and half > self.by)


class Closed:
    """What was closed, and how often something else was decided of it with nothing new since: no entry, no payout, and
    nothing of it that ledger or provider lost. Another half of a split provider counts as another provider."""

    def __init__(self, run):
        self.run, self.times = run, 0
        self.closed, self.deposed = {}, {}
        # What ledger and provider have of which operation, and since when.
        self.had = {"ledger": [], "provider": []}
        # Of which service there are two halves.
        self.old = {}
        for event in run.events:
            if event.kind == "operation-decided":
                self.decide(event)
            elif event.kind in ("fault-began", "fault-ended"):
                self.split(event)
            elif event.kind == "writes-lost" and run.role(event.node) in self.had:
                self.lose(event.f["since"], run.role(event.node))
            if event.kind in ("write-accepted", "payout-made"):
                self.closed.pop(event.f["op"], None)
                self.deposed.pop(event.f["op"], None)
            if run.role(event.node) in self.had and isinstance(event.f, dict) and "op" in event.f:
                self.had[run.role(event.node)].append((event.at, event.f["op"], event.id in run.deposed))

    def decide(self, event):
        """Holds a decision against how its operation was closed."""
        closed = self.deposed if event.id in self.run.deposed else self.closed
        op, decision = event.f["op"], event.f["decision"]
        close = decision.get("close") if isinstance(decision, dict) else None
        half = self.old.get("provider", NO_SPLIT).half(event.f["claim"]["worker"])
        known = closed.get(op)
        if known and known.answers(half) and decides(decision) and takes(decision) != known.payout:
            self.times += 1
        if close is not None:
            closed[op] = Close(close, half, event.id)

    def split(self, event):
        """Ledger or provider have two halves from now on, or one again."""
        for role in ("ledger", "provider"):
            if not splits(self.run, event, role):
                continue
            if event.kind == "fault-began":
                fault = self.run.faults[event.f["fault"]]
                self.old[role] = Split(fault.number, event.id, fault.f["old"])
            elif self.old.get(role, NO_SPLIT).fault == event.f["fault"]:
                del self.old[role]
            else:
                continue
            if role == "ledger":
                self.deposed = dict(self.closed) if role in self.old else {}

    def lose(self, since, role):
        """Ledger or provider lose what they had since then."""
        lost = {op for at, op, deposed in self.had[role] if at > since and not deposed}
        self.had[role] = [one for one in self.had[role] if one[0] <= since or one[2]]
        for op in lost:
            self.closed.pop(op, None)


def splits(run, event, role):
    """Whether the fault that begins or ends with `event` makes two halves of the service with that role."""
    fault = run.faults[event.f["fault"]]
    return fault.kind == "split-brain" and run.role(fault.f["node"]) == role


def decides(decision):
    """Whether a decision says what becomes of an operation: to ask again or to give up leaves that as it is."""
    return decision not in ("ask-again", "give-up")


def takes(decision):
    """The payout that stays by a decision: what it keeps, or what it closes the operation with."""
    return decision.get("keep", decision.get("close")) if isinstance(decision, dict) else None
