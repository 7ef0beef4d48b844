//! The pure core of Saihai: what is true, what may happen, what each agent does next.
//!
//! No IO, no clock, no randomness, no async. A board is folded from events by [`apply`]; a command
//! is judged on it by [`admit`]; [`next_action`] tells an agent its next step, [`staffing`] a
//! coordinator whom to start, [`judge`] what the facts about a session mean, and [`why`] explains
//! it all to a person. Each file answers one question, which is its first line.

mod actor;
mod admit;
mod agent;
mod answer;
mod apply;
mod board;
mod command;
mod cycles;
mod event;
mod fuel;
mod id;
mod index;
mod installation;
mod interrupt;
mod legal_moves;
pub mod lifecycle;
mod message;
mod next_action;
mod readiness;
mod refusal;
mod session;
mod settings;
pub mod snapshot;
mod staffing;
mod task;
mod text;
mod text_limits;
mod time;
mod verdict;
pub mod view;
mod why;
mod words;

pub use actor::{Actor, Party};
pub use admit::{admit, next_due};
pub use agent::{Agent, AgentSpec, Chat, Client, Decompose, EnvValue, Hierarchy, Mode, Scope, SecretHash};
pub use answer::{Answer, Progress, TaskSummary, Tool, example_calls};
pub use apply::apply;
pub use board::Board;
pub use command::{Command, DependsOn, Destination, NewTask};
pub use event::{BadEvent, CreatedTask, Event, EventKind, TaskEdit};
pub use fuel::{Fuel, RemainingFuel, left, repeats_left};
pub use id::{AgentId, BadId, Generation, MessageId, ProjectId, RunnerId, Seq, SessionId, SpawnId, TaskId};
pub use installation::{
    Installation, InstallationCommand, InstallationEvent, InstallationEventKind, NewToken, Project, Role, Token,
    TokenId, TokenUse,
};
pub use interrupt::{Interrupt, interrupt};
pub use legal_moves::{LegalMove, legal_moves, may_edit};
pub use message::Message;
pub use next_action::{Choice, NextAction, next_action};
pub use readiness::{Obstacle, can_start, obstacles};
pub use refusal::{Code, Refusal, RefusalReason};
pub use session::{
    CompletionReport, DodResult, Driver, EndReason, ModelReport, Outcome, ProcessEnd, Purpose, Session, SessionStatus,
    StopCause, Usage, VendorTrouble,
};
pub use settings::{
    Check, Completion, Dod, Goal, GoalType, Isolation, Language, Limits, MergeStrategy, Sandbox, Settings,
};
pub use staffing::{Action, Reason, Staffing, must_stop, staff_chat, staff_task, staffing};
pub use task::{Block, Conclusion, Context, Kind, Priority, Status, Task, TaskType, Used, Watermarks, slug};
pub use text::{
    Audience, EventLine, Tone, clean, event_lines, instruction, one_line, replies, say_reason, say_rejection, say_why,
};
pub use text_limits::Field;
pub use time::{Span, Timestamp};
pub use verdict::{
    CheckOutcome, CheckResult, Children, Evidence, Inconclusive, Merge, Policy, Rejection, Verdict, WorkspaceFacts,
    judge, judge_by_hand,
};
pub use why::{Line, Why, why};
pub use words::UnknownWord;
