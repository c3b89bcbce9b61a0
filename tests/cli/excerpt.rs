//! `holdover replay` with `--from`, `--to` and `--lane`.

use std::ffi::OsStr;

use crate::support::{CLOCK_JUMP, run, run_line, scenario, snapshot};

#[test]
fn a_part_of_a_timeline_and_of_its_lanes() {
    let line = format!("replay {CLOCK_JUMP} --protocol naive --from 02:00:28.1 --to +58.17s");
    for (name, more) in
        [("times", ""), ("lanes", " --lane worker-b --lane ledger"), ("verbose", " --lane ledger -v")]
    {
        let ran = run_line(&format!("{line}{more}")).ended(0);
        let timeline: Vec<&str> = ran.stdout.lines().take_while(|line| !line.starts_with("  verdicts")).collect();
        snapshot!(format!("replay-excerpt-{name}"), &timeline.join("\n"));
    }
}

#[test]
fn verdicts_are_on_the_whole_run() {
    let verdicts = |line: &str| {
        let ran = run_line(line).ended(0);
        ran.stdout
            .lines()
            .skip_while(|line| !line.starts_with("  verdicts"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let whole = verdicts(&format!("replay {CLOCK_JUMP}"));
    assert!(whole.len() > 10);
    for part in ["--to 01:59:40", "--from 02:00:28.4", "--lane provider", "--from +1m --to +1m"] {
        assert_eq!(verdicts(&format!("replay {CLOCK_JUMP} {part}")), whole, "{part}");
    }
}

#[test]
fn all_that_is_shown_and_all_that_isn_t_is_all() {
    let rows = |more: &str| {
        let ran = run_line(&format!("replay {CLOCK_JUMP} --protocol fenced {more}")).ended(0);
        let is_row = |line: &&str| line.starts_with("  0") && line.contains(':');
        let shown = ran.stdout.lines().filter(is_row).count();
        let left_out = ran.stdout.lines().find_map(|line| line.strip_prefix("  not shown: "));
        let counts =
            left_out.into_iter().flat_map(|line| line.split(", ")).filter_map(|part| part.split(' ').next());
        (shown, counts.map(|count| count.parse::<usize>().expect("a number")).sum::<usize>())
    };
    let (all, none) = rows("");
    assert_eq!(none, 0);
    for part in
        ["--from 02:00:28.1", "--to 02:00:28.1", "--lane worker-a", "--from +20s --to +58.2s --lane ledger"]
    {
        let (shown, left_out) = rows(part);
        assert!(left_out > 0, "{part}");
        assert_eq!(shown + left_out, all, "{part}");
    }
}

#[test]
fn what_is_wrong_is_told_with_what_to_write() {
    for (arguments, message, help) in [
        ("--from 3", "--from: `3` is not a time", "times are written like \"02:00:28.150\""),
        ("--from 58s", "--from: `58s` is a duration, not a time", "write \"+58s\""),
        ("--to 2:00", "--to: `2:00` is not a time of day", "from 00:00:00"),
        ("--from 01:00:00", "--from: `01:00:00` is before the start of the run", "2026-01-16T01:00:00Z"),
        ("--to +1h", "--to: `+1h` is not before the end of the run", "from 2026-01-15T01:59:30Z"),
        ("--from +50s --to +10s", "--from is later than --to", "turn them round"),
        ("--lane worker_a", "unknown node `worker_a`", "did you mean `worker-a`?"),
        ("--lane ledgre", "unknown node `ledgre`", "did you mean `ledger`?"),
        ("--lane moon", "unknown node `moon`", "the nodes are: `lease-store`, `ledger`"),
        ("--lane ledger --format json", "json has all of it", "text, markdown, mermaid or svg"),
        ("--from +1s --format jsonl", "jsonl has all of it", "leave them out"),
        ("--to +1s --format perfetto", "perfetto has all of it", "leave them out"),
    ] {
        let ran = run_line(&format!("replay {CLOCK_JUMP} {arguments}")).ended(2);
        assert_eq!(ran.stdout, "", "{arguments}");
        assert!(ran.stderr.contains(message) && ran.stderr.contains(help), "{arguments}: {}", ran.stderr);
    }
}

#[test]
fn the_ends_of_a_run_are_times_of_it() {
    let whole = run_line(&format!("replay {CLOCK_JUMP}")).ended(0).stdout;
    for part in ["--from +0s", "--to 2026-01-15T02:01:30Z", "--from 01:59:30 --to +2m"] {
        assert_eq!(run_line(&format!("replay {CLOCK_JUMP} {part}")).ended(0).stdout, whole, "{part}");
    }
}

#[test]
fn pictures_take_the_same() {
    for (format, there, gone) in [
        ("markdown", "STALE: worker-a's entry for operation 11", "worker-b is granted lease 2 until"),
        ("mermaid", "STALE: worker-a's entry for operation 11", "worker-b is granted lease 2"),
        ("svg", ">worker-a</text>", ">worker-b</text>"),
    ] {
        let line =
            format!("replay {CLOCK_JUMP} --protocol naive --format {format} --from 02:00:28.1 --lane worker-a");
        let ran = run_line(&line).ended(0);
        let timeline = ran.stdout.split("## Causes").next().unwrap_or_default();
        assert!(timeline.contains(there) && !timeline.contains(gone), "{format}");
    }
}

/// A protocol that keeps its lease on replicas has other nodes than one with a table: any of them can be asked for, and a
/// diagram has them all.
#[test]
fn nodes_of_any_of_the_protocols() {
    let line = format!("replay {CLOCK_JUMP} --protocol naive --protocol fenced-consensus");
    for format in ["text", "markdown", "mermaid", "svg"] {
        for lane in ["lease-store", "lease-1", "lease-3", "worker-b"] {
            run_line(&format!("{line} --format {format} --lane {lane}")).ended(0);
        }
        let ran = run_line(&format!("{line} --format {format} --lane lease-4")).ended(2);
        assert!(ran.stderr.contains("did you mean `lease-1`?"), "{}", ran.stderr);
    }
    let (_folder, path) = scenario(
        "[[fault]]\nwhen = { at = \"+10s\" }\ninject = { pause = { node = \"lease-store\", for = \"20s\" } }\n",
    );
    let protocols =
        ["--protocol", "naive", "--protocol", "fenced-consensus", "--format", "mermaid"].map(OsStr::new);
    let ran = run([OsStr::new("replay"), path.as_os_str()].into_iter().chain(protocols)).ended(0);
    let drawn = ran.stdout;
    for participant in ["n0 as lease-store / lease-1", "n5 as lease-2", "n4 as worker-b"] {
        assert!(drawn.contains(&format!("participant {participant}\n")), "{drawn}");
    }
}
