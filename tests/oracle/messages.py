"""Events and messages: what comes before what, how long the network takes, and whom an answer answers.

A message takes what its link drew, and what faults add to that. It comes then, unless its reader or its sender's network
stands still, or its reader is a replica: no letter between two of these overtakes another.
"""

from standstill import Standstill

# What may stop nodes, or have them go on.
STOPS = ("fault-began", "fault-ended", "throttled", "unthrottled", "write-hung", "write-returned")


def order(run):
    """Events are numbered through, time never goes back, and what led to an event came before it."""
    last = 0
    for number, event in enumerate(run.events):
        if event.id != number:
            yield f"{event}: its number isn't {number}"
        if event.at < last:
            yield f"{event}: true time goes back from {last}"
        last = event.at
        cause = event.cause
        if cause is not None and not (0 <= cause < number):
            yield f"{event}: its cause #{cause} doesn't come before it"
    if run.ended_at < last:
        yield f"the run ended at {run.ended_at}, before its last event at {last}"
    if run.ended_at > run.world["end"]:
        yield f"the run ended at {run.ended_at}, after its end at {run.world['end']}"


def monotonic(run):
    """No monotonic clock goes back, but for a machine that is put back to a snapshot."""
    newest, restored = {}, {}
    for event in run.events:
        if event.kind == "fault-began" and run.faults[event.f["fault"]].kind == "restore":
            node = run.faults[event.f["fault"]].f["node"]
            restored.update((n, event.at) for n, one in enumerate(run.nodes) if node in (n, one["copy_of"]))
        # A machine that had no process to put back has no event that tells of it.
        if event.kind == "worker-restored" or restored.get(event.node) == event.at:
            newest.pop(event.node, None)
        if event.mono < newest.get(event.node, event.mono):
            yield f"{event}: its monotonic clock reads {event.mono} after {newest[event.node]}"
        newest[event.node] = event.mono


class Messages:
    """The messages of a run, followed event by event."""

    def __init__(self, run):
        self.run = run
        self.provider = run.node_of("provider")
        self.sent, self.due, self.fate, self.asked = {}, {}, {}, {}
        # When nodes and their networks went on or broke last, and the last letter between two replicas.
        self.went_on = [0] * len(run.nodes)
        self.letters = {}
        self.still = Standstill(run)

    def follow(self):
        """What isn't so, as sentences."""
        checks = {
            "message-sent": self.send, "message-delivered": self.deliver, "message-lost": self.lose,
            "message-dropped": self.lose, "call-timed-out": self.give_up,
        }
        for event in self.run.events:
            f = event.f
            if event.kind == "message-delayed":
                self.due[f["message"]] += f["by"]
            check = checks.get(event.kind)
            why = check(event) if check else None
            if why:
                yield f"{event}: {why}"
            if event.kind in STOPS:
                before = self.stands()
                self.still.follow(event)
                for node, (was, now) in enumerate(zip(before, self.stands())):
                    if was and not now:
                        self.went_on[node] = event.at
        yield from self.nowhere()

    def nowhere(self):
        """Messages that were due while there was time, and came to no end."""
        stands, behind, ended_at = self.stands(), {}, self.run.ended_at
        for number, due in self.due.items():
            sent = self.sent[number]
            link = (sent.node, sent.f["to"])
            if self.are_replicas(*link):
                due = behind[link] = max(due, behind.get(link, 0))
            if number in self.fate or due >= ended_at or not self.run.is_whole:
                continue
            # What hadn't left when its sender's network stood still has most of its way before it at the resume.
            left = self.went_on[sent.node]
            if sent.at <= left and ended_at < left + due - sent.at:
                continue
            # Who stood still to the end took nothing in.
            if any(stands[node] or self.went_on[node] == ended_at for node in link):
                continue
            yield f"{sent}: it was due at {due}, and nothing is told of its end"
            return

    def stands(self):
        """Which nodes don't take messages in."""
        still = self.still
        return [
            bool(still.frozen[node] or (still.stalls[node] and self.is_service(node)))
            for node in range(len(self.run.nodes))
        ]

    def is_service(self, node):
        """Whether a node has no kernel that takes messages in for a stalled process."""
        return self.run.role(node) in ("lease-store", "ledger", "provider")

    def are_replicas(self, one, other):
        """Whether what these write each other are letters, which don't overtake each other."""
        return self.run.role(one) == self.run.role(other) == "lease-store"

    def send(self, event):
        """A message leaves."""
        f = event.f
        if f["message"] in self.sent:
            return "there was a message of this number"
        self.sent[f["message"]] = event
        network = self.run.world["network"]
        link = network["provider" if self.provider in (event.node, f["to"]) else "internal"]
        if not link["min"] <= f["latency"] <= link["max"]:
            return f"its link takes {link['min']} to {link['max']}"
        self.due[f["message"]] = event.at + f["latency"]
        return self.answer(event) if f["answer"] else None

    def answer(self, event):
        """An answer goes to somebody whose request about the same has come, and wasn't answered."""
        key = (event.node, event.f["to"], event.f["about"])
        if not self.asked.get(key):
            return "nobody has asked for it"
        self.asked[key] -= 1
        cause = event.cause
        while cause is not None:
            led = self.run.events[cause]
            if led.kind == "message-delivered" and led.node == event.node:
                # A replica answers when it has heard others.
                if led.f["from"] == event.f["to"] or not self.run.table and event.node != self.provider:
                    return None
                return f"it follows from {led}"
            cause = led.cause
        return "no request led to it"

    def deliver(self, event):
        """A message comes."""
        f = event.f
        sent = self.sent.get(f["message"])
        if sent is None or sent.node != f["from"] or sent.f["to"] != event.node:
            return f"it wasn't sent so: {sent}"
        if f["message"] in self.fate:
            return f"there was an end with it: {self.fate[f['message']]}"
        self.fate[f["message"]] = event
        if not sent.f["answer"]:
            key = (event.node, sent.node, sent.f["about"])
            self.asked[key] = self.asked.get(key, 0) + 1
        due = self.due[f["message"]]
        if event.at < due:
            return f"it isn't due before {due}"
        link = (sent.node, event.node)
        letter = self.are_replicas(*link)
        before, self.letters[link] = self.letters.get(link, 0), event.at
        # What stood still before it in a network card comes a nanosecond before it.
        if event.at == due or (letter and event.at - before in (0, 1)):
            return None
        # Its reader took it in when it went on.
        if self.went_on[event.node] == event.at:
            return None
        # The rest of its way is nine tenths where its sender's network stood still as it left.
        if sent.at <= self.went_on[sent.node] and event.at <= self.went_on[sent.node] + due - sent.at:
            return None
        return f"it was due at {due}"

    def lose(self, event):
        """A message goes with its connection, or in the network."""
        message = event.f["message"]
        if message not in self.sent:
            return "it was never sent"
        if message in self.fate and self.fate[message].kind != "message-delivered":
            return f"there was an end with it: {self.fate[message]}"
        self.fate[message] = event
        if event.kind == "message-lost":
            self.letters[(event.f["from"], event.node)] = event.at
        return None

    def give_up(self, event):
        """A caller gives up when its monotonic clock says so, or when it goes on after that."""
        request = self.sent.get(event.f["message"])
        if request is None or request.node != event.node or request.f["to"] != event.f["to"]:
            return f"it wasn't sent so: {request}"
        waited = event.mono - request.mono
        timeout = self.run.world["network"]["timeout"]
        if waited < timeout:
            return f"it waited for {waited} and not for {timeout}"
        return None


def unlike(run):
    """What isn't so, as sentences."""
    yield from order(run)
    yield from monotonic(run)
    yield from Messages(run).follow()
