// SPDX-License-Identifier: Apache-2.0
// Pictures of the page for docs/web.md: MODULES BUNDLE FOLDER (script/lib/web_pictures.py).
import { begin, DESK, PHONE } from "./browser.mjs";
import { answered, conversation, edit } from "./stories.mjs";

const run = await begin();
const coloured = (page) => page.waitForFunction(() => document.querySelector(".diff")?.shadowRoot?.querySelector(".tok-number"));
const approvals = { needed: 2, statement: "", rules: [{ needed: 2, reviewers: ["@security"], owner: "does_not_count", rule: "review.toml:3" }] };
const vote = (server, by, what, count) => server.bus("question-vote", { correlationId: "q1", by, vote: what, approvals: count, needed: 2,
	approvedBy: [], shown: "h", owner: false });

await run.test("review", async (page, server) => {
	conversation(server);
	edit(server);
	await coloured(page);
	await page.locator(".diff .cm-merge-b .cm-gutterElement", { hasText: /^6$/ }).click();
	await page.getByLabel("Comment on line 6").fill("Why fifty? The limit is forty.");
	await page.getByRole("button", { name: "Add comment" }).click();
	await page.getByRole("button", { name: "Leave out", exact: true }).click();
	await page.locator(".question").evaluate((one) => one.scrollIntoView({ block: "start" }));
	await run.picture(page, "web-review");
}, { options: { ...DESK, viewport: { width: 1100, height: 760 } } });

await run.test("quorum", async (page, server) => {
	edit(server, { approvals, shown: "h", rule: "review.toml:3", outcomes: ["proceed_once", "modify_with_editor", "cancel"] });
	vote(server, "anna", "approve", 1);
	vote(server, "ben", "lapsed", 1);
	await page.getByRole("button", { name: "Unified" }).click();
	await coloured(page);
	await page.getByText("ben: approval lapsed").waitFor();
	await page.locator(".question").evaluate((one) => one.scrollIntoView({ block: "start" }));
	await run.picture(page, "web-quorum");
	answered(server, "q1", "cancel");
}, { options: { ...DESK, viewport: { width: 1100, height: 700 }, colorScheme: "dark" } });

await run.test("phone", async (page, server) => {
	conversation(server);
	edit(server);
	await coloured(page);
	await page.locator(".question").evaluate((one) => one.scrollIntoView({ block: "start" }));
	await run.picture(page, "web-phone");
}, { options: { ...PHONE, deviceScaleFactor: 1 } });

await run.end();
