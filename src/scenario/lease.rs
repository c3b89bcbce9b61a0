//! `[lease]`: how long leases last, what keeps them, and how they end; read and written.

use holdover_sim::lease::{Ending, LeaseService, ReplicaSpec};
use holdover_sim::service::lease_store::Expiry;
use holdover_sim::time::Span;
use holdover_sim::world::LeaseSpec;
use toml::Spanned;

use super::error::{Mistake, Wrong};
use super::file::{LeaseFile, ScenarioFile, Written};
use super::lower::{Lower, POLL_EVERY};
use super::names::{ENDINGS, EXPIRIES, LEASE_SERVICES, did_you_mean, listed, quoted};
use super::value;
use super::write::{Keys, other_than};

/// How long nobody gets a lease that was taken away, where that is so and nothing else is said; as in Consul.
pub(super) const LOCK_DELAY: Span = Span::secs(15);

/// How many replicas agree.
const AGREEING: [u64; 2] = [3, 5];
/// The most replicas that there can be.
pub(super) const MOST_REPLICAS: usize = 5;

/// The lease that `file` means.
pub(super) fn lower(lower: &mut Lower, file: &LeaseFile) -> LeaseSpec {
    let found = lower.mistakes.found();
    let ttl = lower.value(Some(&file.ttl), Span::ZERO, value::positive_duration);
    let renew_every = lower.value(Some(&file.renew_every), Span::ZERO, value::positive_duration);
    if lower.mistakes.found() == found && renew_every >= ttl {
        let wrong = Wrong::new(format!("the lease of {ttl} ends before it is renewed, every {renew_every}"))
            .help("renew well within the TTL; a quarter of it is usual");
        let mistake = Mistake::at(file.renew_every.span(), "not below the TTL", wrong);
        lower.mistakes.add(mistake.and(file.ttl.span(), "the TTL"));
    }
    let poll_every = lower.value(file.poll_every.as_ref(), POLL_EVERY, value::positive_duration);
    let service = file.service.as_ref().and_then(|name| service(lower, name));
    match service.and_then(LeaseService::replicas) {
        Some(spec) => {
            let spec = replicas(lower, file, spec, service);
            let service = service.map(|service| with(service, spec));
            LeaseSpec { ttl, renew_every, poll_every, expiry: None, service }
        }
        None => {
            refuse_keys_of_replicas(lower, file);
            let expiry = file.expiry.as_ref().and_then(|name| expiry(lower, name));
            LeaseSpec { ttl, renew_every, poll_every, expiry, service }
        }
    }
}

/// Refuses operators where the file has replicas keep the lease.
pub(super) fn refuse_operators(lower: &mut Lower, file: &ScenarioFile, lease: &LeaseSpec) {
    if let (Some(operator), Some(service)) = (file.operator.first(), &file.lease.0.service)
        && lease.service.is_some_and(|service| service != LeaseService::Table)
    {
        let wrong = Wrong::new("operators can only repair what a lease in a table led to")
            .help("take the [[operator]] away, or service = …, which is \"table\" where nothing else is said");
        let mistake = Mistake::at(service.span(), "replicas keep the lease", wrong);
        lower.mistakes.add(mistake.and(operator.0.name.span(), "the operator"));
    }
}

fn with(service: LeaseService, spec: ReplicaSpec) -> LeaseService {
    match service {
        LeaseService::Table => LeaseService::Table,
        LeaseService::AsyncReplica(_) => LeaseService::AsyncReplica(spec),
        LeaseService::Consensus(_) => LeaseService::Consensus(spec),
    }
}

fn service(lower: &mut Lower, name: &Spanned<String>) -> Option<LeaseService> {
    match name.get_ref().as_str() {
        "table" => Some(LeaseService::Table),
        "async-replica" => Some(LeaseService::AsyncReplica(ReplicaSpec::PAIR)),
        "consensus" => Some(LeaseService::Consensus(ReplicaSpec::THREE)),
        other => {
            let help = did_you_mean(other, "what can keep a lease", LEASE_SERVICES.iter().copied());
            lower.mistake(name, Wrong::new(format!("a lease can't be kept by {}", quoted(other))).help(help));
            None
        }
    }
}

fn expiry(lower: &mut Lower, name: &Spanned<String>) -> Option<Expiry> {
    match name.get_ref().as_str() {
        "asker" => Some(Expiry::ByAsker),
        "store" => Some(Expiry::ByStore),
        "transaction-start" => Some(Expiry::AT_TRANSACTION_START),
        other if ENDINGS.contains(&other) => {
            let wrong = Wrong::new(format!("a lease in a table can't end by {}", quoted(other)));
            let help = "replicas can: add service = \"consensus\", or choose one of";
            lower.mistake(name, wrong.help(format!("{help} {}", listed(EXPIRIES))));
            None
        }
        other => {
            let known = EXPIRIES.iter().chain(ENDINGS).copied();
            let help = did_you_mean(other, "whose clock it can be", known.take(EXPIRIES.len()));
            lower.mistake(name, Wrong::new(format!("a lease can't end by {}", quoted(other))).help(help));
            None
        }
    }
}

/// What the file says of the replicas.
fn replicas(lower: &mut Lower, file: &LeaseFile, spec: ReplicaSpec, service: Option<LeaseService>) -> ReplicaSpec {
    let count = match (&file.replicas, service) {
        (Some(written), Some(service)) => count(lower, written, service),
        _ => spec.count,
    };
    let ending = file.expiry.as_ref().map_or(spec.ending, |name| ending(lower, name));
    let delay = lower.value(file.lock_delay.as_ref(), LOCK_DELAY, value::positive_duration);
    let ending = match ending {
        Ending::LockDelay(_) => Ending::LockDelay(delay),
        other => {
            if let Some(written) = &file.lock_delay {
                refuse(lower, written, "lock_delay", "it goes with expiry = \"lock-delay\"");
            }
            other
        }
    };
    let is_set = |flag: &Option<Spanned<bool>>| flag.as_ref().is_none_or(|flag| *flag.get_ref());
    let (confirms_renewals, confirms_revocations) =
        (is_set(&file.confirms_renewals), is_set(&file.confirms_revocations));
    ReplicaSpec { count, ending, confirms_renewals, confirms_revocations, flaw: None }
}

fn count(lower: &mut Lower, written: &Spanned<u64>, service: LeaseService) -> u16 {
    let count = *written.get_ref();
    let (is_right, help) = match service {
        LeaseService::Consensus(_) => (AGREEING.contains(&count), "3 or 5 agree".to_owned()),
        _ => {
            let most = MOST_REPLICAS as u64;
            ((2..=most).contains(&count), format!("a primary and its copies are from 2 to {most}"))
        }
    };
    if !is_right {
        lower.mistake(written, Wrong::new(format!("`replicas` can't be {count}")).help(help));
        return ReplicaSpec::THREE.count;
    }
    u16::try_from(count).unwrap_or(ReplicaSpec::THREE.count)
}

fn ending(lower: &mut Lower, name: &Spanned<String>) -> Ending {
    match name.get_ref().as_str() {
        "leader-timers" => Ending::LeaderTimers,
        "replicated-deadlines" => Ending::ReplicatedDeadlines,
        "lock-delay" => Ending::LockDelay(LOCK_DELAY),
        other => {
            let help = did_you_mean(other, "it can end by", ENDINGS.iter().copied());
            let wrong = Wrong::new(format!("a lease that replicas keep can't end by {}", quoted(other)));
            lower.mistake(name, wrong.help(help));
            Ending::LeaderTimers
        }
    }
}

/// A table has no replicas of which anything could be said.
fn refuse_keys_of_replicas(lower: &mut Lower, file: &LeaseFile) {
    let help = "it goes with service = \"consensus\" or \"async-replica\"";
    if let Some(written) = &file.replicas {
        refuse(lower, written, "replicas", help);
    }
    if let Some(written) = &file.lock_delay {
        refuse::<Written>(lower, written, "lock_delay", help);
    }
    if let Some(written) = &file.confirms_renewals {
        refuse(lower, written, "confirms_renewals", help);
    }
    if let Some(written) = &file.confirms_revocations {
        refuse(lower, written, "confirms_revocations", help);
    }
}

fn refuse<T>(lower: &mut Lower, written: &Spanned<T>, key: &str, help: &str) {
    lower.mistake(written, Wrong::new(format!("`{key}` has nothing to say here")).help(help.to_owned()));
}

/// Writes the keys of `lease`.
pub(super) fn write(lease: &LeaseSpec, keys: &mut Keys<'_>) {
    keys.duration("ttl", lease.ttl);
    keys.duration("renew_every", lease.renew_every);
    keys.duration("poll_every", other_than(POLL_EVERY, lease.poll_every));
    keys.text("service", lease.service.map(LeaseService::name));
    if let Some(spec) = lease.service.and_then(LeaseService::replicas) {
        write_replicas(lease.service, &spec, keys);
    }
    let expiry = lease.expiry.map(|expiry| match expiry {
        Expiry::ByAsker => "asker".to_owned(),
        Expiry::ByStore => "store".to_owned(),
        Expiry::AT_TRANSACTION_START => "transaction-start".to_owned(),
        // No file says how long a transaction waits, and the reader refuses this.
        Expiry::ByStoreAtTransactionStart { lock_wait } => {
            format!("transaction-start, {} ago", value::write_duration(lock_wait))
        }
    });
    keys.text("expiry", expiry.as_deref());
}

fn write_replicas(service: Option<LeaseService>, spec: &ReplicaSpec, keys: &mut Keys<'_>) {
    let usual = match service {
        Some(LeaseService::AsyncReplica(_)) => ReplicaSpec::PAIR,
        _ => ReplicaSpec::THREE,
    };
    keys.number("replicas", other_than(u64::from(usual.count), u64::from(spec.count)));
    keys.text("expiry", other_than(usual.ending, spec.ending).map(Ending::name));
    if let Ending::LockDelay(delay) = spec.ending {
        keys.duration("lock_delay", other_than(LOCK_DELAY, delay));
    }
    keys.unset_flag("confirms_renewals", !spec.confirms_renewals);
    keys.unset_flag("confirms_revocations", !spec.confirms_revocations);
    // No file can say that something is wrong with them on purpose, and the reader refuses this.
    keys.text("flaw", spec.flaw.map(|_| "planted"));
}
