//! Nodes that are virtual machines: a kernel of their own, emulated by qemu.

mod call;
mod guest;
mod guest_program;
mod hardware;
mod image;
mod layer;
mod machine;
mod plan;
mod programs;
mod qmp;
mod saved;
mod seat;
mod visitor;

pub(crate) use call::End;
pub(crate) use guest::{Channel, Guest};
pub(crate) use hardware::{MOST_DISKS, Nic, NicModel};
pub(crate) use machine::Machine;
pub(crate) use plan::{Identity, VmPlan};
pub(crate) use seat::take as take_seat;
pub(crate) use visitor::visit;

use crate::error::Result;

/// qemu, the image and the saved machine; made at most once, and safely when called by many.
pub fn setup() -> Result<()> {
    saved::Saved::ensure(&image::Image::ensure()?, &crate::setup::Qemu::ensure()?).map(drop)
}
