//! "Look again": the kernel's and NetworkManager's events as one wake-up call.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::netlink::LinkEvents;
use crate::nm::Nm;

/// Events come in bursts; one look after a burst is enough.
const BURST: Duration = Duration::from_millis(15);
/// Not everything that can be verified announces itself (sysctls, OVSDB columns).
const SILENCE: Duration = Duration::from_millis(400);

#[derive(Debug)]
pub struct Watch {
    notify: Arc<Notify>,
    /// Devices whose activation failed meanwhile, by object path, with the last reason.
    failures: Rc<RefCell<BTreeMap<String, u32>>>,
    tasks: Vec<JoinHandle<()>>,
}

impl Watch {
    /// Without NetworkManager or netlink there is still the regular look.
    pub async fn start(nm: Option<&Nm>) -> Self {
        let notify = Arc::new(Notify::new());
        let mut tasks = Vec::new();
        if let Ok(mut links) = LinkEvents::subscribe().await {
            let notify = notify.clone();
            tasks.push(tokio::task::spawn_local(async move {
                while links.next().await.is_ok() {
                    notify.notify_one();
                }
            }));
        }
        if let Some(nm) = nm
            && let Ok(mut events) = nm.events().await
        {
            let notify = notify.clone();
            tasks.push(tokio::task::spawn_local(async move {
                while events.next().await.is_some() {
                    notify.notify_one();
                }
            }));
        }
        let failures: Rc<RefCell<BTreeMap<String, u32>>> = Rc::default();
        if let Some(nm) = nm
            && let Ok(mut failing) = nm.failures().await
        {
            let failures = failures.clone();
            tasks.push(tokio::task::spawn_local(async move {
                while let Some((device, reason)) = failing.next().await {
                    failures.borrow_mut().insert(device, reason);
                }
            }));
        }
        Self { notify, failures, tasks }
    }

    /// Why the activation of a device failed, since this watch began: NetworkManager's number.
    pub fn failure_of(&self, device: &str) -> Option<u32> {
        self.failures.borrow().get(device).copied()
    }

    /// Something happened, or nothing did for a while.
    pub async fn next(&self) {
        if tokio::time::timeout(SILENCE, self.notify.notified()).await.is_ok() {
            tokio::time::sleep(BURST).await;
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}
