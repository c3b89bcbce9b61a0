"""What each node's clocks read, worked out once more from the plan and from what the time daemons did.

Each clock is a line of whole nanoseconds, rounded down, that is cut where something changes. A pause, a step, a slew, a
drift, a strobe, a zone error, a leap second, a daemon's correction or a way back to a snapshot does what
`docs/clock-model.md` says. An event reads what its node's clocks read after all that happened before it; whoever strikes
or heals may read what is so before that or behind it.
"""

BILLION = 1_000_000_000
LIMIT = 100_000_000
SMEAR = -11_574
WALL, MONO, RAW, BOOT = range(4)
STRENGTH = {"running": 0, "suspended": 1, "frozen": 2}


class Clocks:
    """The four clocks of one node."""

    def __init__(self, first):
        self.since = first["from"]
        self.base = [first["wall"], first["mono"], first["raw"], first["boot"]]
        self.drifts = {"oscillator": first["drift"]}
        self.slews = {"start": first["slew"]}
        self.stops = {}

    def motion(self):
        """The strongest of what stops the clocks."""
        return max(self.stops.values(), default=0)

    def readings(self, at):
        """What all of the clocks read."""
        return [self.read(clock, at) for clock in range(4)]

    def slope(self, clock):
        """What a clock advances in a second."""
        motion = self.motion()
        if motion == 2 or (motion == 1 and clock in (MONO, RAW)):
            return 0
        if motion == 1:
            return BILLION
        slope = BILLION + max(-LIMIT, min(LIMIT, sum(self.drifts.values())))
        return slope if clock == RAW else slope + max(-LIMIT, min(LIMIT, sum(self.slews.values())))

    def read(self, clock, at):
        """What a clock reads."""
        return self.base[clock] + (at - self.since) * self.slope(clock) // BILLION

    def set(self, at, sums, key, value):
        """From here on one of the `sums` has another part. A line is cut by that even where the sum is as far off as a clock can
        be bent, and stays so; but not by what stops no clock."""
        before, now = self.motion() if sums is self.stops else sums.get(key, 0), self.readings(at)
        if value is None:
            sums.pop(key, None)
        else:
            sums[key] = value
        after = self.motion() if sums is self.stops else sums.get(key, 0)
        if before != after:
            self.base, self.since = now, at

    def put(self, at, readings):
        """From here on the clocks read this."""
        self.base, self.since = readings, at


class Replay:
    """The clocks of a run's nodes, followed event by event."""

    def __init__(self, run):
        self.run = run
        self.clocks = [Clocks(node["clocks"][0]) for node in run.nodes]
        self.snapshots = {}
        self.newest = {}
        # What clocks read at the instant of the newest event before what comes due there without one.
        self.instant, self.readings = None, {}
        # What the clocks of a machine read that is put back without a process, once its present one has died.
        self.put_back = {}
        # By how much the slews of a kernel may be another than it seems, of which nothing is to be seen.
        self.unseen = {}
        # What comes due without an event: (when, number, what to do).
        self.due = []
        for fault in run.faults:
            if fault.began:
                self.plan(fault)
        for number, node in enumerate(run.nodes):
            if (node["discipline"] or {}).get("daemon") == "timesyncd":
                self.due += self.taken_off(number, node)
        self.due.sort(key=lambda one: one[:2])

    def plan(self, fault):
        """Notes what a fault does between its beginning and its end."""
        began, f = fault.began.at, fault.f
        ended = fault.ended.at if fault.ended else self.run.ended_at
        if fault.kind == "clock-strobe":
            for turn in range(1, (ended - began - 1) // f["every"] + 1):
                by = -f["by"] if turn % 2 else f["by"]
                self.due.append((began + turn * f["every"], fault.number, self.stepping(f["node"], by)))
        if fault.kind == "pause" and isinstance(f["clocks"], dict) and "migrated" in f["clocks"]:
            # A pause that the run's end cuts short loses what there was of its last stretch.
            lost = f["clocks"]["migrated"]["lost"]
            stops = began + max(0, f["lasting"] - lost)
            if lost and fault.ended and stops < ended:
                self.due.append((stops, fault.number, self.stopping(fault)))

    def taken_off(self, number, node):
        """The slews of a kernel that takes off a part of the rest of an offset in each second, as timesyncd has it do."""
        part = 1 << (2 + max(0, (node["discipline"]["poll"] // BILLION).bit_length() - 1 - 4))
        told = {event.at for event in self.run.of("clock-slewed") if event.node == number}
        told |= {event.at for event in self.run.of("fault-began", "fault-ended")}
        for stretch in node["clocks"][1:]:
            if stretch["from"] not in told:
                yield stretch["from"], -1, self.less(number, stretch, part)

    def less(self, number, stretch, part):
        """One of these: the rate is less by a part of it, as exactly as is known of what is left."""
        def take(at):
            clocks, rate = self.clocks[number], self.rate_of_daemon(number, stretch)
            was = clocks.slews.get("daemon", 0)
            if abs(stretch["slew"]) == LIMIT:
                # Beside other slews a clock is bent as far as it can be, and no more is to be seen of this one.
                rate = was - was // part
                self.unseen[number] = self.unseen.get(number, 0) + 2 * part
            if abs(rate * part - was * (part - 1)) <= 2 * part + self.unseen.get(number, 0) or rate == 0:
                clocks.set(at, clocks.slews, "daemon", rate)
        return take

    def rate_of_daemon(self, number, stretch):
        """What of the slew of a stretch is neither a fault's nor there from the start."""
        slews = self.clocks[number].slews
        return stretch["slew"] - sum(rate for key, rate in slews.items() if key != "daemon")

    def show_daemon(self, number, at):
        """What a kernel takes off is to be seen again behind a slew beside which it wasn't."""
        unseen = self.unseen.get(number, 0)
        [stretch] = [one for one in self.run.nodes[number]["clocks"] if one["from"] == at][-1:] or [None]
        if not unseen or not stretch or abs(stretch["slew"]) == LIMIT:
            return
        slews, rate = self.clocks[number].slews, self.rate_of_daemon(number, stretch)
        if abs(rate - slews.get("daemon", 0)) <= unseen:
            slews["daemon"] = rate
            self.unseen[number] = 0

    def stepping(self, node, by):
        """A step of a wall clock."""
        def step(at):
            clocks = self.clocks[node]
            readings = clocks.readings(at)
            readings[WALL] += by
            clocks.put(at, readings)
        return step

    def stopping(self, fault):
        """A migration's loss: the clocks stand still at the end of the pause."""
        def stop(at):
            for node in [fault.f["node"], *fault.f.get("beside", [])]:
                self.clocks[node].set(at, self.clocks[node].stops, fault.number, 2)
        return stop

    def follow(self):
        """What of the events' readings isn't so."""
        for event in self.run.events:
            told = (event.wall, event.mono)
            if self.instant != event.at:
                self.instant, self.readings = event.at, {}
            while self.due and self.due[0][0] <= event.at:
                at, _, change = self.due.pop(0)
                if at == event.at:
                    # No event says what comes first, of all that happens then.
                    for node, clocks in enumerate(self.clocks):
                        self.readings.setdefault(node, set()).add((clocks.read(WALL, at), clocks.read(MONO, at)))
                change(at)
            may = set(self.readings.get(event.node, ()))
            before = self.reads(event)
            self.apply(event)
            if self.changes(event) or event.id == 0:
                may.add(self.reads(event))
                may.update(self.at_once(event))
            if told != before and told not in may:
                yield f"{event}: its clocks read {told}, the oracle's {before} (behind it {self.reads(event)})"
                # What follows from it need not be told as well.
                return

    def reads(self, event):
        """Wall and monotonic clock of an event's node."""
        clocks = self.clocks[event.node]
        return clocks.read(WALL, event.at), clocks.read(MONO, event.at)

    def at_the_instant(self, event, node):
        """What comes later at the same instant on a node."""
        for later in self.run.events[event.id + 1:]:
            if later.at != event.at:
                return
            if later.node == node:
                yield later

    def copy_of(self, node):
        """The node of a machine's copy."""
        return next(number for number, one in enumerate(self.run.nodes) if one["copy_of"] == node)

    def at_once(self, event):
        """What they read when all has been done that is done at once: a machine is put back, and its host's agent sets the
        wall clock, there and at a resume."""
        wall, mono = self.reads(event)
        for later in self.at_the_instant(event, event.node):
            if later.kind == "worker-restored":
                wall, mono = self.snapshots[later.f["snapshot"]][:2]
                yield wall, mono
            elif later.kind == "clock-corrected":
                wall += later.f["by"]
                yield wall, mono

    def changes(self, event):
        """Whether an event is the change of a clock itself."""
        return event.kind in ("fault-began", "fault-ended", "clock-corrected", "clock-slewed", "worker-restored")

    def apply(self, event):
        """Does to clocks what an event does."""
        clocks, at, f = self.clocks[event.node], event.at, event.f
        if event.id == at == 0 and event.kind == "fault-began":
            self.from_the_start(event)
        elif event.kind == "clock-corrected":
            self.stepping(event.node, f["by"])(at)
        elif event.kind == "clock-slewed":
            clocks.set(at, clocks.slews, "daemon", f["ppb"])
        elif event.kind == "fault-began":
            self.strike(self.run.faults[f["fault"]], event)
        elif event.kind == "fault-ended":
            self.heal(self.run.faults[f["fault"]], at)
        elif event.kind == "worker-restored":
            self.restore(event)
        elif event.kind == "worker-died" and event.node in self.put_back:
            clocks.put(at, self.put_back.pop(event.node))

    def from_the_start(self, event):
        """A fault that is the very first event: the first stretch of clocks has what it does."""
        fault = self.run.faults[event.f["fault"]]
        if fault.kind == "clock-slew":
            self.clocks[event.node].slews["start"] -= fault.f["rate"]
        if fault.kind == "clock-drift":
            self.clocks[event.node].drifts["oscillator"] -= fault.f["rate"]
        self.strike(fault, event)
        for clocks, node in zip(self.clocks, self.run.nodes):
            first = node["clocks"][0]
            clocks.put(0, [first["wall"], first["mono"], first["raw"], first["boot"]])

    def strike(self, fault, event):
        """A fault begins."""
        at, f = event.at, fault.f
        if fault.kind == "snapshot":
            self.newest[f["node"]] = self.clocks[f["node"]].readings(at)
            self.snapshots[event.id] = self.newest[f["node"]]
        elif fault.kind == "pause" and not f.get("task"):
            motion = f["clocks"] if isinstance(f["clocks"], str) else next(iter(f["clocks"]))
            strength = STRENGTH.get("frozen" if motion == "corrected" else motion, 0)
            for node in [f["node"], *f.get("beside", [])]:
                clocks = self.clocks[node]
                # A migration that loses all of its pause stands still from the beginning.
                if fault.number not in clocks.stops:
                    clocks.set(at, clocks.stops, fault.number, strength)
        elif fault.kind in ("clock-step", "zone-error", "clock-strobe"):
            self.stepping(f["node"], f["by"])(at)
        elif fault.kind in ("clock-slew", "clock-drift"):
            clocks = self.clocks[f["node"]]
            clocks.set(at, clocks.slews if fault.kind == "clock-slew" else clocks.drifts, fault.number, f["rate"])
            self.show_daemon(f["node"], at)
        elif fault.kind == "restore" and f["node"] in self.newest:
            # Of a machine on which no process ran only the clocks go on from there.
            node = f["node"] if f["original"] == "gone" else self.copy_of(f["node"])
            kinds = {later.kind for later in self.at_the_instant(event, node)}
            readings = list(self.newest[f["node"]])
            if "worker-died" in kinds and "worker-restored" not in kinds:
                self.put_back[node] = readings
            elif "worker-restored" not in kinds:
                self.clocks[node].put(at, readings)
        elif fault.kind == "leap-second":
            for node in f["stepped"]:
                self.stepping(node, -BILLION)(at)

    def heal(self, fault, at):
        """A fault ends."""
        f = fault.f
        if fault.kind == "pause" and not f.get("task"):
            for node in [f["node"], *f.get("beside", [])]:
                clocks = self.clocks[node]
                clocks.set(at, clocks.stops, fault.number, None)
                if isinstance(f["clocks"], dict) and "migrated" in f["clocks"]:
                    clocks.set(at, clocks.drifts, fault.number, f["clocks"]["migrated"]["drift_change"])
        elif fault.kind == "zone-error":
            self.stepping(f["node"], -f["by"])(at)
        elif fault.kind == "clock-strobe":
            turns = (at - fault.began.at - 1) // f["every"]
            if turns % 2 == 0:
                self.stepping(f["node"], -f["by"])(at)
        elif fault.kind == "clock-slew":
            clocks = self.clocks[f["node"]]
            clocks.set(at, clocks.slews, fault.number, None)
            self.show_daemon(f["node"], at)
        elif fault.kind == "clock-drift" and f.get("lasting") is not None:
            clocks = self.clocks[f["node"]]
            clocks.set(at, clocks.drifts, fault.number, None)

    def restore(self, event):
        """A machine, or a copy of it, goes on by the clocks of a snapshot, at its own rates of now."""
        self.clocks[event.node].put(event.at, list(self.snapshots[event.f["snapshot"]]))


def unlike(run):
    """What of the events' readings isn't so, as sentences."""
    yield from Replay(run).follow()
