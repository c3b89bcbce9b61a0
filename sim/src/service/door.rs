//! The doors of ledger and gateway: who is let in.

use crate::history::Refusal;
use crate::id::Token;

/// Decides who may mutate. To judge a token and to remember it is one step.
pub trait Door {
    /// Lets a holder of `token` in, or says why not.
    ///
    /// # Errors
    /// The reason for which the holder is turned away.
    fn admit(&mut self, token: Option<Token>) -> Result<(), Refusal>;

    /// The process dies; what the door kept only in memory is gone. The default is that all is on disk.
    fn crash(&mut self) {}

    /// Whether it looks at tokens at all.
    fn checks_tokens(&self) -> bool {
        self.highest().is_some()
    }

    /// The highest token that it saw, if it remembers that.
    fn highest(&self) -> Option<Token> {
        None
    }

    /// The same door as it is now: what a backup of it would have.
    fn copy(&self) -> Box<dyn Door>;
}

/// Lets everybody in who presents any lease at all: the incident's door.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnyLease;

impl Door for AnyLease {
    fn admit(&mut self, _: Option<Token>) -> Result<(), Refusal> {
        Ok(())
    }

    fn copy(&self) -> Box<dyn Door> {
        Box::new(*self)
    }
}

/// Lets nobody in with a token below the highest that it saw, which it keeps on disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct HighestToken {
    highest: Option<Token>,
}

impl HighestToken {
    /// A door that lets nobody in below `token`.
    pub fn above(token: Token) -> HighestToken {
        HighestToken { highest: Some(token) }
    }
}

impl Door for HighestToken {
    fn admit(&mut self, token: Option<Token>) -> Result<(), Refusal> {
        let token = token.ok_or(Refusal::NoToken)?;
        match self.highest {
            Some(highest) if token < highest => Err(Refusal::TokenTooLow { highest }),
            _ => {
                self.highest = Some(token);
                Ok(())
            }
        }
    }

    fn highest(&self) -> Option<Token> {
        self.highest
    }

    fn copy(&self) -> Box<dyn Door> {
        Box::new(*self)
    }
}

/// Which of the first tokens `door` would let in: what of it can be seen.
#[cfg(test)]
pub(crate) fn admits(door: &dyn Door) -> Vec<bool> {
    (0..8).map(|token| door.copy().admit(Some(Token(token))).is_ok()).collect()
}

/// Any door, with all that it learns kept in memory only: after a crash it is as it was in the beginning.
pub struct Forgetful {
    in_the_beginning: Box<dyn Door>,
    door: Box<dyn Door>,
}

impl Forgetful {
    /// `door` as it is in the beginning.
    pub fn new(door: Box<dyn Door>) -> Forgetful {
        Forgetful { in_the_beginning: door.copy(), door }
    }
}

impl Door for Forgetful {
    fn admit(&mut self, token: Option<Token>) -> Result<(), Refusal> {
        self.door.admit(token)
    }

    fn crash(&mut self) {
        self.door = self.in_the_beginning.copy();
    }

    fn highest(&self) -> Option<Token> {
        self.door.highest()
    }

    fn copy(&self) -> Box<dyn Door> {
        Box::new(Forgetful { in_the_beginning: self.in_the_beginning.copy(), door: self.door.copy() })
    }
}
