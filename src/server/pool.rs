//! Where solves run: at most so many at a time, at most so many waiting, each stopped when its caller is gone.
//!
//! A worker is a permit, held from before the job starts on a blocking thread until it returns, even where the
//! caller left long before: so there are never more solves than workers. A panic ends its own job only.

use std::any::Any;
use std::num::NonZeroUsize;
use std::sync::Arc;

use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

/// What a server is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Load {
    /// Calls of `PlacementService` that are not answered in full.
    pub calls: usize,
    /// Calls that wait for a worker.
    pub waiting: usize,
    /// Jobs on workers.
    pub running: usize,
}

/// Counts [`Load`] and tells who watches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauges(Arc<watch::Sender<Load>>);

/// One unit of a gauge; dropping it counts down.
#[derive(Debug)]
pub(crate) struct Unit {
    gauges: Gauges,
    field: fn(&mut Load) -> &mut usize,
}

impl Gauges {
    pub(crate) fn watch(&self) -> watch::Receiver<Load> {
        self.0.subscribe()
    }

    /// Ready once no call is in progress.
    pub(crate) async fn idle(&self) {
        // An error would mean that the sender is gone, which `self` holds.
        let _ = self.watch().wait_for(|load| load.calls == 0).await;
    }

    pub(crate) fn call(&self) -> Unit {
        self.unit(|load| &mut load.calls)
    }

    fn unit(&self, field: fn(&mut Load) -> &mut usize) -> Unit {
        self.0.send_modify(|load| *field(load) += 1);
        Unit {
            gauges: self.clone(),
            field,
        }
    }
}

impl Drop for Unit {
    fn drop(&mut self) {
        self.gauges.0.send_modify(|load| *(self.field)(load) -= 1);
    }
}

/// Why a job has no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// All workers are busy and the queue is full.
    #[error(
        "{workers} solves are running and {queue} calls are waiting, which is all this server takes"
    )]
    Full {
        /// Solves at a time.
        workers: usize,
        /// Calls that may wait.
        queue: usize,
    },
    /// The server stops.
    #[error("the server is stopping")]
    Stopping,
    /// The job panicked.
    #[error("the solve failed: {0}")]
    Panicked(String),
}

/// The workers and their queue.
#[derive(Debug)]
pub(crate) struct Pool {
    workers: Arc<Semaphore>,
    /// One permit for each call on a worker or in the queue.
    places: Arc<Semaphore>,
    size: (usize, usize),
    gauges: Gauges,
    stop: CancellationToken,
}

impl Pool {
    pub(crate) fn new(workers: NonZeroUsize, queue: usize, gauges: Gauges) -> Arc<Self> {
        let workers = workers.get().min(Semaphore::MAX_PERMITS);
        let places = workers.saturating_add(queue).min(Semaphore::MAX_PERMITS);
        Arc::new(Pool {
            workers: Arc::new(Semaphore::new(workers)),
            places: Arc::new(Semaphore::new(places)),
            size: (workers, queue),
            gauges,
            stop: CancellationToken::new(),
        })
    }

    /// Cancels the tokens of all jobs and refuses those that wait.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
        self.workers.close();
    }

    /// Runs `job` on a worker. Its token is cancelled when this future is dropped or the pool stops.
    ///
    /// # Errors
    /// See [`Failure`].
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(CancellationToken) -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        let place = place.map_err(|_| Failure::Full {
            workers: self.size.0,
            queue: self.size.1,
        })?;
        let waiting = self.gauges.unit(|load| &mut load.waiting);
        let worker = Arc::clone(&self.workers).acquire_owned().await;
        let worker = worker.map_err(|_| Failure::Stopping)?;
        drop(waiting);
        let token = self.stop.child_token();
        let _cancel_on_drop = token.clone().drop_guard();
        let running = self.gauges.unit(|load| &mut load.running);
        let task = tokio::task::spawn_blocking(move || {
            let _held = (place, worker, running);
            job(token)
        });
        task.await.map_err(|error| match error.try_into_panic() {
            Ok(payload) => Failure::Panicked(in_words(&*payload)),
            Err(_) => Failure::Stopping,
        })
    }
}

fn in_words(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let owned = payload.downcast_ref::<String>().map(String::as_str);
    text.or(owned).unwrap_or("a panic without words").to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn pool(workers: usize, queue: usize) -> Arc<Pool> {
        let workers = NonZeroUsize::new(workers).unwrap_or(NonZeroUsize::MIN);
        Pool::new(workers, queue, Gauges::default())
    }

    async fn until(pool: &Pool, reached: impl FnMut(&Load) -> bool) {
        pool.gauges.watch().wait_for(reached).await.unwrap();
    }

    /// Blocks its thread until the token is cancelled.
    fn until_cancelled(token: CancellationToken) {
        while !token.is_cancelled() {
            std::thread::yield_now();
        }
    }

    #[tokio::test]
    async fn a_dropped_call_stops_its_job() {
        let pool = pool(1, 0);
        let call = tokio::spawn({
            let pool = Arc::clone(&pool);
            async move { pool.run(until_cancelled).await }
        });
        until(&pool, |load| load.running == 1).await;
        call.abort();
        until(&pool, |load| load.running == 0).await;
    }

    #[tokio::test]
    async fn a_full_queue_refuses_and_a_dropped_wait_frees_its_place() {
        let pool = pool(1, 1);
        let spawn = || {
            let pool = Arc::clone(&pool);
            tokio::spawn(async move { pool.run(until_cancelled).await })
        };
        let running = spawn();
        until(&pool, |load| load.running == 1).await;
        let waiting = spawn();
        until(&pool, |load| load.waiting == 1).await;
        let refused = pool.run(|_| ()).await;
        let full = Failure::Full {
            workers: 1,
            queue: 1,
        };
        assert_eq!(refused.unwrap_err().to_string(), full.to_string());
        waiting.abort();
        until(&pool, |load| load.waiting == 0).await;
        let next = tokio::spawn({
            let pool = Arc::clone(&pool);
            async move { pool.run(|_| 7).await }
        });
        until(&pool, |load| load.waiting == 1).await;
        running.abort();
        assert_eq!(next.await.unwrap().unwrap(), 7);
    }

    #[tokio::test]
    async fn a_worker_stays_taken_until_its_job_returns() {
        let pool = pool(1, 1);
        let (release, released) = mpsc::channel::<()>();
        let call = tokio::spawn({
            let pool = Arc::clone(&pool);
            async move { pool.run(move |_| released.recv()).await }
        });
        until(&pool, |load| load.running == 1).await;
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
        assert_eq!(pool.workers.available_permits(), 0);
        release.send(()).unwrap();
        until(&pool, |load| load.running == 0).await;
        assert_eq!(pool.run(|_| 7).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn a_panic_ends_its_own_job_only() {
        let pool = pool(1, 0);
        let failed = pool.run(|_| -> () { panic!("out of {}", "luck") }).await;
        assert_eq!(
            failed.unwrap_err().to_string(),
            "the solve failed: out of luck"
        );
        assert_eq!(pool.run(|_| 7).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn stopping_cancels_what_runs_and_refuses_what_waits() {
        let pool = pool(1, 1);
        let spawn = || {
            let pool = Arc::clone(&pool);
            tokio::spawn(async move { pool.run(until_cancelled).await })
        };
        let running = spawn();
        until(&pool, |load| load.running == 1).await;
        let waiting = spawn();
        until(&pool, |load| load.waiting == 1).await;
        pool.stop();
        assert!(running.await.unwrap().is_ok());
        assert!(matches!(waiting.await.unwrap(), Err(Failure::Stopping)));
    }
}
