//! What can't be read is refused with the line, what is wrong in it and what to do about it.

use holdover::replay::Replay;
use holdover::scenario::Scenario;
use holdover::sim::protocol::Naive;

use crate::read_back::read;
use crate::record::written_in;

/// A stored history, as lines.
fn lines() -> Vec<String> {
    let scenario = Scenario::load("scenarios/incidents/clock-jump.toml").expect("it is one of ours");
    let written = written_in("jsonl", &Replay::new(&scenario, &[&Naive], scenario.seed));
    written.lines().map(str::to_owned).collect()
}

#[track_caller]
fn is_refused(lines: &[String], told: &[&str]) {
    let text = lines.join("\n") + "\n";
    bytes_are_refused(text.as_bytes(), told);
}

#[track_caller]
fn bytes_are_refused(bytes: &[u8], told: &[&str]) {
    let Err(error) = read(bytes) else { panic!("it is read, and not refused: {told:?}") };
    let text = format!("{error}; {}", error.fix().unwrap_or_default());
    for part in told {
        assert!(text.contains(part), "{part:?} in {text:?}");
    }
}

#[test]
fn what_is_changed_in_a_line_is_refused() {
    // Of the first line that has it.
    for (from, to, told) in [
        ("\"format\":1,", "", "line 1: it lacks `format`: it was written before histories had what is needed"),
        (
            "\"format\":1,",
            "\"format\":2,",
            "line 1: its format is 2, and holdover 0.1.0 reads no newer one than 1",
        ),
        ("\"format\":1,", "\"format\":0,", "`format` is a number from 1 to 1"),
        ("\"format\":1,", "\"format\":\"1\",", "`format` is a number from 1 to 1"),
        ("\"line\":\"run\"", "\"line\":\"ran\"", "a run begins with a line of `run`, and this is one of `ran`"),
        (
            "\"line\":\"event\"",
            "\"line\":\"evnt\"",
            "line 2: there are lines of `run`, `event` and `end`, and none of `evnt`",
        ),
        ("\"line\":\"event\",", "", "it lacks `line`"),
        ("\"title\":", "\"titel\":", "unknown field `titel`; did you mean `title`?"),
        ("\"seed\":7", "\"seed\":-7", "invalid value: integer `-7`, expected u64"),
        ("\"seed\":7", "\"seed\":\"7\"", "invalid type: string \"7\", expected u64"),
        ("\"drift\":", "\"drift\":100000001", "expected a rate of"),
        ("\"since\":0", "\"since\":0,\"since\":0", "duplicate field `since`"),
        ("\"pause\":{", "\"paus\":{", "unknown variant `paus`; did you mean `pause`?"),
        (
            "\"pause\":{\"node\":3",
            "\"pause\":{\"node\":9",
            "fault 1 of `plan` names node 9, and there are 5 nodes",
        ),
        ("\"role\":\"worker\"", "\"role\":\"boss\"", "unknown variant `boss`"),
        (
            "\"name\":\"worker-a\"",
            "\"name\":\"worker\\u202ea\"",
            "the name of a node has a character that can't be seen",
        ),
        ("\"service\":\"table\"", "\"service\":\"consensus\"", "`world.lease` lacks `replicas`"),
        ("\"fingerprint\":\"", "\"fingerprint\":\"x", "`fingerprint` isn't 32 digits"),
        (
            "\"worker-started\"",
            "\"worker-startd\"",
            "unknown variant `worker-startd`; did you mean `worker-started`?",
        ),
        ("\"id\":1,", "\"id\":0,", "line 3: `id` is 0, and the next event is number 1"),
        ("\"id\":1,", "\"id\":2,", "line 3: `id` is 2, and the next event is number 1"),
        ("\"cause\":0,", "\"cause\":1,", "line 3: `cause` isn't an earlier event"),
        ("\"cause\":0,", "", "line 3, column 167: missing field `cause`"),
        ("\"node\":3,\"wall\"", "\"node\":5,\"wall\"", "line 2: there is no node 5, of 5"),
        ("\"fault\":0", "\"fault\":7", "there is no fault 7, of 2"),
        ("{\"message\":0,\"from\"", "{\"message\":5,\"from\"", "message 5 was never sent"),
        ("{\"message\":1,\"to\"", "{\"message\":0,\"to\"", "message 0 was sent before"),
        ("\"op\":1,", "\"op\":0,", "invalid value: integer `0`, expected a nonzero u32"),
        ("\"op\":1,", "\"op\":15,", "there is no operation 15, of 14"),
        ("\"rows\":", "\"row\":", "unknown field `row`; did you mean `rows`?"),
        (
            "\"utc\":\"01:59:38.000\"",
            "\"utc\":\"01:59:38.001\"",
            "line 2: `utc` isn't what `at` and the start of the run make it: 01:59:38.000",
        ),
        (
            "\"wall\":1768442378000000000",
            "\"wall\":1768442378000000001",
            "`wall` is 1768442378000000001, and by the clocks in the first line it is 1768442378000000000",
        ),
        (
            "\"run\":\"naive\",\"id\":0",
            "\"run\":\"fenced\",\"id\":0",
            "`run` is `fenced`, and this run is of naive",
        ),
        ("\"point-passed\":\"lease.wanted\"", "\"point-passed\":\"\"", "a name has 1 to 200 bytes"),
        ("\"ended_at\":", "\"ended_at\":-", "`ended_at` is earlier than the last event"),
        ("\"verdict\":\"violated\"", "\"verdict\":\"broken\"", "is neither `holds` nor `violated` nor `unknown`"),
    ] {
        let mut lines = lines();
        let line =
            lines.iter_mut().find(|line| line.contains(from)).unwrap_or_else(|| panic!("no line has {from}"));
        *line = line.replacen(from, to, 1);
        is_refused(&lines, &["it.jsonl, line ", told]);
    }
}

#[test]
fn what_is_no_file_of_lines_is_refused() {
    let lines = lines();
    let text = lines.join("\n") + "\n";
    for (bytes, told) in [
        (&b""[..], "it.jsonl: there is nothing in it"),
        (b"\n", "it.jsonl, line 1: the line is empty"),
        (b"title = \"x\"\n", "it.jsonl, line 1, column 2: it isn't JSON"),
        (b"[1]\n", "it.jsonl, line 1: it isn't a line of a history"),
        (b"\xff\xfe{}", "it.jsonl, line 1, column 1: it isn't UTF-8"),
        (b"{}", "it.jsonl, line 1: it isn't a line of a history: it lacks `line`"),
        (b"{\"line\":\"run\"", "line 1, column 13: the line ends too early"),
        (&text.as_bytes()[..text.len() - 10], "the line ends too early"),
        (&text.as_bytes()[..lines[0].len() + 1], "line 1: the run of naive has no end: the file was cut here"),
    ] {
        bytes_are_refused(bytes, &[told]);
    }
}

#[test]
fn lines_out_of_order_are_refused() {
    let lines = lines();
    let mut swapped = lines.clone();
    swapped.swap(5, 6);
    is_refused(&swapped, &["line 6: `id` is 5, and the next event is number 4"]);
    let mut twice = lines.clone();
    twice.insert(5, lines[4].clone());
    is_refused(&twice, &["line 6: `id` is 3, and the next event is number 4"]);
    is_refused(&lines[1..], &["line 1: a run begins with a line of `run`, and this is one of `event`"]);
    let mut begun_twice = lines.clone();
    begun_twice.insert(3, lines[0].clone());
    is_refused(&begun_twice, &["line 4: a run begins before the one before it has its line of `end`"]);
    let mut blank = lines.clone();
    blank.insert(3, String::new());
    is_refused(&blank, &["line 4: the line is empty"]);
    let mut earlier = lines.clone();
    let last = earlier.len() - 2;
    earlier[last] = earlier[last].replacen("\"at\":", "\"at\":-", 1);
    is_refused(&earlier, &["`at` is earlier than that of the event before"]);
}
