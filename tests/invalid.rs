//! Every file in `scenarios/invalid` must be refused, with the message that its snapshot keeps.
//!
//! A file is one mistake, said in its first line. To add one: a file there, then `cargo insta review`.

mod render;

use std::path::Path;

use holdover::scenario::Scenario;

datatest_stable::harness! {
    { test = refused, root = "scenarios/invalid", pattern = r"\.toml$" },
}

fn refused(path: &Path) -> datatest_stable::Result<()> {
    let text = std::fs::read_to_string(path)?;
    let file = path.file_name().and_then(|name| name.to_str()).ok_or("a file without a name")?;
    let mistake =
        text.lines().next().and_then(|line| line.strip_prefix("# ")).ok_or("no comment says what is wrong")?;
    let Err(error) = Scenario::parse(file, &text) else {
        return Err(format!("{file} was read without a complaint, and should be refused for {mistake}").into());
    };
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots/invalid");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_description(mistake);
    settings.bind(|| insta::assert_snapshot!(file.trim_end_matches(".toml"), render::plain(&error, 100)));
    Ok(())
}
