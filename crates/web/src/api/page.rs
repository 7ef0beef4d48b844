//! How is a long list read? In pages, each of which says where the next one begins.

use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::problem::Problem;

const DEFAULT: usize = 100;
const MOST: usize = 500;

/// Which page of a list is asked for.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Paging {
    /// How many at most: 1 to 500, 100 if not said.
    pub(super) limit: Option<usize>,
    /// The `next` of the page before. For a list of events also the number of the event before the first that is wanted.
    pub(super) after: Option<String>,
}

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Page<T> {
    pub(super) items: Vec<T>,
    /// Send it as `after` for the page that follows; `null` if this is the last.
    pub(super) next: Option<String>,
}

impl<T> Page<T> {
    /// The first `limit` of what was found. A cursor is the place of the last item, so that what comes and goes
    /// meanwhile neither repeats nor hides others.
    pub(super) fn of<F, C: Display>(
        found: impl IntoIterator<Item = F>,
        limit: usize,
        place: impl Fn(&F) -> C,
        shape: impl Fn(F) -> T,
    ) -> Self {
        let mut found = found.into_iter();
        let kept: Vec<F> = found.by_ref().take(limit).collect();
        let last = kept.last().map(|last| place(last).to_string());
        let next = last.filter(|_| found.next().is_some());
        Self { items: kept.into_iter().map(shape).collect(), next }
    }
}

/// How many items are asked for.
pub(super) fn limit(asked: Option<usize>) -> Result<usize, Problem> {
    within(asked, DEFAULT, MOST)
}

pub(super) fn within(asked: Option<usize>, default: usize, most: usize) -> Result<usize, Problem> {
    match asked {
        None => Ok(default),
        Some(limit) if (1..=most).contains(&limit) => Ok(limit),
        Some(limit) => Err(Problem::bad_argument(
            format!("`limit` is {limit}."),
            format!("Ask for 1 to {most}, and for more with `after`."),
        )),
    }
}

/// Where the page before ended.
pub(super) fn cursor<C: FromStr>(after: Option<&str>) -> Result<Option<C>, Problem> {
    after.map(str::parse).transpose().map_err(|_| {
        Problem::bad_argument(
            "`after` is not the `next` of a page of this list.",
            "Leave it out for the first page, and send what `next` said for each one that follows.",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::Page;

    #[test]
    fn the_last_page_has_no_next() {
        let page = |count: usize| Page::of(0..count, 2, |item| *item, |item| item);
        for (count, items, next) in [(0, vec![], None), (1, vec![0], None), (2, vec![0, 1], None)] {
            assert_eq!((page(count).items, page(count).next), (items, next));
        }
        assert_eq!(page(3).next.as_deref(), Some("1"));
    }
}
