"""A run as its lines tell it: the world, the plan, the events and what holdover says of them."""

import json


class Event:
    """Something that happened: who, when in true time, what its own clocks read, why, and what."""

    __slots__ = ("id", "at", "node", "wall", "mono", "cause", "kind", "f", "rows")

    def __init__(self, line):
        self.id = line["id"]
        self.at = line["at"]
        self.node = line["node"]
        self.wall = line["wall"]
        self.mono = line["mono"]
        self.cause = line["cause"]
        what = line["what"]
        if isinstance(what, str):
            self.kind, self.f = what, {}
        else:
            [(self.kind, self.f)] = what.items()
        self.rows = line.get("rows")

    def __repr__(self):
        return f"#{self.id} {self.kind} of node {self.node} at {self.at}: {self.f}"


class Fault:
    """A fault of the plan, and when it struck and healed."""

    def __init__(self, number, planned):
        self.number = number
        self.when = planned["when"]
        [(self.kind, self.f)] = planned["inject"].items()
        self.name = planned.get("name")
        self.began = self.ended = None


class Run:
    """All that is told of one run."""

    def __init__(self, head):
        self.number = None
        self.protocol = head["run"]
        self.seed = head["seed"]
        self.start = head["start"]
        self.world = head["world"]
        self.nodes = head["nodes"]
        self.batch = head["batch"]
        self.faults = [Fault(number, planned) for number, planned in enumerate(head["plan"])]
        self.events = []
        self.end = None

    def close(self, end):
        """Takes in how the run ended, and finds what is looked for again and again."""
        self.end = end
        self.ending = end["ending"] if isinstance(end["ending"], str) else next(iter(end["ending"]))
        self.ended_at = end["ended_at"]
        self.by_kind = {}
        for event in self.events:
            self.by_kind.setdefault(event.kind, []).append(event)
        for event in self.of("fault-began"):
            self.faults[event.f["fault"]].began = event
        for event in self.of("fault-ended"):
            self.faults[event.f["fault"]].ended = event
        # What the deposed half of a service did follows from a `deposed-served`.
        self.deposed = {}
        for event in self.events:
            if event.kind == "deposed-served":
                self.deposed[event.id] = event.f["fault"]
            elif event.cause in self.deposed and event.at == self.events[event.cause].at:
                if event.node == self.events[event.cause].node:
                    self.deposed[event.id] = self.deposed[event.cause]
        self.table = self.world["lease"]["service"] == "table"

    def of(self, *kinds):
        """The events of these kinds, in order."""
        if len(kinds) == 1:
            return self.by_kind.get(kinds[0], [])
        found = [event for kind in kinds for event in self.by_kind.get(kind, [])]
        found.sort(key=lambda event: event.id)
        return found

    def role(self, node):
        return self.nodes[node]["role"]

    def node_of(self, role):
        """The one node with a role that only one has."""
        return next(number for number, node in enumerate(self.nodes) if node["role"] == role)

    @property
    def is_whole(self):
        """Whether it wasn't cut short by a bound or a panic."""
        return self.ending in ("finished", "time-up", "stuck")


def runs(lines):
    """The runs of the lines, one after the other."""
    number, told = None, []
    for text in lines:
        line = json.loads(text)
        if line["line"] == "drawn":
            number = line["number"]
            continue
        told.append(line)
        if line["line"] == "end":
            yield number, told
            told = []
    if told:
        raise ValueError("the last run has no end")


def read(told, number=None):
    """The run that lines tell of."""
    run = Run(told[0])
    run.number = number
    run.events = [Event(line) for line in told[1:-1]]
    run.close(told[-1])
    return run
