"""The rules that need no search, as `holdover list checkers` and the documents have them."""

MUTATIONS = (
    "write-accepted", "checkpoint-moved", "export-published",
    "generation-marked", "entry-superseded", "entry-deleted", "operation-decided", "checkpoint-rebuilt",
    "export-superseded",
)
ACCEPTED = MUTATIONS + ("generation-opened",)


def said(times, missing=0):
    """The verdict on what was broken so many times, and couldn't be told so many."""
    return "violated" if times else "unknown" if missing else "holds"


def single_writer(run):
    """In each generation all accepted mutations come from whoever opened it, by a mutation or a fence of a higher epoch
    than any before."""
    highest, owner, times = 0, None, 0
    for event in run.of(*ACCEPTED):
        claim = event.f["claim"]
        if claim["epoch"] > highest:
            highest, owner = claim["epoch"], claim["worker"]
        elif event.kind != "generation-opened" and claim["worker"] != owner:
            times += 1
    return said(times), times


def stale_write(run):
    """After a mutation or a fence of one grant is accepted, none of an earlier grant is."""
    highest, times = 0, 0
    for event in run.of(*ACCEPTED):
        epoch = event.f["claim"]["epoch"]
        times += epoch < highest
        highest = max(highest, epoch)
    return said(times), times


def token_order(run):
    """The tokens handed out with grants, and to operators, strictly increase."""
    highest, times = None, 0
    for event in run.of("lease-granted", "dispatch-stopped"):
        token = event.f["token"] if event.kind == "lease-granted" else event.f["claim"]["token"]
        if token is None:
            continue
        if highest is not None and token <= highest:
            times += 1
        highest = token if highest is None else max(highest, token)
    return said(times), times


def audit_kept(run):
    """No accepted record is ever deleted."""
    times = len(run.of("entry-deleted"))
    return said(times), times


def progress(run):
    """The settlement is published within the stated time after it is due and the last fault has healed."""
    due = run.world["job"]["due"] - run.start
    healed = [fault.ended.at if fault.ended else fault.began.at for fault in run.faults if fault.began]
    for fault in run.faults:
        if fault.began and fault.kind in ("lose-message", "delay-message") and not met(run, fault):
            healed[[f for f in run.faults if f.began].index(fault)] = fault.began.at
    by = max([due, *healed]) + run.world["job"]["finish_within"]
    if any(event.at <= by for event in run.of("export-published")):
        return "holds", 0
    if run.ended_at < by and run.ending != "finished":
        return "unknown", 0
    return "violated", 1


def met(run, fault):
    """Whether a fault on one message met it."""
    return any(event.f["fault"] == fault.number for event in run.of("message-dropped", "message-delayed"))


class Ledger:
    """What the ledger that is left has: entries, marks and exports, with what it lost taken back."""

    def __init__(self, run):
        self.run = run
        ledger = run.node_of("ledger")
        log = []
        for event in run.events:
            if event.node != ledger:
                continue
            if event.kind == "writes-lost":
                log = [one for one in log if one.at <= event.f["since"] or one.id in run.deposed]
            elif event.kind == "fault-ended" and run.faults[event.f["fault"]].kind == "split-brain":
                log = [one for one in log if run.deposed.get(one.id) != event.f["fault"]]
            elif event.kind in KEPT:
                log.append(event)
        self.log = [one for one in log if one.id not in run.deposed]

    def marked(self):
        """The exports that are superseded in the end."""
        return {event.f["export"] for event in self.log if event.kind == "export-superseded"}

    def is_published(self):
        """Whether an export is published that stands."""
        marked = self.marked()
        return any(event.f["export"] not in marked for event in self.run.of("export-published"))

    def standing(self, op):
        """The entries of an operation that stand."""
        gone = {event.f["entry"] for event in self.log if event.kind in ("entry-superseded", "entry-deleted")}
        return [e for e in self.log if e.kind == "write-accepted" and e.f["op"] == op and e.f["entry"] not in gone]


KEPT = ("write-accepted", "entry-superseded", "entry-deleted", "export-superseded")


def nothing_lost(run):
    """The canonical ledger has each operation of the batch exactly once, with the right amount. One that is missing is
    lost once an export is published that stands, and can't be told before."""
    ledger = Ledger(run)
    published = ledger.is_published()
    times = missing = 0
    for index, amount in enumerate(run.batch):
        standing = ledger.standing(index + 1)
        times += max(len(standing) - 1, 0)
        times += sum(entry.f["amount"] != amount for entry in standing)
        if not standing:
            times += published
            missing += not published
    return said(times, missing), times


def export_agreement(run):
    """All exports published for the settlement are identical, but for those marked as superseded."""
    marked = Ledger(run).marked()
    first, times = None, 0
    for event in run.of("export-published"):
        if event.f["export"] in marked:
            continue
        rows = sorted((row["op"], row["amount"], row["entry"], row["payout"]) for row in event.rows)
        if first is None:
            first = rows
        times += rows != first
    return said(times), times


SIMPLE = {
    "single-writer": single_writer,
    "stale-write": stale_write,
    "token-order": token_order,
    "audit-kept": audit_kept,
    "progress": progress,
    "nothing-lost": nothing_lost,
    "export-agreement": export_agreement,
}
