//! A server on loopback, requests for it, and a client below tonic's own for what tonic's would not send.
#![allow(dead_code, unreachable_pub)]

use std::net::SocketAddr;
use std::time::Duration;

use prost::Message;
use shardflow::pb;
use shardflow::pb::placement_service_client::PlacementServiceClient;
use shardflow::server::{Config, Error, Load, Server};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tonic::codegen::http;
use tonic::transport::Channel;

/// Nothing that these tests wait for takes this long unless it is broken.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub type Client = PlacementServiceClient<Channel>;

/// A server that runs until it is told to stop.
pub struct Running {
    pub address: SocketAddr,
    pub load: watch::Receiver<Load>,
    pub stop: oneshot::Sender<()>,
    pub served: JoinHandle<Result<(), Error>>,
}

pub fn config() -> Config {
    Config {
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        max_message_bytes: 64 << 20,
        ..Config::default()
    }
}

pub async fn start(config: Config) -> Running {
    let server = Server::bind(config).await.unwrap();
    let (stop, stopped) = oneshot::channel();
    Running {
        address: server.address(),
        load: server.load(),
        stop,
        served: tokio::spawn(server.run(async {
            let _ = stopped.await;
        })),
    }
}

impl Running {
    pub async fn channel(&self) -> Channel {
        let uri = format!("http://{}", self.address);
        Channel::from_shared(uri).unwrap().connect().await.unwrap()
    }

    pub async fn client(&self) -> Client {
        Client::new(self.channel().await).max_decoding_message_size(64 << 20)
    }

    pub async fn until(&self, reached: impl FnMut(&Load) -> bool) {
        let mut load = self.load.clone();
        tokio::time::timeout(PATIENCE, load.wait_for(reached))
            .await
            .expect("the server gets there")
            .unwrap();
    }
}

pub fn broker(id: &str, zone: &str) -> pb::Broker {
    pb::Broker {
        id: id.into(),
        zone: zone.into(),
        ..Default::default()
    }
}

pub fn shard(id: &str, stream: &str, leader: &str) -> pb::Shard {
    pb::Shard {
        id: id.into(),
        stream: stream.into(),
        leader: leader.into(),
        ..Default::default()
    }
}

pub fn stream(id: &str) -> pb::Stream {
    pb::Stream {
        id: id.into(),
        ..Default::default()
    }
}

/// Two brokers in two zones; four shards, all on the first.
pub fn small() -> pb::Snapshot {
    pb::Snapshot {
        cluster_id: "c".into(),
        generation: "17".into(),
        brokers: vec![broker("a", "x"), broker("b", "y")],
        streams: vec![stream("s")],
        shards: (0..4).map(|i| shard(&format!("s-{i}"), "s", "a")).collect(),
        ..Default::default()
    }
}

pub fn optimize(snapshot: pb::Snapshot) -> pb::OptimizeRequest {
    pb::OptimizeRequest {
        snapshot: Some(snapshot),
        ..Default::default()
    }
}

/// Numbers that look random: a linear congruence, its high bits.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, limit: usize) -> usize {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// A cluster of four zones and one replica a shard: streams of very different sizes, crowded on the first brokers,
/// each shard with traffic from two zones.
pub fn lopsided(shards: usize, brokers: usize, seed: u64) -> pb::Snapshot {
    cluster(shards, brokers, 50, seed)
}

/// The same, with the number of streams.
pub fn cluster(shards: usize, brokers: usize, streams: usize, seed: u64) -> pb::Snapshot {
    let mut numbers = Numbers(seed);
    let zones = ["a", "b", "c", "d"];
    let source = |numbers: &mut Numbers| pb::TrafficSource {
        zones: vec![zones[numbers.below(4)].into()],
        weight: numbers.below(100) as i64,
    };
    let mut shard_of = |i: usize| {
        let of_stream = numbers.below(streams).min(numbers.below(streams));
        let on = numbers.below(brokers).min(numbers.below(brokers));
        let mut shard = shard(
            &format!("p{i}"),
            &format!("t{of_stream}"),
            &format!("b{on}"),
        );
        shard.sources = vec![source(&mut numbers), source(&mut numbers)];
        shard
    };
    pb::Snapshot {
        shards: (0..shards).map(&mut shard_of).collect(),
        streams: (0..streams).map(|s| stream(&format!("t{s}"))).collect(),
        brokers: (0..brokers)
            .map(|b| broker(&format!("b{b}"), zones[b % 4]))
            .collect(),
        ..Default::default()
    }
}

/// A cluster of five zones and one replica a shard, crowded on the first brokers, so that about half of the shards
/// have to move; each shard with traffic from one zone.
pub fn misplaced(shards: usize, brokers: usize, streams: usize, seed: u64) -> pb::Snapshot {
    let mut numbers = Numbers(seed);
    let zones = ["a", "b", "c", "d", "e"];
    let mut shard_of = |i: usize| {
        let stream = format!("t{}", numbers.below(streams));
        let on = (0..3).map(|_| numbers.below(brokers)).min().unwrap_or(0);
        let mut shard = shard(&format!("{stream}/{i}"), &stream, &format!("b{on}"));
        shard.size_bytes = numbers.below(10_000_000_000) as i64;
        shard.sources = vec![pb::TrafficSource {
            zones: vec![zones[numbers.below(5)].into()],
            weight: numbers.below(100) as i64,
        }];
        shard
    };
    pb::Snapshot {
        shards: (0..shards).map(&mut shard_of).collect(),
        streams: (0..streams).map(|s| stream(&format!("t{s}"))).collect(),
        brokers: (0..brokers)
            .map(|b| broker(&format!("b{b}"), zones[b % 5]))
            .collect(),
        ..Default::default()
    }
}

/// Takes a solver many seconds, unless it is stopped: the totals can't be level, so that all ranks are minimised over all
/// exits of all streams.
pub fn endless() -> pb::OptimizeRequest {
    let mut snapshot = cluster(30_000, 800, 1_000, 5);
    for broker in &mut snapshot.brokers[..400] {
        broker.max_leaders = Some(20);
    }
    optimize(snapshot)
}

/// One call, written as HTTP/2 by hand: its gRPC status and message.
pub async fn raw(
    address: SocketAddr,
    method: &str,
    headers: &[(&str, &str)],
    body: &[u8],
    ends: bool,
) -> (i32, String) {
    let tcp = tokio::net::TcpStream::connect(address).await.unwrap();
    let (client, connection) = h2::client::handshake(tcp).await.unwrap();
    tokio::spawn(connection);
    let uri = format!("http://{address}/shardflow.v1.PlacementService/{method}");
    let request = http::Request::post(uri)
        .header("content-type", "application/grpc")
        .header("te", "trailers");
    let request = headers.iter().fold(request, |request, (name, value)| {
        request.header(*name, *value)
    });
    let (answered, mut sending) = client
        .ready()
        .await
        .unwrap()
        .send_request(request.body(()).unwrap(), false)
        .unwrap();
    sending.send_data(body.to_vec().into(), ends).unwrap();
    let response = tokio::time::timeout(PATIENCE, answered).await;
    let response = response.expect("an answer").unwrap();
    // Errors of unary calls come with the headers; what has none there is answered.
    let Some(status) = tonic::Status::from_header_map(response.headers()) else {
        return (0, String::new());
    };
    (status.code() as i32, status.message().to_owned())
}

/// A message as the body of a call.
pub fn framed(message: &impl Message) -> Vec<u8> {
    let encoded = message.encode_to_vec();
    let mut body = vec![0];
    body.extend((encoded.len() as u32).to_be_bytes());
    body.extend(encoded);
    body
}
