//! Tasks: what is to be done, and what may be done with it?

mod change;
mod list;
mod show;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list::list, change::create))
        .routes(routes!(show::show, change::edit))
        .routes(routes!(show::why))
        .routes(routes!(show::events))
        .routes(routes!(show::diff))
        .routes(routes!(show::offers))
        .routes(routes!(change::assign))
        .routes(routes!(change::depend))
        .routes(routes!(change::comment))
        .routes(routes!(change::revert))
        .routes(routes!(change::act))
}
