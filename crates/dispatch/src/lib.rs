//! The port between a runner and whoever keeps the board (R12).
//!
//! A runner knows no board: it asks what is [`Wanted`] of it, claims an [`Offer`] and gets a [`WorkOrder`], and reports
//! [`board::Fact`]s. Everything that passes here is plain data, so that a runner on another host needs only another
//! [`Dispatch`]. What a runner is told follows from the board alone, by the pure functions of this crate.

mod credential;
mod inventory;
mod port;
mod wanted;
mod work_order;

pub use credential::{NewSecret, session_project, token_hash};
pub use inventory::{Inventory, SessionRecord, TaskRecord};
pub use port::{AtWork, Claim, Dispatch, DispatchError, FactReport};
pub use wanted::{ExamineItem, Offer, SessionState, Wanted, wanted};
pub use work_order::{
    ExamineOrder, TargetOrder, TaskBrief, WorkOrder, WorkspaceOrder, examine_order, target_order, work_order,
    workspace_order,
};
