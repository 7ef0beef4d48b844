//! Which events are about a task? Their numbers, kept so that a long history costs little to open (P5).

use std::sync::Arc;

use imbl::Vector;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::Seq;

/// Ascending event numbers. Those that a snapshot had stay as its bytes until somebody asks for them.
#[derive(Clone, Debug, Default)]
pub struct EventNumbers {
    /// Each number as its distance from the one before, seven bits to a byte, the lowest first; the eighth bit says
    /// that more follow.
    earlier: Arc<[u8]>,
    /// The last one in `earlier`, or 0.
    earlier_end: Seq,
    recent: Vector<Seq>,
}

impl EventNumbers {
    pub fn last(&self) -> Option<Seq> {
        self.recent.last().copied().or((self.earlier_end > 0).then_some(self.earlier_end))
    }

    /// Adds a number, unless it is the last one already. It must not be smaller than that.
    pub fn add(&mut self, seq: Seq) {
        if self.last() != Some(seq) {
            self.recent.push_back(seq);
        }
    }

    /// All of them, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = Seq> + '_ {
        let mut bytes = &*self.earlier;
        let mut seq: Seq = 0;
        let earlier = std::iter::from_fn(move || {
            seq = seq.saturating_add(read_distance(&mut bytes)?);
            Some(seq)
        });
        earlier.chain(self.recent.iter().copied())
    }
}

impl PartialEq for EventNumbers {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for EventNumbers {}

impl Serialize for EventNumbers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = self.earlier.to_vec();
        let mut end = self.earlier_end;
        for seq in &self.recent {
            write_distance(&mut bytes, seq.saturating_sub(end));
            end = *seq;
        }
        (end, bytes.as_slice()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for EventNumbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (earlier_end, bytes) = <(Seq, &[u8])>::deserialize(deserializer)?;
        Ok(Self { earlier: bytes.into(), earlier_end, recent: Vector::new() })
    }
}

fn write_distance(bytes: &mut Vec<u8>, mut distance: Seq) {
    while distance >= 0x80 {
        bytes.push((distance & 0x7f) as u8 | 0x80);
        distance >>= 7;
    }
    bytes.push(distance as u8);
}

/// Takes the first distance off the bytes. What is cut off or too long for a number ends the list.
fn read_distance(bytes: &mut &[u8]) -> Option<Seq> {
    let mut distance: Seq = 0;
    for shift in (0..Seq::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        distance |= Seq::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(distance);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::EventNumbers;

    fn numbers(seqs: impl IntoIterator<Item = u64>) -> EventNumbers {
        let mut numbers = EventNumbers::default();
        seqs.into_iter().for_each(|seq| numbers.add(seq));
        numbers
    }

    fn kept(numbers: &EventNumbers) -> EventNumbers {
        let bytes = postcard::to_stdvec(numbers).expect("it is plain data");
        postcard::from_bytes(&bytes).expect("it was just written")
    }

    /// P5, E4: what a snapshot keeps reads back as it was, also after more events and another snapshot.
    #[test]
    fn a_snapshot_keeps_every_number() {
        let all = [1, 2, 127, 128, 129, 16_384, 16_385, 5_000_000_000, u64::MAX];
        for split in 0..=all.len() {
            let mut half = kept(&numbers(all[..split].iter().copied()));
            all[split..].iter().for_each(|seq| half.add(*seq));
            assert_eq!(half, numbers(all));
            assert_eq!(kept(&half).iter().collect::<Vec<_>>(), all);
            assert_eq!(half.last(), all.last().copied());
        }
        assert_eq!(kept(&numbers([])).last(), None);
    }

    /// An event that is about a task in two ways is one event.
    #[test]
    fn a_number_is_added_once() {
        let mut known = kept(&numbers([3, 3, 7]));
        known.add(7);
        assert_eq!(known.iter().collect::<Vec<_>>(), [3, 7]);
    }

    /// Bytes that are cut off or no numbers end the list, and nothing panics.
    #[test]
    fn damaged_bytes_end_the_list() {
        for (bytes, read) in [(vec![0x80u8], vec![]), (vec![0xff; 4], vec![]), (vec![5, 0x80], vec![5])] {
            let stored = postcard::to_stdvec(&(9u64, bytes)).expect("it is plain data");
            let numbers: EventNumbers = postcard::from_bytes(&stored).expect("a list of bytes");
            assert_eq!(numbers.iter().collect::<Vec<_>>(), read);
        }
    }
}
