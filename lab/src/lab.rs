//! A lab: one hub and the nodes around it, alone in namespaces of their own.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::boot::Booted;
use crate::error::{Error, Result};
use crate::hub::Hub;
use crate::lock::Lock;
use crate::node::{Node, NodeBuilder};
use crate::responder::Responder;
use crate::run::{Description, NodeDescription, Process, RunFolder};
use crate::setup::{Root, require_root};
use crate::{address, layer, vm};

/// Everything in it ends when this is dropped, and also when the process that made it dies in any way.
#[derive(Debug)]
pub struct Lab {
    shared: Arc<Shared>,
}

/// What a lab and its nodes have in common.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) folder: RunFolder,
    pub(crate) hub: Hub,
    booted: Mutex<Option<Booted>>,
    _web_server: Responder,
    description: Mutex<Description>,
    next_number: AtomicU8,
    /// Taken with the first virtual machine.
    seat: Mutex<Option<Lock>>,
}

impl Lab {
    pub fn start(name: &str) -> Result<Self> {
        require_root()?;
        let root = Root::Forky.ensure()?;
        let folder = RunFolder::create(name)?;
        layer::plain(&folder.path().join("plain-layer"))?;
        layer::systemd(&folder.path().join("systemd-layer"))?;
        let booted = Hub::start(folder.path(), root).inspect_err(|_| {
            let _ = folder.remove();
        })?;
        let hub = Hub::over(Arc::clone(booted.namespaces()));
        let description = Description {
            name: name.into(),
            owner: Process::of(std::process::id())?,
            hub: Some(Process::of(booted.pid())?),
            nodes: vec![],
        };
        folder.describe(&description)?;
        let shared = Shared {
            folder,
            hub,
            _web_server: Responder::start(booted.namespaces())?,
            booted: Mutex::new(Some(booted)),
            description: Mutex::new(description),
            next_number: AtomicU8::new(1),
            seat: Mutex::default(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    pub(crate) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    pub fn hub(&self) -> &Hub {
        &self.shared.hub
    }

    /// A node to be: two NICs, the forky root, in namespaces, no systemd, unless configured otherwise.
    pub fn node(&self, name: &str) -> NodeBuilder {
        NodeBuilder::new(Arc::clone(&self.shared), name)
    }

    /// Several plain nodes at once, n1 to nN.
    pub fn nodes(&self, count: u8) -> Result<Vec<Node>> {
        self.nodes_with(count, |builder| builder)
    }

    /// The same, each as `wish` wants it.
    pub fn nodes_with(&self, count: u8, wish: impl Fn(NodeBuilder) -> NodeBuilder) -> Result<Vec<Node>> {
        // Numbered first, so that n1 has the first address whichever comes up first.
        let numbered = |number| wish(self.node(&format!("n{number}"))).numbered();
        let builders = (1..=count).map(numbered).collect::<Result<Vec<_>>>()?;
        std::thread::scope(|scope| {
            let starting: Vec<_> =
                builders.into_iter().map(|builder| scope.spawn(|| builder.start())).collect();
            let joined = starting.into_iter().map(|node| node.join());
            joined.map(|node| node.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        })
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        drop(lock(&self.shared.booted).take());
        drop(lock(&self.shared.seat).take());
        if let Err(error) = self.shared.folder.remove() {
            eprintln!("lab: {error}");
        }
    }
}

impl Shared {
    pub(crate) fn take_number(&self) -> Result<u8> {
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        if number > address::MOST_NODES {
            return Err(Error::refused(format!("a lab has at most {} nodes", address::MOST_NODES)));
        }
        Ok(number)
    }

    /// Waits until there is room on the machine for the virtual machines of this lab.
    pub(crate) fn take_seat(&self) -> Result<()> {
        let mut seat = lock(&self.seat);
        if seat.is_none() {
            *seat = Some(vm::take_seat()?);
        }
        Ok(())
    }

    pub(crate) fn is_up(&self) -> bool {
        lock(&self.booted).is_some()
    }

    /// Adds the node, or replaces what is known about it.
    pub(crate) fn note(&self, node: NodeDescription) -> Result<()> {
        let mut description = lock(&self.description);
        description.nodes.retain(|other| other.name != node.name);
        description.nodes.push(node);
        description.nodes.sort_by_key(|node| node.ipv4);
        self.folder.describe(&description)
    }

    pub(crate) fn forget(&self, name: &str) -> Result<()> {
        let mut description = lock(&self.description);
        description.nodes.retain(|other| other.name != name);
        self.folder.describe(&description)
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
