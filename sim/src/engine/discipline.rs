//! What sets a node's clocks right: a time daemon or an agent of the host, by the rules of the real ones.
//!
//! It is no task: it has a process of its own, which a stall of the worker's doesn't stop. It polls by its node's
//! monotonic clock, so a freeze puts its polls off; if the network is dead when one is due, it polls at the resume. A
//! sample is right but for what is wrong with the source and up to half a millisecond that is drawn, and takes no time.
//! Only the offset is corrected, by steps and by slews; a slew bends the monotonic clock as well.

use super::World;
use super::tasks::Wakeup;
use crate::clock::{Clock, Deadline};
use crate::fault::smear;
use crate::history::What;
use crate::id::NodeId;
use crate::seed::{Purpose, Stream};
use crate::time::{Span, TrueTime};
use crate::world::{Discipline, TimeDaemon, WorldSpec};

/// How far off a sample is at most, either way. Also what chrony takes for the deviation of its samples.
const SAMPLE_ERROR: Span = Span::micros(500);

/// What a time daemon waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alarm {
    /// The next poll.
    Poll,
    /// The end of a slew, or of a second of one.
    Slew,
}

/// What a node's daemon would be told.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Source {
    /// How far it is ahead of true time.
    error: Span,
    /// When the leap second strikes that it smears, if it smears one.
    smears: Option<TrueTime>,
}

impl Source {
    fn error(self, at: TrueTime) -> Span {
        self.error + self.smears.map_or(Span::ZERO, |strike| smear(strike, at))
    }
}

/// A node's time daemon.
#[derive(Debug)]
pub(crate) struct Daemon {
    discipline: Discipline,
    samples: Stream,
    /// How often it has polled.
    updates: u32,
    /// When ntpd last had a sample that it believed, by the monotonic clock.
    believed: i64,
    /// What is left to correct in a slew by the kernel.
    left: Span,
    /// The timer that ends a slew.
    slew: Option<u32>,
    /// Whether a slew ended while its machine was stopped, which it finds when that goes on.
    ended: bool,
    /// When it polls next, by the monotonic clock.
    polls_at: i64,
    /// The timer for that; `None` while the poll waits for the network.
    poll: Option<u32>,
}

/// What a snapshot of a machine has of its time daemon.
#[derive(Clone, Copy, Debug)]
pub(super) struct DaemonImage {
    discipline: Discipline,
    updates: u32,
    believed: i64,
    polls_at: i64,
}

/// What a daemon does about a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    /// Nothing: what it did before goes on.
    None,
    Step(Span),
    /// A slew by so many parts per billion, until the raw clock has advanced by so much, or until the next poll.
    Slew(i32, Option<Span>),
    /// The kernel takes so much off, a part of what is left each second.
    Kernel(Span),
    /// It ends.
    Exit,
}

impl Daemon {
    /// What it does about a wall clock that is `ahead` by this much, as far as it can tell, at `mono`.
    fn judge(&mut self, ahead: Span, mono: i64) -> Action {
        self.updates += 1;
        let (off, poll) = (Span::nanos(ahead.as_nanos().saturating_abs()), self.discipline.poll.as_nanos());
        match self.discipline.daemon {
            TimeDaemon::Ntpd => self.judge_as_ntpd(ahead, off, mono),
            TimeDaemon::Chrony if off > Span::secs(1) && self.updates <= 3 => Action::Step(-ahead),
            TimeDaemon::Chrony => {
                // A slew that takes as long as 1.5 · deviation · poll / offset, and a second at least; never steeper
                // than a twelfth.
                let (off, deviation) = (i128::from(off.as_nanos()), i128::from(SAMPLE_ERROR.as_nanos()));
                if off == 0 {
                    return Action::Slew(0, None);
                }
                let takes = (3 * deviation * i128::from(poll) / 2 / off).max(SECOND);
                let ppb = (off * SECOND / takes).clamp(1, 83_333_333);
                let takes = Span::nanos((off * SECOND / ppb) as i64);
                Action::Slew(if ahead.is_negative() { ppb as i32 } else { -(ppb as i32) }, Some(takes))
            }
            TimeDaemon::Timesyncd if off >= Span::millis(400) => Action::Step(-ahead),
            TimeDaemon::Timesyncd => Action::Kernel(-ahead),
            TimeDaemon::HostAgent if off > Span::millis(100) => Action::Step(-ahead),
            TimeDaemon::HostAgent => Action::None,
        }
    }

    fn judge_as_ntpd(&mut self, ahead: Span, off: Span, mono: i64) -> Action {
        if off > Span::secs(1_000) {
            return Action::Exit;
        }
        if off >= Span::millis(128) {
            let for_long = mono.saturating_sub(self.believed) >= Span::secs(300).as_nanos();
            if self.updates > 1 && !for_long {
                return Action::None;
            }
            self.believed = mono;
            return Action::Step(-ahead);
        }
        self.believed = mono;
        // Its loop takes off a part of 16 polls each second.
        let ppb = -i128::from(ahead.as_nanos()) * SECOND / (16 * i128::from(self.discipline.poll.as_nanos()));
        Action::Slew(ppb.clamp(-500_000, 500_000) as i32, None)
    }

    /// What the kernel takes off within the next second, in nanoseconds; 0 at the end. Its formula is offset >> (2 +
    /// constant). The constant that timesyncd gives it is log₂ of the poll in whole seconds, rounded down, less 4, and the
    /// kernel takes what is below 0 for 0 and what is above 10 for 10.
    fn next_second(&mut self) -> i32 {
        let seconds = self.discipline.poll.as_nanos() / 1_000_000_000;
        let constant = seconds.max(1).ilog2().saturating_sub(4).min(10);
        let left = self.left.as_nanos();
        let part = left.signum() * (left.abs() >> (2 + constant));
        self.left = self.left - Span::nanos(part);
        part as i32
    }
}

/// Nanoseconds in a second, and parts of a whole in parts per billion.
const SECOND: i128 = 1_000_000_000;

impl World {
    /// Has the nodes' time daemons begin: each polls for the first time somewhere in its first interval.
    pub(super) fn start_daemons(&self, spec: &WorldSpec) {
        let services = spec.service_clocks.iter().map(|(node, clock)| (*node, clock.discipline));
        // Operators' nodes come right behind the workers'.
        let workers = spec.workers.iter().chain(&spec.operators).enumerate();
        let workers = workers.map(|(index, worker)| (crate::world::worker_node(index), worker.clock.discipline));
        for (node, discipline) in services.chain(workers) {
            let Some(discipline) = discipline else { continue };
            let mut samples = Stream::new(self.seed, Purpose::TimeSamples(node));
            let first = samples.between(Span::nanos(1), discipline.poll);
            let image = DaemonImage { discipline, updates: 0, believed: 0, polls_at: first.as_nanos() };
            self.start_daemon(node, image, samples);
        }
    }

    /// Has a time daemon of `node` begin where `image` has got to.
    fn start_daemon(&self, node: NodeId, image: DaemonImage, samples: Stream) {
        let DaemonImage { discipline, updates, believed, polls_at } = image;
        let (left, slew, ended, poll) = (Span::ZERO, None, false, None);
        let daemon = Daemon { discipline, samples, updates, believed, left, slew, ended, polls_at, poll };
        *self.node(node).daemon.borrow_mut() = Some(Box::new(daemon));
        self.await_poll(node, polls_at);
    }

    /// The daemon of `node` polls when the monotonic clock reads `polls_at`.
    fn await_poll(&self, node: NodeId, polls_at: i64) {
        let deadline = Deadline { clock: Clock::Monotonic, reading: polls_at };
        let timer = self.set_timer(node, deadline, Wakeup::Daemon(node, Alarm::Poll));
        self.with_daemon(node, |daemon| (daemon.polls_at, daemon.poll) = (polls_at, Some(timer)));
    }

    /// What a snapshot of `node` has of its daemon, if that has one.
    pub(super) fn daemon_image(&self, node: NodeId) -> Option<DaemonImage> {
        self.with_daemon(node, |daemon| {
            let Daemon { discipline, updates, believed, polls_at, .. } = *daemon;
            DaemonImage { discipline, updates, believed, polls_at }
        })
    }

    /// The daemon of `node` is what it was at a snapshot, but for the slew that it had under way. Its samples go on.
    pub(super) fn put_daemon_back(&self, node: NodeId, image: Option<DaemonImage>) {
        let owner = self.node(node);
        self.slew_by_daemon(node, 0, None);
        let earlier = owner.daemon.borrow_mut().take();
        if let Some(timer) = earlier.as_ref().and_then(|daemon| daemon.poll) {
            self.release_timer(timer);
        }
        let Some(image) = image else { return };
        let samples = earlier.map(|daemon| daemon.samples);
        let samples = samples.unwrap_or_else(|| Stream::new(self.seed, Purpose::TimeSamples(owner.draws_as)));
        self.start_daemon(node, image, samples);
    }

    /// Has the daemon of `node` see true time wrong by `by` more than now.
    pub(crate) fn shift_source(&self, node: NodeId, by: Span) {
        let source = self.node(node).source.get();
        self.node(node).source.set(Source { error: source.error + by, ..source });
    }

    /// Has the daemon of `node` be told a time that smears the leap second at `strike`.
    pub(crate) fn smear_source(&self, node: NodeId, strike: TrueTime) {
        let source = self.node(node).source.get();
        self.node(node).source.set(Source { smears: Some(strike), ..source });
    }

    /// An agent of the host will step the wall clock of `node` by what it lost, `after` from now.
    pub(crate) fn correct_later(&self, node: NodeId, after: Span) {
        self.push(self.now() + after, super::Due::Correct(node));
    }

    pub(super) fn correct(&self, node: NodeId) {
        let owner = self.node(node);
        if !owner.takes_messages() {
            return owner.held.borrow_mut().push(super::Due::Correct(node));
        }
        let lost = owner.lost.get();
        if lost > Span::ZERO {
            self.correct_clock(node, lost);
        }
    }

    /// An alarm of the daemon of `node` went off.
    pub(super) fn wake_daemon(&self, node: NodeId, alarm: Alarm, timer: u32) {
        self.release_timer(timer);
        match alarm {
            Alarm::Poll => {
                self.with_daemon(node, |daemon| daemon.poll = None);
                self.poll_source(node);
            }
            Alarm::Slew => self.slew_on(node),
        }
    }

    /// A slew is over, or a second of one by the kernel. A daemon that is stopped with its machine can't end a slew, so
    /// the clocks stay bent until it goes on. A kernel catches up with what it missed, second by second: its slew goes on
    /// as if nothing had stopped it, and only the news of its end is late.
    fn slew_on(&self, node: NodeId) {
        let owner = self.node(node);
        if owner.takes_messages() {
            return self.go_on_slewing(node, false);
        }
        let is_kernels = self.with_daemon(node, |daemon| daemon.left != Span::ZERO) == Some(true);
        let ends = if is_kernels { self.slew_for_a_second(node) == 0 } else { true };
        self.with_daemon(node, |daemon| daemon.ended |= ends);
    }

    /// The machine of `node` goes on: its daemon finds out about a slew that is over.
    pub(super) fn wake_daemon_up(&self, node: NodeId) {
        let ended = self.with_daemon(node, |daemon| std::mem::take(&mut daemon.ended)) == Some(true);
        if ended {
            self.with_daemon(node, |daemon| daemon.slew = None);
            if self.node(node).set_daemon_slew(0) {
                self.bend_clocks(node);
            }
            self.note(node, What::ClockSlewed { ppb: 0 });
        }
    }

    /// A host's agent looks at its guest's clock as soon as that has been resumed. One that was put back while a pause stops
    /// it is resumed when that ends.
    pub(super) fn wake_host_agent(&self, node: NodeId) {
        if !self.node(node).takes_messages() {
            return;
        }
        let mut daemon = self.node(node).daemon.borrow_mut();
        let Some(agent) = &mut *daemon else { return };
        if agent.discipline.daemon != TimeDaemon::HostAgent {
            return;
        }
        let action = self.sample(node, agent);
        drop(daemon);
        self.act(node, action);
    }

    /// The daemon of `node` polls its source.
    pub(super) fn poll_source(&self, node: NodeId) {
        let owner = self.node(node);
        if !owner.takes_messages() {
            return owner.held.borrow_mut().push(super::Due::Poll(node));
        }
        let mut daemon = owner.daemon.borrow_mut();
        // One that was put back meanwhile has a timer again, and polls when that says.
        let Some(polling) = daemon.as_deref_mut().filter(|daemon| daemon.poll.is_none()) else { return };
        let poll = polling.discipline.poll;
        let action = self.sample(node, polling);
        drop(daemon);
        self.act(node, action);
        if action != Action::Exit {
            let polls_at = self.read_clock(node, Clock::Monotonic).saturating_add(poll.as_nanos());
            self.await_poll(node, polls_at);
        }
    }

    /// What `daemon` does about what it is told now.
    fn sample(&self, node: NodeId, daemon: &mut Daemon) -> Action {
        let owner = self.node(node);
        let (now, clocks) = (self.now(), owner.clocks.borrow());
        let right = self.start() + (now - TrueTime::START) + owner.source.get().error(now);
        let noise = daemon.samples.between(-SAMPLE_ERROR, SAMPLE_ERROR);
        daemon.judge(clocks.wall(now) - right + noise, clocks.mono(now).as_nanos())
    }

    fn act(&self, node: NodeId, action: Action) {
        match action {
            Action::None => {}
            Action::Step(by) => {
                self.slew_by_daemon(node, 0, None);
                self.correct_clock(node, by);
            }
            Action::Slew(ppb, lasting) => self.slew_by_daemon(node, ppb, lasting),
            Action::Kernel(offset) => {
                self.forget_slew(node);
                self.with_daemon(node, |daemon| daemon.left = offset);
                self.go_on_slewing(node, true);
            }
            Action::Exit => {
                self.slew_by_daemon(node, 0, None);
                self.note(node, What::TimeDaemonExited);
                *self.node(node).daemon.borrow_mut() = None;
            }
        }
    }

    /// Steps the wall clock of `node`, which is right from then on as far as anybody there can tell.
    fn correct_clock(&self, node: NodeId, by: Span) {
        self.step(node, by);
        self.node(node).lost.set(Span::ZERO);
        self.note(node, What::ClockCorrected { by });
    }

    /// A slew is over, or a second of one by the kernel, or it begins. The second and later seconds of one by the kernel are
    /// no news.
    fn go_on_slewing(&self, node: NodeId, begins: bool) {
        let before = self.node(node).daemon_slew();
        let ppb = self.slew_for_a_second(node);
        if ppb != before && (begins || ppb == 0) {
            self.note(node, What::ClockSlewed { ppb });
        }
    }

    /// Bends the clocks of `node` by what the kernel takes off within the next second, and returns that; 0 at the end.
    fn slew_for_a_second(&self, node: NodeId) -> i32 {
        let part = self.with_daemon(node, |daemon| {
            daemon.slew = None;
            daemon.next_second()
        });
        let part = part.unwrap_or(0);
        if self.node(node).set_daemon_slew(part) {
            self.bend_clocks(node);
        }
        if part != 0 {
            self.end_slew_after(node, Span::secs(1));
        }
        part
    }

    /// The daemon of `node` slews from now on by `ppb`, until the raw clock has advanced by `lasting`.
    fn slew_by_daemon(&self, node: NodeId, ppb: i32, lasting: Option<Span>) {
        self.forget_slew(node);
        if self.node(node).set_daemon_slew(ppb) {
            self.bend_clocks(node);
            self.note(node, What::ClockSlewed { ppb });
        }
        if let Some(lasting) = lasting {
            self.end_slew_after(node, lasting);
        }
    }

    /// Lets go of the timer that would end a slew.
    fn forget_slew(&self, node: NodeId) {
        let timer = self.with_daemon(node, |daemon| {
            (daemon.left, daemon.ended) = (Span::ZERO, false);
            daemon.slew.take()
        });
        if let Some(timer) = timer.flatten() {
            self.release_timer(timer);
        }
    }

    fn end_slew_after(&self, node: NodeId, raw: Span) {
        let reading = self.read_clock(node, Clock::Raw).saturating_add(raw.as_nanos());
        let deadline = Deadline { clock: Clock::Raw, reading };
        let timer = self.set_timer(node, deadline, Wakeup::Daemon(node, Alarm::Slew));
        self.with_daemon(node, |daemon| daemon.slew = Some(timer));
    }

    /// Records what happened to the clocks of `node`. It is not what leads to what follows.
    fn note(&self, node: NodeId, what: What) {
        let cause = self.cause();
        self.record(node, what);
        self.set_cause(cause);
    }

    fn with_daemon<T>(&self, node: NodeId, change: impl FnOnce(&mut Daemon) -> T) -> Option<T> {
        self.node(node).daemon.borrow_mut().as_deref_mut().map(change)
    }
}
