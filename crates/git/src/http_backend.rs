//! How is a repository served to git over HTTP, to be read and never written? By git's own program for that.

use std::process::{Command, Stdio};

use crate::command::Git;

/// What was asked over HTTP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpRequest {
    pub method: String,
    /// Within the repository, such as `/info/refs`.
    pub path: String,
    pub query: String,
    pub content_type: String,
    pub content_encoding: String,
    /// The version of git's protocol that the client speaks.
    pub git_protocol: String,
}

impl Git {
    /// The program that answers the request: the body goes to its input, and its output begins with headers, as of CGI.
    pub fn http_backend(&self, request: &HttpRequest) -> Command {
        let mut command = self.command(&["-c", "http.receivepack=false", "-c", "http.uploadpack=true", "http-backend"]);
        command
            .env("GIT_PROJECT_ROOT", self.directory())
            .env("GIT_HTTP_EXPORT_ALL", "1")
            .env("REQUEST_METHOD", &request.method)
            .env("PATH_INFO", &request.path)
            .env("QUERY_STRING", &request.query)
            .env("CONTENT_TYPE", &request.content_type)
            .env("HTTP_CONTENT_ENCODING", &request.content_encoding)
            .env("GIT_PROTOCOL", &request.git_protocol)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        command
    }
}
