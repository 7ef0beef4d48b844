//! Control: the only writer. Load the board, admit a command, append its events, apply, notify.
//!
//! Every stream (a project's, or the installation's) that is open has one task. It takes all
//! commands that are waiting, judges them one after the other on the board in memory, appends
//! their events in one transaction and then answers all of them. If another process was first it
//! reads what happened and judges again. So any number of servers and command lines can work on
//! one store, with no leader.

mod cached_answer;
mod call_counter;
mod clock;
mod copy;
mod decider;
mod definitions;
mod error;
mod follower;
mod lease_grace;
mod local_dispatch;
mod log;
mod passkey;
mod presence;
mod project;
mod remote_runners;
mod session_output;
mod trace;
mod writer;

pub use clock::{Clock, OffsetClock, SystemClock};
pub use copy::{CopiedStream, CopyError, Source, copy_store};
pub use decider::{Admitted, Decider};
pub use definitions::NewDefinitions;
pub use dispatch::{NewSecret, session_project, token_hash};
pub use error::ControlError;
pub use follower::{Follower, Update};
pub use getrandom::Error as RandomError;
pub use local_dispatch::LocalDispatch;
pub use log::{Log, VerifyReport};
pub use passkey::{passkey_hash, passkey_matches, passkey_may_match};
pub use project::{Control, Project};
pub use remote_runners::{RemoteRunner, RunnerHeartbeat, permitted};
pub use session_output::OUTPUT_LIMIT;
pub use trace::{Subject, Traced};
pub use writer::{ProcessLifetime, Receipt, Writer};

// What the store's types are called where only `control` may use a store.
pub use store::{
    Damage, Decision, OUTPUT_PIECE_LIMIT, OutputPage, Present, RecordedDecision, StoreError, StoreLocation, StreamName,
    Subscription,
};
