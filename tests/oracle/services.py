"""What lease store, ledger and provider did: who may get the lease by whose clock, who is let in, what is there already."""

from halves import Service, decided, led_to


class LeaseTable(Service):
    """One row: whose lease it is and until when, by the clock that it goes by; and the last token."""

    role = "lease-store"

    def new(self):
        return {"row": None, "token": 0, "stopped": False, "repaired": False}

    def now(self, event):
        """What the clock reads that an expiry is compared with, and the one that histories tell it by."""
        expiry = self.run.world["lease"]["expiry"]
        delivered, sent = led_to(self.run, event)
        if expiry == "asker":
            return sent.wall, sent.wall
        if expiry == "store":
            return delivered.mono, delivered.wall
        return delivered.wall, delivered.wall

    def check(self, event, state):
        kind, f, row = event.kind, event.f, state["row"]
        if kind not in TABLE:
            return None
        if kind == "dispatch-stopped":
            return None if f["claim"]["token"] > state["token"] else f"token {state['token']} was handed out"
        if kind in ("worker-elected", "dispatch-resumed"):
            return None
        ttl = self.run.world["lease"]["ttl"]
        now, told = self.now(event)
        is_free = row is None or now >= row["until"]
        if kind == "lease-granted":
            if state["stopped"]:
                return "dispatch is stopped"
            if not is_free:
                return f"the lease is taken: {row}, and the clock that counts reads {now}"
            if f["until"] != told + ttl:
                return f"it should last until {told + ttl}"
            tokens = self.run.world["lease"]["tokens"] or state["repaired"]
            if f["token"] != (state["token"] + 1 if tokens else None):
                return f"the last token was {state['token']}"
        elif kind == "lease-refused" and not state["repaired"]:
            if is_free:
                return f"the lease is free: {row}, and the clock that counts reads {now}"
            if f["holder"] != row["worker"]:
                return f"the lease is another's: {row}"
        elif kind == "lease-renewed":
            if row is None or row["epoch"] != f["epoch"]:
                return f"the row has another lease: {row}"
            if f["until"] != told + ttl:
                return f"it should last until {told + ttl}"
        elif kind == "renewal-refused" and row is not None and row["epoch"] == f["epoch"]:
            return f"the row has that lease: {row}"
        elif kind == "lease-released" and (row is None or row["epoch"] != f["epoch"]):
            return f"the row has another lease: {row}"
        return None

    def apply(self, event, state):
        f = event.f
        if event.kind == "lease-granted":
            now, _ = self.now(event)
            until = now + self.run.world["lease"]["ttl"]
            state["row"] = {"worker": f["worker"], "epoch": f["epoch"], "until": until}
            state["token"] = f["token"] if f["token"] is not None else state["token"]
        elif event.kind == "lease-renewed":
            now, _ = self.now(event)
            state["row"] = {**state["row"], "until": now + self.run.world["lease"]["ttl"]}
        elif event.kind == "lease-released":
            state["row"] = None
        elif event.kind == "dispatch-stopped":
            state.update(row=None, token=f["claim"]["token"], stopped=True, repaired=True)
        elif event.kind == "dispatch-resumed":
            state["stopped"] = False


TABLE = (
    "lease-granted", "lease-refused", "lease-renewed", "renewal-refused", "lease-released", "dispatch-stopped",
    "worker-elected", "dispatch-resumed",
)


class Guarded(Service):
    """A service with a door, which turns away whoever comes with a lower token than it has seen."""

    admitted = ()
    turned_away = ()

    def door(self, event, state):
        """Whether the door did what it should."""
        claim = event.f["claim"]
        token, highest = claim["token"], self.highest(event, state)
        is_closed = self.rules()["checks_tokens"] or state["charge"]
        if event.kind in self.turned_away:
            if not is_closed:
                return "its door is open to all"
            why = event.f["why"]
            if why == "no-token":
                return None if token is None else "there is a token"
            if why != {"token-too-low": {"highest": highest}} or token is None or token >= highest:
                return f"the highest token that it saw is {highest}"
        elif event.kind in self.admitted and is_closed:
            if token is None or (highest is not None and token < highest):
                return f"the highest token that it saw is {highest}"
        return None

    def highest(self, event, state):
        """The highest token that it saw."""
        return state["highest"]

    def see(self, event, state):
        """Remembers the token of whoever is let in."""
        token = event.f["claim"]["token"]
        if event.kind in self.admitted and token is not None and self.notes(event, state):
            highest = state["highest"]
            state["highest"] = token if highest is None else max(highest, token)

    def notes(self, event, state):
        """Whether the door looks at tokens."""
        return self.rules()["checks_tokens"] or state["charge"]


class Ledger(Guarded):
    """Entries, checkpoint and exports."""

    role = "ledger"
    admitted = (
        "generation-opened", "write-accepted", "write-repeated", "checkpoint-moved", "export-published",
        "generation-marked", "entry-superseded", "entry-deleted", "operation-decided", "checkpoint-rebuilt",
        "export-superseded", "repair-ended",
    )
    turned_away = ("fence-rejected", "write-rejected", "checkpoint-rejected", "export-rejected")

    def rules(self):
        return self.run.world["ledger"]

    def new(self):
        return {"highest": None, "charge": False, "entries": {}, "count": 0, "next": 1, "deleted": False}

    def forget(self, state):
        if self.rules()["forgets_tokens"]:
            state.update(highest=None, charge=False)

    def check(self, event, state):
        kind, f = event.kind, event.f
        if "claim" not in f:
            return None
        if self.is_operator(event) and kind == "generation-opened":
            state["charge"] = True
        why = self.door(event, state)
        if why:
            return why
        if kind in ("write-accepted", "write-repeated"):
            known = state["entries"].get(f["op"], [])
            if kind == "write-repeated":
                return None if f["entry"] in known else f"it has {known} for that"
            if f["amount"] != self.run.batch[f["op"] - 1]:
                return f"the operation pays {self.run.batch[f['op'] - 1]}"
            if self.rules()["one_entry"] and known and not state["charge"]:
                return f"it has {known} for that"
            if f["entry"] != state["count"] + 1 and not state["deleted"]:
                return f"the last entry was {state['count']}"
        if kind in ("checkpoint-read", "generation-opened") and f["next"] != state["next"]:
            return f"its checkpoint is before {state['next']}"
        return None

    def is_operator(self, event):
        """Whether it is an operator's doing."""
        return self.run.role(event.f["claim"]["worker"]) == "operator"

    def apply(self, event, state):
        kind, f = event.kind, event.f
        if "claim" not in f:
            return
        if self.is_operator(event) and kind == "generation-opened":
            state["charge"] = True
        self.see(event, state)
        if kind == "write-accepted":
            state["entries"].setdefault(f["op"], []).append(f["entry"])
            state["count"] += 1
        elif kind == "entry-deleted":
            state["deleted"] = True
        elif kind in ("checkpoint-moved", "checkpoint-rebuilt"):
            state["next"] = f["next"]


class Provider(Guarded):
    """Payouts, and the keys under which they are known."""

    role = "provider"
    admitted = (
        "payout-made", "payout-repeated", "payouts-told", "payout-voided", "refund-begun", "compensation-refused",
    )
    turned_away = ("payout-rejected", "operator-rejected")

    def highest(self, event, state):
        """The highest token that it saw. Of an operator that was given a list of payouts no event has the token."""
        tokens = {e.f["claim"]["worker"]: e.f["claim"]["token"] for e in self.run.of("dispatch-stopped")}
        seen = [state["highest"]]
        if event.kind == "operator-rejected":
            for earlier in self.run.of("message-delivered"):
                if earlier.id < event.id and earlier.node == self.node and earlier.f["from"] in tokens:
                    if self.run.events[earlier.cause].f.get("about") == "provider.list":
                        seen.append(tokens[earlier.f["from"]])
        return max((token for token in seen if token is not None), default=None)

    def rules(self):
        return self.run.world["provider"]

    def new(self):
        return {"highest": None, "charge": False, "payouts": {}, "count": 0}

    def check(self, event, state):
        kind, f = event.kind, event.f
        if kind == "gateway-fenced":
            return None
        if "claim" not in f:
            return None
        why = self.door(event, state)
        if why or kind not in ("payout-made", "payout-repeated"):
            return why
        if kind == "payout-made" and f["amount"] != self.run.batch[f["op"] - 1]:
            return f"the operation pays {self.run.batch[f['op'] - 1]}"
        if kind == "payout-made" and f["payout"] != state["count"] + 1:
            return f"the last payout was {state['count']}"
        if self.run.role(f["claim"]["worker"]) == "operator" or "repair" in self.run.world:
            # An operator's attempt has a key of its own.
            return None
        known = self.known(event, state)
        if kind == "payout-made" and known:
            return f"it knows the key, and has paid: {known}"
        if kind == "payout-repeated" and f["payout"] not in known:
            return f"it knows no such payout: {known}"
        return None

    def known(self, event, state):
        """The payouts of an operation whose key the provider remembers."""
        keys = self.rules()["keys"]
        if keys == "none":
            return []
        made = state["payouts"].get(event.f["op"], [])
        now = decided(self.run, event).mono
        return [number for number, mono in made if keys == "kept" or now - mono < keys]

    def apply(self, event, state):
        f = event.f
        if event.kind == "gateway-fenced":
            if f["fenced"]:
                state["highest"] = max(state["highest"] or 0, f["claim"]["token"])
            return
        if "claim" not in f:
            return
        self.see(event, state)
        if event.kind == "payout-made":
            state["payouts"].setdefault(f["op"], []).append((f["payout"], decided(self.run, event).mono))
            state["count"] += 1


# How long ago a replica at most proposed what is agreed on now.
PROPOSED_WITHIN = 5_000_000_000


def replicas(run):
    """What replicas told of leases: until when they last, and that whoever was told of one was granted it."""
    lease, granted = run.world["lease"], set()
    # A copy of a worker may repeat what its original asked, and is told what that was.
    copied = {event.node: event.f["of"] for event in run.of("worker-restored")}
    by_deadline = lease["expiry"] == "replicated-deadlines"
    agreed_on = lease["service"] == "consensus" and by_deadline
    promised = {}
    for event in run.of("lease-granted", "lease-renewed", "lease-told"):
        f = event.f
        if event.kind == "lease-told":
            told = f["told"]
            if isinstance(told, dict) and "granted" in told:
                whose = {event.node, copied.get(event.node)}
                if not any((node, told["granted"]["token"]) in granted for node in whose):
                    yield f"{event}: no replica granted it that"
            continue
        if event.kind == "lease-granted":
            granted.add((f["worker"], f["token"]))
            if f["lease"] != f["token"]:
                yield f"{event}: a lease is called by its token"
        # A time that is agreed on was proposed earlier, by whatever the clock of who led then read.
        near = (e for e in run.events[:event.id] if e.at >= event.at - PROPOSED_WITHIN)
        read = [e.wall for e in near if run.role(e.node) == "lease-store"]
        until = max([decided(run, event).wall, *(read if agreed_on else [])]) + lease["ttl"]
        if by_deadline and event.kind == "lease-renewed":
            # A leader whose clock is behind takes nothing of the time that was promised.
            until = max(until, promised.get(f["epoch"], until))
        promised[f["epoch"]] = f["until"]
        if f["until"] > until or (f["until"] < until and not agreed_on):
            yield f"{event}: it should last until {until}"


def unlike(run):
    """What services did otherwise than they should, as sentences."""
    if run.table:
        yield from LeaseTable(run).follow()
    else:
        yield from replicas(run)
    yield from Ledger(run).follow()
    yield from Provider(run).follow()
