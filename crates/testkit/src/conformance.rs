//! Which server does the conformance suite examine? Ours, with the suite's tools beside its own.
//!
//! The suite calls tools of its own by name and cannot authenticate. Everything but those tools is
//! passed on, so that the suite examines our HTTP server, our negotiation and our lists.

mod fixtures;

use std::borrow::Cow;

use mcp::Mcp;
use rmcp::ErrorData;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, DiscoverResult, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult,
    InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};

type Context = RequestContext<RoleServer>;

/// Our server, with the tools that the suite expects.
#[derive(Clone, Debug)]
pub struct ConformanceServer(pub Mcp);

/// Requests that are passed on unchanged.
macro_rules! pass_on {
    ($($request:ident($params:ty) -> $result:ty;)*) => {
        $(async fn $request(&self, params: $params, context: Context) -> Result<$result, ErrorData> {
            self.0.$request(params, context).await
        })*
    };
}

// The older revisions of the protocol have requests that the newest has dropped.
#[expect(deprecated)]
impl ServerHandler for ConformanceServer {
    async fn list_tools(
        &self,
        params: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut listed = self.0.list_tools(params, context).await?;
        listed.tools.extend(fixtures::tools());
        Ok(listed)
    }

    async fn call_tool(&self, params: CallToolRequestParams, context: Context) -> Result<CallToolResponse, ErrorData> {
        match fixtures::call(&params.name, &context).await {
            Some(answer) => answer.map(CallToolResponse::from),
            None => self.0.call_tool(params, context).await,
        }
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        fixtures::tools().find(|tool| tool.name == name).or_else(|| self.0.get_tool(name))
    }

    fn get_info(&self) -> ServerConfig {
        self.0.get_info()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.0.supported_protocol_versions()
    }

    fn negotiate_initialize(&self, params: &InitializeRequestParams) -> Result<InitializeResult, ErrorData> {
        self.0.negotiate_initialize(params)
    }

    async fn ping(&self, context: Context) -> Result<(), ErrorData> {
        self.0.ping(context).await
    }

    async fn discover(&self, context: Context) -> Result<DiscoverResult, ErrorData> {
        self.0.discover(context).await
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.0.accepted_subscription_filter(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.0.listen(context).await
    }

    pass_on! {
        initialize(InitializeRequestParams) -> InitializeResult;
        complete(CompleteRequestParams) -> CompleteResult;
        set_level(rmcp::model::SetLevelRequestParams) -> ();
        get_prompt(GetPromptRequestParams) -> GetPromptResponse;
        list_prompts(Option<PaginatedRequestParams>) -> ListPromptsResult;
        list_resources(Option<PaginatedRequestParams>) -> ListResourcesResult;
        list_resource_templates(Option<PaginatedRequestParams>) -> ListResourceTemplatesResult;
        read_resource(ReadResourceRequestParams) -> ReadResourceResponse;
        subscribe(SubscribeRequestParams) -> ();
        unsubscribe(UnsubscribeRequestParams) -> ();
        on_custom_request(CustomRequest) -> CustomResult;
        get_task(GetTaskParams) -> GetTaskResult;
        update_task(UpdateTaskParams) -> ();
        cancel_task(CancelTaskParams) -> ();
    }
}
