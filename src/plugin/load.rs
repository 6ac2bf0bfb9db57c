//! Reading files that someone may be writing at this moment.

use std::{
    future::Future,
    path::Path,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
    time::Duration,
};

use bevy::{
    asset::{AssetPath, AssetServer, AssetServerMode, io::Reader},
    prelude::*,
};

/// How long a file that cannot be read is left alone before it is looked at again.
const SETTLE: Duration = Duration::from_millis(120);
/// How often a file that keeps changing is looked at again.
const ATTEMPTS: usize = 8;

/// Reads and decodes a whole file. If it does not decode it may be half-written: it is read again until it stays the same,
/// and only then the error stands.
pub(crate) async fn read_settled<T, E: From<std::io::Error>>(
    server: &AssetServer,
    path: &AssetPath<'static>,
    reader: &mut dyn Reader,
    mut decode: impl FnMut(&[u8]) -> Result<T, E>,
) -> Result<T, E> {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).await?;
    for _ in 0..ATTEMPTS {
        match decode(&bytes) {
            Ok(value) => return Ok(value),
            Err(error) => {
                Delay::new(SETTLE).await;
                match read_again(server, path).await {
                    Some(now) if now != bytes => bytes = now,
                    _ => return Err(error),
                }
            }
        }
    }
    decode(&bytes)
}

/// The file as it is now; `None` if it cannot be read, or comes from a processor, which writes whole files.
async fn read_again(server: &AssetServer, path: &AssetPath<'static>) -> Option<Vec<u8>> {
    if !matches!(server.mode(), AssetServerMode::Unprocessed) {
        return None;
    }
    let source = server.get_source(path.source().clone_owned()).ok()?;
    let path: &Path = path.path();
    let mut reader = source.reader().read(path).await.ok()?;
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).await.ok()?;
    Some(bytes)
}

/// Is ready after a time. The executor's threads go on meanwhile: a thread of its own sleeps.
struct Delay(Arc<Mutex<DelayState>>);

#[derive(Default)]
struct DelayState {
    over: bool,
    waker: Option<Waker>,
}

impl Delay {
    fn new(time: Duration) -> Self {
        let state = Arc::new(Mutex::new(DelayState::default()));
        let sleeper = state.clone();
        let spawned = std::thread::Builder::new().name("dxshader settle".to_owned()).spawn(move || {
            std::thread::sleep(time);
            finish(&sleeper);
        });
        if spawned.is_err() {
            // No thread to be had: wait for nothing.
            finish(&state);
        }
        Self(state)
    }
}

fn finish(state: &Mutex<DelayState>) {
    let waker = state.lock().map(|mut state| {
        state.over = true;
        state.waker.take()
    });
    if let Ok(Some(waker)) = waker {
        waker.wake();
    }
}

impl Future for Delay {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match self.0.lock() {
            Ok(mut state) if !state.over => {
                state.waker = Some(context.waker().clone());
                Poll::Pending
            }
            _ => Poll::Ready(()),
        }
    }
}
