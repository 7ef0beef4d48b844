//! Where does a session's output go? Into segments, of which only the newest are kept (F89).

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use board::{OutputKind, Span};

const SEGMENT: u64 = 1 << 20;
const SEGMENTS: usize = 16;

/// Writes the log. A full disk loses output, and not the session.
#[derive(Debug)]
pub(crate) struct LogWriter {
    directory: PathBuf,
    segments: Vec<u64>,
    file: Option<File>,
    /// Bytes of output in all; a segment is named by where it begins.
    position: u64,
    /// The end of it, which is not in the file yet: it is written once per read and not once per line.
    pending: Vec<u8>,
}

impl LogWriter {
    pub(crate) fn new(directory: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&directory)?;
        Ok(Self { directory, segments: Vec::new(), file: None, position: 0, pending: Vec::new() })
    }

    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    pub(crate) fn write(&mut self, line: &[u8]) {
        let full = self.segments.last().is_none_or(|start| self.position - start + line.len() as u64 > SEGMENT);
        if full {
            self.next_segment();
        }
        self.pending.extend_from_slice(line);
        self.position += line.len() as u64;
    }

    /// Puts what was written into the file.
    pub(crate) fn flush(&mut self) {
        if let Some(file) = &mut self.file {
            let _ = file.write_all(&self.pending);
        }
        self.pending.clear();
    }

    fn next_segment(&mut self) {
        self.flush();
        self.file = File::create(segment(&self.directory, self.position)).ok();
        self.segments.push(self.position);
        if self.segments.len() > SEGMENTS {
            let oldest = self.segments.remove(0);
            let _ = fs::remove_file(segment(&self.directory, oldest));
        }
    }
}

fn segment(directory: &Path, start: u64) -> PathBuf {
    directory.join(format!("{start:020}.log"))
}

/// A piece of a session's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogChunk {
    /// Where it begins; later than asked for if that is not kept any more.
    pub start: u64,
    pub bytes: Vec<u8>,
}

impl LogChunk {
    pub fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

/// Reads a session's log, page by page (W5).
#[derive(Clone, Debug)]
pub struct SessionLog {
    directory: PathBuf,
}

impl SessionLog {
    /// Of the session with this private directory.
    pub fn of(run: &Path, kind: OutputKind) -> Self {
        Self { directory: super::plan::log_directory(run, kind) }
    }

    fn segments(&self) -> Vec<(u64, u64)> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let mut found: Vec<_> = entries
            .filter_map(|entry| {
                let start = entry.file_name().to_str()?.strip_suffix(".log")?.parse().ok()?;
                Some((start, entry.metadata().ok()?.len()))
            })
            .collect();
        found.sort_unstable();
        found
    }

    /// The oldest position that is kept.
    pub fn oldest(&self) -> u64 {
        self.segments().first().map_or(0, |(start, _)| *start)
    }

    /// Where the log ends now.
    pub fn end(&self) -> u64 {
        self.segments().last().map_or(0, |(start, length)| start + length)
    }

    /// How long nothing was written; `None` if nothing ever was.
    pub fn quiet(&self) -> Option<Span> {
        let (newest, _) = self.segments().pop()?;
        let written = fs::metadata(segment(&self.directory, newest)).and_then(|file| file.modified()).ok()?;
        let quiet = SystemTime::now().duration_since(written).unwrap_or_default();
        Some(Span(i64::try_from(quiet.as_millis()).unwrap_or(i64::MAX)))
    }

    /// At most `most` bytes from a position on.
    pub fn read(&self, from: u64, most: usize) -> io::Result<LogChunk> {
        let segments = self.segments();
        let wanted = segments.iter().find(|(start, length)| from < start + length);
        let Some((start, length)) = wanted else {
            return Ok(LogChunk { start: from.min(self.end()), bytes: Vec::new() });
        };
        let from = from.max(*start);
        let mut file = File::open(segment(&self.directory, *start))?;
        file.seek(SeekFrom::Start(from - start))?;
        let mut bytes = Vec::new();
        file.take((start + length - from).min(most as u64)).read_to_end(&mut bytes)?;
        Ok(LogChunk { start: from, bytes })
    }

    /// The same across segments: as much of it as there is.
    pub fn read_on(&self, from: u64, most: usize) -> LogChunk {
        let mut chunk = LogChunk { start: from, bytes: Vec::new() };
        while chunk.bytes.len() < most
            && let Ok(next) = self.read(chunk.end(), most - chunk.bytes.len())
            && !next.bytes.is_empty()
        {
            if chunk.bytes.is_empty() {
                chunk.start = next.start;
            }
            chunk.bytes.extend(next.bytes);
        }
        chunk.start = chunk.start.min(self.end());
        chunk
    }

    /// The end of the log, at most so many bytes, beginning with a whole line.
    pub fn tail(&self, most: usize) -> LogChunk {
        let end = self.end();
        let mut start = end.saturating_sub(most as u64);
        let LogChunk { start: kept, mut bytes } = self.read_on(start, usize::MAX);
        start = kept;
        if start > 0 && end > most as u64 {
            // A line that is longer than all that is wanted is shown as far as it goes.
            let cut = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let cut = if cut == bytes.len() { 0 } else { cut };
            bytes.drain(..cut);
            start += cut as u64;
        }
        LogChunk { start, bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::{LogWriter, SEGMENT, SessionLog};

    fn log(lines: &[&[u8]]) -> (tempfile::TempDir, SessionLog) {
        let directory = tempfile::tempdir().unwrap();
        let mut writer = LogWriter::new(directory.path().to_owned()).unwrap();
        lines.iter().for_each(|line| writer.write(line));
        writer.flush();
        let log = SessionLog { directory: directory.path().to_owned() };
        (directory, log)
    }

    /// W5: what lies in several segments is read as one.
    #[test]
    fn pages_go_across_segments() {
        let line = [b"x".repeat(SEGMENT as usize / 2 + 9), b"\n".to_vec()].concat();
        let (_directory, log) = log(&[&line, &line, &line]);
        assert!(log.segments().len() > 1);
        let chunk = log.read_on(10, 2 * line.len());
        assert_eq!((chunk.start, chunk.bytes.len()), (10, 2 * line.len()));
        assert_eq!(log.read_on(u64::MAX / 2, 10).start, log.end(), "beyond the end there is nothing");
    }

    /// W5: a line that is longer than a page is shown as far as it goes.
    #[test]
    fn a_very_long_line_is_shown() {
        let long = [b"x".repeat(100_000), b"\n".to_vec()].concat();
        let (_directory, log) = log(&[b"early\n", &long]);
        assert_eq!(log.tail(64 * 1024).bytes.len(), 64 * 1024);
        assert_eq!(log.tail(200_000).bytes.len(), 100_007, "all of it fits");
    }
}
