//! `holdover schema`.

use holdover::report::history_schema;
use holdover::scenario::json_schema;
use holdover::suite::Suite;

use crate::support::run_line;

#[test]
fn it_prints_the_schema_and_nothing_else() {
    let ran = run_line("schema").ended(0);
    assert_eq!(ran.stderr, "");
    assert_eq!(ran.json(), json_schema(&Suite::builtin()));
    assert!(ran.stdout.ends_with("}\n"), "a file of it ends as files do");
    // A file of it is for reading too, and the same wherever it is written.
    assert!(ran.stdout.lines().count() > 100);
    assert_eq!(run_line("schema --color always").ended(0).stdout, ran.stdout);
}

#[test]
fn it_prints_that_of_histories_when_asked_for_it() {
    let ran = run_line("schema --of history").ended(0);
    assert_eq!(ran.json(), history_schema());
    assert_eq!(run_line("schema --of scenario").ended(0).json(), json_schema(&Suite::builtin()));
}
