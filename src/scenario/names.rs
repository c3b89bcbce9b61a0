//! The names that a scenario may use, and a guess at what was meant by one that it may not.

use std::path::Path;

use holdover_sim::check::{CHECKERS, SIGHTINGS};

use crate::shown;

/// The checkers whose verdicts a scenario can expect.
pub(super) fn known_checkers() -> Vec<&'static str> {
    CHECKERS.iter().map(|checker| checker.name).collect()
}

/// The sightings that a scenario can ask for.
pub(super) fn known_sightings() -> Vec<&'static str> {
    SIGHTINGS.iter().map(|sighting| sighting.name).collect()
}

/// What clocks can do during a pause.
pub(super) const PAUSE_CLOCKS: &[&str] = &["running", "suspended", "frozen", "migrated", "counted"];

/// The tasks of a worker that can be paused alone.
pub(super) const TASKS: &[&str] = &["work", "renewal"];

/// What a service can lose by a restart.
pub(super) const LOSSES: &[&str] = &["nothing", "memory", "unsynced"];

/// Whose clock a lease can end by.
pub(super) const EXPIRIES: &[&str] = &["asker", "store", "transaction-start"];

/// What a lease that replicas keep can end by.
pub(super) const ENDINGS: &[&str] = &["leader-timers", "replicated-deadlines", "lock-delay"];

/// What can keep a lease.
pub(super) const LEASE_SERVICES: &[&str] = &["table", "async-replica", "consensus"];

/// Where a ledger can keep the highest token.
pub(super) const PLACES_OF_TOKENS: &[&str] = &["disk", "memory"];

/// Where it keeps it if nobody says.
pub(super) const PLACE_OF_TOKENS: &str = "disk";

/// What a provider can do with idempotency keys, besides remembering them for a time.
pub(super) const KEY_MEMORIES: &[&str] = &["none", "kept"];

/// What a gateway can be.
pub(super) const GATEWAYS: &[&str] = &["open", "checks-tokens"];

/// What a checker can conclude.
pub(super) const VERDICTS: &[&str] = &["holds", "violated", "unknown"];

/// Where each key that has only one place belongs. A key under the wrong header is a usual slip in TOML: whatever
/// follows a header is part of its table.
const PLACES: &[(&str, &[&str])] = &[
    (
        "at the top of the file, above the first table",
        &["title", "story", "start", "seed", "end", "steps", "protocols"],
    ),
    (
        "in the [lease] table",
        &[
            "ttl",
            "renew_every",
            "poll_every",
            "service",
            "replicas",
            "expiry",
            "lock_delay",
            "confirms_renewals",
            "confirms_revocations",
        ],
    ),
    ("in the [ledger] table", &["highest_token"]),
    (
        "in the [provider] table",
        &[
            "keys",
            "gateway",
            "known_in",
            "settles_in",
            "fails_percent",
            "refunds_in",
            "refunds_fail_percent",
            "answers",
            "page",
        ],
    ),
    ("in the [job] table", &["operations", "due", "pace", "finish_within"]),
    ("in the [network] table", &["internal", "timeout"]),
    ("in a [[worker]] or an [[operator]] table", &["starts"]),
    ("in a [[worker]], an [[operator]] or a [service.NAME] table", &["clock"]),
    ("in the [repair] table", &["procedure", "ask_every", "ask_for", "quiet_for"]),
    ("in a node's `clock = { … }`", &["offset", "drift_ppm", "discipline", "poll"]),
    ("in a [[fault]] table", &["when", "inject", "note"]),
    ("in a fault's `when = { … }`", &["at", "point", "event", "after", "delay"]),
    (
        "in a fault's `inject = { … }`",
        &[
            "pause",
            "clock-step",
            "clock-slew",
            "restart",
            "clock-drift",
            "clock-strobe",
            "zone-error",
            "leap-second",
            "time-source",
            "failover",
            "crash",
            "shutdown",
            "partition",
            "latency",
            "loss",
            "duplicate",
            "reorder",
            "hold",
            "delay-message",
            "lose-message",
            "snapshot",
            "restore",
            "throttle",
            "split-brain",
            "disk-stall",
        ],
    ),
    ("in an [expect.PROTOCOL] table", &["seen"]),
];

/// Where `key` belongs, as the end of a sentence.
pub(super) fn place_of_key(key: &str) -> Option<&'static str> {
    PLACES.iter().find(|(_, keys)| keys.contains(&key)).map(|(place, _)| *place)
}

/// What to add where a key that must be there isn't.
const EXAMPLES: &[(&str, &str)] = &[
    ("title", "title = \"A clock jump creates two lease holders\""),
    ("start", "start = 2026-01-15T01:59:30Z"),
    ("lease", "a [lease] table with ttl = \"40s\" and renew_every = \"10s\""),
    ("ttl", "ttl = \"40s\""),
    ("renew_every", "renew_every = \"10s\""),
    ("job", "a [job] table with operations = 14"),
    ("operations", "operations = 14"),
    ("worker", "a [[worker]] table with name = \"worker-a\""),
    ("name", "name = \"worker-a\""),
    ("when", "when = { at = \"+58s\" } or when = { point = \"write.checked\" }"),
    ("inject", "inject = { pause = { node = \"worker-a\", for = \"38s\" } }"),
    ("node", "node = \"worker-a\""),
    ("for", "for = \"38s\""),
    ("by", "by = \"-420ms\""),
    ("ppm", "ppm = -500"),
    ("every", "every = \"10ms\""),
    ("error", "error = \"1s\""),
    ("lag", "lag = \"3s\""),
    ("takes", "takes = \"2s\""),
    ("between", "between = [\"worker-a\"]"),
    ("range", "range = \"200ms..400ms\""),
    ("percent", "percent = 30"),
    ("message", "message = \"lease.renew\""),
    ("part", "part = \"request\" or part = \"answer\""),
    ("quota", "quota = \"20ms\""),
    ("old", "old = [\"worker-a\"]"),
];

/// What to add where `key` is missing, as the end of a sentence.
pub(super) fn example_of_key(key: &str) -> Option<&'static str> {
    EXAMPLES.iter().find(|(name, _)| *name == key).map(|(_, example)| *example)
}

/// A help for a name that isn't among `known`: the one that was probably meant, else all of them.
pub fn did_you_mean<'a>(name: &str, what: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match closest(name, &known) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("{what}: {}", listed(&known)),
    }
}

/// The one of `known` that `name` was probably meant to be.
pub(super) fn closest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    // Nobody mistypes a name of this length, and the distance takes the product of both lengths.
    const LONGEST: usize = 64;
    let name = plain(name);
    let length = name.chars().count();
    if length > LONGEST {
        return None;
    }
    known
        .iter()
        .map(|known| (strsim::damerau_levenshtein(&name, &plain(known)), *known))
        .filter(|(distance, _)| *distance <= (length / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// The name without what people mix up most: case, and which kind of dash.
fn plain(name: &str) -> String {
    name.to_lowercase().replace(['_', ' '], "-")
}

/// A path in a report or a message, with nothing in it that a terminal would obey or that nobody would see.
pub fn shown_path(path: &Path) -> String {
    shown::name(&path.to_string_lossy())
}

/// The most names that a list has.
pub(super) const LISTED: usize = 20;

/// Names as a list of code words; the first [`LISTED`] and how many more there are, if there are more.
pub(super) fn listed(names: &[&str]) -> String {
    let mut list = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > LISTED {
        list += &format!(" and {} more", names.len() - LISTED);
    }
    list
}

/// A text from the file inside a message: in backticks, cut when long, with nothing in it that a terminal would obey or that
/// nobody would see.
pub(super) fn quoted(text: &str) -> String {
    const SHOWN: usize = 60;
    let mut quoted = String::from("`");
    for (i, c) in text.chars().enumerate() {
        match c {
            _ if i == SHOWN => {
                quoted.push('…');
                break;
            }
            c if shown::is_unseen(c) => quoted.extend(c.escape_default()),
            c => quoted.push(c),
        }
    }
    quoted.push('`');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_name_is_the_one_that_was_meant() {
        let known = ["pause", "clock-step", "clock-slew", "restart"];
        for (name, meant) in [
            ("pawse", Some("pause")),
            ("Pause", Some("pause")),
            ("clock_step", Some("clock-step")),
            ("clockstep", Some("clock-step")),
            ("clock-slow", Some("clock-slew")),
            ("restrat", Some("restart")),
            ("crash", None),
            ("", None),
            ("p", None),
        ] {
            assert_eq!(closest(name, &known), meant, "{name}");
        }
        assert_eq!(closest(&"pause".repeat(1_000), &known), None);
    }

    #[test]
    fn quotes_are_short_and_harmless() {
        assert_eq!(quoted("250µs"), "`250µs`");
        assert_eq!(quoted("a\u{1b}[31m\n"), "`a\\u{1b}[31m\\n`");
        assert_eq!(quoted("wor\u{200b}ker\u{202e}"), "`wor\\u{200b}ker\\u{202e}`");
        assert_eq!(quoted(&"x".repeat(100)), format!("`{}…`", "x".repeat(60)));
    }
}
