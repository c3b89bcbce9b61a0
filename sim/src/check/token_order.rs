//! Every grant's token is above all earlier ones: without that a fence proves nothing.

use super::finding::Findings;
use super::{Checker, Evidence, Verdict, Witness};
use crate::history::{Claim, What};
use crate::id::{EventId, Token};

pub(super) const CHECKER: Checker = Checker {
    name: "token-order",
    holds_when: "the tokens handed out with grants, and to operators, strictly increase",
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let mut findings = Findings::default();
    let mut highest: Option<(Token, EventId)> = None;
    let mut judged = 0;
    for (id, event) in evidence.deeds() {
        let (What::LeaseGranted { token: Some(token), .. }
        | What::DispatchStopped { claim: Claim { token: Some(token), .. } }) = event.what
        else {
            continue;
        };
        judged += 1;
        match highest {
            Some((above, earlier)) if token <= above => {
                findings.add(Witness::TokenNotHigher { earlier, later: id });
            }
            _ => highest = Some((token, id)),
        }
    }
    findings.or_holds(judged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::judge_one;
    use crate::history::History;
    use crate::history::fixture::{A, B, OPERATORS, Story};

    /// Grants with these tokens, in order.
    fn grants(tokens: &[Option<u64>]) -> History {
        let tell = |story: Story, (i, &token): (usize, &Option<u64>)| {
            story.granted(if i % 2 == 0 { A } else { B }, i as u32 + 1, token)
        };
        tokens.iter().enumerate().fold(Story::new(), tell).history()
    }

    #[track_caller]
    fn holds(tokens: &[Option<u64>], judged: usize) {
        assert_eq!(judge_one(&CHECKER, &grants(tokens)), Verdict::Holds { judged });
    }

    #[track_caller]
    fn violated(tokens: &[Option<u64>], times: usize, earlier: u32, later: u32) {
        let witness = Witness::TokenNotHigher { earlier: EventId(earlier), later: EventId(later) };
        assert_eq!(judge_one(&CHECKER, &grants(tokens)), Verdict::Violated { times, witness });
    }

    #[test]
    fn holds_while_they_increase() {
        holds(&[], 0);
        holds(&[None, None], 0);
        holds(&[Some(0)], 1);
        holds(&[Some(1), Some(2), Some(7)], 3);
        holds(&[Some(1), None, Some(2)], 2);
    }

    #[test]
    fn a_token_that_is_not_above_all_earlier_ones_violates() {
        violated(&[Some(1), Some(1)], 1, 0, 1);
        violated(&[Some(0), Some(0)], 1, 0, 1);
        violated(&[Some(2), Some(1)], 1, 0, 1);
        violated(&[Some(2), None, Some(1)], 1, 0, 2);
        violated(&[Some(1), Some(2), Some(3), Some(1), Some(2), Some(4)], 2, 2, 3);
    }

    #[test]
    fn an_operators_token_is_one_of_them() {
        let verdict = |story: Story| judge_one(&CHECKER, &story.history()).name();
        let stopped = |epoch| Story::new().with_operators().granted(A, 1, Some(1)).stopped(OPERATORS[0], epoch);
        assert_eq!(verdict(stopped(2).granted(B, 3, Some(3))), "holds");
        assert_eq!(verdict(stopped(1)), "violated");
        assert_eq!(verdict(stopped(3).granted(B, 3, Some(3))), "violated");
    }
}
