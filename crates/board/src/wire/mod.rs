//! Which shape does each noun have on the wire? One for each, with its JSON schema, for the command line's
//! `--json` (C6), the HTTP API and MCP. Stable for scripts.

mod agent;
mod event;
mod message;
mod project;
mod report;
mod session;
mod task;

pub use agent::{Agent, AgentDetail};
pub use event::Event;
pub use message::Message;
pub use project::{Project, ProjectDetail, TypeGoals};
pub use report::{Report, ReportedTask, Work};
pub use session::{Evidence, Session, SessionDetail};
pub use task::{Comment, CommentText, Proposal, Task, TaskDetail, TaskItem, TaskSummary};
