//! The operations of the API: each handler is reached at the path and with the method that its description names.

use axum::Router;
use axum::handler::Handler;
use axum::routing::{MethodFilter, on};
use utoipa_axum::PathItemExt;

use super::App;

/// The routes of the operations.
pub(super) struct Routes {
    router: Router<App>,
    /// The descriptions of the same operations. The program has them as a file.
    #[cfg(test)]
    pub(super) description: utoipa_axum::router::OpenApiRouter<App>,
}

impl Routes {
    /// Without operations.
    pub(super) fn new() -> Self {
        Self {
            router: Router::new(),
            #[cfg(test)]
            description: utoipa_axum::router::OpenApiRouter::new(),
        }
    }

    /// The router that answers.
    pub(super) fn into_router(self) -> Router<App> {
        self.router
    }

    /// Adds the operation that `P` describes.
    pub(super) fn add<P: utoipa::Path, H: Handler<T, App>, T: 'static>(mut self, handler: H) -> Self {
        let methods = P::methods().iter().map(PathItemExt::to_method_filter).reduce(MethodFilter::or);
        if let Some(methods) = methods {
            self.router = self.router.route(&P::path(), on(methods, handler));
        }
        self
    }

    /// Adds the descriptions of operations.
    #[cfg(test)]
    pub(super) fn describe(mut self, operations: utoipa_axum::router::UtoipaMethodRouter<App>) -> Self {
        self.description = self.description.routes(operations);
        self
    }
}

/// Adds operations to routes: functions with `utoipa::path`.
macro_rules! operations {
    ($routes:expr; $($handler:ident),+) => {{
        let routes: $crate::http::operations::Routes = $routes;
        utoipa_axum::paste! { $( let routes = routes.add::<[<__path_ $handler>], _, _>($handler); )+ }
        $( #[cfg(test)] let routes = routes.describe(utoipa_axum::routes!($handler)); )+
        routes
    }};
}

pub(super) use operations;
