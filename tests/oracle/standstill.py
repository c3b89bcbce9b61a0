"""When nodes stand still, are cut off from the network, or are down, as the events tell it; and that nothing happens there
which can't.

A stalled process has a kernel that lives: it takes in messages and sends what was under way. In every pause but a stall
the network stands still too. A service that is paused takes messages in when it goes on. Where a service is down nothing
happens but that messages are lost.
"""

# What isn't the doing of a node's process: faults, the network's doing, the host's agent.
OUTSIDE = (
    "fault-began", "fault-ended", "message-lost", "message-dropped", "message-delayed", "message-repeated",
    "writes-lost", "worker-died", "worker-restored", "throttled", "unthrottled", "write-returned",
)
# What a machine does whose process is stalled.
KERNEL = ("message-delivered", "clock-corrected", "clock-slewed", "time-daemon-exited")


class Standstill:
    """Of each node why it stands still, at the event that is looked at."""

    def __init__(self, run):
        self.run = run
        self.stalls = [set() for _ in run.nodes]
        self.frozen = [set() for _ in run.nodes]
        self.down = [set() for _ in run.nodes]
        self.dead = [node["starts"] is not None or node["role"] == "worker" for node in run.nodes]
        self.seen = set()

    def follow(self, event):
        """What `event` changes."""
        f = event.f
        if event.kind in ("fault-began", "fault-ended"):
            self.fault(self.run.faults[f["fault"]], event.kind == "fault-began")
        elif event.kind == "throttled":
            self.stalls[event.node].add(("throttle", f["fault"]))
        elif event.kind == "unthrottled":
            self.stalls[event.node].discard(("throttle", f["fault"]))
        elif event.kind == "write-hung":
            self.stalls[event.node].add(("hung", f["fault"]))
        elif event.kind == "write-returned":
            self.stalls[event.node].discard(("hung", f["fault"]))
        elif event.kind in ("worker-started", "worker-restored"):
            self.dead[event.node] = False
        elif event.kind in ("worker-died", "worker-finished"):
            self.dead[event.node] = True

    def fault(self, fault, begins):
        """A fault that stops nodes begins or ends."""
        if fault.kind == "pause" and not fault.f.get("task"):
            kept = fault.f["clocks"] == "running"
            sets = self.stalls if kept else self.frozen
            nodes = [fault.f["node"], *fault.f.get("beside", [])]
        elif fault.kind in ("restart", "failover"):
            sets, nodes = self.down, [fault.f["node"]]
        else:
            return
        for node in nodes:
            (set.add if begins else set.discard)(sets[node], fault.number)

    def is_of_write(self, event):
        """Whether `event` is of a write in which a service hung, and which was done as it went down without losing
        anything."""
        cause = event
        while cause.kind != "write-returned":
            if cause.cause is None or cause.at != event.at or cause.node != event.node:
                return False
            cause = self.run.events[cause.cause]
        return cause.at == event.at and cause.f["written"]

    def is_of_restoring(self, event):
        """Whether `event` says that a slew ended because the machine was put back to a snapshot without it."""
        cause = event
        while event.kind == "clock-slewed" and cause.cause is not None and cause.at == event.at:
            cause = self.run.events[cause.cause]
            if cause.kind == "fault-began":
                return self.run.faults[cause.f["fault"]].kind == "restore"
        return False

    def wrong(self, event):
        """Why `event` can't happen where it does, if it can't."""
        node, kind = event.node, event.kind
        service = self.run.role(node) in ("lease-store", "ledger", "provider")
        if kind in OUTSIDE or self.is_of_restoring(event):
            return None
        if self.down[node] and kind not in KERNEL[1:] and not self.is_of_write(event):
            return "its service is down"
        if self.frozen[node]:
            return "its machine stands still"
        if self.stalls[node] and (kind not in KERNEL or (service and kind == "message-delivered")):
            return "its process stands still"
        if not service and self.dead[node] and kind not in KERNEL and kind != "worker-started":
            return "no process of it lives"
        return None


def unlike(run):
    """What happened where it can't, as sentences."""
    still = Standstill(run)
    for event in run.events:
        # Whoever strikes and heals changes the state at its own event.
        why = still.wrong(event)
        if why:
            yield f"{event}: {why}"
            return
        still.follow(event)
