//! lease-43 on madsim with its own RPC (`Endpoint::call`), and latencies of 1 to 3 ms. The pause is madsim's.
//!
//! At the end the nodes are killed and 2 ms pass; with `--leave` the run ends without that, as in madsim's own examples, and
//! memory grows.
//!
//! Each sending and each receipt waits for a random while of up to 5 µs. As madsim never sleeps for less than 1 ms, a message
//! takes 3 to 5 ms and not 1 to 3.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use lease43::{
    A, B, LATENCY_MAX_US, LATENCY_MIN_US, Op, Outcome, PAUSE_AT, PAUSE_FOR, POLL_EVERY, RENEW_EVERY, Store,
    WRITE_EVERY, WRITES, args, measure,
};
use madsim::net::Endpoint;
use madsim::net::rpc::{Deserialize, Request, Serialize};
use madsim::runtime::Runtime;
use madsim::time::{Duration, Instant, sleep};

#[derive(Serialize, Deserialize)]
struct Call {
    who: u8,
    op: u8,
    token: u64,
    number: u32,
}

#[derive(Serialize, Deserialize)]
struct Answer {
    ok: bool,
    token: u64,
}

impl Request for Call {
    const ID: u64 = 43;
    type Response = Answer;
}

fn nanos(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

/// A worker's end of the wire.
#[derive(Clone)]
struct Wire {
    who: u8,
    endpoint: Arc<Endpoint>,
    store: SocketAddr,
}

impl Wire {
    async fn new(who: u8, own: SocketAddr, store: SocketAddr) -> Wire {
        let endpoint = Endpoint::bind(own).await.expect("the address is its node's");
        Wire { who, endpoint: Arc::new(endpoint), store }
    }

    async fn call(&self, op: Op, token: u64, number: u32) -> Answer {
        let call = Call { who: self.who, op: op as u8, token, number };
        self.endpoint.call(self.store, call).await.expect("the store answers everything")
    }

    async fn write_all(&self, token: u64) {
        for number in 0..WRITES {
            self.call(Op::Write, token, number).await;
            sleep(nanos(WRITE_EVERY)).await;
        }
    }
}

async fn serve(own: SocketAddr, store: Arc<Mutex<Store>>, began: Instant) {
    let endpoint = Endpoint::bind(own).await.expect("the address is its node's");
    endpoint.add_rpc_handler(move |Call { who, op, token, number }: Call| {
        let store = store.clone();
        async move {
            let now = began.elapsed().as_nanos() as u64;
            let request = lease43::Request { who, op: Op::numbered(op), token, number };
            let answer = store.lock().expect("nobody panics with it").handle(now, &request);
            Answer { ok: answer.ok, token: answer.token }
        }
    });
}

async fn first_worker(own: SocketAddr, store: SocketAddr) {
    let wire = Wire::new(A, own, store).await;
    let token = wire.call(Op::Acquire, 0, 0).await.token;
    let renewing = wire.clone();
    let renewals = madsim::task::spawn(async move {
        loop {
            sleep(nanos(RENEW_EVERY)).await;
            renewing.call(Op::Renew, token, 0).await;
        }
    });
    wire.write_all(token).await;
    renewals.abort();
}

async fn second_worker(own: SocketAddr, store: SocketAddr) {
    let wire = Wire::new(B, own, store).await;
    let token = loop {
        sleep(nanos(POLL_EVERY)).await;
        let answer = wire.call(Op::Acquire, 0, 0).await;
        if answer.ok {
            break answer.token;
        }
    };
    wire.write_all(token).await;
}

fn run(seed: u64, leaves: bool) -> Outcome {
    let mut config = madsim::Config::default();
    config.net.send_latency = Duration::from_micros(LATENCY_MIN_US)..Duration::from_micros(LATENCY_MAX_US);
    let runtime = Runtime::with_seed_and_config(seed, config);
    let addresses = [1, 2, 3].map(|last| SocketAddr::from(([10, 0, 0, last], 1)));
    let [own, first, second] = addresses;
    let node = |(name, address): (&str, SocketAddr)| runtime.create_node().name(name).ip(address.ip()).build();
    let nodes = [("store", own), ("a", first), ("b", second)].map(node);
    let handle = runtime.handle().clone();
    let store: Arc<Mutex<Store>> = Arc::default();
    let served = store.clone();
    let end = runtime.block_on(async move {
        let began = Instant::now();
        nodes[0].spawn(serve(own, served, began)).await.expect("it binds");
        let first = nodes[1].spawn(first_worker(first, own));
        let second = nodes[2].spawn(second_worker(second, own));
        sleep(nanos(PAUSE_AT)).await;
        handle.pause("a");
        sleep(nanos(PAUSE_FOR)).await;
        handle.resume("a");
        first.await.expect("it finishes");
        second.await.expect("it finishes");
        let end = began.elapsed().as_nanos() as u64;
        if !leaves {
            nodes.iter().for_each(|node| handle.kill(node.id()));
            sleep(Duration::from_millis(2)).await;
        }
        end
    });
    let store = store.lock().expect("nobody panics with it");
    store.outcome(end, 0)
}

fn main() {
    let args = args(1_500);
    let leaves = args.has("--leave");
    measure(if leaves { "madsim-rpc-leave" } else { "madsim-rpc" }, &args, |seed| run(seed, leaves));
}
