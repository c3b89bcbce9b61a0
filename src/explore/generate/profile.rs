//! Profiles: how bad the nights are that are drawn.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::scenario::did_you_mean;

/// How bad the nights are that are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Profile {
    /// What happens to well-kept machines, as often as it happens to them: short stalls, live migrations, a network that
    /// loses a little. Kinds that such machines hardly see are left out, unless they are asked for.
    Realistic,
    /// What has happened to somebody somewhere, all of it at once: pauses of minutes, clocks that jump by hours, services
    /// that lose what they had written.
    Hostile,
}

impl Profile {
    /// Both.
    pub const ALL: [Profile; 2] = [Profile::Realistic, Profile::Hostile];

    /// The name that the command line uses.
    pub const fn name(self) -> &'static str {
        match self {
            Profile::Realistic => "realistic",
            Profile::Hostile => "hostile",
        }
    }

    /// The one of two values that is this profile's.
    pub(super) fn of<T>(self, realistic: T, hostile: T) -> T {
        match self {
            Profile::Realistic => realistic,
            Profile::Hostile => hostile,
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// There is no profile of this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no profile `{name}`; {help}")]
pub struct UnknownProfile {
    /// What was asked for.
    pub name: String,
    /// The profile that was meant, or those that there are.
    pub help: String,
}

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Profile, UnknownProfile> {
        Profile::ALL.into_iter().find(|profile| profile.name() == name).ok_or_else(|| UnknownProfile {
            name: name.to_owned(),
            help: did_you_mean(name, "profiles", Profile::ALL.map(Profile::name)),
        })
    }
}
