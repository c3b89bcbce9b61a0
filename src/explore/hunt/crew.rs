//! Several threads at one task after the other, whose results are taken in the tasks' order.
//!
//! So what comes of it doesn't depend on how many threads there are, nor on which is faster.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

/// Has `jobs` threads do the tasks 0, 1, 2 … below `tasks` with `work`, and this one `take` what comes of each in their
/// order, until that breaks off or `is_over`. Every task that was begun is done, so those that are taken are the first
/// ones, without a gap.
pub(super) fn work_through<T: Send>(
    jobs: NonZeroUsize,
    tasks: u64,
    is_over: &(dyn Fn() -> bool + Sync),
    work: &(dyn Fn(u64) -> T + Sync),
    mut take: impl FnMut(T) -> ControlFlow<()>,
) {
    let (next, broken_off) = (AtomicU64::new(0), AtomicBool::new(false));
    let (send, receive) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..jobs.get() {
            let (send, next, broken_off) = (send.clone(), &next, &broken_off);
            scope.spawn(move || {
                while !broken_off.load(Ordering::Relaxed) && !is_over() {
                    let task = next.fetch_add(1, Ordering::Relaxed);
                    // Nobody hears of it any more when enough was taken.
                    if task >= tasks || send.send((task, work(task))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        let mut early = BTreeMap::new();
        let mut taken = 0;
        for (task, result) in receive {
            early.insert(task, result);
            while let Some(result) = early.remove(&taken) {
                taken += 1;
                if take(result).is_break() {
                    broken_off.store(true, Ordering::Relaxed);
                    return;
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs(count: usize) -> NonZeroUsize {
        NonZeroUsize::new(count).expect("above zero")
    }

    /// Each task takes another time, by how much it adds up.
    fn sum(task: u64) -> u64 {
        (0..(task * 7_919) % 10_000).fold(task, |sum, n| sum.wrapping_mul(31).wrapping_add(n))
    }

    #[test]
    fn results_come_in_the_order_of_the_tasks() {
        let expected: Vec<u64> = (0..300).map(sum).collect();
        for count in [1, 2, 7] {
            let mut taken = Vec::new();
            work_through(jobs(count), 300, &|| false, &sum, |result| {
                taken.push(result);
                ControlFlow::Continue(())
            });
            assert_eq!(taken, expected, "{count} jobs");
        }
    }

    #[test]
    fn who_has_enough_gets_no_more() {
        for count in [1, 2, 7] {
            let mut taken = Vec::new();
            work_through(jobs(count), u64::MAX, &|| false, &|task| task, |task| {
                taken.push(task);
                if task == 99 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            assert_eq!(taken, (0..100).collect::<Vec<_>>(), "{count} jobs");
        }
    }

    #[test]
    fn what_was_begun_when_it_is_over_is_done_and_there_is_no_gap() {
        for count in [1, 2, 7] {
            let begun = AtomicU64::new(0);
            let work = |task| {
                begun.fetch_add(1, Ordering::Relaxed);
                task
            };
            let mut taken = Vec::new();
            work_through(jobs(count), u64::MAX, &|| begun.load(Ordering::Relaxed) > 50, &work, |task| {
                taken.push(task);
                ControlFlow::Continue(())
            });
            assert_eq!(taken, (0..begun.into_inner()).collect::<Vec<_>>(), "{count} jobs");
        }
    }
}
