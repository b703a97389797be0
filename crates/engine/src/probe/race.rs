use futures_util::{StreamExt, stream::FuturesUnordered};

/// Runs all of them; the first success wins. Otherwise every failure is reported, in the order they came.
pub(super) async fn first_success<T, F>(attempts: impl IntoIterator<Item = F>) -> Result<T, String>
where
    F: Future<Output = Result<T, String>>,
{
    let mut running: FuturesUnordered<F> = attempts.into_iter().collect();
    let mut failures: Vec<String> = vec![];
    while let Some(outcome) = running.next().await {
        match outcome {
            Ok(value) => return Ok(value),
            Err(why) => failures.push(why),
        }
    }
    Err(failures.join("; "))
}
