//! `holdover check --annotations`: what is wrong, beside the line that says otherwise.

use std::path::Path;

use crate::support::{QUIET, Ran, folder, mixed, shell, snapshot};

/// The annotations on stderr.
fn annotations(ran: &Ran) -> Vec<&str> {
    ran.stderr.lines().filter(|line| line.starts_with("::")).collect()
}

#[test]
fn a_mixed_folder() {
    let folder = mixed();
    let plain = shell("holdover check mixed", folder.path()).ended(2);
    let ran = shell("holdover check mixed --annotations github", folder.path()).ended(2);
    assert_eq!(ran.stdout, plain.stdout, "they are on stderr alone");
    snapshot!("check-annotations", &annotations(&ran).join("\n"));
}

/// Goes to the line that each annotation names, and looks what stands there.
#[test]
fn they_are_beside_what_is_not_met() {
    let pause = "[[fault]]\nwhen = { point = \"write.checked\", node = \"worker-a\" }\n\
                 inject = { pause = { node = \"worker-a\", for = \"41s\" } }\n";
    let all = "single-writer = \"violated\"\nstale-write = \"violated\"\neffect-once = \"violated\"\n\
               nothing-lost = \"violated\"\n";
    for (what, more, expected) in [
        (
            "a verdict is another one",
            "[expect.fenced]\nprogress = \"violated\"\n",
            &["progress = \"violated\""][..],
        ),
        ("a rule isn't mentioned", &format!("{pause}[expect.naive]\n"), &["naive]"]),
        (
            "some are mentioned",
            &format!("{pause}[expect.naive]\nstale-write = \"holds\"\n"),
            &["naive]", "stale-write = \"holds\""],
        ),
        ("no protocol is named", pause, &["\"Nothing happens\""]),
        (
            "what had to be seen wasn't",
            "[expect.fenced]\nseen = [\n  \"belief-overlap\",\n]\n",
            &["\"belief-overlap\","],
        ),
        ("a control: all is as expected", &format!("{pause}[expect.naive]\n{all}"), &[]),
    ] {
        let text = format!("{QUIET}\n{more}");
        let folder = folder(&[("x.toml", &text)]);
        let ran = shell("holdover check x.toml --annotations github", folder.path());
        let found: Vec<String> = annotations(&ran).into_iter().map(|line| pointed_at(line, &text)).collect();
        assert_eq!(found, expected, "{what}: {}", ran.stderr);
    }
}

/// What stands in `text` where `annotation` points.
fn pointed_at(annotation: &str, text: &str) -> String {
    let (properties, _) = annotation.trim_start_matches("::error ").split_once("::").expect("there is a message");
    let number = |name: &str| -> usize {
        let property = properties.split(',').find_map(|property| property.strip_prefix(name));
        property.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{annotation} has no {name}"))
    };
    let line = text.lines().nth(number("line=") - 1).expect("there is such a line");
    line.chars().skip(number("col=") - 1).collect()
}

#[test]
fn every_mistake_has_its_own() {
    let text = QUIET.replace("\"40s\"", "\"0s\"").replace("operations = 3", "operations = 0");
    let folder = folder(&[("x.toml", &text), ("empty.toml", "")]);
    let ran =
        shell("holdover check x.toml empty.toml not-there.toml --annotations github", folder.path()).ended(2);
    let found = annotations(&ran);
    assert_eq!(found.len(), 4, "{found:?}");
    assert_eq!([pointed_at(found[0], &text), pointed_at(found[1], &text)], ["\"0s\"", "0"]);
    assert!(found[0].contains("title=holdover%3A unusable::`0s` is no time at all%0A"), "{}", found[0]);
    assert!(found[2].starts_with("::error file=empty.toml,title="), "{}", found[2]);
    assert!(found[3].starts_with("::error file=not-there.toml,title="), "{}", found[3]);
}

#[test]
fn who_gets_them() {
    let folder = folder(&[("x.toml", "title = 1")]);
    for (variable, option, written) in [
        ("", "", false),
        ("GITHUB_ACTIONS=true", "", true),
        ("GITHUB_ACTIONS=false", "", false),
        ("GITHUB_ACTIONS=", "", false),
        ("CI=true", "", false),
        ("GITHUB_ACTIONS=true", "--annotations auto", true),
        ("GITHUB_ACTIONS=true", "--annotations none", false),
        ("", "--annotations auto", false),
        ("", "--annotations github", true),
        ("GITHUB_ACTIONS=true", "--format json", true),
        ("GITHUB_ACTIONS=true", "--quiet", true),
    ] {
        let ran = shell(&format!("{variable} holdover check x.toml {option}"), folder.path()).ended(2);
        assert_eq!(annotations(&ran).len(), usize::from(written), "{variable} {option}: {}", ran.stderr);
        assert!(!ran.stdout.contains("::error"), "{variable} {option}");
    }
}

/// The runner matches paths from the root of the repository, wherever a step runs.
#[test]
fn files_are_named_from_the_root_of_the_repository() {
    let folder = folder(&[("a/b/x.toml", "title = 1")]);
    let root = folder.path().to_str().expect("its name is text");
    for (path, from, workspace, named) in [
        ("a/b/x.toml", "", "", "a/b/x.toml"),
        ("./a/b/x.toml", "", "", "a/b/x.toml"),
        ("a", "", root, "a/b/x.toml"),
        ("b/x.toml", "a", root, "a/b/x.toml"),
        (".", "a/b", root, "a/b/x.toml"),
        ("b/x.toml", "a", "", "b/x.toml"),
        (&format!("{root}/a/b/x.toml"), "", root, "a/b/x.toml"),
        ("b/x.toml", "a", "/somewhere/else", "b/x.toml"),
    ] {
        let set = if workspace.is_empty() { String::new() } else { format!("GITHUB_WORKSPACE='{workspace}'") };
        let script = format!("{set} holdover check '{path}' --annotations github");
        let ran = shell(&script, &folder.path().join(Path::new(from))).ended(2);
        let found = annotations(&ran);
        assert!(found[0].starts_with(&format!("::error file={named},line=1,col=9,")), "{script}: {found:?}");
    }
}

#[test]
fn names_that_the_runner_minds_are_escaped() {
    for (name, written) in [
        ("a,b.toml", "a%2Cb.toml"),
        ("a::b.toml", "a%3A%3Ab.toml"),
        ("100%.toml", "100%25.toml"),
        ("new\nline.toml", "new\\nline.toml"),
    ] {
        let folder = folder(&[(name, "title = 1")]);
        let ran = shell("holdover check . --annotations github", folder.path()).ended(2);
        let found = annotations(&ran);
        assert!(found[0].starts_with(&format!("::error file={written},line=1")), "{name:?}: {found:?}");
        assert_eq!(found.len(), 1, "{name:?}");
    }
}

#[test]
fn nobody_to_read_them_changes_nothing() {
    let folder = mixed();
    let plain = shell("holdover check mixed", folder.path()).ended(2);
    for redirection in ["2>&-", "2> /dev/full"] {
        let ran =
            shell(&format!("holdover check mixed --annotations github {redirection}"), folder.path()).ended(2);
        assert_eq!(ran.stdout, plain.stdout, "{redirection}");
    }
}
