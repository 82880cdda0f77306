//! What an operator finds in the log of a server. Alone in its binary: the log is the process's.

mod common;

use std::io;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{Running, config, endless, framed, optimize, raw, small, start};
use shardflow::server::Config;
use tonic::{Code, Request};

/// All that was logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    /// The lines that hold a text.
    fn lines(&self, text: &str) -> Vec<String> {
        let bytes = self.0.lock().unwrap().clone();
        let all = String::from_utf8(bytes).unwrap();
        let with = all.lines().filter(|line| line.contains(text));
        with.map(str::to_owned).collect()
    }
}

async fn idle(server: &Running) {
    server
        .until(|load| load.calls == 0 && load.running == 0)
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_late_or_refused_is_one_line_at_its_level() {
    let log = Log::default();
    let writer = log.clone();
    tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .init();
    let server = start(Config {
        workers: NonZeroUsize::MIN,
        queue: 0,
        ..config()
    })
    .await;
    let mut client = server.client().await;

    let mut late = optimize(small());
    late.request_id = "late one".into();
    let headers = [("grpc-timeout", "1n")];
    raw(server.address, "Optimize", &headers, &framed(&late), true).await;
    idle(&server).await;
    let lines = log.lines("deadline passed");
    assert_eq!(lines.len(), 1, "{lines:?}");
    for part in [
        " WARN ",
        "id=late one",
        "shards=4",
        "elapsed_ms=",
        "timeout_ms=0",
    ] {
        assert!(lines[0].contains(part), "{part}: {lines:?}");
    }

    let mut left = endless();
    left.request_id = "left".into();
    let call = tokio::spawn({
        let mut client = client.clone();
        let mut left = Request::new(left);
        left.set_timeout(Duration::from_secs(3600));
        async move { client.optimize(left).await }
    });
    server.until(|load| load.running == 1).await;
    let status = client.optimize(optimize(small())).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    let lines = log.lines("RESOURCE_EXHAUSTED");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains(" WARN "), "{lines:?}");
    assert!(
        lines[0].contains("refused: 1 solves are running and 0 calls are waiting"),
        "{lines:?}"
    );

    call.abort();
    idle(&server).await;
    let lines = log.lines("the caller left before the answer was ready");
    assert_eq!(lines.len(), 1, "{lines:?}");
    for part in [" WARN ", "id=left", "shards=30000", "timeout_ms=3600000"] {
        assert!(lines[0].contains(part), "{part}: {lines:?}");
    }

    let mut wrong = optimize(small());
    wrong.request_id = "evil\nERROR".into();
    wrong.snapshot.as_mut().unwrap().shards[0].leader = "nobody".into();
    client.optimize(wrong).await.unwrap_err();
    let lines = log.lines("INVALID_ARGUMENT");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].contains(" INFO ") && lines[0].contains("nobody"),
        "{lines:?}"
    );

    assert!(
        log.lines("ERROR")
            .iter()
            .all(|line| line.contains(" INFO "))
    );
    assert_eq!(log.lines("code:"), [""; 0], "a status in Debug form");
}
