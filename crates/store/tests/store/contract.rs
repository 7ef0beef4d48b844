//! Do all stores keep the contract?

use std::sync::Arc;

use store::Store;
use store::contract::Storage;

use crate::file::File;

impl Storage for File {
    async fn handle(&self) -> Arc<dyn Store> {
        Arc::new(self.open())
    }
}

mod memory {
    store::contract_tests!(store::MemoryStore::new());
}

mod postgres {
    store::contract_tests!(
        store::contract::postgres::Schema::fresh().await,
        #[ignore = "needs SAIHAI_TEST_POSTGRES, which scripts/test sets"]
    );
}

mod sqlite {
    store::contract_tests!(crate::file::File::fresh());
}
