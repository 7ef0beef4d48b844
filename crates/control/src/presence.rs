//! Who has been heard of lately, by any server of the installation (R10)?

use std::collections::BTreeMap;

use board::{RunnerId, Timestamp};
use store::Present;

use crate::{Control, ControlError, Project};

impl Control {
    /// Notes that `key` is there now, with what else is known of it as JSON text.
    pub async fn put_presence(&self, key: &str, body: String) -> Result<(), ControlError> {
        let present = Present { key: key.to_owned(), at: self.clock().now().0, body };
        Ok(self.store().put_presence(present).await?)
    }

    /// Everybody who was not removed, by key. How old is too old is for the caller to say.
    pub async fn presence(&self) -> Result<Vec<Present>, ControlError> {
        Ok(self.store().presence().await?)
    }

    pub async fn remove_presence(&self, key: &str) -> Result<(), ControlError> {
        Ok(self.store().remove_presence(key).await?)
    }
}

impl Project {
    /// When each runner on another host was heard of last.
    pub(crate) async fn last_heard(&self) -> Result<BTreeMap<RunnerId, Timestamp>, ControlError> {
        let present = self.store().presence().await?;
        Ok(present.into_iter().filter_map(|known| Some((known.key.parse().ok()?, Timestamp(known.at)))).collect())
    }
}
