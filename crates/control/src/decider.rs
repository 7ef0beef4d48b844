//! What does the writer need to know of a stream? Its state, its commands and its events.

use board::{
    Actor, BadEvent, Board, Command, Event, EventKind, Installation, InstallationCommand, InstallationEvent, Refusal,
    Seq, Timestamp, admit, apply, next_due, snapshot,
};
use store::{Decision, NewEvent, StoredEvent};

/// A state that is folded from a stream and judges commands. Cloning must be cheap: the writer
/// judges a batch on a clone, and drops it when it has lost a race.
pub trait Decider: Clone + Send + Sync + 'static {
    type Command: Send + Sync + 'static;
    type Event: Clone + Send + Sync + 'static;

    /// The shape of its snapshots; `None` if it has none.
    const SNAPSHOT_FORMAT: Option<u32>;

    fn seq(&self) -> Seq;
    fn admit(&self, actor: &Actor, command: &Self::Command, now: Timestamp) -> Result<Vec<Self::Event>, Refusal>;
    fn apply(&mut self, event: &Self::Event);

    fn encode(event: &Self::Event) -> NewEvent;
    fn decode(event: &StoredEvent) -> Result<Self::Event, BadEvent>;

    fn to_snapshot(&self) -> Vec<u8>;
    fn from_snapshot(bytes: &[u8]) -> Option<Self>;
    /// How many events may follow a snapshot before another is worth its cost.
    fn snapshot_every(&self) -> Seq;

    /// The command that time alone brings, and when it is next due.
    fn due(&self) -> Option<(Timestamp, Self::Command)>;

    /// Does the command keep something from lapsing? Such commands are judged before what time brings (S2a).
    fn renews(command: &Self::Command) -> bool;

    /// What of this is worth remembering as a decision (E6)?
    fn decisions(&self, judged: &Admitted<Self>, now: Timestamp) -> Vec<Decision>;
}

/// What became of a command.
pub type Admitted<D> = Result<Vec<<D as Decider>::Event>, Refusal>;

impl Decider for Board {
    type Command = Command;
    type Event = Event;

    const SNAPSHOT_FORMAT: Option<u32> = Some(snapshot::SNAPSHOT_FORMAT);

    fn seq(&self) -> Seq {
        self.seq
    }

    fn admit(&self, actor: &Actor, command: &Command, now: Timestamp) -> Result<Vec<Event>, Refusal> {
        admit(self, actor, command, now)
    }

    fn apply(&mut self, event: &Event) {
        apply(self, event);
    }

    fn encode(event: &Event) -> NewEvent {
        NewEvent { at: event.at.0, kind: event.name().into(), version: Event::VERSION, body: event.encode() }
    }

    fn decode(event: &StoredEvent) -> Result<Event, BadEvent> {
        Event::decode(event.version, Timestamp(event.at), &event.body)
    }

    fn to_snapshot(&self) -> Vec<u8> {
        snapshot::encode(self)
    }

    fn from_snapshot(bytes: &[u8]) -> Option<Self> {
        snapshot::decode(bytes).ok()
    }

    fn snapshot_every(&self) -> Seq {
        // The snapshot has the number of each event too, in a byte or two.
        let size = (self.tasks.len() + self.sessions.len() + self.messages.len()) as Seq;
        (size / 8 + self.seq / 64).max(1_000)
    }

    fn due(&self) -> Option<(Timestamp, Command)> {
        next_due(self).map(|at| (at, Command::Sweep))
    }

    fn renews(command: &Command) -> bool {
        matches!(command, Command::RenewLeases { .. })
    }

    fn decisions(&self, judged: &Admitted<Self>, now: Timestamp) -> Vec<Decision> {
        let decision = |kind: &str, subject: String, body: serde_json::Value| Decision {
            at: now.0,
            seq: self.seq,
            kind: kind.into(),
            subject,
            body: body.to_string(),
        };
        let mut found = Vec::new();
        for event in judged.iter().flatten() {
            if let EventKind::Judged { session, verdict: Some(verdict) } = &event.what {
                let body = serde_json::json!({ "verdict": verdict.as_str(), "detail": verdict });
                found.push(decision("verdict", session.to_string(), body));
            }
        }
        found
    }
}

impl Decider for Installation {
    type Command = InstallationCommand;
    type Event = InstallationEvent;

    // It is small: folding it is cheaper than keeping snapshots.
    const SNAPSHOT_FORMAT: Option<u32> = None;

    fn seq(&self) -> Seq {
        self.seq
    }

    fn admit(&self, actor: &Actor, command: &Self::Command, now: Timestamp) -> Result<Vec<Self::Event>, Refusal> {
        Installation::admit(self, actor, command, now)
    }

    fn apply(&mut self, event: &Self::Event) {
        Installation::apply(self, event);
    }

    fn encode(event: &Self::Event) -> NewEvent {
        let body = serde_json::to_string(event).expect("events have string keys only");
        NewEvent { at: event.at.0, kind: event.name().into(), version: InstallationEvent::VERSION, body }
    }

    fn decode(event: &StoredEvent) -> Result<Self::Event, BadEvent> {
        if event.version > InstallationEvent::VERSION {
            return Err(BadEvent::Newer { found: event.version, known: InstallationEvent::VERSION });
        }
        Ok(serde_json::from_str(&event.body)?)
    }

    fn to_snapshot(&self) -> Vec<u8> {
        Vec::new()
    }

    fn from_snapshot(_: &[u8]) -> Option<Self> {
        None
    }

    fn snapshot_every(&self) -> Seq {
        Seq::MAX
    }

    fn due(&self) -> Option<(Timestamp, Self::Command)> {
        None
    }

    fn renews(_: &InstallationCommand) -> bool {
        false
    }

    fn decisions(&self, _: &Admitted<Self>, _: Timestamp) -> Vec<Decision> {
        Vec::new()
    }
}
