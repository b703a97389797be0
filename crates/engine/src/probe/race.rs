use futures_util::{StreamExt, stream::FuturesUnordered};

use super::failure::ProbeFailure;

/// Runs all of them; the first success wins. Otherwise every failure is reported, in the order they came.
pub(super) async fn first_success<T, F>(attempts: impl IntoIterator<Item = F>) -> Result<T, ProbeFailure>
where
    F: Future<Output = Result<T, ProbeFailure>>,
{
    let mut running: FuturesUnordered<F> = attempts.into_iter().collect();
    let mut failures = vec![];
    while let Some(outcome) = running.next().await {
        match outcome {
            Ok(value) => return Ok(value),
            Err(failure) => failures.push(failure),
        }
    }
    Err(ProbeFailure::All(failures))
}
