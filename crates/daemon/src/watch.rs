//! Watches of objects in a cluster.

use std::fmt::Debug;

use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{BoxStream, Stream, StreamExt, unfold};
use kube::runtime::watcher::{Config, Error, Event, watcher};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;

use crate::renewal::Renewal;

type Events<K> = BoxStream<'static, Result<Event<K>, Error>>;

/// Begins with a list, and lists again after any error: an API server that was restored from a backup counts its
/// versions from there, and would send no events to a resumed watch until it has caught up.
pub fn watch<K>(api: Api<K>, config: Config) -> impl Stream<Item = Result<Event<K>, Error>> + Send
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
{
    watch_renewed(api, config, Renewal::default())
}

/// The same; lists again, without an error, when the connections of its client are made anew.
pub fn watch_renewed<K>(
    api: Api<K>,
    config: Config,
    renewal: Renewal,
) -> impl Stream<Item = Result<Event<K>, Error>> + Send
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
{
    relisting(move || watcher(api.clone(), config.clone()).boxed(), renewal)
}

struct Listing<K> {
    renewed: BoxFuture<'static, ()>,
    events: Events<K>,
}

fn relisting<K: 'static>(
    begin: impl Fn() -> Events<K> + Send,
    renewal: Renewal,
) -> impl Stream<Item = Result<Event<K>, Error>> + Send {
    let start = move || Listing { renewed: renewal.renewed().boxed(), events: begin() };
    unfold((start, None), async |(start, listing): (_, Option<Listing<K>>)| {
        let mut listing = listing.unwrap_or_else(&start);
        loop {
            tokio::select! {
                // What ends because of a renewal is no error.
                biased;
                () = &mut listing.renewed => listing = start(),
                event = listing.events.next() => {
                    let event = event?;
                    let goes_on = event.is_ok();
                    return Some((event, (start, goes_on.then_some(listing))));
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::pin::pin;

    use super::*;
    use futures_util::stream::{iter, pending};

    fn lost() -> Error {
        Error::WatchFailed(kube::Error::LinesCodecMaxLineLengthExceeded)
    }

    #[tokio::test]
    async fn a_lost_connection_is_followed_by_a_list() {
        let begin = || iter([Ok(Event::Init), Ok(Event::Apply(1)), Err(lost()), Ok(Event::Apply(2))]).boxed();
        let events: Vec<_> =
            relisting(begin, Renewal::default()).take(5).map(|event| event.ok()).collect().await;
        let name = |event: &Option<Event<i32>>| match event {
            Some(Event::Init) => "list",
            Some(Event::Apply(1)) => "one",
            Some(_) => "two",
            None => "lost",
        };
        assert_eq!(events.iter().map(name).collect::<Vec<_>>(), ["list", "one", "lost", "list", "one"]);
    }

    #[tokio::test]
    async fn a_renewal_is_followed_by_a_list_and_is_no_error() {
        let renewal = Renewal::default();
        let begin = || iter([Ok(Event::Init)]).chain(pending()).boxed();
        let mut events = pin!(relisting::<i32>(begin, renewal.clone()));
        for _ in 0..3 {
            assert!(matches!(events.next().await, Some(Ok(Event::Init))));
            assert!(events.next().now_or_never().is_none(), "nothing comes by itself");
            renewal.renew();
        }
    }
}
