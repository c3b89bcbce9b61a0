//! lease-43 on moonpool-sim's engine (`SimWorld` and `Executor`): written messages take 1 to 3 ms, everything else no time,
//! and its chaos is off.
//!
//! moonpool can't pause a node, so A looks at the time before each step and sleeps to the end of the pause if it is in it
//! ([`Gate`]). B connects when it first asks: moonpool keeps one pending connection for each address, and a second takes the
//! place of the first.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::io::{AsyncReadExt, AsyncWriteExt};
use futures::lock::Mutex as AsyncMutex;
use lease43::{
    A, B, LATENCY_MAX_US, LATENCY_MIN_US, Op, Outcome, PAUSE_AT, POLL_EVERY, RENEW_EVERY, RESUME_AT, Request,
    Response, Store, WRITE_EVERY, WRITES, args, measure,
};
use moonpool_sim::executor::{self, Executor, until_stalled};
use moonpool_sim::{
    ChaosConfiguration, LatencyDistribution, NetworkConfiguration, NetworkProvider, SimNetworkProvider,
    SimTimeProvider, SimWorld, TcpListenerTrait, TimeProvider,
};

type Stream = <SimNetworkProvider as NetworkProvider>::TcpStream;

const STORE: &str = "10.0.0.1:7";

fn nanos(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

/// Stands in for the pause: nobody gets through while it is on.
#[derive(Clone)]
struct Gate {
    time: SimTimeProvider,
    began: Duration,
    pauses: bool,
}

impl Gate {
    fn new(time: SimTimeProvider, pauses: bool) -> Gate {
        Gate { began: time.now(), time, pauses }
    }

    async fn pass(&self) {
        let (from, to) = (self.began + nanos(PAUSE_AT), self.began + nanos(RESUME_AT));
        let now = self.time.now();
        if self.pauses && (from..to).contains(&now) {
            self.time.sleep(to - now).await.expect("a simulation has time");
        }
    }

    async fn sleep(&self, span: u64) {
        self.time.sleep(nanos(span)).await.expect("a simulation has time");
        self.pass().await;
    }

    fn elapsed(&self) -> u64 {
        (self.time.now() - self.began).as_nanos() as u64
    }
}

/// A worker's end of the wire.
struct Wire {
    who: u8,
    connection: AsyncMutex<Stream>,
    gate: Gate,
}

impl Wire {
    async fn new(who: u8, network: &SimNetworkProvider, gate: Gate) -> io::Result<Wire> {
        Ok(Wire { who, connection: AsyncMutex::new(network.connect(STORE).await?), gate })
    }

    async fn call(&self, op: Op, token: u64, number: u32) -> io::Result<Response> {
        let mut connection = self.connection.lock().await;
        self.gate.pass().await;
        connection.write_all(&Request { who: self.who, op, token, number }.encode()).await?;
        let mut bytes = [0; Response::LEN];
        connection.read_exact(&mut bytes).await?;
        drop(connection);
        self.gate.pass().await;
        Ok(Response::decode(&bytes))
    }

    async fn write_all(&self, token: u64) -> io::Result<()> {
        for number in 0..WRITES {
            self.call(Op::Write, token, number).await?;
            self.gate.sleep(WRITE_EVERY).await;
        }
        Ok(())
    }
}

async fn serve(network: SimNetworkProvider, time: SimTimeProvider, store: Arc<Mutex<Store>>) -> io::Result<()> {
    let listener = network.bind(STORE).await?;
    let gate = Gate::new(time, false);
    loop {
        let (mut connection, _) = listener.accept().await?;
        let (store, gate) = (store.clone(), gate.clone());
        executor::spawn("connection", async move {
            let mut bytes = [0; Request::LEN];
            while connection.read_exact(&mut bytes).await.is_ok() {
                let request = Request::decode(&bytes);
                let answer = store.lock().expect("nobody panics with it").handle(gate.elapsed(), &request);
                if connection.write_all(&answer.encode()).await.is_err() {
                    break;
                }
            }
        });
    }
}

async fn first_worker(network: SimNetworkProvider, time: SimTimeProvider) -> io::Result<u64> {
    let gate = Gate::new(time, true);
    let wire = Arc::new(Wire::new(A, &network, gate.clone()).await?);
    let token = wire.call(Op::Acquire, 0, 0).await?.token;
    let renewing = wire.clone();
    let renewals = executor::spawn("renewals", async move {
        loop {
            renewing.gate.sleep(RENEW_EVERY).await;
            if renewing.call(Op::Renew, token, 0).await.is_err() {
                break;
            }
        }
    });
    wire.write_all(token).await?;
    renewals.abort();
    Ok(gate.elapsed())
}

async fn second_worker(network: SimNetworkProvider, time: SimTimeProvider) -> io::Result<u64> {
    let gate = Gate::new(time, false);
    gate.sleep(POLL_EVERY).await;
    let wire = Wire::new(B, &network, gate.clone()).await?;
    let token = loop {
        let response = wire.call(Op::Acquire, 0, 0).await?;
        if response.ok {
            break response.token;
        }
        gate.sleep(POLL_EVERY).await;
    };
    wire.write_all(token).await?;
    Ok(gate.elapsed())
}

fn configuration() -> NetworkConfiguration {
    let always = |span: Duration| LatencyDistribution::Uniform { start: span, end: span };
    NetworkConfiguration {
        bind_latency: always(Duration::ZERO),
        accept_latency: always(Duration::ZERO),
        connect_latency: always(Duration::ZERO),
        read_latency: always(Duration::ZERO),
        write_latency: LatencyDistribution::Uniform {
            start: Duration::from_micros(LATENCY_MIN_US),
            end: Duration::from_micros(LATENCY_MAX_US),
        },
        chaos: ChaosConfiguration::disabled(),
    }
}

fn run(seed: u64) -> Outcome {
    let store: Arc<Mutex<Store>> = Arc::default();
    let served = store.clone();
    let (end, events) = Executor::new(seed).block_on(async move {
        let mut world = SimWorld::new_with_network_config_and_seed(configuration(), seed);
        let (network, time) = (world.network_provider(), world.time_provider());
        let _store = executor::spawn("store", serve(network.clone(), time.clone(), served));
        let first = executor::spawn("a", first_worker(network.clone(), time.clone()));
        let second = executor::spawn("b", second_worker(network, time));
        loop {
            until_stalled().await;
            if first.is_finished() && second.is_finished() {
                break;
            }
            world.step();
        }
        let (first, second) = (first.await.expect("it finishes"), second.await.expect("it finishes"));
        let end = first.expect("no connection breaks").max(second.expect("no connection breaks"));
        (end, world.extract_metrics().events_processed)
    });
    let store = store.lock().expect("nobody panics with it");
    store.outcome(end, events)
}

fn main() {
    measure("moonpool", &args(2_500), run);
}
