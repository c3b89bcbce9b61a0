//! lease-43 on madsim with a light transport of one's own: one mailbox for the store (tokio's unbounded mpsc), each message
//! with the instant at which it is due, until which the receiver sleeps; the answer comes by oneshot with an instant of its
//! own. The pause is madsim's.
//!
//! At the end all nodes are killed and 2 ms pass, so that no task outlives the runtime: without that memory grows.
//!
//! The mailbox gives out what came first first, so a message waits for the one before it even if that one is due later; and
//! madsim never sleeps for less than 1 ms.

use std::sync::{Arc, Mutex};

use lease43::{
    A, B, Latencies, Op, Outcome, PAUSE_AT, PAUSE_FOR, POLL_EVERY, RENEW_EVERY, Request, Response, STORE, Store,
    WRITE_EVERY, WRITES, args, measure,
};
use madsim::runtime::Runtime;
use madsim::time::{Duration, Instant, sleep, sleep_until};
use tokio::sync::{mpsc, oneshot};

struct Message {
    request: Request,
    due: Instant,
    reply: oneshot::Sender<(Response, Instant)>,
}

/// A worker's end of the wire.
#[derive(Clone)]
struct Wire {
    who: u8,
    store: mpsc::UnboundedSender<Message>,
    latencies: Arc<Mutex<Latencies>>,
}

impl Wire {
    fn new(who: u8, store: &mpsc::UnboundedSender<Message>, seed: u64) -> Wire {
        Wire { who, store: store.clone(), latencies: Arc::new(Mutex::new(Latencies::new(seed, who))) }
    }

    async fn call(&self, op: Op, token: u64, number: u32) -> Response {
        let (reply, answer) = oneshot::channel();
        let latency = self.latencies.lock().expect("nobody panics with it").next();
        let request = Request { who: self.who, op, token, number };
        let message = Message { request, due: Instant::now() + nanos(latency), reply };
        self.store.send(message).ok().expect("the store lives as long as its workers");
        let (response, due) = answer.await.expect("the store answers everything");
        sleep_until(due).await;
        response
    }

    async fn write_all(&self, token: u64) {
        for number in 0..WRITES {
            self.call(Op::Write, token, number).await;
            sleep(nanos(WRITE_EVERY)).await;
        }
    }
}

fn nanos(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

async fn serve(mut messages: mpsc::UnboundedReceiver<Message>, store: Arc<Mutex<Store>>, began: Instant, seed: u64) {
    let mut latencies = Latencies::new(seed, STORE);
    while let Some(Message { request, due, reply }) = messages.recv().await {
        sleep_until(due).await;
        let now = Instant::now();
        let at = (now - began).as_nanos() as u64;
        let response = store.lock().expect("nobody panics with it").handle(at, &request);
        // Whoever asked may have finished.
        let _sent = reply.send((response, now + nanos(latencies.next())));
    }
}

async fn first_worker(wire: Wire) {
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

async fn second_worker(wire: Wire) {
    let token = loop {
        sleep(nanos(POLL_EVERY)).await;
        let response = wire.call(Op::Acquire, 0, 0).await;
        if response.ok {
            break response.token;
        }
    };
    wire.write_all(token).await;
}

fn run(seed: u64) -> Outcome {
    let runtime = Runtime::with_seed_and_config(seed, madsim::Config::default());
    let nodes = ["store", "a", "b"].map(|name| runtime.create_node().name(name).build());
    let handle = runtime.handle().clone();
    let store: Arc<Mutex<Store>> = Arc::default();
    let served = store.clone();
    let end = runtime.block_on(async move {
        let began = Instant::now();
        let (sender, messages) = mpsc::unbounded_channel();
        nodes[0].spawn(serve(messages, served, began, seed));
        let first = nodes[1].spawn(first_worker(Wire::new(A, &sender, seed)));
        let second = nodes[2].spawn(second_worker(Wire::new(B, &sender, seed)));
        sleep(nanos(PAUSE_AT)).await;
        handle.pause("a");
        sleep(nanos(PAUSE_FOR)).await;
        handle.resume("a");
        first.await.expect("it finishes");
        second.await.expect("it finishes");
        let end = began.elapsed().as_nanos() as u64;
        nodes.iter().for_each(|node| handle.kill(node.id()));
        sleep(Duration::from_millis(2)).await;
        end
    });
    let store = store.lock().expect("nobody panics with it");
    store.outcome(end, store.events())
}

fn main() {
    measure("madsim-light", &args(4_000), run);
}
