"""A service as it follows from its own events: what it knows is what they add up to.

A service that comes back from an older copy of its disk knows what it did until then. A split brain makes two of it: its
old primary goes on with all that it knew, and is gone at the end with what it did since.
"""


class Service:
    """A service of a run. Its subclasses say what an event makes of `state`, and what of an event isn't so."""

    role = None

    def __init__(self, run):
        self.run = run
        self.node = run.node_of(self.role)
        self.log, self.state = [], self.new()
        self.old_log, self.old, self.old_by = None, None, None

    def new(self):
        """What it knows in the beginning."""
        raise NotImplementedError

    def check(self, event, state):
        """What of `event` isn't so where the service knows `state`, if anything isn't."""
        raise NotImplementedError

    def apply(self, event, state):
        """What the service knows after `event`."""
        raise NotImplementedError

    def forget(self, state):
        """Its process dies: what it keeps in memory only is gone."""

    def follow(self):
        """What isn't so, as sentences."""
        for event in self.run.events:
            if event.kind in ("fault-began", "fault-ended"):
                self.fault(event, self.run.faults[event.f["fault"]])
            elif event.node != self.node:
                continue
            elif event.kind == "writes-lost":
                self.take_back(event.f["since"])
            else:
                deposed = event.id in self.run.deposed
                state, log = (self.old, self.old_log) if deposed else (self.state, self.log)
                if state is None:
                    yield f"{event}: there is no deposed half"
                    return
                why = self.check(event, state)
                if why:
                    yield f"{event}: {why}"
                    return
                log.append(event)
                self.apply(event, state)

    def fault(self, event, fault):
        """A fault that may be about this service begins or ends."""
        if fault.f.get("node") != self.node:
            return
        begins = event.kind == "fault-began"
        if fault.kind == "split-brain" and begins:
            # A second split leaves the newest old primary alone.
            self.old_log, self.old, self.old_by = list(self.log), self.replay(self.log), fault.number
            self.forget(self.state)
            self.log.append(None)
        elif fault.kind == "split-brain" and self.old_by == fault.number:
            self.old_log, self.old, self.old_by = None, None, None
        elif fault.kind == "failover" and begins or fault.kind == "restart" and begins and fault.f["loses"] != "nothing":
            self.forget(self.state)
            self.log.append(None)

    def take_back(self, since):
        """It knows what it did until then."""
        self.log = [event for event in self.log if event is None or event.at <= since]
        self.state = self.replay(self.log)
        self.forget(self.state)

    def replay(self, log):
        """What the events of `log` add up to; `None` among them is a death."""
        state = self.new()
        for event in log:
            if event is None:
                self.forget(state)
            else:
                self.apply(event, state)
        return state


def led_to(run, event):
    """The delivery of the request that `event` follows from, and its sending."""
    cause = event.cause
    while cause is not None:
        led = run.events[cause]
        if led.kind == "message-delivered" and led.node == event.node:
            message = led.f["message"]
            sent = run.events[led.cause]
            while sent.kind != "message-sent" or sent.f["message"] != message:
                sent = run.events[sent.cause]
            return led, sent
        cause = led.cause
    return None, None


def decided(run, event):
    """The event at which a service decided what `event` tells: where it hung in a write, when it began to."""
    cause = event.cause
    while cause is not None and run.events[cause].node == event.node:
        led = run.events[cause]
        if led.kind == "write-returned":
            return run.events[led.cause]
        if led.kind == "message-delivered":
            break
        cause = led.cause
    return event
