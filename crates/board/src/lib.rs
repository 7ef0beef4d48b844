//! The pure core of Saihai: what is true, what may happen, what each agent does next.
//!
//! No IO, no clock, no randomness, no async. A board is folded from events by [`apply`]; a command
//! is judged on it by [`admit`]; [`next_action`] tells an agent its next action, [`staffing`] a
//! coordinator whom to start, [`judge`] what the facts about a session mean, and [`why`] explains
//! it all to a person. Each file answers one question, which is its first line.

mod action;
mod actor;
mod admit;
mod agent;
mod answer;
mod apply;
mod attach;
mod attention;
mod board;
mod command;
pub mod comments;
mod coordination;
mod cycles;
mod event;
mod event_numbers;
mod evidence;
mod examination;
mod fact;
mod field;
mod fuel;
mod id;
mod index;
mod installation;
mod interrupt;
mod judged_by;
mod judging_files;
mod legal_moves;
pub mod lifecycle;
mod message;
mod next_action;
mod obstacle;
mod readiness;
mod refusal;
mod right_of_way;
mod runner_view;
mod session;
mod settings;
pub mod snapshot;
mod spending;
mod staffing;
mod task;
mod text;
mod text_limits;
mod time;
mod tool;
mod transcript;
mod undo;
mod verdict;
mod waiting;
mod why;
pub mod wire;
mod words;

pub use action::{Choice, Interrupt, NextAction, StopCause};
pub use actor::{Actor, Party};
pub use admit::{admit, merges, next_due};
pub use agent::{
    Agent, AgentSpec, Chat, Client, Decompose, EnvNames, EnvValue, EnvValues, Hierarchy, Mode, Scope, SecretHash,
    secret_values,
};
pub use answer::{Answer, Progress, example_calls};
pub use apply::apply;
pub use attach::{attachable, needs_workspace, silent_session};
pub use attention::{Attention, Need, attention};
pub use board::Board;
pub use command::{Command, DependsOn, Destination, NewTask};
pub use coordination::{Action, Reason, Staffing};
pub use event::{BadEvent, CreatedTask, Event, EventKind, TaskEdit};
pub use event_numbers::EventNumbers;
pub use evidence::{
    CheckOutcome, CheckResult, DodResult, EndReason, Examination, Inconclusive, JudgeChanges, Merge, ProcessEnd,
    Rejection, TargetChecks, Usage, VendorTrouble, Verdict, WorkspaceFacts,
};
pub use examination::{
    CheckRun, ExaminationStep, SETUP, TargetRed, Waiting, begins_turn, examination, examination_step, merge_queue,
    target_red, waiting,
};
pub use fact::Fact;
pub use field::Field;
pub use fuel::{MOST_REFUSALS, RemainingFuel, calls_left, left, repeats_left, unmetered};
pub use id::{AgentId, BadId, Generation, MessageId, ProjectId, RunnerId, Seq, SessionId, SpawnId, TaskId};
pub use installation::{
    Drain, Installation, InstallationCommand, InstallationEvent, InstallationEventKind, NewToken, Project, Role, Token,
    TokenId, TokenUse,
};
pub use interrupt::interrupt;
pub use judged_by::JudgedBy;
pub use judging_files::judging_files;
pub use legal_moves::{LegalMove, legal_moves, may_edit, may_revert};
pub use message::Message;
pub use next_action::next_action;
pub use obstacle::Obstacle;
pub use readiness::{can_start, obstacles, waiting_to_start};
pub use refusal::{Code, Refusal, RefusalReason};
pub use runner_view::{DiskSpace, RUNNER_SILENT, RunnerOffer, RunnerState, RunnerStatus, RunnerView, is_given_up};
pub use session::{CompletionReport, Driver, ModelReport, Outcome, Purpose, Session, SessionStatus};
pub use settings::{
    ChatRequests, Check, Dod, Fuel, Goal, GoalType, Isolation, Language, LimitValue, Limits, MergeStrategy, Sandbox,
    SandboxLimits, Settings, WorkspaceSetup,
};
pub use spending::{Allowance, Budget, Price, Spent, day_of, end_of_day};
pub use staffing::{StartableWork, must_stop, staff_chat, staff_task, staffing, startable_work};
pub use task::{
    Block, Comment, Completion, Conclusion, Context, Kind, Priority, Proposal, ProposalAnswer, Repairs, Reverts,
    RightOfWay, Status, StatusFilter, Task, TaskType, Used, Watermarks, slug,
};
pub use text::{
    Audience, DecisionText, EventLine, Piece, Reader, Remedy, Said, Telling, Tone, clean, event_lines, instruction,
    one_line, replies, say_budget, say_decision, say_end, say_judge_changes, say_money, say_move_reason, say_outcome,
    say_party, say_reason, say_rejection, say_runner_state, say_span, say_spent, say_tokens, say_waiting, say_why,
    tell_why,
};
pub use time::{Span, Timestamp};
pub use tool::Tool;
pub use transcript::{FileEdit, OutputKind, OutputName, ToolOutcome, ToolUse, TranscriptEntry, TranscriptEvent};
pub use undo::undo;
pub use verdict::{BadEnd, Children, Evidence, Policy, judge, judge_by_hand};
pub use why::{Line, Why, why};
pub use words::UnknownWord;
