//! Paths and numbers that nobody means: none may panic, hang, or eat memory without bound.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use crate::support::{QUIET, Ran, folder, run, shell};

fn with(command: &str, path: &Path) -> Ran {
    run([OsStr::new(command), path.as_os_str()])
}

#[test]
#[cfg(unix)]
fn files_that_are_none() {
    use std::os::unix::fs::symlink;
    let folder = folder(&[("good.toml", QUIET), ("folder.toml/inside.toml", QUIET)]);
    let at = |name: &str| folder.path().join(name);
    symlink("loop.toml", at("loop.toml")).expect("a link can be made");
    symlink("good.toml", at("link.toml")).expect("a link can be made");
    symlink("gone.toml", at("dangling.toml")).expect("a link can be made");
    shell("mkfifo pipe.toml", folder.path()).ended(0);
    for (path, told) in [
        (at("pipe.toml"), "not a regular file"),
        ("/dev/zero".into(), "not a regular file"),
        ("/dev/null".into(), "not a regular file"),
        (at("folder.toml"), "a folder, not a scenario file"),
        (at("loop.toml"), "can't be read"),
        (at("dangling.toml"), "there is no such file"),
        (at("good.toml/"), "there is no such file"),
    ] {
        let ran = with("replay", &path).ended(2);
        assert!(ran.stderr.contains(told), "{}: {}", path.display(), ran.stderr);
    }
    with("replay", &at("link.toml")).ended(0);
    with("check", &at("folder.toml")).ended(0);
    let ran = with("check", folder.path()).ended(2);
    assert!(ran.stdout.contains("6 scenarios: 3 as expected, 3 not"), "{}", ran.stdout);
}

#[test]
#[cfg(unix)]
fn a_link_to_a_folder_is_not_followed() {
    let folder = folder(&[("good.toml", QUIET)]);
    std::os::unix::fs::symlink(".", folder.path().join("again.toml")).expect("a link can be made");
    let ran = with("check", folder.path()).ended(0);
    assert!(ran.stdout.contains("1 scenario:"), "{}", ran.stdout);
}

#[test]
#[cfg(target_os = "linux")]
fn names_that_are_no_text() {
    use std::os::unix::ffi::OsStrExt;
    let folder = folder(&[]);
    let path = folder.path().join(OsStr::from_bytes(b"\xff \x1b[31m'.toml"));
    fs::write(&path, format!("{QUIET}\n[expect.fenced]\nseen = [\"belief-overlap\"]"))
        .expect("the file can be written");
    for command in ["replay", "check"] {
        let ran = with(command, &path).ended(3);
        assert!(!ran.stdout.contains('\u{1b}'));
        let again = shell(ran.last_line(), folder.path()).ended(3);
        assert_eq!(again.last_line(), ran.last_line());
    }
    with("check", folder.path()).ended(3);
}

#[test]
#[cfg(unix)]
fn a_folder_that_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder(&[("shut/x.toml", QUIET)]);
    let shut = folder.path().join("shut");
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o000)).expect("it is ours");
    // Some users may read everything.
    let may = fs::read_dir(&shut).is_ok();
    let ran = with("check", &shut).ended(if may { 0 } else { 2 });
    assert!(may || ran.stderr.contains("can't be listed"), "{}", ran.stderr);
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o700)).expect("it is ours");
}

/// A scenario with other lines in some of its places.
struct Odd {
    top: &'static str,
    lease: &'static str,
    job: &'static str,
    workers: String,
    rest: String,
}

const ODD: Odd = Odd {
    top: "",
    lease: "ttl = \"40s\"\nrenew_every = \"10s\"",
    job: "operations = 14",
    workers: String::new(),
    rest: String::new(),
};

impl Odd {
    fn text(&self) -> String {
        let two = "[[worker]]\nname = \"worker-a\"\n[[worker]]\nname = \"worker-b\"\n";
        let workers = if self.workers.is_empty() { two } else { &self.workers };
        let Odd { top, lease, job, rest, .. } = self;
        format!(
            "title = \"Odd\"\nstart = 2026-01-15T01:59:30Z\n{top}\n[lease]\n{lease}\n[job]\n{job}\n{workers}\n{rest}\n"
        )
    }
}

fn fault(when: &str, inject: &str) -> String {
    format!("[[fault]]\nwhen = {{ {when} }}\ninject = {{ {inject} }}\n")
}

#[test]
fn numbers_at_their_ends() {
    const NO_LATENCY: &str = "[network]\ninternal = \"0s..0s\"\nprovider = \"0s\"";
    let pause = |when: &str, lasting: &str, clocks: &str| {
        fault(when, &format!("pause = {{ node = \"worker-a\", for = \"{lasting}\", clocks = \"{clocks}\" }}"))
    };
    let restart = |when: &str, node: &str, lasting: &str| {
        fault(when, &format!("restart = {{ node = \"{node}\", for = \"{lasting}\" }}"))
    };
    let drifting = "[[worker]]\nname = \"worker-a\"\nclock = { offset = \"30d\", drift_ppm = 100000 }\n\
                    [[worker]]\nname = \"worker-b\"\nclock = { offset = \"-30d\", drift_ppm = -100000 }\n";
    let cases = [
        ("it ends before anything", Odd { top: "end = \"+1ns\"", ..ODD }, 3),
        (
            "the job is due at the end",
            Odd { top: "end = \"+10s\"", job: "operations = 1\ndue = \"+9.999999999s\"", ..ODD },
            3,
        ),
        ("a lease of no length", Odd { lease: "ttl = \"2ns\"\nrenew_every = \"1ns\"", ..ODD }, 1),
        ("a lease of a year", Odd { lease: "ttl = \"366d\"\nrenew_every = \"365d\"", ..ODD }, 0),
        ("no latency", Odd { rest: NO_LATENCY.into(), ..ODD }, 0),
        ("no time at all", Odd { job: "operations = 14\npace = \"0s\"", rest: NO_LATENCY.into(), ..ODD }, 0),
        (
            "polling without end",
            Odd {
                top: "steps = 20000",
                lease: "ttl = \"40s\"\nrenew_every = \"10s\"\npoll_every = \"1ns\"",
                rest: NO_LATENCY.into(),
                ..ODD
            },
            3,
        ),
        ("clocks that are far off", Odd { workers: drifting.into(), ..ODD }, 0),
        (
            "everything at the start",
            Odd {
                rest: [
                    pause("at = \"+0s\"", "366d", "running"),
                    fault("at = \"+0s\"", "clock-step = { node = \"worker-a\", by = \"-366d\" }"),
                    fault("at = \"+0s\"", "clock-slew = { node = \"worker-a\", ppm = 100000, for = \"1ns\" }"),
                    restart("at = \"+0s\"", "lease-store", "1ns"),
                    restart("at = \"+0s\"", "ledger", "366d"),
                ]
                .concat(),
                ..ODD
            },
            3,
        ),
        (
            "pauses that overlap",
            Odd {
                rest: [
                    pause("at = \"+1s\"", "30s", "running"),
                    pause("at = \"+2s\"", "5s", "running"),
                    pause("at = \"+2s\"", "100s", "running"),
                    pause("point = \"write.checked\"", "10s", "frozen"),
                ]
                .concat(),
                ..ODD
            },
            1,
        ),
        (
            "a lease store that stands still",
            Odd {
                rest: fault(
                    "at = \"+1s\"",
                    "pause = { node = \"lease-store\", for = \"366d\", clocks = \"frozen\" }",
                ),
                ..ODD
            },
            0,
        ),
        (
            "a restart during a pause",
            Odd {
                rest: [
                    fault("at = \"+1s\"", "pause = { node = \"ledger\", for = \"30s\" }"),
                    restart("at = \"+2s\"", "ledger", "3s"),
                    fault(
                        "at = \"+3s\"",
                        "pause = { node = \"lease-store\", for = \"30s\", clocks = \"suspended\" }",
                    ),
                    restart("at = \"+30s\"", "lease-store", "30s"),
                ]
                .concat(),
                ..ODD
            },
            // The worker asks again and again, and all that it asked for is done when the ledger goes on.
            1,
        ),
        (
            "a year of polling",
            Odd { top: "end = \"+366d\"\nsteps = 20000", job: "operations = 1\ndue = \"+365d\"", ..ODD },
            3,
        ),
        ("a batch without end", Odd { top: "steps = 5000", job: "operations = 1000000\npace = \"0s\"", ..ODD }, 3),
    ];
    for (what, odd, status) in cases {
        let folder = folder(&[("odd.toml", &odd.text())]);
        let path = folder.path().join("odd.toml");
        let ran = with("replay", &path);
        assert_eq!(ran.status, status, "{what}:\n{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.stderr, "", "{what}");
        // What goes on and on is told once.
        if what != "a lease of no length" {
            assert!(ran.stdout.lines().count() < 300, "{what}:\n{}", ran.stdout);
        }
        for line in ran.stdout.lines().filter(|line| !line.starts_with("holdover ") && !line.contains("odd.toml"))
        {
            assert!(line.chars().count() <= 100, "{what}: {line}");
        }
    }
}

#[test]
fn many_of_everything() {
    let workers: String = (0..300).map(|n| format!("[[worker]]\nname = \"w{n}\"\n")).collect();
    let faults: String = (0..3_000)
        .map(|n| fault(&format!("at = \"+{n}ms\""), "clock-step = { node = \"w7\", by = \"1ms\" }"))
        .collect();
    let odd = Odd { top: "steps = 30000\nprotocols = [\"fenced\"]", workers, rest: faults, ..ODD };
    let folder = folder(&[("odd.toml", &odd.text())]);
    let ran = with("replay", &folder.path().join("odd.toml")).ended(3);
    assert!(ran.stdout.contains("other workers"), "they share a lane");
    assert!(ran.stdout.contains("and 2,960 more faults"), "they are counted");
    assert!(ran.stdout.lines().filter(|line| !line.contains("odd.toml")).all(|line| line.chars().count() <= 100));
}

#[test]
fn a_file_that_is_too_large() {
    let odd =
        Odd { rest: fault("at = \"+1s\"", "restart = { node = \"ledger\", for = \"1s\" }").repeat(20_000), ..ODD };
    let folder = folder(&[("odd.toml", &odd.text())]);
    let ran = with("replay", &folder.path().join("odd.toml")).ended(2);
    assert!(ran.stderr.contains("larger than 1 MiB"), "{}", ran.stderr);
}
