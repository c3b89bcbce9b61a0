//! Panics: who is to blame for one, and where it came from.
//!
//! A protocol's code may panic, and that is how its run ends. A panic of the simulator is a bug of ours, and must be told
//! with its place. What is caught says neither, so a panic hook notes the place; the hook that was there before is called
//! as ever.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{self, AssertUnwindSafe, Location, catch_unwind};
use std::sync::Once;
use std::thread;

use serde::{Deserialize, Serialize};

/// A panic that was caught.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Panic {
    /// What it said.
    pub message: String,
    /// Where it came from, as file, line and column; `None` if another hook keeps ours from noting it.
    pub place: Option<String>,
    /// Whether it came from code of ours, and not because that was used in a way that it refuses.
    #[serde(skip)]
    pub is_own: bool,
}

/// As a phrase: `at sim/src/run.rs:10:5: no such node`.
impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "at {place}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

thread_local! {
    /// How many calls of [`catch`] this thread is in.
    static CATCHING: Cell<usize> = const { Cell::new(0) };
    /// The place of the newest panic that will be caught, and whether it is the simulator's own.
    static PLACE: RefCell<Option<(String, bool)>> = const { RefCell::new(None) };
    /// Whether the panic to come is about how the simulator is used.
    static MISUSED: Cell<bool> = const { Cell::new(false) };
}

/// Counts a call of [`catch`], however it ends.
struct Catching;

impl Catching {
    fn begin() -> Catching {
        CATCHING.set(CATCHING.get() + 1);
        Catching
    }
}

impl Drop for Catching {
    fn drop(&mut self) {
        CATCHING.set(CATCHING.get() - 1);
    }
}

/// Calls `body`, and gives out what it comes to or its panic.
///
/// # Errors
/// The panic, if it panicked. Whatever `body` was at may be half done then.
pub fn catch<T>(body: impl FnOnce() -> T) -> Result<T, Panic> {
    listen();
    let caught = {
        let _catching = Catching::begin();
        catch_unwind(AssertUnwindSafe(body))
    };
    caught.map_err(|panic| {
        let (place, is_own) = PLACE.take().unzip();
        let is_misuse = MISUSED.replace(false);
        Panic { message: text(&*panic).to_owned(), place, is_own: is_own.unwrap_or(false) && !is_misuse }
    })
}

/// Goes on with a panic that was caught on another thread, as if it were this one's.
pub fn go_on(panic: Panic) -> ! {
    let Panic { message, place, is_own } = panic;
    PLACE.set(place.map(|place| (place, is_own)));
    panic::resume_unwind(Box::new(message))
}

/// Whether whoever called what runs on this thread catches panics: then it tells of them itself.
pub fn is_caught() -> bool {
    CATCHING.get() > 0
}

/// Panics because the simulator is used in a way that it refuses: the caller's code is to blame, and not the simulator.
#[cold]
pub(crate) fn misused(message: &str) -> ! {
    MISUSED.set(true);
    panic!("{message}")
}

/// Has places of panics noted from now on.
fn listen() {
    static LISTENING: Once = Once::new();
    // A hook can't be set by whoever panics.
    if thread::panicking() {
        return;
    }
    LISTENING.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if is_caught() {
                PLACE.set(panic.location().map(told));
            }
            usual(panic);
        }));
    });
}

/// A place as it is told, the same in every build: that of a file of ours from the folder that all of them are in.
pub fn place(location: &Location<'_>) -> String {
    told(location).0
}

/// A place as it is told, the same in every build, and whether it is in code of ours.
fn told(location: &Location<'_>) -> (String, bool) {
    let (file, line, column) = (location.file(), location.line(), location.column());
    let own = file.strip_prefix(root()).map(|own| own.replace('\\', "/"));
    match own.filter(|own| OWN.iter().any(|folder| own.starts_with(folder))) {
        Some(own) => (format!("{own}:{line}:{column}"), true),
        None => (format!("{file}:{line}:{column}"), false),
    }
}

/// The folders of our own code.
const OWN: [&str; 2] = ["sim/src/", "src/"];

/// The folder that our sources were in when they were built, as the compiler names it: nothing if it was built there.
fn root() -> &'static str {
    let here = file!();
    &here[..here.len() - "sim/src/panics.rs".len()]
}

/// What a panic says, of what it was thrown with.
pub fn text(thrown: &(dyn Any + Send)) -> &str {
    let text = thrown.downcast_ref::<&str>().copied();
    text.or_else(|| thrown.downcast_ref::<String>().map(String::as_str)).unwrap_or("(a panic without a text)")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caught(body: impl FnOnce()) -> Panic {
        catch(body).expect_err("it panics")
    }

    #[test]
    fn what_came_from_here_is_our_own_unless_it_was_asked_for() {
        let own = caught(|| panic!("{} nodes", 3));
        assert_eq!((own.message.as_str(), own.is_own), ("3 nodes", true));
        assert!(own.place.as_ref().is_some_and(|place| place.starts_with("sim/src/panics.rs:")), "{own}");
        assert!(!caught(|| misused("not like that")).is_own);
        // It is said of one panic, and not of the next.
        assert!(caught(|| panic!("again")).is_own);
        let index = caught(|| assert_eq!(std::hint::black_box(&[0][..])[std::hint::black_box(7)], 0));
        assert!(index.is_own, "what the standard library checks is told of its caller: {index}");
        assert_eq!(catch(|| 7), Ok(7));
    }

    #[test]
    fn who_catches_within_is_told_first() {
        let outer = caught(|| {
            assert!(is_caught());
            assert_eq!(caught(|| panic!("within")).message, "within");
            assert!(is_caught());
            panic!("around");
        });
        assert_eq!(outer.message, "around");
        assert!(!is_caught());
    }

    #[test]
    fn other_things_than_texts_can_be_thrown() {
        assert_eq!(caught(|| panic::panic_any(7)).message, "(a panic without a text)");
    }
}
