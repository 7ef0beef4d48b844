//! What must every store do? The suite that proves it of an implementation.
//!
//! Each contract is a function that takes a fresh storage. [`contract_tests!`](crate::contract_tests)
//! makes a test of every one of them, with attributes if they are given.

mod decisions;
mod log;
pub mod postgres;
mod presence;
mod race;
mod secrets;
mod session_output;
mod snapshots;
mod subscriptions;

use std::future::Future;
use std::sync::Arc;

pub use decisions::*;
pub use log::*;
pub use presence::*;
pub use race::*;
pub use secrets::*;
pub use session_output::*;
pub use snapshots::*;
pub use subscriptions::*;

use crate::{MemoryStore, NewEvent, Seq, Store, StoredEvent, StreamName};

/// A fresh storage.
pub trait Storage {
    /// Another handle to it, such as another process has.
    fn handle(&self) -> impl Future<Output = Arc<dyn Store>>;

    /// Breaks every connection that handles have, as a restart of the server behind them does. A
    /// store without connections has nothing to lose.
    fn interrupt(&self) -> impl Future<Output = ()> {
        std::future::ready(())
    }
}

impl Storage for MemoryStore {
    async fn handle(&self) -> Arc<dyn Store> {
        Arc::new(self.clone())
    }
}

/// Makes one test of each contract. Takes an expression that gives a fresh [`Storage`]; the
/// crate that uses it needs tokio with `macros` and `rt`.
#[macro_export]
macro_rules! contract_tests {
    ($storage:expr $(, #[$attribute:meta])*) => {
        $crate::contract_tests! { $storage, [$(#[$attribute])*] =>
            sequence_is_dense,
            refused_expectation_writes_nothing,
            empty_append_only_checks_the_expectation,
            order_is_kept,
            reading_goes_in_pages,
            chain_is_made_of_links,
            head_is_the_last_event,
            streams_are_listed_by_name,
            streams_are_independent,
            any_text_comes_back_as_it_was,
            other_handles_see_what_was_acknowledged,
            intact_stream_is_verified,
            waiting_appends_all_get_through,
            racing_appends_have_one_winner_each,
            racing_batches_are_not_mixed,
            readers_see_whole_batches,
            newest_snapshot_is_kept,
            snapshot_of_another_format_is_ignored,
            snapshot_makes_no_stream,
            large_snapshot_comes_back,
            subscriber_knows_the_end_at_once,
            subscriber_sees_own_appends,
            subscriber_sees_foreign_appends,
            subscription_outlives_a_lost_connection,
            dropped_handle_leaves_the_others_alone,
            decisions_come_newest_first_by_subject,
            concurrent_decisions_are_all_kept,
            decisions_are_forgotten_beyond_the_retention,
            secrets_are_replaced_whole,
            secrets_are_no_part_of_a_stream,
            newest_presence_is_kept,
            presence_is_removed,
            presence_is_no_part_of_a_stream,
            racing_presence_keeps_the_newest,
            output_is_kept_by_position,
            outputs_are_independent,
            only_the_next_piece_is_appended,
            first_piece_may_begin_anywhere,
            old_output_is_dropped_in_whole_pieces,
            pieces_have_a_limit,
            output_is_no_part_of_a_stream,
            racing_pieces_have_one_winner_each,
            racing_first_pieces_leave_no_gap,
            output_that_is_sent_and_dropped_at_once_has_no_gap,
        }
    };
    ($storage:expr, $attributes:tt => $($contract:ident,)*) => {
        $( $crate::contract_tests! { @one $storage, $attributes, $contract } )*
    };
    (@one $storage:expr, [$(#[$attribute:meta])*], $contract:ident) => {
            #[tokio::test]
            $(#[$attribute])*
            async fn $contract() {
                $crate::contract::$contract(&$storage).await;
            }
    };
}

fn project() -> StreamName {
    StreamName::project("p")
}

fn event(body: impl Into<String>) -> NewEvent {
    NewEvent { at: 1_700_000_000_000, kind: "noted".into(), version: 1, body: body.into() }
}

/// Events whose bodies are the numbers from `first` to `last`.
fn events(first: Seq, last: Seq) -> Vec<NewEvent> {
    (first..=last).map(|number| event(number.to_string())).collect()
}

fn bodies(events: &[StoredEvent]) -> Vec<&str> {
    events.iter().map(|event| event.body.as_str()).collect()
}

fn seqs(events: &[StoredEvent]) -> Vec<Seq> {
    events.iter().map(|event| event.seq).collect()
}
