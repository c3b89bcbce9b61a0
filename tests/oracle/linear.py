"""The rule `linearizable`: whether what a lease service of several replicas answered fits one order of its requests.

Each request took effect at one instant between its `lease-asked` and its `lease-told`. One that nobody was told the outcome
of took effect at any instant after it was asked, or never. No lease ends before its time: one TTL after it was granted or
renewed last, less a thousandth, and less 200 ms where wall clocks have to agree. It may last for longer. Where leases have a
lock delay, nobody has to be given one after another ran out; after one that was given back they have.

The search goes through the orders that keep to the events' own: what was told before something else was asked comes before
it. Each request takes effect as early as its place in the order lets it, for nothing that comes later is helped by more.
"""

# How many steps a search may take before nothing can be said.
STEPS = 200_000
# There is no lease: it was given back, or none was ever granted; or the last one ran out.
FREE, RAN_OUT = None, "ran out"


def is_free(lease):
    """Whether nobody has the lease."""
    return lease in (FREE, RAN_OUT)


class Request:
    """What a client wanted, and what it was told."""

    def __init__(self, event):
        ask = event.f["ask"]
        self.client = event.node
        self.asked = event
        self.told = None
        self.kind, self.f = (ask, {}) if isinstance(ask, str) else next(iter(ask.items()))
        self.outcome = None

    def is_open(self):
        """Whether nobody was told what came of it."""
        return self.outcome is None


def requests(run):
    """What was asked, in order. A worker that was put back to a snapshot may repeat a request, which is the same then."""
    found, newest, again = [], {}, {}
    for event in run.of("lease-asked", "lease-told"):
        key = (event.node, event.f["number"])
        if event.kind == "lease-asked":
            same = again.get((*key, event.f["session"]))
            if same is None or same.asked.f["ask"] != event.f["ask"]:
                same = Request(event)
                found.append(same)
                again[(*key, event.f["session"])] = same
            newest[key] = same
        elif event.f["told"] == "unknown" or key not in newest:
            # Nothing was learned; or a copy is told of what it never asked itself, as another client.
            continue
        elif newest[key].told is None:
            told = event.f["told"]
            newest[key].told = event
            newest[key].outcome = (told, {}) if isinstance(told, str) else next(iter(told.items()))
    # Of one that was only to keep the lease or to read, nothing follows that couldn't be so without it.
    return [one for one in found if not (one.is_open() and one.kind in ("renew", "read"))]


class Search:
    """A search for an order."""

    def __init__(self, run):
        self.requests = requests(run)
        ttl = run.world["lease"]["ttl"]
        self.slack = ttl // 1000
        self.delays = run.world["lease"]["expiry"] == "lock-delay"
        if run.world["lease"]["expiry"] == "replicated-deadlines":
            self.slack += 200_000_000
        self.must = [n for n, one in enumerate(self.requests) if not one.is_open()]
        self.steps = 0

    def fits(self):
        """Whether there is an order; `None` if that can't be told."""
        seen = set()
        # (which are done, now, the lease: its holder, its token, when it may end)
        stack = [(frozenset(), 0, 0, FREE)]
        while stack:
            state = stack.pop()
            if state in seen:
                continue
            seen.add(state)
            self.steps += 1
            if self.steps > STEPS:
                return None
            done, first, now, lease = state
            while first in done:
                done, first = done - {first}, first + 1
            must = [n for n in self.must if n >= first and n not in done]
            if not must:
                return True
            # Nothing comes before what was told before it was asked.
            bound = min(self.requests[n].told.id for n in must)
            for number in range(len(self.requests) - 1, first - 1, -1):
                one = self.requests[number]
                if number in done or one.asked.id > bound:
                    continue
                at = max(now, one.asked.at)
                for at, after in self.effects(one, at, lease):
                    if one.told is None or one.is_open() or at <= one.told.at:
                        stack.append((done | {number}, first, at, after))
        return False

    def effects(self, one, at, lease):
        """What `one` may do from `at` on to `lease`: when, and what is after it. Where it ends a lease it waits for that."""
        if one.is_open():
            yield at, lease
        outcome, told = one.outcome or (None, {})
        over = [(at, lease)]
        if not is_free(lease):
            over.append((max(at, lease[2]), RAN_OUT))
        for at, lease in over:
            if one.kind == "come":
                yield at, FREE if not is_free(lease) and lease[0] == one.client else lease
            elif one.kind == "acquire":
                yield from self.acquire(one, at, lease, told)
            elif one.kind == "read":
                by = told["by"]
                holder = None if is_free(lease) else [lease[0], lease[1]]
                if by == holder or (by and holder and by[0] == holder[0] and holder[1] is None):
                    yield at, lease
            else:
                yield from self.by_token(one, at, lease, outcome)

    def acquire(self, one, at, lease, told):
        """A request for the lease."""
        outcome = one.outcome and one.outcome[0]
        end = at + one.f["ttl"] - self.slack
        if is_free(lease) and outcome is None:
            yield at, (one.client, None, end)
        if is_free(lease) and outcome == "granted":
            yield at, (one.client, told["token"], end)
        if outcome == "refused" and (not is_free(lease) or (self.delays and lease == RAN_OUT)):
            yield at, lease

    def by_token(self, one, at, lease, outcome):
        """A request to keep a lease or to give it back."""
        has = not is_free(lease) and lease[0] == one.client and lease[1] in (None, one.f["token"])
        if has and outcome in ("done", None):
            if one.kind == "renew":
                yield at, (one.client, one.f["token"], at + one.f["ttl"] - self.slack)
            else:
                yield at, FREE
        if not has and outcome == "refused":
            yield at, lease


def linearizable(run):
    """The rule's verdict."""
    if run.table:
        return "holds"
    fits = Search(run).fits()
    return {True: "holds", False: "violated", None: "unknown"}[fits]
