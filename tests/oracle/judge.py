"""Judges runs once more: reads the lines of `holdover replay --format jsonl` and says what doesn't fit.

    holdover replay FILE --format jsonl | python3 tests/oracle/judge.py

It says the rules and the laws of the engine a second time, straight from the documentation, and knows nothing of the code
in Rust. Python 3.11, its standard library only. Ends with 1 if something doesn't fit, with 0 if all does, and says last how
many runs it judged.

- `rules`, `payouts` and `linear` have the rules; `measures` has sightings and belief
- `messages`, `standstill`, `clocks`, `faults` and `services` (by `halves`) have the laws of the engine
- `history` reads the lines, and `planted` shows that mistakes are found
"""

import sys

import clocks
import faults
import history
import linear
import measures
import messages
import payouts
import rules
import services
import standstill

# What *VIOLATED 9×* counts is plain for these: each accepted thing that breaks the rule.
COUNTED = ("single-writer", "stale-write", "token-order", "audit-kept")

LAWS = (messages, standstill, clocks, faults, services, measures)


def verdicts(run):
    """What each rule comes to, and how often it was broken."""
    for name, rule in rules.SIMPLE.items():
        yield name, rule(run)
    yield "linearizable", (linear.linearizable(run), 0)
    books = payouts.Books(run)
    yield "effect-once", payouts.effect_once(run, books)
    yield "repair-idempotent", payouts.repair_idempotent(run, books)


def misjudged(run):
    """The rules that holdover judges otherwise, as sentences."""
    for name, (verdict, times) in verdicts(run):
        # A run that was cut short can show that a rule was broken, but not that it holds.
        if not run.is_whole and verdict == "holds":
            verdict = "unknown"
        told = run.end["verdicts"][name]
        # Either search for an order may give up where the other one doesn't.
        if name == "linearizable" and "unknown" in (verdict, told["verdict"]):
            continue
        counted = name in COUNTED and told.get("times", times) != times
        if told["verdict"] != verdict or counted:
            yield f"{name}: holdover says {told}, the oracle {verdict} {times}×"


def unlike(run):
    """What of a run isn't as the documents say, as sentences."""
    for name, law in (("rules", misjudged), *((law.__name__, law.unlike) for law in LAWS)):
        try:
            for sentence in law(run):
                yield f"{name}: {sentence}"
        except (KeyError, IndexError, TypeError, AttributeError, ValueError, StopIteration, RuntimeError) as error:
            # What no history can be ends up here as well.
            yield f"{name}: it can't be followed: {error!r}"


def main():
    count = unfit = 0
    for number, told in history.runs(sys.stdin):
        run = history.read(told, number)
        count += 1
        found = list(unlike(run))
        unfit += bool(found)
        for sentence in found:
            drawn = "" if number is None else f" {number}"
            print(f"run{drawn}: {run.protocol}, seed {run.seed}: {sentence}", flush=True)
    print(f"judged {count} runs, of which {unfit} do not fit")
    sys.exit(unfit > 0)


if __name__ == "__main__":
    main()
