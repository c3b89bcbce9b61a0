//! `leap-second = { … }` and `time-source = { … }`: what is wrong with the time of several nodes at once.

use holdover_sim::fault::{Fault, LeapSecond, TimeSource};
use holdover_sim::time::Span;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::{Clash, Inject, NO_NODE, Overlap, lasting, node_list};
use crate::scenario::error::{Mistake, Wrong};
use crate::scenario::file::Written;
use crate::scenario::lower::Lower;
use crate::scenario::names::quoted;
use crate::scenario::nodes::Nodes;
use crate::scenario::schema::terms;
use crate::scenario::value;
use crate::scenario::write::Keys;

/// `leap-second = { … }`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("anyOf" = [{ "required": ["stepped"] }, { "required": ["smeared"] }]))]
pub(in crate::scenario) struct LeapFile {
    #[schemars(with = "Option<terms::Nodes>")]
    stepped: Option<Spanned<Vec<Spanned<String>>>>,
    #[schemars(with = "Option<terms::Nodes>")]
    smeared: Option<Spanned<Vec<Spanned<String>>>>,
}

impl Inject for LeapFile {
    type Kind = LeapSecond;

    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let stepped = self.stepped.as_ref().map_or(Vec::new(), |list| node_list(lower, nodes, list));
        let smeared = self.smeared.as_ref().map_or(Vec::new(), |list| node_list(lower, nodes, list));
        let (one, other) = (names(self.stepped.as_ref()), names(self.smeared.as_ref()));
        for smeared in other {
            let Some(stepped) = one.iter().find(|stepped| stepped.get_ref() == smeared.get_ref()) else {
                continue;
            };
            let wrong = Wrong::new(format!("{} both steps and smears", quoted(smeared.get_ref())))
                .help("a node's clock does one or the other with a leap second");
            lower.mistakes.add(Mistake::at(smeared.span(), "smears", wrong).and(stepped.span(), "steps"));
        }
        LeapSecond { stepped, smeared }.into()
    }

    fn write(kind: &LeapSecond, keys: &mut Keys<'_>) {
        if !kind.stepped.is_empty() {
            keys.nodes("stepped", kind.stepped.iter().copied());
        }
        if !kind.smeared.is_empty() {
            keys.nodes("smeared", kind.smeared.iter().copied());
        }
    }

    fn overlap(_: &LeapSecond) -> Overlap {
        Overlap::Refused(Clash {
            lasting: Span::ZERO,
            message: "two leap seconds at the same instant",
            help: "there is only one",
        })
    }
}

fn names(list: Option<&Spanned<Vec<Spanned<String>>>>) -> &[Spanned<String>] {
    list.map_or(&[], |list| list.get_ref())
}

/// `time-source = { … }`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct SourceFile {
    #[schemars(with = "terms::Jump")]
    error: Spanned<Written>,
    #[schemars(with = "Option<terms::Nodes>")]
    nodes: Option<Spanned<Vec<Spanned<String>>>>,
    #[serde(rename = "for")]
    #[schemars(with = "terms::PositiveDuration")]
    lasting: Spanned<Written>,
}

impl Inject for SourceFile {
    type Kind = TimeSource;

    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let error = lower.value(Some(&self.error), Span::ZERO, |text| match value::signed_duration(text)? {
            Span::ZERO => {
                Err(Wrong::new("an error of zero is none").help("such as \"1s\", or \"-1s\" for behind"))
            }
            error => Ok(error),
        });
        let who = match &self.nodes {
            Some(list) => {
                let who = node_list(lower, nodes, list);
                for (name, node) in list.get_ref().iter().zip(&who) {
                    if *node != NO_NODE && !nodes.disciplined().contains(node) {
                        let wrong = Wrong::new(format!("{} polls no time source", quoted(name.get_ref())))
                            .help("its clock needs a `discipline`, such as clock = { discipline = \"chrony\" }");
                        lower.mistakes.add(Mistake::at(name.span(), "undisciplined", wrong));
                    }
                }
                who
            }
            None => {
                let all = nodes.disciplined().to_vec();
                if all.is_empty() {
                    let wrong = Wrong::new("nobody polls a time source")
                        .help("give a node's clock a `discipline`, such as clock = { discipline = \"chrony\" }");
                    lower.mistakes.add(Mistake::at(self.error.span(), "nobody sees this", wrong));
                }
                all
            }
        };
        TimeSource { nodes: who, error, lasting: lasting(lower, &self.lasting) }.into()
    }

    fn write(kind: &TimeSource, keys: &mut Keys<'_>) {
        keys.duration("error", kind.error);
        if kind.nodes != keys.setting().disciplined() {
            keys.nodes("nodes", kind.nodes.iter().copied());
        }
        keys.duration("for", kind.lasting);
    }

    fn overlap(kind: &TimeSource) -> Overlap {
        Overlap::Refused(Clash {
            lasting: kind.lasting,
            message: "the same node's time source has two errors at once",
            help: "let the first end before the second begins, or give each its own `nodes`",
        })
    }
}
