//! Watches of objects in a cluster.

use std::fmt::Debug;

use futures_util::stream::{BoxStream, Stream, StreamExt, unfold};
use kube::runtime::watcher::{Config, Error, Event, watcher};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;

type Events<K> = BoxStream<'static, Result<Event<K>, Error>>;

/// Begins with a list, and lists again after any error: an API server that was restored from a backup counts its
/// versions from there, and would send no events to a resumed watch until it has caught up.
pub fn watch<K>(api: Api<K>, config: Config) -> impl Stream<Item = Result<Event<K>, Error>> + Send
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
{
    relisting(move || watcher(api.clone(), config.clone()).boxed())
}

fn relisting<K: 'static>(
    begin: impl Fn() -> Events<K> + Send,
) -> impl Stream<Item = Result<Event<K>, Error>> + Send {
    unfold((begin, None), async |(begin, events): (_, Option<Events<K>>)| {
        let mut events = events.unwrap_or_else(&begin);
        let event = events.next().await?;
        let goes_on = event.is_ok();
        Some((event, (begin, goes_on.then_some(events))))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use futures_util::stream::iter;

    fn lost() -> Error {
        Error::WatchFailed(kube::Error::LinesCodecMaxLineLengthExceeded)
    }

    #[tokio::test]
    async fn a_lost_connection_is_followed_by_a_list() {
        let begin = || iter([Ok(Event::Init), Ok(Event::Apply(1)), Err(lost()), Ok(Event::Apply(2))]).boxed();
        let events: Vec<_> = relisting(begin).take(5).map(|event| event.ok()).collect().await;
        let name = |event: &Option<Event<i32>>| match event {
            Some(Event::Init) => "list",
            Some(Event::Apply(1)) => "one",
            Some(_) => "two",
            None => "lost",
        };
        assert_eq!(events.iter().map(name).collect::<Vec<_>>(), ["list", "one", "lost", "list", "one"]);
    }
}
