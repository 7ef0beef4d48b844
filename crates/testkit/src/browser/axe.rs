//! Which rules of accessibility does the page break?

use std::path::Path;

use serde_json::{Value, json};

use super::Browser;
use super::logs::text_of;

/// The rules of WCAG 2.0, 2.1 and 2.2 on the levels A and AA, and axe's best practices.
const TAGS: [&str; 6] = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/// The callback of chromedriver comes after the arguments.
const RUN: &str = "
    const [tags, done] = arguments;
    const options = { runOnly: { type: 'tag', values: tags }, resultTypes: ['violations'] };
    axe.run(document, options).then(result => done({ violations: result.violations }), problem => done(String(problem)));
";

impl Browser {
    /// Examines the page with axe-core, whose `axe.min.js` is at `source`: a line for each violation.
    pub async fn axe(&self, source: impl AsRef<Path>) -> Vec<String> {
        if self.eval("typeof axe").await != "object" {
            let path = source.as_ref();
            let script = std::fs::read_to_string(path)
                .unwrap_or_else(|problem| panic!("axe-core cannot be read from {}: {problem}", path.display()));
            self.must("load axe-core", self.client.execute(&script, Vec::new()).await).await;
        }
        let answer = self.must("run axe-core", self.client.execute_async(RUN, vec![json!(TAGS)]).await).await;
        let Some(violations) = answer["violations"].as_array() else { panic!("axe-core gave up: {answer}") };
        violations.iter().flat_map(lines).collect()
    }
}

/// A line for each element that breaks the rule.
fn lines(violation: &Value) -> Vec<String> {
    let nodes = violation["nodes"].as_array().map(Vec::as_slice).unwrap_or_default();
    nodes.iter().map(|node| line(violation, node)).collect()
}

fn line(violation: &Value, node: &Value) -> String {
    let selectors: Vec<String> = node["target"].as_array().into_iter().flatten().map(text_of).collect();
    let html: Vec<String> = text_of(&node["html"]).split_whitespace().map(String::from).collect();
    let (rule, impact) = (text_of(&violation["id"]), text_of(&violation["impact"]));
    let line = format!("{rule} ({impact}) at {}: {}", selectors.join(" "), html.join(" "));
    let measured = node["any"].as_array().into_iter().flatten().find(|check| !check["data"]["contrastRatio"].is_null());
    let Some(data) = measured.map(|check| &check["data"]) else { return line };
    let (ratio, wanted) = (&data["contrastRatio"], text_of(&data["expectedContrastRatio"]));
    let (ink, paper) = (text_of(&data["fgColor"]), text_of(&data["bgColor"]));
    format!("{line} [contrast {ratio}:1 of {ink} on {paper}, wanted {wanted}]")
}
