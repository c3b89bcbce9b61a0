//! lease-43 on turmoil, with one TCP connection for each worker; A's two tasks share theirs. `--tick MS` says how long a tick
//! is, 1 ms if it isn't given.
//!
//! turmoil can't pause a node, so A looks at the time before each step and sleeps to the end of the pause if it is in it
//! ([`Gate`]). Latencies are turmoil's, from 1 ms to 3 ms by its own curve, which is mostly 1 ms.

use std::cell::{Cell, RefCell};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;

use lease43::{
    A, B, LATENCY_MAX_US, LATENCY_MIN_US, Op, Outcome, PAUSE_AT, POLL_EVERY, RENEW_EVERY, RESUME_AT, Request,
    Response, Store, WRITE_EVERY, WRITES, args, measure,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Mutex;
use tokio::time::{Duration, Instant, sleep, sleep_until};
use turmoil::net::{TcpListener, TcpStream};

const PORT: u16 = 7;

fn nanos(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

/// Stands in for the pause: nobody gets through while it is on.
#[derive(Clone)]
struct Gate {
    began: Instant,
    pauses: bool,
}

impl Gate {
    fn new(pauses: bool) -> Gate {
        Gate { began: Instant::now(), pauses }
    }

    async fn pass(&self) {
        let (from, to) = (self.began + nanos(PAUSE_AT), self.began + nanos(RESUME_AT));
        if self.pauses && (from..to).contains(&Instant::now()) {
            sleep_until(to).await;
        }
    }

    async fn sleep(&self, span: u64) {
        sleep(nanos(span)).await;
        self.pass().await;
    }
}

/// A worker's end of the wire.
struct Wire {
    who: u8,
    connection: Mutex<TcpStream>,
    gate: Gate,
}

impl Wire {
    async fn new(who: u8, gate: Gate) -> io::Result<Wire> {
        Ok(Wire { who, connection: Mutex::new(TcpStream::connect(("store", PORT)).await?), gate })
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

async fn serve(store: Rc<RefCell<Store>>) -> turmoil::Result {
    let began = Instant::now();
    let listener = TcpListener::bind((IpAddr::from(Ipv4Addr::UNSPECIFIED), PORT)).await?;
    loop {
        let (mut connection, _) = listener.accept().await?;
        let store = store.clone();
        tokio::task::spawn_local(async move {
            let mut bytes = [0; Request::LEN];
            while connection.read_exact(&mut bytes).await.is_ok() {
                let now = began.elapsed().as_nanos() as u64;
                let answer = store.borrow_mut().handle(now, &Request::decode(&bytes));
                if connection.write_all(&answer.encode()).await.is_err() {
                    break;
                }
            }
        });
    }
}

async fn first_worker(end: Rc<Cell<u64>>) -> turmoil::Result {
    let gate = Gate::new(true);
    let wire = Rc::new(Wire::new(A, gate.clone()).await?);
    let token = wire.call(Op::Acquire, 0, 0).await?.token;
    let renewing = wire.clone();
    let renewals = tokio::task::spawn_local(async move {
        loop {
            renewing.gate.sleep(RENEW_EVERY).await;
            if renewing.call(Op::Renew, token, 0).await.is_err() {
                break;
            }
        }
    });
    wire.write_all(token).await?;
    renewals.abort();
    end.set(end.get().max(gate.began.elapsed().as_nanos() as u64));
    Ok(())
}

async fn second_worker(end: Rc<Cell<u64>>) -> turmoil::Result {
    let gate = Gate::new(false);
    let wire = Wire::new(B, gate.clone()).await?;
    let token = loop {
        gate.sleep(POLL_EVERY).await;
        let response = wire.call(Op::Acquire, 0, 0).await?;
        if response.ok {
            break response.token;
        }
    };
    wire.write_all(token).await?;
    end.set(end.get().max(gate.began.elapsed().as_nanos() as u64));
    Ok(())
}

fn run(seed: u64, tick: u64) -> Outcome {
    let mut simulation = turmoil::Builder::new()
        .rng_seed(seed)
        .epoch(std::time::UNIX_EPOCH)
        .simulation_duration(Duration::from_secs(600))
        .tick_duration(Duration::from_millis(tick))
        .min_message_latency(Duration::from_micros(LATENCY_MIN_US))
        .max_message_latency(Duration::from_micros(LATENCY_MAX_US))
        .build();
    let store: Rc<RefCell<Store>> = Rc::default();
    let end: Rc<Cell<u64>> = Rc::default();
    let served = store.clone();
    simulation.host("store", move || serve(served.clone()));
    simulation.client("a", first_worker(end.clone()));
    simulation.client("b", second_worker(end.clone()));
    simulation.run().expect("both workers finish");
    let store = store.borrow();
    store.outcome(end.get(), 0)
}

fn main() {
    let args = args(5);
    let tick = args.more.iter().skip_while(|option| *option != "--tick").nth(1);
    let tick = tick.map_or(1, |tick| tick.parse().expect("a number of milliseconds follows"));
    measure(&format!("turmoil-{tick}ms"), &args, |seed| run(seed, tick));
}
