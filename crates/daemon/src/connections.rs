//! Connections to a daemon, bounded: whoever only holds them must not use up its file descriptors.

use std::collections::VecDeque;

use tokio::task::JoinHandle;

/// At most so many at a time. For a new one the oldest is closed, so that nobody can shut others out by holding on.
#[derive(Debug)]
pub struct Connections {
    limit: usize,
    open: VecDeque<JoinHandle<()>>,
}

impl Connections {
    pub fn new(limit: usize) -> Self {
        Self { limit, open: VecDeque::new() }
    }

    /// Runs a conversation until it ends or makes way for another one.
    pub async fn serve(&mut self, conversation: impl Future<Output = ()> + 'static) {
        self.open.retain(|task| !task.is_finished());
        if self.open.len() >= self.limit
            && let Some(oldest) = self.open.pop_front()
        {
            oldest.abort();
            // Its file descriptor is closed before the next one is opened.
            oldest.await.ok();
        }
        self.open.push_back(tokio::task::spawn_local(conversation));
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    struct Held(Rc<Cell<usize>>);

    impl Drop for Held {
        fn drop(&mut self) {
            self.0.set(self.0.get() - 1);
        }
    }

    #[tokio::test]
    async fn the_oldest_makes_way_for_a_new_one() {
        tokio::task::LocalSet::new().run_until(hold_many()).await;
    }

    async fn hold_many() {
        let held = Rc::new(Cell::new(0));
        let mut connections = Connections::new(3);
        for _ in 0..1100 {
            held.set(held.get() + 1);
            let one = Held(held.clone());
            connections
                .serve(async move {
                    let _one = one;
                    std::future::pending().await
                })
                .await;
            assert!(held.get() <= 4, "three, and the one that is accepted: {}", held.get());
        }
        let answered = Rc::new(Cell::new(false));
        let answer = answered.clone();
        connections.serve(async move { answer.set(true) }).await;
        tokio::task::yield_now().await;
        assert!(answered.get(), "a new one is served all the same");
    }
}
