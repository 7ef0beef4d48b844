//! How long may a request take to arrive? Whoever sends its body in drops would keep a connection for ever.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use tokio::time::{Sleep, sleep};

use crate::connections::Connection;

/// A client that takes longer to send what it wants is gone.
const BODY_TIME: Duration = Duration::from_secs(30);

/// A body that has to be here in time.
pub(crate) struct RequestBody {
    body: Incoming,
    connection: Connection,
    /// Only while it has to be waited for.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl RequestBody {
    pub(crate) fn new(body: Incoming, connection: Connection) -> Self {
        connection.answering(body.is_end_stream());
        Self { body, connection, deadline: None }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(Some(frame)) => {
                self.connection.answering(self.body.is_end_stream());
                Poll::Ready(Some(frame.map_err(Into::into)))
            }
            Poll::Ready(None) => {
                self.connection.answering(true);
                Poll::Ready(None)
            }
            Poll::Pending => {
                let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(BODY_TIME)));
                match deadline.as_mut().poll(context) {
                    Poll::Ready(()) => Poll::Ready(Some(Err("the request did not arrive in time".into()))),
                    Poll::Pending => Poll::Pending,
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
