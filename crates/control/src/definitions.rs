//! How do definitions reach the board, and where are the values of `env` meanwhile (E8)?

use std::collections::BTreeMap;

use board::{Actor, AgentId, AgentSpec, Board, Command, EnvValue, EnvValues, Settings, admit};

use crate::{ControlError, Project, Receipt};

/// What a project is to be: its settings and its agents, with the values of their `env`.
#[derive(Clone, Debug)]
pub struct NewDefinitions {
    pub settings: Settings,
    pub agents: Vec<AgentSpec>,
    pub env: BTreeMap<AgentId, EnvValues>,
}

impl NewDefinitions {
    /// The command that makes the board match them. It has no values in it.
    pub fn command(&self) -> Command {
        Command::Define { settings: Box::new(self.settings.clone()), agents: self.agents.clone() }
    }
}

impl Project {
    /// Makes the project match its definitions. Values are replaced first, so that nobody is started without them, and
    /// only if the board takes the rest.
    pub async fn define(&self, actor: Actor, new: &NewDefinitions) -> Result<Receipt<Board>, ControlError> {
        let command = new.command();
        let board = self.newest().await?;
        admit(&board, &actor, &command, self.clock().now())?;
        for agent in self.changed_env(new).await? {
            let values = new.env.get(&agent).into_iter().flatten();
            let values = values.map(|(name, value)| (name.clone(), value.0.clone())).collect();
            self.store().put_secrets(self.stream_name(), agent.as_str(), values).await?;
        }
        self.submit(actor, command).await
    }

    /// The agents whose values are not what they are to be. Whoever is not defined any more has none.
    pub async fn changed_env(&self, new: &NewDefinitions) -> Result<Vec<AgentId>, ControlError> {
        let board = self.newest().await?;
        let mut changed = Vec::new();
        let known = board.agents.keys().chain(new.env.keys());
        for agent in known.collect::<std::collections::BTreeSet<_>>() {
            if self.env_values(agent).await? != new.env.get(agent).cloned().unwrap_or_default() {
                changed.push(agent.clone());
            }
        }
        Ok(changed)
    }

    /// What the variables of an agent are set to: for the runner that claims a session of it.
    pub(crate) async fn env_values(&self, agent: &AgentId) -> Result<EnvValues, ControlError> {
        let values = self.store().secrets(self.stream_name(), agent.as_str()).await?;
        Ok(values.into_iter().map(|(name, value)| (name, EnvValue(value))).collect())
    }
}
