// SPDX-License-Identifier: Apache-2.0
// What a person does with the page: by mouse, by keyboard, on a phone.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { accessible, begin, DESK, fits, PHONE } from "./browser.mjs";
import { answered, command, conversation, edit, NEW, OLD } from "./stories.mjs";

const run = await begin();
const button = (page, name) => page.getByRole("button", { name, exact: true });
// In the page, not in what only screen readers get.
const text = (page, what) => page.locator("#app > :not([aria-live])").getByText(what).first();
const line = (page, text) => page.locator(".diff .cm-line", { hasText: text });
const unified = (page) => button(page, "Unified").click();

await run.test("the conversation is shown as it comes", async (page, server) => {
	conversation(server);
	await text(page, "Make five fifty.").waitFor();
	assert.equal(await page.locator(".markdown ol li").count(), 2);
	assert.equal(await page.locator(".markdown strong code").textContent(), "value_5");
	assert.equal(await page.locator(".code .tok-type, .code .tok-keyword").first().textContent(), "int");
	await text(page, "Change the value").waitFor();
	server.bus("content", { text: "Half a " });
	await text(page, "Half a").waitFor();
	server.bus("content", { text: "sentence." });
	await text(page, "Half a sentence.").waitFor();
	await page.locator(".tool summary").first().click();
	await page.locator(".tool .code", { hasText: "cc -c values.c" }).first().waitFor();
	await accessible(page, "conversation");
	server.event("ended", { end: "answered", ends: true, message: { text: "" } });
	await button(page, "Send").waitFor();
});

await run.test("prompts, steering, interrupting, the mode, comments, commands", async (page, server) => {
	await page.getByLabel("Prompt").fill("Fix the build");
	await button(page, "Send").click();
	assert.deepEqual(await server.posted("prompt"), { text: "Fix the build" });
	server.event("started", { by: "owner", own: true });
	await button(page, "Steer").waitFor();
	await page.getByLabel("Prompt").fill("with make");
	await page.keyboard.press("Enter");
	assert.deepEqual(await server.posted("steer"), { text: "with make" });
	await button(page, "Interrupt").click();
	assert.deepEqual(await server.posted("interrupt"), {});
	await page.getByLabel("Mode").selectOption("plan");
	assert.deepEqual(await server.posted("mode"), { mode: "plan" });
	await page.getByLabel("Prompt").fill("look at this");
	await button(page, "Send as comment").click();
	assert.deepEqual(await server.posted("comment"), { text: "look at this" });
	server.bus("comment", { text: "I see it", by: "anna" });
	await text(page, "anna, to everyone").waitFor();
	await page.getByLabel("Prompt").fill("/sta");
	await button(page, "/status").click();
	await page.keyboard.press("Enter");
	assert.deepEqual(await server.posted("prompt"), { text: "/status " });
	await text(page, "Ran /status").waitFor();
	await accessible(page, "answer of a command");
});

await run.test("an edit is taken in part, by mouse", async (page, server) => {
	conversation(server);
	edit(server);
	await unified(page);
	await line(page, "value_5 = 50").waitFor();
	await run.picture(page, "review-unified");
	await button(page, "Next").click();
	await text(page, "Hunk 2 of 3").waitFor();
	await button(page, "Leave out").click();
	await page.locator(".diff .cm-left", { hasText: "value_30" }).first().waitFor();
	await accessible(page, "edit");
	await button(page, "Approve 2 of 3 hunks").click();
	const { topic, answer } = await server.posted("answer");
	assert.equal(topic, "tool-confirmation-response");
	assert.equal(answer.outcome, "modify_with_editor");
	assert.deepEqual(answer.review.hunks.map((hunk) => hunk.taken), [true, false, true]);
	assert.equal(answer.newContent, NEW.replace("int value_31", "int value_30 = 30;\nint value_31"));
	answered(server, "q1", "modify_with_editor", "owner");
	await text(page, "Edit src/values.c: approved in part or changed by owner").waitFor();
	assert.equal(await page.locator(".question").count(), 0);
});

await run.test("an edit is reviewed with the keyboard alone", async (page, server) => {
	edit(server);
	await page.locator(".diff").waitFor();
	await page.keyboard.press("Tab");
	assert.match(await page.evaluate(() => document.activeElement.textContent), /Skip to/);
	await page.keyboard.press("Enter");
	const active = () => page.evaluate(() => {
		const one = document.activeElement;
		return one.shadowRoot?.activeElement?.getAttribute("aria-label") ?? one.getAttribute("aria-label") ?? one.textContent;
	});
	const tabTo = async (name) => {
		for (let i = 0; i < 40; i++) {
			await page.keyboard.press("Tab");
			if (name.test(await active()))
				return;
		}
		assert.fail(`Tab does not reach ${name}`);
	};
	await tabTo(/^Unified$/);
	await page.keyboard.press("Space");
	await tabTo(/^Changes of .*values.c$/);
	await page.keyboard.press("n");
	await text(page, "Hunk 2 of 3").waitFor();
	await page.keyboard.press("l");
	await text(page, "Hunk 2 of 3: 1 removed, 0 added, left out").waitFor();
	await page.keyboard.press("n");
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("Shift+ArrowDown");
	await page.keyboard.press("c");
	await page.keyboard.type("Why is this more?");
	await page.keyboard.press("Control+Enter");
	await page.locator(".notes", { hasText: "lines 49–50" }).waitFor();
	await tabTo(/^Approve 2 of 3 hunks$/);
	await page.keyboard.press("Enter");
	const { answer } = await server.posted("answer");
	assert.deepEqual(answer.comments, [{ filePath: "/home/me/project/src/values.c", side: "new", startLine: 49, endLine: 50,
		text: "Why is this more?" }]);
	assert.deepEqual(answer.review.hunks.map((hunk) => hunk.taken), [true, false, true]);
});

await run.test("comments on lines of both sides, and declining with words", async (page, server) => {
	edit(server);
	await button(page, "Side by side").click();
	await page.locator(".diff .cm-merge-a .cm-gutterElement", { hasText: /^6$/ }).click();
	await page.getByLabel("Comment on line 6 before the edit").fill("This was right");
	await button(page, "Add comment").click();
	await page.locator(".diff .cm-merge-b .cm-gutterElement", { hasText: /^6$/ }).click();
	await page.locator(".diff .cm-merge-b .cm-gutterElement", { hasText: /^8$/ }).click({ modifiers: ["Shift"] });
	await page.getByLabel("Comment on lines 6–8").fill("<b>Not</b> these");
	await button(page, "Add comment").click();
	await page.locator(".diff .note", { hasText: "<b>Not</b> these" }).waitFor();
	await accessible(page, "comments");
	await run.picture(page, "review-split");
	await page.getByLabel("Remove the comment on line 6").first().click();
	await page.getByLabel("What should hasp do instead?").fill("Keep the value");
	await button(page, "Decline").click();
	const { answer } = await server.posted("answer");
	assert.deepEqual(answer, { correlationId: "q1", outcome: "cancel", message: "Keep the value",
		comments: [{ filePath: "/home/me/project/src/values.c", side: "new", startLine: 6, endLine: 8, text: "<b>Not</b> these" }] });
});

await run.test("a hunk is edited", async (page, server) => {
	const crlf = (text) => text.replaceAll("\n", "\r\n");
	edit(server, {}, { originalContent: crlf(OLD), newContent: crlf(NEW), fileDiff: "" });
	await button(page, "Edit").click();
	const area = page.getByLabel(/^New text for/);
	await area.fill((await area.inputValue()).replace("50; // five", "55;"));
	await button(page, "Use these lines").click();
	await text(page, /Hunk 1 of 3: .* edited/).waitFor();
	await button(page, "Approve the edited hunks").click();
	const { answer } = await server.posted("answer");
	assert.equal(answer.outcome, "modify_with_editor");
	assert.deepEqual(answer.review.hunks.map((hunk) => hunk.taken), ["edited", true, true]);
	assert.equal(answer.newContent, crlf(NEW.replace("50; // five", "55;")));
});

await run.test("several files", async (page, server) => {
	edit(server, { toolName: "apply_changes" }, { files: [
		{ filePath: "/p/a.c", kind: "edit", fileDiff: "", originalContent: "a\n", newContent: "b\n" },
		{ filePath: "/p/b.py", kind: "create", fileDiff: "--- /dev/null\n+++ b/b.py\n@@ -0,0 +1 @@\n+print(1)\n", originalContent: null, newContent: "print(1)\n" },
		{ filePath: "/p/c.c", kind: "edit", fileDiff: "", originalContent: OLD, newContent: NEW },
		{ filePath: "/p/d.c", kind: "delete", fileDiff: "", originalContent: "gone\n", newContent: null },
	] });
	await page.getByLabel("Take /p/d.c").uncheck();
	await button(page, "/p/b.py").click();
	await line(page, "print(1)").first().waitFor();
	await button(page, "/p/c.c").click();
	await button(page, "Leave out").click();
	await accessible(page, "several files");
	await button(page, "Approve 4 of 6 hunks").click();
	const { answer } = await server.posted("answer");
	assert.deepEqual(answer.files.map((file) => [file.filePath, file.taken]), [["/p/a.c", true], ["/p/b.py", true], ["/p/c.c", true], ["/p/d.c", false]]);
	assert.equal(answer.files[2].newContent, NEW.replace("50; // five", "5;"));
	assert.deepEqual(answer.files[2].hunks.map((hunk) => hunk.taken), [false, true, true]);
});

await run.test("everything left out is a no", async (page, server) => {
	edit(server);
	await button(page, "Leave all out").click();
	assert.equal(await page.getByRole("button", { name: /^Approve/ }).count(), 0);
	await button(page, "Decline").click();
	const { answer } = await server.posted("answer");
	assert.equal(answer.outcome, "cancel");
	assert.deepEqual(answer.review.hunks.map((hunk) => hunk.taken), [false, false, false]);
});

await run.test("commands, and what always means", async (page, server) => {
	command(server);
	await page.locator(".question", { hasText: "make && rm -rf build" }).waitFor();
	await text(page, "network curl").waitFor();
	await accessible(page, "command");
	await button(page, "Always allow make in this session").click();
	const { answer } = await server.posted("answer");
	assert.deepEqual(answer, { correlationId: "q2", outcome: "proceed_always" });
});

await run.test("a tool of a server, a plan, a wish for more than the sandbox allows", async (page, server) => {
	const ask = (correlationId, details, more = {}) => server.bus("tool-confirmation-request", { correlationId, callId: "c", toolName: "t",
		arguments: { where: "here" }, outcomes: ["proceed_once", "cancel"], details, ...more });
	ask("m", { type: "mcp", title: "Tool of maps", serverName: "maps", toolName: "find", toolDisplayName: "Find", changed: "-old\n+new" });
	await text(page, "Find of the server maps").waitFor();
	await button(page, "Approve").click();
	assert.deepEqual((await server.posted("answer")).answer, { correlationId: "m", outcome: "proceed_once" });
	answered(server, "m", "proceed_once");
	ask("p", { type: "info", title: "Carry out this plan?", prompt: "", urls: [], fileName: "plan.md", originalContent: "", newContent: "# Plan\n\n- one" }, { modes: ["default", "autoEdit"] });
	await page.getByLabel("Continue in mode").selectOption("autoEdit");
	await button(page, "Approve").click();
	assert.deepEqual((await server.posted("answer")).answer, { correlationId: "p", outcome: "proceed_once", mode: "autoEdit" });
	answered(server, "p", "proceed_once");
	ask("s", { type: "sandbox_expansion", title: "Run again?", command: "curl x", rootCommand: "curl", additionalPermissions: {},
		allowed: [{ kind: "network", what: "example.org" }], stillDenied: [{ kind: "write", what: "~/.ssh", why: "protected" }], leftOut: 2, runs: 1 });
	await text(page, "write ~/.ssh (protected)").waitFor();
	await accessible(page, "expansion");
	await button(page, "Decline").click();
	assert.deepEqual((await server.posted("answer")).answer, { correlationId: "s", outcome: "cancel" });
});

await run.test("code is shown as code, in the question and in the call", async (page, server) => {
	const code = "# the mean\nrows = [3, 5]\n*first, last = rows\nsum(rows) / len(rows)";
	const args = { code, timeout_seconds: 5 };
	server.bus("tool-call", { callId: "c", toolName: "run_python", title: "Run Python", description: "# the mean", arguments: args });
	server.bus("tool-confirmation-request", { correlationId: "p", callId: "c", toolName: "run_python", arguments: args,
		outcomes: ["proceed_once", "cancel"], details: { type: "info", title: "Run Python", prompt: code, urls: [] } });
	const question = page.locator(".question");
	await question.locator("code").first().waitFor();
	assert.equal(await question.locator("code").first().textContent(), code);
	assert.match(await question.locator("code").nth(1).textContent(), /"timeout_seconds": 5/);
	assert.equal(await question.locator("h1, em, li").count(), 0, "it is no Markdown");
	await run.picture(page, "code");
	await button(page, "Approve").click();
	assert.deepEqual((await server.posted("answer")).answer, { correlationId: "p", outcome: "proceed_once" });
	answered(server, "p", "proceed_once");
	await page.locator(".tool summary").first().click();
	await page.getByText("Arguments", { exact: true }).click();
	assert.equal(await page.locator(".tool code").first().textContent(), code);
	server.bus("tool-confirmation-request", { correlationId: "a", callId: "d", toolName: "rename", arguments: { old: "*a*", new: "b" },
		outcomes: ["proceed_once", "cancel"], details: { type: "info", title: "rename", prompt: "old: *a*\nnew: b", urls: [] } });
	await page.locator(".question code", { hasText: "old: *a*" }).waitFor();
	assert.equal(await page.locator(".question code").textContent(), "old: *a*\nnew: b");
});

await run.test("the model's questions and a server's form", async (page, server) => {
	server.bus("ask-user-request", { correlationId: "a", questions: [
		{ question: "Which database?", header: "Database", type: "choice", options: [{ label: "SQLite", description: "a file" }, { label: "Postgres", description: "a server" }] },
		{ question: "Which tests?", header: "Tests", type: "choice", multiSelect: true, options: [{ label: "unit", description: "" }, { label: "end", description: "" }] },
		{ question: "Its name?", header: "Name", type: "text", placeholder: "a word" },
		{ question: "Go on?", header: "Go", type: "yesno" }] });
	await page.getByLabel("SQLite").check();
	await page.getByLabel("unit").check();
	await page.locator("fieldset", { hasText: "Which tests?" }).getByLabel("Something else").check();
	await page.locator("fieldset", { hasText: "Which tests?" }).getByRole("textbox").fill("fuzz");
	await page.getByLabel("Its name?").fill("base");
	await accessible(page, "ask_user");
	await button(page, "Send answers").click();
	assert.deepEqual((await server.posted("answer")).answer, { correlationId: "a", answers: { 0: "SQLite", 1: ["unit", "fuzz"], 2: "base" } });
	server.bus("question-answered", { correlationId: "a", question: "ask-user-request", outcome: "answered" });
	server.bus("elicitation-request", { correlationId: "e", serverName: "maps", message: "Where to?", mode: "form", fields: [
		{ name: "city", title: "City", type: "string", required: true }, { name: "count", type: "integer", required: false, minimum: 1 },
		{ name: "fast", title: "Fast", type: "boolean", required: false }, { name: "by", title: "By", type: "choice", required: true,
			options: [{ value: "c", label: "Car" }, { value: "t", label: "Train" }] }] });
	await page.getByLabel("City (required)").fill("Graz");
	await page.getByLabel("count").fill("2");
	await page.getByLabel("By (required)").selectOption("t");
	await accessible(page, "form");
	await button(page, "Send answer").click();
	assert.deepEqual((await server.posted("answer")).answer, { correlationId: "e", action: "accept",
		content: { city: "Graz", count: 2, fast: false, by: "t" } });
});

await run.test("another front answers first", async (page, server) => {
	edit(server);
	await button(page, "Approve").waitFor();
	server.refuse.set("answer", [409, "state_mismatch", "terminal has answered this question."]);
	await button(page, "Approve").click();
	await page.getByRole("alert").filter({ hasText: "terminal has answered this question." }).waitFor();
	answered(server, "q1", "cancel", "terminal");
	await text(page, "Edit src/values.c: declined by terminal").waitFor();
});

await run.test("a quorum, votes, a second round", async (page, server) => {
	const approvals = { needed: 2, statement: "question q1\nsha256 h1\n", rules: [{ needed: 2, reviewers: ["anna", "@security"], owner: "may_be_outvoted", rule: "review.toml:3" }] };
	const more = { approvals, outcomes: ["proceed_once", "modify_with_editor", "cancel"] };
	const vote = (by, what, count, others = {}) => server.bus("question-vote", { correlationId: "q1", by, vote: what, approvals: count, needed: 2,
		approvedBy: [], shown: "h1", owner: by === "owner", ...others });
	edit(server, { ...more, shown: "h1" });
	await text(page, "0 of 2 approvals").waitFor();
	await text(page, "2 from anna, @security; the owner may be outvoted; review.toml:3").waitFor();
	await text(page, "Sign this approval").click();
	const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download the statement" }).click()]);
	assert.equal(readFileSync(await download.path(), "utf8"), approvals.statement);
	await page.getByLabel("Signature").fill("-----BEGIN SSH SIGNATURE-----\nU1N\n-----END SSH SIGNATURE-----");
	await accessible(page, "signing");
	await button(page, "Approve").click();
	assert.deepEqual((await server.posted("answer")).answer, { correlationId: "q1", outcome: "proceed_once", shown: "h1",
		signature: "-----BEGIN SSH SIGNATURE-----\nU1N\n-----END SSH SIGNATURE-----\n" });
	vote("owner", "approve", 1, { missing: "one of anna, @security" });
	await text(page, "1 of 2 approvals").waitFor();
	await text(page, "owner: approved").waitFor();
	await text(page, "one of anna, @security").waitFor();
	await run.picture(page, "quorum");
	await accessible(page, "quorum");
	await button(page, "Withdraw my approval").click();
	assert.deepEqual((await server.posted("answer")).answer, { correlationId: "q1", outcome: "withdraw", shown: "h1" });
	vote("owner", "lapsed", 0);
	await text(page, "owner: approval lapsed").waitFor();
	await button(page, "Leave out").click();
	await button(page, "Propose 2 of 3 hunks").waitFor();
	vote("anna", "veto", 0);
	await text(page, "anna: vetoed").waitFor();
	answered(server, "q1", "cancel", "anna");
	server.bus("tool-call", { callId: "c2", toolName: "update_file", title: "Edit", arguments: {}, description: "" });
	server.bus("tool-result", { callId: "c2", toolName: "update_file", status: "error", display: "", durationMs: 1, result: { user_review: { comments: [
		{ id: "k1", by: "anna", file_path: "src/values.c", side: "new", lines: "6-6", sha256: "x", text: "int", comment: "Why five?" }] } } });
	edit(server, { ...more, correlationId: "q9", shown: "h2", round: 2, answers: ["k1"], previous: { "src/values.c": "abc" } },
		{ newContent: NEW.replace("50; // five", "51; // five"), fileDiff: "", previousContent: NEW });
	await text(page, "Round 2, after 1 comment on the previous round").waitFor();
	await text(page, "Why five?").waitFor();
	await button(page, "Changes since the last round").click();
	await unified(page);
	await line(page, "+int value_5 = 51;").waitFor();
	assert.equal(await page.locator(".diff .cm-added").count(), 1);
	await accessible(page, "round");
});

await run.test("the changes of the whole run, undone by hunk", async (page, server) => {
	await page.getByRole("link", { name: "Changes" }).click();
	await line(page, "value_5 = 50").waitFor();
	await run.picture(page, "changes");
	await accessible(page, "changes");
	await button(page, "Next").click();
	await button(page, "Undo this hunk").click();
	assert.deepEqual(await server.posted("changes/undo"), { path: "src/values.c", after_sha256: "b", hunks: [1] });
	await text(page, "Undid hunk 2 of src/values.c.").waitFor();
	server.refuse.set("changes/undo", [409, "state_mismatch", "The file has changed."]);
	await button(page, "Undo all changes in this file").click();
	await button(page, "Yes, undo them all").click();
	await text(page, "src/values.c has changed since. Nothing was undone").waitFor();
}, { prepare: (server) => { server.changes.files = [
	{ path: "src/values.c", action: "changed", diff: DIFF_OF(), added: 2, removed: 2, before_sha256: "a", after_sha256: "b" },
	{ path: "data.bin", action: "conflict", reason: "It is not text." }]; } });

await run.test("links for others", async (page, server) => {
	await page.getByRole("link", { name: "People" }).click();
	await text(page, "terminal").waitFor();
	await page.getByLabel("Name").fill("ben");
	await page.getByLabel("Role").selectOption("comment");
	await page.getByLabel("Groups").fill("@security, docs");
	await button(page, "Create link").click();
	assert.deepEqual(await server.posted("invite"), { name: "ben", role: "comment", minutes: 480, groups: ["security", "docs"] });
	await text(page, "/?token=secret").waitFor();
	await accessible(page, "links");
	await run.picture(page, "people");
	await button(page, "Revoke the link of ben").click();
	await server.posted("revoke");
});

await run.test("who watches sees all and does nothing", async (page, server) => {
	conversation(server);
	edit(server);
	await text(page, "You can see this question").waitFor();
	await text(page, "You are watching this session.").waitFor();
	for (const name of ["Approve", "Decline", "Leave out", "Send", "Interrupt", "Comment on selection"])
		assert.equal(await button(page, name).count(), 0, name);
	await accessible(page, "watcher");
	await page.getByRole("link", { name: "People" }).click();
	await text(page, "Who is here").waitFor();
	assert.equal(await button(page, "Create link").count(), 0);
}, { prepare: (server) => { Object.assign(server.me, { name: "eve", role: "watch", roles: [], owner: false, can_invite: false }); } });

await run.test("who approves answers for one call at a time", async (page, server) => {
	command(server);
	await button(page, "Approve").waitFor();
	assert.equal(await page.getByRole("button", { name: /^Always/ }).count(), 0);
	await page.getByLabel("Comment", { exact: true }).fill("One moment");
	await button(page, "Comment").click();
	assert.deepEqual(await server.posted("comment"), { text: "One moment" });
}, { prepare: (server) => { Object.assign(server.me, { name: "anna", role: "approve", roles: ["comment", "approve"], owner: false, can_invite: false }); } });

await run.test("a list of sessions: opened, resumed, new", async (page, server) => {
	await text(page, "Fix the parser").waitFor();
	await accessible(page, "sessions");
	await run.picture(page, "sessions");
	await button(page, "An old one").click();
	assert.deepEqual(await server.posted("sessions"), { folder: "/home/me/old", resume: "r9" });
	await page.getByLabel("Prompt").waitFor();
	await page.getByRole("link", { name: "Sessions" }).click();
	await page.getByLabel("New session in the folder").fill("/tmp/x");
	await button(page, "Start a session").click();
	assert.deepEqual(await server.posted("sessions"), { folder: "/tmp/x" });
}, { prepare: (server) => {
	server.me.can_create = true;
	server.sessions = [{ id: "s1", folder: "/home/me/project", title: "Fix the parser", state: "question", model: "m", updated: "2026-11-30T01:00:00Z" },
		{ id: "r9", session: "r9", folder: "/home/me/old", title: "An old one", state: "recorded" }];
} });

for (const [name, scheme] of [["light", "light"], ["dark", "dark"]])
	await run.test(`a review on a phone, ${name}`, async (page, server) => {
		conversation(server);
		edit(server);
		await page.locator(".diff .cm-line").first().waitFor();
		await fits(page, "the review");
		await accessible(page, `phone, ${name}`);
		await run.picture(page, `phone-${name}`);
		await page.locator(".diff .cm-number-new .cm-gutterElement", { hasText: /^6$/ }).tap();
		await page.getByLabel("Comment on line 6").fill("From the train");
		await button(page, "Add comment").tap();
		await button(page, "Leave out").tap();
		await button(page, "Approve 2 of 3 hunks").tap();
		const { answer } = await server.posted("answer");
		assert.equal(answer.comments[0].text, "From the train");
		answered(server, "q1", "modify_with_editor", "owner");
		await page.getByLabel("Prompt").fill("Thanks");
		await button(page, "Steer").tap();
		await server.posted("steer");
		for (const view of ["Changes", "People", "Conversation"]) {
			await page.getByRole("link", { name: view }).tap();
			await page.locator("main").getByText(/./).first().waitFor();
			await fits(page, view);
		}
	}, { options: { ...PHONE, colorScheme: scheme } });

await run.test("a review in the dark", async (page, server) => {
	conversation(server);
	edit(server);
	await page.locator(".diff .cm-line").first().waitFor();
	await page.waitForFunction(() => document.querySelector(".diff").shadowRoot.querySelector(".tok-number"));
	await run.picture(page, "review-dark");
	assert.ok(await page.locator(".question h2").evaluate((one) => one.getBoundingClientRect().top) >= 0, "a question is shown from its beginning");
	await accessible(page, "dark");
}, { options: { ...DESK, colorScheme: "dark" } });

await run.end();

function DIFF_OF() {
	return `--- a/src/values.c
+++ b/src/values.c
@@ -4,3 +4,3 @@
 int value_3 = 3;
-int value_5 = 5;
+int value_5 = 50;
 int value_6 = 6;
@@ -30,3 +30,3 @@
 int value_29 = 29;
-int value_30 = 30;
+int value_30 = 31;
 int value_31 = 31;
`;
}
