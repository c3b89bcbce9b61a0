//! What faults on the network do to calls, told message by message; and how long a caller waits.
//!
//! All latencies are fixed, so that a fault can be put between two given messages: the first entry is sent at
//! 01:59:49.104, reaches the ledger at .106, and its answer arrives at .108.

use holdover::replay::Replay;
use holdover::scenario::Scenario;
use holdover::sim::check::Bite;
use holdover::sim::history::{Event, History, What};
use holdover::sim::id::{NodeId, OpId};
use holdover::sim::time::TimeOfDay;

const WORLD: &str = r#"
title = "A network"
start = 2026-01-15T01:59:30Z
[lease]
ttl = "40s"
renew_every = "10s"
[job]
operations = 2
due = "01:59:49.100"
[network]
internal = "2ms"
provider = "20ms"
timeout = "1s"
[[worker]]
name = "worker-a"
"#;

fn replayed(faults: &[(&str, &str)], protocol: &str, tell: impl FnOnce(&Replay<'_>)) {
    let faults: String = faults
        .iter()
        .map(|(when, inject)| format!("[[fault]]\nwhen = {{ {when} }}\ninject = {{ {inject} }}\n"))
        .collect();
    let text = format!("{WORLD}\n{faults}\n[expect.{protocol}]\n");
    let scenario = Scenario::parse("network.toml", &text).unwrap_or_else(|error| panic!("{error:?}"));
    tell(&Replay::of(&scenario));
}

/// What happened to the first operation's entry, each with its time of day, from when the `faults` began; which bit; and
/// whether the rules are those `broken`.
#[track_caller]
fn check(faults: &[(&str, &str)], protocol: &str, broken: &[&str], expected: &[&str]) {
    replayed(faults, protocol, |replay| {
        let run = &replay.runs[0];
        let told: Vec<String> = run.history.events.iter().filter_map(|event| tell(&run.history, event)).collect();
        assert_eq!(told, expected);
        assert!(run.bites.iter().all(|bite| *bite == Bite::Bit), "{:?}", run.bites);
        let violated = run.verdicts.iter().filter(|(_, verdict)| verdict.name() == "violated");
        assert_eq!(violated.map(|(checker, _)| checker.name).collect::<Vec<_>>(), broken);
    });
}

/// What faults do, and what becomes of the first entry.
fn tell(history: &History, event: &Event) -> Option<String> {
    let of_entry = |event: &Event| matches!(event.what, What::MessageSent { about: "ledger.write", .. });
    let what = match event.what {
        What::WriteAccepted { op: OpId(0), .. } => "accepted".to_owned(),
        What::WriteRepeated { op: OpId(0), .. } => "repeated".to_owned(),
        What::MessageDropped { .. } => "dropped".to_owned(),
        What::MessageDelayed { by, .. } if of_entry(history.event(event.cause?)) => format!("delayed {by}"),
        What::MessageRepeated { .. } => "copied".to_owned(),
        What::CallTimedOut { about, .. } => format!("{about} timed out"),
        What::FaultBegan { .. } => "fault".to_owned(),
        What::FaultEnded { .. } => "healed".to_owned(),
        _ => return None,
    };
    Some(format!("{} {what}", &TimeOfDay(history.utc(event.at)).to_string()[3..]))
}

/// Just before the first entry is sent.
const BEFORE: &str = r#"at = "01:59:49.103""#;

#[test]
fn a_partition_swallows_requests_and_the_caller_learns_it_by_waiting() {
    for protocol in ["naive", "fenced"] {
        check(
            &[(BEFORE, r#"partition = { between = ["worker-a"], and = ["ledger"], for = "1s" }"#)],
            protocol,
            &[],
            &[
                "59:49.103 fault",
                "59:49.104 dropped",
                "59:50.103 healed",
                "59:50.104 ledger.write timed out",
                "59:50.206 accepted",
            ],
        );
    }
}

#[test]
fn a_one_way_partition_of_the_ledger_swallows_only_its_answers() {
    let partition = [(BEFORE, r#"partition = { between = ["ledger"], one_way = true, for = "1s" }"#)];
    let told = [
        "59:49.103 fault",
        "59:49.106 accepted",
        "59:49.106 dropped",
        "59:50.103 healed",
        "59:50.104 ledger.write timed out",
    ];
    check(&partition, "naive", &["nothing-lost"], &[&told[..], &["59:50.206 accepted"]].concat());
    check(&partition, "fenced", &[], &[&told[..], &["59:50.206 repeated"]].concat());
}

#[test]
fn one_lost_message_ends_its_fault() {
    let lose =
        |part| format!(r#"lose-message = {{ message = "ledger.write", part = "{part}", node = "worker-a" }}"#);
    let rest = ["59:50.104 ledger.write timed out"];
    let request = ["59:49.103 fault", "59:49.104 dropped", "59:49.104 healed"];
    check(&[(BEFORE, &lose("request"))], "naive", &[], &[&request[..], &rest, &["59:50.206 accepted"]].concat());
    let answer = ["59:49.103 fault", "59:49.106 accepted", "59:49.106 dropped", "59:49.106 healed"];
    check(
        &[(BEFORE, &lose("answer"))],
        "naive",
        &["nothing-lost"],
        &[&answer[..], &rest, &["59:50.206 accepted"]].concat(),
    );
    check(&[(BEFORE, &lose("answer"))], "fenced", &[], &[&answer[..], &rest, &["59:50.206 repeated"]].concat());
}

#[test]
fn an_answer_that_comes_too_late_is_ignored() {
    let delay =
        r#"delay-message = { message = "ledger.write", part = "answer", node = "worker-a", by = "1500ms" }"#;
    check(
        &[(BEFORE, delay)],
        "fenced",
        &[],
        &[
            "59:49.103 fault",
            "59:49.106 accepted",
            "59:49.106 delayed 1.5s",
            "59:49.106 healed",
            "59:50.104 ledger.write timed out",
            "59:50.206 repeated",
        ],
    );
}

#[test]
fn the_second_of_two_is_the_one_that_is_delayed() {
    let delay = r#"delay-message = { message = "ledger.write", part = "request", node = "worker-a", by = "10ms", nth = 2 }"#;
    check(
        &[(BEFORE, delay)],
        "fenced",
        &[],
        &["59:49.103 fault", "59:49.106 accepted", "59:49.200 delayed 10ms", "59:49.200 healed"],
    );
}

#[test]
fn a_request_that_is_copied_is_handled_twice() {
    let duplicate =
        [(BEFORE, r#"duplicate = { between = ["worker-a"], and = ["ledger"], percent = 100, for = "2ms" }"#)];
    let told =
        ["59:49.103 fault", "59:49.104 copied", "59:49.104 delayed 2ms", "59:49.105 healed", "59:49.106 accepted"];
    check(&duplicate, "naive", &["nothing-lost"], &[&told[..], &["59:49.108 accepted"]].concat());
    check(&duplicate, "fenced", &[], &[&told[..], &["59:49.108 repeated"]].concat());
}

#[test]
fn a_link_that_is_slow_takes_its_time() {
    check(
        &[(BEFORE, r#"latency = { between = ["worker-a"], and = ["ledger"], range = "300ms", for = "2ms" }"#)],
        "fenced",
        &[],
        &["59:49.103 fault", "59:49.104 delayed 298ms", "59:49.105 healed", "59:49.404 accepted"],
    );
    check(
        &[(BEFORE, r#"latency = { between = ["worker-a"], and = ["ledger"], range = "0s", for = "2ms" }"#)],
        "fenced",
        &[],
        &[
            "59:49.103 fault",
            "59:49.104 delayed -2ms",
            "59:49.104 accepted",
            "59:49.104 delayed -2ms",
            "59:49.105 healed",
        ],
    );
}

#[test]
fn what_is_held_comes_at_the_end() {
    check(
        &[(BEFORE, r#"hold = { between = ["worker-a"], for = "500ms" }"#)],
        "fenced",
        &[],
        &["59:49.103 fault", "59:49.104 delayed 497ms", "59:49.603 healed", "59:49.603 accepted"],
    );
    // It ends while the message is under way anyhow.
    replayed(&[(BEFORE, r#"hold = { between = ["worker-a"], for = "2ms" }"#)], "fenced", |replay| {
        assert_eq!(replay.runs[0].bites, [Bite::Missed]);
    });
}

/// A crash breaks connections, and the news of that is nothing that could get through a partition.
#[test]
fn a_caller_that_is_cut_off_does_not_hear_that_a_connection_broke() {
    let restart = (r#"at = "01:59:49.105""#, r#"restart = { node = "ledger", for = "50ms" }"#);
    let after_request = (r#"at = "01:59:49.107""#, r#"restart = { node = "ledger", for = "50ms" }"#);
    let partition = (r#"at = "01:59:49.1045""#, r#"partition = { between = ["ledger"], for = "200ms" }"#);
    let late = (r#"at = "01:59:49.1065""#, r#"partition = { between = ["ledger"], for = "200ms" }"#);
    let accepted = |faults: &[(&str, &str)]| {
        let mut at = Vec::new();
        replayed(faults, "fenced", |replay| {
            let history = &replay.runs[0].history;
            at = history.events.iter().filter_map(|event| tell(history, event)).collect();
            at.retain(|told| {
                told.contains(" accepted") || told.contains(" repeated") || told.contains("timed out")
            });
        });
        at
    };
    assert_eq!(accepted(&[restart]), ["59:49.210 accepted"]);
    assert_eq!(accepted(&[restart, partition]), ["59:50.104 ledger.write timed out", "59:50.206 accepted"]);
    let told = ["59:49.106 accepted", "59:50.104 ledger.write timed out", "59:50.206 repeated"];
    assert_eq!(accepted(&[after_request, late]), told);
}

/// The worker stalls from .105, before the answer, for as long as stated; the answer waits in its kernel.
#[track_caller]
fn check_stall(inject: &str, timed_out: bool) {
    replayed(&[(r#"at = "01:59:49.105""#, inject)], "fenced", |replay| {
        let mut events = replay.runs[0].history.events.iter();
        assert_eq!(events.any(|event| matches!(event.what, What::CallTimedOut { .. })), timed_out, "{inject}");
    });
}

#[test]
fn an_answer_that_arrived_during_a_pause_wins_over_the_timeout() {
    for clocks in ["running", "suspended", "frozen"] {
        check_stall(&format!(r#"pause = {{ node = "worker-a", for = "30s", clocks = "{clocks}" }}"#), false);
    }
    check_stall(r#"pause = { node = "ledger", for = "998ms" }"#, true);
    check_stall(r#"pause = { node = "ledger", for = "996ms" }"#, false);
}

#[test]
fn callers_wait_by_their_monotonic_clock() {
    // The ledger is paused for 970 ms; a clock that is a tenth fast takes that for more than a second.
    let ledger = (r#"at = "01:59:49.105""#, r#"pause = { node = "ledger", for = "970ms" }"#);
    let slew = |ppm| format!(r#"clock-slew = {{ node = "worker-a", ppm = {ppm}, for = "2s" }}"#);
    let timed_out = |replay: &Replay<'_>| {
        replay.runs[0].history.events.iter().any(|event| matches!(event.what, What::CallTimedOut { .. }))
    };
    replayed(&[ledger], "fenced", |replay| assert!(!timed_out(replay)));
    replayed(&[ledger, (r#"at = "01:59:49.105""#, &slew(100_000))], "fenced", |replay| assert!(timed_out(replay)));
    let step = r#"clock-step = { node = "worker-a", by = "10s" }"#;
    replayed(&[ledger, (r#"at = "01:59:49.105""#, step)], "fenced", |replay| assert!(!timed_out(replay)));
}

/// When a fault with this anchor strikes; `None` if it never does.
#[track_caller]
fn check_anchor(when: &str, expected: Option<&str>) {
    let first = (r#"at = "01:59:49.105""#, r#"clock-slew = { node = "ledger", ppm = 1, for = "1s" }"#);
    let text = format!(
        "{WORLD}\n[[fault]]\nname = \"first\"\nwhen = {{ {} }}\ninject = {{ {} }}\n\
         [[fault]]\nwhen = {{ {when} }}\ninject = {{ clock-step = {{ node = \"worker-a\", by = \"1ns\" }} }}\n\
         [expect.fenced]\n",
        first.0, first.1
    );
    let scenario = Scenario::parse("anchors.toml", &text).unwrap_or_else(|error| panic!("{error:?}"));
    let replay = Replay::of(&scenario);
    let history = &replay.runs[0].history;
    let began =
        history.events.iter().find(|event| matches!(event.what, What::FaultBegan { fault } if fault.0 == 1));
    let began = began.map(|event| {
        let cause = history.event(event.cause.expect("something set it off"));
        format!("{} {}", &TimeOfDay(history.utc(event.at)).to_string()[3..], cause.what.kind())
    });
    assert_eq!(began.as_deref(), expected, "{when}");
    assert_eq!(replay.runs[0].bites[1] == Bite::NeverStruck, expected.is_none(), "{when}");
}

#[test]
fn anchors_strike_when_they_say() {
    check_anchor(r#"event = "lease-granted""#, Some("59:30.002 lease-granted"));
    check_anchor(r#"event = "lease-granted", node = "worker-a", delay = "10ms""#, Some("59:30.012 lease-granted"));
    check_anchor(r#"event = "lease-granted", nth = 2"#, None);
    check_anchor(r#"event = "write-accepted", nth = 2"#, Some("59:49.202 write-accepted"));
    check_anchor(r#"event = "write-accepted", node = "ledger""#, Some("59:49.106 write-accepted"));
    check_anchor(r#"event = "write-accepted", node = "provider""#, None);
    check_anchor(r#"event = "write-accepted", after = "01:59:49.200""#, Some("59:49.202 write-accepted"));
    check_anchor(r#"event = "message-delivered", node = "worker-a""#, Some("59:30.004 message-delivered"));
    check_anchor(r#"event = "worker-finished""#, Some("59:49.256 worker-finished"));
    check_anchor(r#"event = "worker-finished", delay = "1s""#, Some("59:50.256 worker-finished"));
    check_anchor(r#"event = "fault-began""#, Some("59:49.105 fault-began"));
    check_anchor(r#"fault = "first""#, Some("59:49.105 fault-began"));
    check_anchor(r#"fault = "first", delay = "50ms""#, Some("59:49.155 fault-began"));
    check_anchor(r#"fault = "first", end = true"#, Some("59:50.105 fault-ended"));
    check_anchor(r#"fault = "first", end = true, delay = "50ms""#, Some("59:50.155 fault-ended"));
    check_anchor(r#"point = "write.checked", delay = "50ms""#, Some("59:49.154 point-passed"));
    check_anchor(r#"point = "write.checked", nth = 2, delay = "0s""#, Some("59:49.200 point-passed"));
}

/// A pause that is set off by a check of the lease comes before anything that follows from the check.
#[test]
fn a_pause_at_an_event_stops_the_worker_before_its_next_step() {
    let pause = (r#"event = "lease-checked", nth = 2"#, r#"pause = { node = "worker-a", for = "3s" }"#);
    replayed(&[pause], "naive", |replay| {
        let events = &replay.runs[0].history.events;
        let check = events.iter().enumerate().filter(|(_, event)| matches!(event.what, What::LeaseChecked { .. }));
        let (second, _) = check.into_iter().nth(1).expect("each operation is checked for");
        let behind: Vec<&str> = events[second + 1..second + 4].iter().map(|event| event.what.kind()).collect();
        assert_eq!(behind, ["fault-began", "fault-ended", "point-passed"]);
    });
}

/// How reports name a fault, and that it is over.
#[track_caller]
fn check_words(inject: &str, phrase: &str, healed: Option<&str>) {
    replayed(&[(BEFORE, inject)], "fenced", |replay| {
        let name = |node: NodeId| replay.runs[0].history.node(node).name.clone();
        let inject = &replay.premise.plan[0].inject;
        assert_eq!(inject.phrase(&name), phrase);
        assert_eq!(inject.healed(&name).as_deref(), healed);
    });
}

#[test]
fn faults_are_told_in_words() {
    check_words(
        r#"partition = { between = ["worker-a"], and = ["ledger", "lease-store"], for = "20s" }"#,
        "partition between worker-a and ledger and lease-store for 20s",
        Some("messages between worker-a and ledger and lease-store get through again"),
    );
    check_words(
        r#"latency = { between = ["ledger"], range = "200ms..400ms", one_way = true, for = "1s" }"#,
        "latency of 200ms to 400ms from ledger to everybody else for 1s",
        Some("messages from ledger to everybody else take their usual time again"),
    );
    check_words(
        r#"latency = { between = ["ledger"], range = "200ms", for = "1s" }"#,
        "latency of 200ms between ledger and everybody else for 1s",
        Some("messages between ledger and everybody else take their usual time again"),
    );
    check_words(
        r#"loss = { between = ["ledger"], percent = 30, for = "1s" }"#,
        "loss of 30 % of the messages between ledger and everybody else for 1s",
        Some("no more messages between ledger and everybody else are lost"),
    );
    check_words(
        r#"duplicate = { between = ["ledger"], percent = 30, for = "1s" }"#,
        "duplication of 30 % of the requests between ledger and everybody else for 1s",
        Some("requests between ledger and everybody else arrive only once again"),
    );
    check_words(
        r#"reorder = { between = ["ledger"], percent = 30, by = "50ms", for = "1s" }"#,
        "holding back of 30 % of the messages between ledger and everybody else by up to 50ms for 1s",
        Some("no more messages between ledger and everybody else are held back"),
    );
    check_words(
        r#"hold = { between = ["ledger"], for = "1s" }"#,
        "holding of all messages between ledger and everybody else for 1s",
        Some("what was held between ledger and everybody else arrives"),
    );
    check_words(
        r#"delay-message = { message = "lease.renew", part = "request", node = "worker-a", by = "5s" }"#,
        "delay of worker-a's next lease.renew request by 5s",
        None,
    );
    check_words(
        r#"lose-message = { message = "ledger.write", part = "answer", node = "worker-a", nth = 2 }"#,
        "loss of the answer to worker-a's ledger.write request number 2 from then on",
        None,
    );
}

/// What a fault is called, and how its links are spelt, changes nothing of what happens.
#[test]
fn another_spelling_draws_the_same() {
    let told = |plan: &str, seed: u64| {
        let world = WORLD.replace("operations = 2", "operations = 8") + "[[worker]]\nname = \"worker-b\"\n";
        let text = format!("{world}\n{plan}\n[expect.naive]\n");
        let mut scenario = Scenario::parse("network.toml", &text).unwrap_or_else(|error| panic!("{error:?}"));
        scenario.seed = holdover::sim::seed::Seed(seed);
        let history = &Replay::of(&scenario).runs[0].history;
        (history.events.clone(), history.nodes.clone(), history.exports.clone())
    };
    let fault = |name: &str, when: &str, inject: &str| {
        let name = if name.is_empty() { String::new() } else { format!("name = \"{name}\"\n") };
        format!("[[fault]]\n{name}when = {{ {when} }}\ninject = {{ {inject} }}\n")
    };
    let others = r#"and = ["provider", "worker-b", "lease-store", "ledger"], "#;
    for kind in ["loss", "duplicate", "latency", "reorder"] {
        let on = |and: &str| {
            let how = match kind {
                "latency" => r#"range = "1ms..900ms""#,
                "reorder" => r#"percent = 50, by = "900ms""#,
                _ => "percent = 50",
            };
            format!(r#"{kind} = {{ between = ["worker-a"], {and}{how}, for = "9m" }}"#)
        };
        let step = r#"clock-step = { node = "ledger", by = "1ns" }"#;
        let after = |leader: &str| format!("fault = \"{leader}\"");
        // One that waits for a fault that waits for a fault, by these names.
        let chain = |[one, two, three]: [&str; 3], and: &str| {
            fault(one, "at = \"+1ns\"", step)
                + &fault(two, &after(one), step)
                + &fault(three, &after(two), &on(and))
        };
        let mut differ = 0;
        for seed in 0..8 {
            let expected = told(&chain(["f", "g", ""], ""), seed);
            for (names, and) in [(["g", "f", ""], ""), (["a", "b", "c"], ""), (["f", "g", ""], others)] {
                assert_eq!(told(&chain(names, and), seed), expected, "{kind} with seed {seed}: {names:?} {and}");
            }
            // Where something else sets it off, it draws anew.
            let at_once = fault("f", "at = \"+1ns\"", step) + &fault("g", &after("f"), step);
            let another = at_once + &fault("", &after("f"), &on(""));
            differ += usize::from(told(&another, seed) != expected);
        }
        assert!(differ > 4, "{kind}: {differ}");
    }
}
