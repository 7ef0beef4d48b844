//! Are the bytes of a snapshot what `SNAPSHOT_FORMAT` says they are (E4)?

use board::{Board, Settings, apply, snapshot};

use crate::samples::every_event;
use crate::team::{Team, failing_check, writing};
use crate::world::{owner, project};

/// The format, the length and the FNV-1a hash of the snapshot of a fixed board.
const PINNED: (u32, usize, u64) = (15, 2233, 8116586037339598577);

/// A board with something in every one of its parts.
fn fixed() -> Board {
    let mut team = Team::with_a_started();
    let worker = team.world.enter("w1", team.a);
    team.world.create(&board::Actor::Session(worker), &["one", "two"]);
    team.world.must(&owner(), writing("w2"));
    team.leave_waiting();
    let other = team.world.started("w2");
    let session = team.world.enter("w2", other);
    team.world.deliver(session, failing_check());
    let mut board = team.world.board;
    for event in every_event() {
        apply(&mut board, &event);
    }
    board
}

fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// E4
#[test]
fn snapshot_format_is_raised_when_its_bytes_change() {
    let bytes = snapshot::encode(&fixed());
    let found = (snapshot::SNAPSHOT_FORMAT, bytes.len(), fnv(&bytes));
    assert_eq!(
        found, PINNED,
        "the bytes of a snapshot changed: raise SNAPSHOT_FORMAT in src/snapshot.rs if a released binary has \
         written the old ones, and pin the new triple here"
    );
}

/// E4
#[test]
fn snapshot_reads_back_as_the_board() {
    let board = fixed();
    assert_eq!(snapshot::decode(&snapshot::encode(&board)).unwrap(), board);
    assert_eq!(snapshot::decode(&snapshot::encode(&Board::new(Settings::new(project())))).unwrap().seq, 0);
}

/// E4: a snapshot is a cache: what is cut off or foreign is an error, not a board.
#[test]
fn broken_snapshot_is_an_error() {
    let bytes = snapshot::encode(&fixed());
    assert!(snapshot::decode(&bytes[..bytes.len() / 2]).is_err());
    assert!(snapshot::decode(b"").is_err());
}
