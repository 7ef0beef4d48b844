//! How clients are started, and what their output is taken for.

mod command;
mod launch;
mod logins;
mod output;
mod test_user;
mod transcript;
