// What did the conformance suite find, and is it what we expect and what docs/conformance.md says?
//
// The suite judges only the scenarios that a revision requires, and takes a scenario that found
// nothing to look at for passed. Here every scenario is judged: a check that fails must be listed,
// what is listed must fail, and a scenario in which nothing was checked must be listed as such. What
// is not offered is the comment above the entries in crates/testkit/conformance/REVISION.yaml.

import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";

const PAGE = "docs/conformance.md";
const [mode, cache, found, ...revisions] = process.argv.slice(2);
const suite = `${cache}/node_modules/@modelcontextprotocol/conformance`;

const read = (file) => readFileSync(file, "utf8");
const matches = (text, pattern) => [...text.matchAll(pattern)].map((match) => match[1]);

function fail(message) {
  console.error(`error: ${message}`);
  process.exitCode = 1;
}

/** The scenarios of a revision: those that it requires, and those that run besides. */
function scenarios(revision) {
  const parts = read(`${suite}/requirements/${revision}.yaml`).match(/^server:\n([^]*?)^client:[^]*?^not_scored:\n([^]*)/m);
  return { required: matches(parts[1], /^ +- (\S+)$/gm), besides: matches(parts[2], /scenario: (\S+)\n +leg: server/g) };
}

/** What is expected, by section: for each entry, what is not offered. */
function expectations(revision) {
  const sections = { server: new Map(), nothing_to_check: new Map() };
  let section, missing;
  for (const line of read(`crates/testkit/conformance/${revision}.yaml`).split("\n")) {
    const [, name, comment, entry] = line.match(/^(?:(\w+):|  # (.+)|  - (\S+))$/) ?? [];
    if (name) section = sections[name];
    if (comment) missing = comment;
    if (entry) section.set(entry, missing);
  }
  return sections;
}

/** The checks of every scenario that ran. */
function results(revision) {
  const scenario = (folder) => folder.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT[\dZ-]+$/, "");
  const checks = (folder) => JSON.parse(read(`${found}/${revision}/${folder}/checks.json`));
  return new Map(readdirSync(`${found}/${revision}`).map((folder) => [scenario(folder), checks(folder)]));
}

/** How a scenario ended. What was expected of it is taken from the lists. */
function judge(scenario, checks, expected, surprise) {
  const passed = checks.filter(({ status }) => status === "SUCCESS");
  const failed = new Set(checks.filter(({ status }) => status === "FAILURE" || status === "WARNING").map(({ id }) => id));
  // Neither a well-formed message nor the answer that there is no such tool tells what was asked for.
  const telling = passed.filter((check) => check.id !== "wire-schema-valid" && !JSON.stringify(check).includes("There is no tool `"));
  const missing = new Set();
  const expect = (list, entry) => list.has(entry) && missing.add(list.get(entry)) && list.delete(entry);
  let verdict = telling.length > 0 ? "passed" : "not offered";
  if (failed.size + telling.length === 0) {
    if (!expect(expected.nothing_to_check, scenario)) surprise(`${scenario} checks nothing`);
  } else if (failed.size > 0 && expect(expected.server, scenario)) {
    verdict = "not offered";
  } else {
    for (const id of failed) if (!expect(expected.server, `${scenario}:${id}`)) surprise(`${scenario}:${id} fails`);
    if (failed.size > 0 && verdict === "passed") verdict = "passed in part; not offered";
  }
  const row = [scenario, passed.length, [verdict, [...missing].join(", ")].filter(Boolean).join(": ")];
  return { verdict, row: `| ${row.join(" | ")} |` };
}

function section(revision) {
  const { required, besides } = scenarios(revision);
  const [expected, ran] = [expectations(revision), results(revision)];
  const surprise = (message) => fail(`${revision}: ${message}`);
  const judged = (names) => names.map((name) => judge(name, ran.get(name) ?? [], expected, surprise));
  const table = (rows) => ["| scenario | checks passed | result |", "|---|---|---|", ...rows.map(({ row }) => row)].join("\n");
  const [scored, unscored] = [judged(required), judged(besides)];
  for (const list of Object.values(expected)) for (const entry of list.keys()) surprise(`${entry} is expected, and did not happen`);
  const count = (wanted) => scored.filter(({ verdict }) => verdict === wanted).length;
  return `## ${revision}

${scored.length} scenarios are required: ${count("passed")} pass, ${count("passed in part; not offered")} pass in part, and \
${count("not offered")} are about what Saihai does not offer.

${table(scored)}

Extensions, and what the suite has not settled, run as well and are required of nobody.

${table(unscored)}
`;
}

const page = `# Conformance

Printed by \`scripts/conformance --write\` from what the official MCP conformance suite
(\`@modelcontextprotocol/conformance\` ${JSON.parse(read(`${suite}/package.json`)).version}) says of Saihai's server.

The suite calls tools of its own; they are served beside Saihai's, through the same door. Saihai offers tools and nothing
else: it has no prompts and no resources, and never asks a client for anything. What the suite finds missing for that
reason is listed in \`crates/testkit/conformance/\`; anything else fails the tests, and so does an entry that is no longer
true.

${revisions.map(section).join("\n")}`;

if (mode === "--write") writeFileSync(PAGE, page);
else if (!existsSync(PAGE) || read(PAGE) !== page) fail(`${PAGE} is stale; write it again with \`scripts/conformance --write\``);
