//! Who may stay connected when there are too many? Whoever has shown who they are; of the others, the newest.
//!
//! A server on this machine cannot tell its callers apart by their address: an agent comes from where its owner comes from.
//! So connections on which nobody has authenticated yet have places of their own. When these are taken, the one that has
//! kept us waiting longest is closed for the next, so that whoever sends its request at once is served. A connection on
//! which somebody has authenticated has a place that only they can lose, and each credential has so many.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio_util::sync::CancellationToken;

/// How many connections there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    /// On which nobody has authenticated.
    pub(crate) unknown: usize,
    /// On which somebody has.
    pub(crate) known: usize,
    /// Of one credential.
    pub(crate) for_each: usize,
}

impl Places {
    const MOST: usize = 1280;
    const FOR_EACH: usize = 64;

    /// As many as this process may open files for, and half of these are for other things.
    pub(crate) fn of_this_process() -> Self {
        let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let most =
            files.map_or(Self::MOST, |files| usize::try_from(files / 2).unwrap_or(Self::MOST)).clamp(20, Self::MOST);
        Self { unknown: most / 5, known: most - most / 5, for_each: Self::FOR_EACH.min(most / 5) }
    }
}

/// All connections of a server.
#[derive(Debug)]
pub(crate) struct Connections {
    places: Places,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    /// The number of the last connection.
    last: u64,
    /// Those on which nobody has authenticated, oldest first.
    unknown: BTreeMap<u64, Unknown>,
    /// How many each credential has.
    known: HashMap<String, usize>,
}

#[derive(Debug)]
struct Unknown {
    closed: CancellationToken,
    /// Its request is here, and is being answered.
    answering: bool,
}

impl Connections {
    pub(crate) fn new(places: Places) -> Arc<Self> {
        Arc::new(Self { places, open: Mutex::default() })
    }

    /// A place for a new connection. If there is none, the one that has kept us waiting longest loses its own.
    pub(crate) fn enter(self: &Arc<Self>) -> Connection {
        let mut open = self.lock();
        if open.unknown.len() >= self.places.unknown {
            let waited_for = open.unknown.iter().find(|(_, unknown)| !unknown.answering);
            let loser = waited_for.or_else(|| open.unknown.first_key_value()).map(|(number, _)| *number);
            if let Some(loser) = loser.and_then(|number| open.unknown.remove(&number)) {
                loser.closed.cancel();
            }
        }
        open.last += 1;
        let (number, closed) = (open.last, CancellationToken::new());
        open.unknown.insert(number, Unknown { closed: closed.clone(), answering: false });
        drop(open);
        let place = Place { connections: Arc::clone(self), number, closed, credential: OnceLock::new() };
        Connection(Arc::new(place))
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection, as those see it who serve its requests.
#[derive(Clone, Debug)]
pub struct Connection(Arc<Place>);

/// What is given back when the connection ends.
#[derive(Debug)]
struct Place {
    connections: Arc<Connections>,
    number: u64,
    closed: CancellationToken,
    /// Whose it is.
    credential: OnceLock<String>,
}

/// A credential has as many connections as it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many connections")]
pub struct TooManyConnections;

impl Connection {
    /// Somebody has authenticated with this credential, or its id: a secret need not be named. The connection cannot be
    /// lost to others any more, unless the credential has too many already; then it goes on as it was.
    pub fn authenticated(&self, credential: impl FnOnce() -> String) -> Result<(), TooManyConnections> {
        let Place { connections, number, credential: whose, .. } = &*self.0;
        if whose.get().is_some() {
            return Ok(());
        }
        let credential = credential();
        let mut open = connections.lock();
        let (all, own) = (open.known.values().sum::<usize>(), open.known.get(&credential).copied().unwrap_or(0));
        if all >= connections.places.known || own >= connections.places.for_each {
            return Err(TooManyConnections);
        }
        open.unknown.remove(number);
        open.known.insert(credential.clone(), own + 1);
        // HTTP/1 answers one request at a time, so nobody else sets it meanwhile.
        let _ = whose.set(credential);
        Ok(())
    }

    /// A request has begun, or is here whole.
    pub(crate) fn answering(&self, answering: bool) {
        if self.0.credential.get().is_some() {
            return;
        }
        if let Some(unknown) = self.0.connections.lock().unknown.get_mut(&self.0.number) {
            unknown.answering = answering;
        }
    }

    /// Its place was needed for another.
    pub(crate) async fn closed(&self) {
        self.0.closed.cancelled().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.connections.lock();
        open.unknown.remove(&self.number);
        if let Some(credential) = self.credential.get()
            && let Some(count) = open.known.get_mut(credential)
        {
            *count -= 1;
            if *count == 0 {
                open.known.remove(credential);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> Arc<Connections> {
        Connections::new(Places { unknown: 3, known: 4, for_each: 2 })
    }

    fn is_open(connection: &Connection) -> bool {
        !connection.0.closed.is_cancelled()
    }

    /// W3, F113: whoever keeps us waiting loses its place to the next one; whoever is being answered does not.
    #[test]
    fn the_place_of_whoever_keeps_us_waiting_is_given_to_the_next() {
        let server = server();
        let all: Vec<_> = (0..3).map(|_| server.enter()).collect();
        all[0].answering(true);
        let next = server.enter();
        assert_eq!([&all[0], &all[1], &all[2], &next].map(is_open), [true, false, true, true]);
        // All are being answered: the oldest one has to go.
        [&all[2], &next].iter().for_each(|connection| connection.answering(true));
        let last = server.enter();
        assert_eq!([&all[0], &all[2], &next, &last].map(is_open), [false, true, true, true]);
    }

    /// W3, S4, F113: who has authenticated keeps the place, up to a number for each credential.
    #[test]
    fn whoever_has_authenticated_keeps_the_place() {
        let server = server();
        let owner: Vec<_> = (0..3).map(|_| server.enter()).collect();
        let proved: Vec<_> = owner.iter().map(|connection| connection.authenticated(|| "owner".into())).collect();
        assert_eq!(proved, [Ok(()), Ok(()), Err(TooManyConnections)]);
        assert_eq!(owner[0].authenticated(|| "owner".into()), Ok(()), "again, on the same connection");
        let strangers: Vec<_> = (0..9).map(|_| server.enter()).collect();
        assert_eq!(owner.iter().map(is_open).collect::<Vec<_>>(), [true, true, false]);
        assert_eq!(strangers.iter().filter(|connection| is_open(connection)).count(), 3);
        let agent = server.enter();
        assert_eq!(agent.authenticated(|| "agent".into()), Ok(()));
        // A place that was given back is there for others.
        drop(owner);
        assert_eq!(server.enter().authenticated(|| "owner".into()), Ok(()));
    }
}
