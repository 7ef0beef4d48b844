//! Tasks: what is to be done, and what may be done with it?

mod change;
mod list;
mod look;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::web::Window;

pub(super) fn router() -> OpenApiRouter<Window> {
    OpenApiRouter::new()
        .routes(routes!(list::list, change::create))
        .routes(routes!(look::show, change::edit))
        .routes(routes!(look::why))
        .routes(routes!(look::events))
        .routes(routes!(look::diff))
        .routes(routes!(look::offers))
        .routes(routes!(change::assign))
        .routes(routes!(change::depend))
        .routes(routes!(change::act))
}
