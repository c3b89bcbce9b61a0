//! What protocols rely on of the services.

use super::Assumption;
use crate::fault::Stops;
use crate::history::{Claim, Event, History, Role, What};
use crate::id::Token;
use crate::lease::LeaseService;
use crate::time::TrueTime;

/// See its sentence.
pub const EXPIRY_AS_MEANT: Assumption = Assumption {
    name: "expiry-as-meant",
    sentence: "a lease ends by the clock that the protocol means, whatever the scenario says",
    is_kept: |history| history.expiry_as_meant,
};

/// See its sentence.
pub const ONE_PRIMARY_ANSWERS: Assumption = Assumption {
    name: "one-primary-answers",
    sentence: "once a replica has taken a service's place, the old primary answers nobody",
    is_kept: |history| !history.events.iter().any(|event| matches!(event.what, What::DeposedServed { .. })),
};

/// See its sentence.
pub const LEASES_SURVIVE_FAILOVER: Assumption = Assumption {
    name: "leases-survive-failover",
    sentence: "the lease store forgets no grant and no renewal",
    is_kept: |history| {
        nothing_lost(history, |event| matches!(event.what, What::LeaseGranted { .. } | What::LeaseRenewed { .. }))
    },
};

/// See its sentence.
pub const TOKEN_COUNTER_SURVIVES_FAILOVER: Assumption = Assumption {
    name: "token-counter-survives-failover",
    sentence: "after a restart or a failover the lease store hands out no token that it had handed out before",
    is_kept: |history| {
        let granted = |event: &Event| match event.what {
            What::LeaseGranted { token, .. } => token,
            _ => None,
        };
        // Replicas are relied on to keep one order of grants, and to lose no disk.
        history.lease_service != LeaseService::Table
            || falls(history, Role::LeaseStore, granted, |token, highest| token <= highest)
                .all(|after_outage| !after_outage)
    },
};

/// See its sentence.
pub const RESOURCE_CHECKS_TOKENS: Assumption = Assumption {
    name: "resource-checks-tokens",
    sentence: "ledger and gateway each turn away whoever comes with a lower token than it has seen",
    is_kept: |history| doors_fall(history).all(|after_outage| after_outage),
};

/// See its sentence.
pub const HIGHEST_TOKEN_DURABLE: Assumption = Assumption {
    name: "highest-token-durable",
    sentence: "ledger and gateway still know the highest token after a restart or a failover",
    is_kept: |history| doors_fall(history).all(|after_outage| !after_outage),
};

/// See its sentence.
pub const ACCEPTED_IS_DURABLE: Assumption = Assumption {
    name: "accepted-is-durable",
    sentence: "ledger and provider lose nothing that they have accepted",
    is_kept: |history| {
        nothing_lost(history, |event| {
            let keeper = history.is(event.node, Role::Ledger) || history.is(event.node, Role::Provider);
            keeper && event.what.is_written()
        })
    },
};

/// Whether no service lost anything that `matters`. What a deposed primary does is lost when it is gone.
fn nothing_lost(history: &History, matters: impl Fn(&Event) -> bool) -> bool {
    history.events.iter().enumerate().all(|(index, event)| {
        let What::WritesLost { since } = event.what else {
            return !(matters(event) && history.by_deposed(event));
        };
        let later = history.events[..index].iter().rev().take_while(|earlier| earlier.at > since);
        !later.into_iter().any(|earlier| earlier.node == event.node && matters(earlier))
    })
}

/// Each time that the door of ledger or gateway let in a lower token than before: whether it was down in between.
fn doors_fall(history: &History) -> impl Iterator<Item = bool> {
    let entered = |event: &Event| {
        let claim: Option<Claim> = match event.what {
            What::GenerationOpened { claim, .. }
            | What::WriteRepeated { claim, .. }
            | What::PayoutMade { claim, .. }
            | What::PayoutRepeated { claim, .. }
            | What::GatewayFenced { claim, .. }
            | What::PayoutsTold { claim, .. }
            | What::PayoutVoided { claim, .. }
            | What::RefundBegun { claim, .. } => Some(claim),
            _ => event.what.mutation(),
        };
        claim.and_then(|claim| claim.token)
    };
    let lower = |token, highest| token < highest;
    falls(history, Role::Ledger, entered, lower).chain(falls(history, Role::Provider, entered, lower))
}

/// What one half of a service has seen; the only one, if no primary was deposed.
#[derive(Clone, Copy, Default)]
struct Seen {
    highest: Option<(Token, TrueTime)>,
    last_outage: Option<TrueTime>,
}

/// Each time that a token `seen` on the node with `role` is `too_low` beside the highest before: whether the node's service
/// went down after that one was seen. A deposed primary and the new one have seen the same up to the split, and each its
/// own afterwards.
fn falls<'a>(
    history: &'a History,
    role: Role,
    seen: impl Fn(&Event) -> Option<Token> + 'a,
    too_low: impl Fn(Token, Token) -> bool + 'a,
) -> impl Iterator<Item = bool> + 'a {
    let (mut primary, mut deposed) = (Seen::default(), Seen::default());
    history.events.iter().filter(move |event| history.is(event.node, role)).filter_map(move |event| {
        if let What::FaultBegan { fault } = event.what {
            let inject = &history.plan[fault.index()].inject;
            match inject.stops() {
                Stops::Service => primary.last_outage = Some(event.at),
                // A replica takes the service's place by a split as well.
                Stops::Primary => {
                    deposed = primary;
                    primary.last_outage = Some(event.at);
                }
                Stops::Nothing | Stops::Nodes | Stops::AtTimes | Stops::Process => {}
            }
        }
        let token = seen(event)?;
        let half = if history.by_deposed(event) { &mut deposed } else { &mut primary };
        match half.highest {
            Some((above, at)) if too_low(token, above) => {
                Some(half.last_outage.is_some_and(|outage| outage >= at))
            }
            _ => {
                half.highest = Some((token, event.at));
                None
            }
        }
    })
}
