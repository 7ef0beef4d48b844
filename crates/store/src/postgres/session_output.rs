//! What have agents on other hosts printed? The statements behind it.

use super::connections::{Connections, Parameters};
use super::reader::unsigned;
use super::signed;
use crate::session_output::{Wanted, end_of_piece};
use crate::{OutputPage, StoreError, StreamName};

/// One statement, in which the session's row decides: whoever comes second waits for it, finds another end there, and changes
/// nothing. One that is sent again because its answer was lost changes nothing either.
const APPEND: &str = "
    WITH moved AS (
        INSERT INTO outputs AS kept (stream, session, newest) SELECT id, $2, $4 FROM streams WHERE name = $1
        ON CONFLICT (stream, session) DO UPDATE SET newest = excluded.newest WHERE kept.newest = $3
        RETURNING stream
    )
    INSERT INTO output_pieces (stream, session, position, bytes) SELECT stream, $2, $3, $5 FROM moved
    RETURNING position";

/// The bounds of what is kept, and the pieces from the one that has the first byte wanted on.
const PAGE: &str = "
    WITH kept AS (
        SELECT stream, newest, (
            SELECT min(position) FROM output_pieces AS piece WHERE piece.stream = outputs.stream AND session = $2
        ) AS oldest
        FROM outputs JOIN streams ON id = stream WHERE name = $1 AND session = $2
    ),
    wanted AS (SELECT *, least(greatest($3, oldest), newest) AS start FROM kept WHERE oldest IS NOT NULL)
    SELECT oldest, newest, piece.position, piece.bytes
    FROM wanted LEFT JOIN LATERAL (
        SELECT position, bytes FROM output_pieces
        WHERE $4::BIGINT > 0 AND start < newest AND stream = wanted.stream AND session = $2
        AND position < start + $4 AND position >= (
            SELECT max(position) FROM output_pieces AS first
            WHERE first.stream = wanted.stream AND session = $2 AND position <= start
        )
    ) AS piece ON true
    ORDER BY piece.position";

/// The session's row goes with its last piece, and takes with it what was appended since the statement began.
const DROP: &str = "
    WITH ended AS (
        DELETE FROM outputs USING streams WHERE name = $1 AND stream = id AND session = $2 AND newest <= $3
    )
    DELETE FROM output_pieces USING streams
    WHERE name = $1 AND stream = id AND session = $2 AND position < $3 AND position + length(bytes) <= $3";

/// Appends a piece if it begins where what is kept ends, and tells where that is then. The stream is known to exist.
pub(super) async fn append(
    connections: &Connections,
    stream: &StreamName,
    session: &str,
    at: u64,
    bytes: &[u8],
) -> Result<u64, StoreError> {
    let end = end_of_piece(at, bytes)?;
    if !bytes.is_empty() {
        let (from, to) = (signed(at), signed(end));
        let parameters: Parameters<'_> = &[&stream.as_str(), &session, &from, &to, &bytes];
        if !connections.rows(APPEND, parameters).await?.is_empty() {
            return Ok(end);
        }
    }
    let newest = "SELECT newest FROM outputs JOIN streams ON id = stream WHERE name = $1 AND session = $2";
    let rows = connections.rows(newest, &[&stream.as_str(), &session]).await?;
    Ok(rows.first().map_or(0, |row| unsigned(row, 0)))
}

pub(super) async fn page(
    connections: &Connections,
    stream: &StreamName,
    session: &str,
    wanted: &Wanted,
) -> Result<OutputPage, StoreError> {
    let (from, most) = (signed(wanted.from), signed(wanted.most));
    let rows = connections.rows(PAGE, &[&stream.as_str(), &session, &from, &most]).await?;
    let Some(first) = rows.first() else { return Ok(OutputPage::default()) };
    let kept = unsigned(first, 0)..unsigned(first, 1);
    let pieces = rows.iter().filter(|row| row.get::<_, Option<i64>>(2).is_some());
    Ok(wanted.page(kept, pieces.map(|row| (unsigned(row, 2), row.get(3)))))
}

/// Drops the pieces that end at or before `position`.
pub(super) async fn drop_before(
    connections: &Connections,
    stream: &StreamName,
    session: &str,
    position: u64,
) -> Result<(), StoreError> {
    connections.execute(DROP, &[&stream.as_str(), &session, &signed(position)]).await
}

pub(super) async fn sessions(connections: &Connections, stream: &StreamName) -> Result<Vec<String>, StoreError> {
    let sessions = "SELECT session FROM outputs JOIN streams ON id = stream WHERE name = $1
                    ORDER BY session COLLATE \"C\"";
    let rows = connections.rows(sessions, &[&stream.as_str()]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}
