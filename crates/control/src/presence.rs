//! Who has been heard of lately, by any server of the installation (R10)?

use store::Present;

use crate::{Control, ControlError};

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
