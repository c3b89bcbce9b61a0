//! Without madsim's cfg the build of the simulated host stops with one message that says why, and not with a heap of others.
//! Nothing else needs the cfg; the CI run builds all that is published without it.

use std::path::Path;
use std::process::Command;

#[test]
fn a_build_without_the_cfg_says_what_is_missing_and_nothing_else() {
    let metadata = Path::new(env!("CARGO_TARGET_TMPDIR")).join("without_cfg.rmeta");
    let rustc = Command::new("rustc")
        .args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "-o"])
        .arg(metadata)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs"))
        .output()
        .expect("whoever runs this test has a compiler");
    let said = String::from_utf8_lossy(&rustc.stderr);
    let errors: Vec<&str> = said.lines().filter(|line| line.starts_with("error")).collect();
    assert!(!rustc.status.success());
    assert!(errors[0].contains("exists only under `--cfg madsim`"), "{said}");
    assert!(errors[1..].iter().all(|line| line.starts_with("error: aborting")), "{said}");
}
