//! Commands of all kinds for a world, with any options that go together, and some that are wrong.

use holdover::explore::generate::Selection;
use holdover::sim::check::CHECKERS;

use crate::dice::Dice;
use crate::worlds::Drawn;

/// What a command prints its results as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// For people.
    Text,
    /// One JSON document.
    Json,
    /// A JSON line for each thing.
    Lines,
    /// The histories of a replay, for which there is a schema.
    Histories,
    /// An XML document.
    Xml,
    /// A scenario, which is TOML.
    Scenario,
    /// Something else that isn't empty.
    Other,
}

/// A command, and what it may come to.
#[derive(Debug)]
pub(crate) struct Drawing {
    pub(crate) words: Vec<String>,
    pub(crate) shape: Shape,
    /// The statuses that it may end with.
    pub(crate) statuses: &'static [i32],
    /// RUST_LOG.
    pub(crate) log: &'static str,
    /// What runs before it, and the file that its results are written to.
    pub(crate) before: Option<(Vec<String>, &'static str)>,
    /// The files that it writes, if it gets as far as that.
    pub(crate) written: Vec<&'static str>,
}

/// What a run or a check can come to: as expected, not so, or inconclusive.
const RAN: &[i32] = &[0, 1, 3];
const DONE: &[i32] = &[0];
const MISUSED: &[i32] = &[2];

impl Drawing {
    fn new(command: &str, statuses: &'static [i32]) -> Drawing {
        Drawing {
            words: vec![command.to_owned()],
            shape: Shape::Text,
            statuses,
            log: "",
            before: None,
            written: Vec::new(),
        }
    }

    fn add(&mut self, words: &[&str]) {
        self.words.extend(words.iter().map(|word| (*word).to_owned()));
    }

    pub(crate) fn command(&self) -> &str {
        &self.words[0]
    }

    pub(crate) fn has(&self, word: &str) -> bool {
        self.words.iter().any(|one| one == word)
    }
}

/// How many faults a world may have, for what runs it thousands of times.
const FEW: usize = 3;
const MANY: usize = 12;

/// A kind of command, and how many faults its world may have.
pub(crate) fn kind(dice: &mut Dice) -> (&'static str, usize) {
    match dice.below(100) {
        0..40 => ("replay", MANY),
        40..60 => ("check", MANY),
        60..74 => ("hunt", FEW),
        74..82 => ("shrink", FEW),
        82..90 => ("explain", FEW),
        90..94 => ("list", FEW),
        94..97 => ("judge", MANY),
        _ => ("wrong", FEW),
    }
}

/// A command of this kind on the file of `drawn`.
pub(crate) fn draw(kind: &str, drawn: &Drawn, dice: &mut Dice) -> Drawing {
    match kind {
        "replay" => replay(drawn, dice),
        "judge" => judge(drawn, dice),
        "check" => check(drawn, dice),
        "hunt" => hunt(drawn, dice),
        "shrink" => shrink(drawn, dice),
        "explain" => explain(drawn, dice),
        "list" => list(dice),
        _ => wrong(drawn, dice),
    }
}

/// The file as an argument.
fn file(drawn: &Drawn) -> String {
    format!("./{}", drawn.file)
}

fn protocol_and_seed(drawing: &mut Drawing, drawn: &Drawn, dice: &mut Dice) {
    if dice.chance(25) {
        drawing.add(&["--protocol", dice.one_of::<String>(&drawn.scenario.protocols)]);
    }
    if dice.chance(20) {
        drawing.add(&["--seed", &dice.below(1_000).to_string()]);
    }
}

fn picture(drawing: &mut Drawing, dice: &mut Dice) {
    let (option, page) = *dice.one_of(&[("page.html", "page.html"), ("pages", "pages/report.html")]);
    drawing.add(&["--report", option]);
    drawing.written.push(page);
}

fn replay(drawn: &Drawn, dice: &mut Dice) -> Drawing {
    let mut drawing = Drawing::new("replay", RAN);
    drawing.add(&[&file(drawn)]);
    let (format, shape) = *dice.one_of(&FORMATS);
    drawing.shape = shape;
    drawing.add(&["--format", format]);
    protocol_and_seed(&mut drawing, drawn, dice);
    part_of_it(&mut drawing, format, drawn, dice);
    drawing.log = dice.name(&["", "", "", "holdover=debug", "trace", "off"]);
    drawing
}

/// Judges what a replay has stored.
fn judge(drawn: &Drawn, dice: &mut Dice) -> Drawing {
    let mut drawing = Drawing::new("judge", RAN);
    drawing.add(&["./it.jsonl"]);
    let replay = ["replay", &file(drawn), "--format", "jsonl"].map(str::to_owned);
    drawing.before = Some((replay.into(), "it.jsonl"));
    let (format, shape) = *dice.one_of(&FORMATS);
    drawing.shape = shape;
    drawing.add(&["--format", format]);
    part_of_it(&mut drawing, format, drawn, dice);
    drawing
}

/// The formats of a replay, and what each is.
const FORMATS: [(&str, Shape); 9] = [
    ("text", Shape::Text),
    ("text", Shape::Text),
    ("text", Shape::Text),
    ("json", Shape::Json),
    ("jsonl", Shape::Histories),
    ("markdown", Shape::Other),
    ("mermaid", Shape::Other),
    ("perfetto", Shape::Json),
    ("svg", Shape::Xml),
];

/// How much of a replay is shown, and whether there is a picture of it.
fn part_of_it(drawing: &mut Drawing, format: &str, drawn: &Drawn, dice: &mut Dice) {
    if format == "text" && dice.chance(30) {
        drawing.add(&["--verbose"]);
    }
    if matches!(format, "text" | "markdown" | "mermaid" | "svg") {
        // Both are within the shortest run.
        if dice.chance(15) {
            drawing.add(&["--from", "+100ms"]);
        }
        if dice.chance(15) {
            drawing.add(&["--to", "+800ms"]);
        }
        if dice.chance(25) {
            drawing.add(&["--lane", dice.one_of::<String>(&drawn.nodes)]);
        }
    }
    if dice.chance(6) {
        picture(drawing, dice);
    }
}

fn check(drawn: &Drawn, dice: &mut Dice) -> Drawing {
    let mut drawing = Drawing::new("check", RAN);
    drawing.add(&[&if dice.chance(30) { ".".to_owned() } else { file(drawn) }]);
    let (format, shape) = *dice.one_of(&[("text", Shape::Text), ("json", Shape::Json), ("jsonl", Shape::Lines)]);
    drawing.shape = shape;
    drawing.add(&["--format", format]);
    if dice.chance(30) {
        drawing.add(&["--quiet"]);
    }
    if dice.chance(40) {
        drawing.add(&["--junit", "reports/junit.xml"]);
        drawing.written.push("reports/junit.xml");
    }
    drawing.add(&["--annotations", dice.name(&["github", "none", "auto"])]);
    drawing
}

fn hunt(drawn: &Drawn, dice: &mut Dice) -> Drawing {
    let mut drawing = Drawing::new("hunt", RAN);
    if dice.chance(95) {
        drawing.add(&[&file(drawn)]);
        let plan = dice.name(&["replaced", "replaced", "extended", "kept"]);
        drawing.add(&["--plan", plan]);
        if plan != "kept" {
            kinds(&mut drawing, dice);
        }
        if dice.chance(25) {
            drawing.add(&["--protocol", dice.one_of::<String>(&drawn.scenario.protocols)]);
        }
    }
    let keeps = dice.chance(25);
    let from = dice.below(10_000);
    let count = 1 + dice.below(if keeps { 4 } else { 24 });
    drawing.add(&["--seeds", &format!("{from}..{}", from + count), "--jobs", dice.name(&["1", "2"])]);
    for option in ["--inside", "--quiet"] {
        if dice.chance(25) {
            drawing.add(&[option]);
        }
    }
    match dice.below(4) {
        0 => drawing.add(&["--fail-fast"]),
        1 => drawing.add(&["--keep-going"]),
        _ => {}
    }
    if dice.chance(25) {
        drawing.add(&["--shard", dice.name(&["1/2", "2/2", "3/8", "1/1"])]);
    }
    if dice.chance(30) {
        drawing.add(&["--format", "json"]);
        drawing.shape = Shape::Json;
    }
    if dice.chance(20) {
        drawing.add(&["--junit", "hunt.xml"]);
        drawing.written.push("hunt.xml");
    }
    if keeps {
        drawing.add(&["--out", "found"]);
        drawing.written.push("found/hunt.json");
    }
    drawing
}

/// Which faults are drawn, and how bad they are.
fn kinds(drawing: &mut Drawing, dice: &mut Dice) {
    if dice.chance(40) {
        let groups = Selection::groups();
        let (group, kinds) = dice.one_of(&groups);
        let some = dice.some_of(kinds).join(",");
        drawing.add(&["--faults", if dice.chance(50) { group } else { &some }]);
    }
    if dice.chance(30) {
        drawing.add(&["--profile", "realistic"]);
    }
}

fn shrink(drawn: &Drawn, dice: &mut Dice) -> Drawing {
    let mut drawing = Drawing::new("shrink", RAN);
    drawing.add(&[&file(drawn)]);
    protocol_and_seed(&mut drawing, drawn, dice);
    if dice.chance(20) {
        drawing.add(&["--rule", dice.one_of(CHECKERS).name]);
    }
    drawing.shape = Shape::Scenario;
    match dice.below(4) {
        0 => {
            drawing.add(&["--format", "json"]);
            drawing.shape = Shape::Json;
        }
        1 => {
            drawing.add(&["--out", "small.toml"]);
            drawing.shape = Shape::Text;
        }
        2 => {
            drawing.add(&["--out", "cases"]);
            drawing.shape = Shape::Text;
        }
        _ => {}
    }
    drawing
}

fn explain(drawn: &Drawn, dice: &mut Dice) -> Drawing {
    let mut drawing = Drawing::new("explain", RAN);
    drawing.add(&[&file(drawn)]);
    protocol_and_seed(&mut drawing, drawn, dice);
    if dice.chance(40) {
        drawing.add(&["--format", "json"]);
        drawing.shape = Shape::Json;
    }
    if dice.chance(15) {
        picture(&mut drawing, dice);
    }
    drawing
}

fn list(dice: &mut Dice) -> Drawing {
    const LISTS: [&str; 9] = [
        "protocols",
        "assumptions",
        "faults",
        "checkers",
        "points",
        "events",
        "messages",
        "procedures",
        "sightings",
    ];
    let mut drawing = Drawing::new("list", DONE);
    match dice.below(6) {
        0 => {
            drawing = Drawing::new("schema", DONE);
            drawing.add(&["--of", dice.name(&["scenario", "history"])]);
            drawing.shape = Shape::Json;
        }
        1 => {
            drawing = Drawing::new("completions", DONE);
            drawing.add(&[dice.name(&["bash", "elvish", "fish", "powershell", "zsh"])]);
            drawing.shape = Shape::Other;
        }
        2 => drawing.add(&["scenarios", "."]),
        _ => drawing.add(&[dice.name(&LISTS)]),
    }
    if drawing.command() == "list" && dice.chance(50) {
        drawing.add(&["--format", "json"]);
        drawing.shape = Shape::Json;
    }
    drawing
}

/// What can't be meant.
fn wrong(drawn: &Drawn, dice: &mut Dice) -> Drawing {
    let file = &*file(drawn);
    let words: &[&str] = match dice.below(18) {
        0 => &["replay", file, "--protocol", "nobody"],
        1 => &["replay", file, "--lane", "nobody\u{202e}"],
        2 => &["replay", file, "--from", "+9000d"],
        3 => &["replay", file, "--from", "+2s", "--to", "+1s"],
        4 => &["replay", file, "--format", "json", "--verbose"],
        5 => &["replay", file, "--report", file],
        6 => &["check", file, "not-there.toml"],
        7 => &["check", file, "--junit", file],
        8 => &["hunt", file, "--plan", "kept", "--faults", "pause"],
        9 => &["hunt", file, "--seeds", "7..7"],
        10 => &["hunt", file, "--shard", "9/8"],
        11 => &["shrink", file, "--rule", "all"],
        12 => &["explain", file, "--seed", "x"],
        13 => &["merge", "."],
        14 => &["promote", "."],
        15 => &["judge", file],
        16 => &["judge", "not-there.jsonl", "."],
        _ => &["list", "points", "."],
    };
    let mut drawing = Drawing::new(words[0], MISUSED);
    drawing.add(&words[1..]);
    // Where one of several files can't be used, the others are checked all the same.
    drawing.shape = Shape::Text;
    drawing
}
