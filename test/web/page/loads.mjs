// SPDX-License-Identifier: Apache-2.0
// What the page withstands: large diffs and sessions, lost connections, hostile text, many people.
import assert from "node:assert/strict";
import { accessible, begin, fits, PHONE } from "./browser.mjs";
import { answered, command, conversation, edit } from "./stories.mjs";

// Seconds of processor time that a page may take: thirty times of what a quiet machine takes, as others are slow and busy.
const MOST_FIRST_PAINT = 6;
const MOST_FRAME = 0.4;
const MOST_SESSION = 12;
const MOST_NODES = 5000;
const MOST_HEAP = 16 << 20;
// By the clock: the best of several, as other programs may have the processor.
const MOST_DELAY_MS = 100;

const run = await begin();
const devtools = await run.browser.newBrowserCDPSession();
const button = (page, name) => page.getByRole("button", { name, exact: true });

// Processor time of the pages. Time on the clock says little on a machine that does other things meanwhile.
async function used() {
	const { processInfo } = await devtools.send("SystemInfo.getProcessInfo");
	return processInfo.filter((one) => one.type === "renderer").reduce((sum, one) => sum + one.cpuTime, 0);
}

// What a page holds when nothing is left to be collected.
async function memory(page) {
	const own = await page.context().newCDPSession(page);
	await own.send("Performance.enable");
	await own.send("HeapProfiler.collectGarbage");
	const { metrics } = await own.send("Performance.getMetrics");
	const value = (name) => metrics.find((one) => one.name === name).value;
	return { nodes: value("Nodes"), bytes: value("JSHeapUsedSize") };
}

function largeEdit(lines, every) {
	const [old, now, diff] = [[], [], ["--- a/x.c", "+++ b/x.c"]];
	for (let i = 0; i < lines; i++) {
		old.push(`int value_${i} = compute(${i}, "text"); // line ${i}`);
		now.push(i % every ? old[i] : `long value_${i} = compute(${i + 1}, "text"); // line ${i}`);
	}
	for (let i = 0; i < lines; i += every) {
		const [from, to] = [Math.max(0, i - 3), Math.min(lines, i + 4)];
		diff.push(`@@ -${from + 1},${to - from} +${from + 1},${to - from} @@`);
		for (let j = from; j < to; j++)
			diff.push(...(j === i ? [`-${old[j]}`, `+${now[j]}`] : [` ${old[j]}`]));
	}
	return { originalContent: `${old.join("\n")}\n`, newContent: `${now.join("\n")}\n`, fileDiff: `${diff.join("\n")}\n` };
}

for (const layout of ["Unified", "Side by side"])
	await run.test(`10,000 lines of diff, ${layout}`, async (page, server) => {
		await page.getByLabel("Prompt").waitFor();
		await page.evaluate((value) => localStorage.setItem("hasp-split", value), layout === "Unified" ? "no" : "yes");
		let before = await used();
		edit(server, {}, largeEdit(9000, 8));
		await page.locator(".diff .cm-line").first().waitFor();
		const paint = await used() - before;
		assert.equal(await button(page, layout).getAttribute("aria-pressed"), "true");
		await page.getByText("Hunk 1 of 1125").waitFor();
		assert.ok(await page.locator(".diff .cm-line").count() < 1000, "only what is looked at is in the page");
		assert.ok(paint < MOST_FIRST_PAINT, `the first lines took ${paint} s`);
		before = await used();
		const frames = 40;
		await page.evaluate(async (count) => {
			const root = document.querySelector(".diff").shadowRoot;
			const scroller = root.querySelector(".cm-mergeView") ?? root.querySelector(".cm-scroller");
			for (let i = 0; i < count; i++) {
				scroller.scrollTop += 400;
				await new Promise((done) => requestAnimationFrame(done));
			}
		}, frames);
		const frame = (await used() - before) / frames;
		assert.ok(frame < MOST_FRAME, `a frame of scrolling took ${frame} s`);
		console.log(`${layout}: first lines ${Math.round(1000 * paint)} ms, a frame of scrolling ${Math.round(1000 * frame)} ms`);
		await button(page, "Next").click();
		await page.getByText("Hunk 2 of 1125").waitFor();
	});

await run.test("an event is on the page soon after it happened", async (page, server) => {
	await page.getByLabel("Prompt").waitFor();
	await page.evaluate(() => {
		window.seen = {};
		new MutationObserver(() => {
			for (const item of document.querySelectorAll(".comment .plain"))
				window.seen[item.textContent] ??= Date.now();
		}).observe(document.body, { childList: true, subtree: true });
	});
	const waits = [];
	for (let i = 0; i < 20; i++) {
		const sent = Date.now();
		server.bus("comment", { text: `ping ${i}`, by: "clock" });
		await page.waitForFunction((name) => window.seen[name], `ping ${i}`);
		waits.push(await page.evaluate((name) => window.seen[name], `ping ${i}`) - sent);
	}
	waits.sort((a, b) => a - b);
	console.log(`an event is drawn after ${waits[0]} to ${waits[19]} ms, mostly ${waits[10]}`);
	assert.ok(waits[0] <= MOST_DELAY_MS, `the fastest of ${waits}`);
});

await run.test("a file whose only change is ten thousand lines", async (page, server) => {
	await page.evaluate(() => localStorage.setItem("hasp-split", "no"));
	const lines = Array.from({ length: 10_000 }, (_, i) => `line ${i}`);
	edit(server, {}, { originalContent: "", newContent: `${lines.join("\n")}\n`,
		fileDiff: `@@ -0,0 +1,10000 @@\n${lines.map((line) => `+${line}`).join("\n")}\n` });
	await page.getByText("Hunk 1 of 1: 0 removed, 10000 added").waitFor();
	await page.locator(".diff .cm-line", { hasText: "+line 3" }).first().waitFor();
});

await run.test("a session of 10,000 messages", async (page, server) => {
	const before = await used();
	await page.getByText("Answer 4999", { exact: true }).waitFor();
	const took = await used() - before;
	assert.ok(took < MOST_SESSION, `it took ${took} s`);
	console.log(`10,000 messages: ${Math.round(1000 * took)} ms`);
	assert.ok(await page.locator(".item").count() <= 250);
	const held = await memory(page);
	console.log(`10,000 messages: ${held.nodes} nodes, a heap of ${(held.bytes / 2 ** 20).toFixed(1)} MB`);
	assert.ok(held.nodes < MOST_NODES && held.bytes < MOST_HEAP, JSON.stringify(held));
	await button(page, "Show earlier messages").click();
	await page.getByText("Question 4820", { exact: true }).waitFor();
	server.bus("content", { text: "And one more." });
	await page.getByText("And one more.").waitFor();
}, { prepare: (server) => {
	for (let i = 0; i < 5000; i++) {
		server.bus("prompt", { text: `Question ${i}` });
		server.bus("content", { text: `Answer ${i}` });
	}
} });

await run.test("events that are not kept any more come from the record", async (page, server) => {
	await page.getByText("What was said first").waitFor();
	await page.getByText("An answer of old").waitFor();
	assert.equal(await page.getByText("Half an answer").count(), 1);
	await page.locator(".tool", { hasText: "Shell" }).waitFor();
	await page.locator(".question", { hasText: "make && rm" }).waitFor();
	server.bus("content", { text: " and its end" });
	await page.getByText("Half an answer and its end").waitFor();
}, { prepare: (server) => {
	server.number = 100;
	server.oldest = 100;
	server.bus("content", { text: "An answer of old" });
	server.bus("api-response", { model: "m", role: "main", durationMs: 1, reason: "stop", usage: {} });
	server.bus("content", { text: "Half an answer" });
	command(server);
	server.record = { last: server.number, messages: [
		{ id: "1", type: "user", content: [{ text: "What was said first" }] },
		{ id: "2", type: "gemini", content: "", toolCalls: [] },
		{ id: "2", type: "gemini", content: "An answer of old", thoughts: [{ subject: "A", description: "b" }],
			toolCalls: [{ id: "c", name: "run_shell_command", displayName: "Shell", args: {}, status: "success", resultDisplay: "ok" }] }] };
} });

await run.test("another conversation takes the place of this one", async (page, server) => {
	conversation(server);
	await page.getByText("Make five fifty.").waitFor();
	server.session.session = "r2";
	server.record = { last: server.number, messages: [{ id: "1", type: "user", content: "Another conversation" }] };
	server.bus("slash-command", { command: "resume", status: "success" });
	await page.getByText("Another conversation").waitFor();
	assert.equal(await page.getByText("Make five fifty.").count(), 0);
	server.bus("content", { text: "goes on" });
	await page.getByText("goes on").waitFor();
}, { prepare: (server) => { server.session.session = "r1"; } });

await run.test("a connection that is lost loses nothing", async (page, server) => {
	conversation(server);
	await page.getByText("I will change").waitFor();
	server.reachable = false;
	server.dropStreams();
	await page.getByText("Connection lost").waitFor();
	server.bus("content", { text: "Said meanwhile. " });
	edit(server);
	await page.getByLabel("Prompt").fill("Are you there?");
	await button(page, "Steer").click();
	await page.getByText("Cannot reach hasp").waitFor();
	assert.equal(await page.getByLabel("Prompt").inputValue(), "Are you there?");
	server.reachable = true;
	await page.getByText("Said meanwhile.").waitFor();
	await page.locator(".question").waitFor();
	assert.equal(await page.getByText("Make five fifty.").count(), 1);
	await button(page, "Steer").click();
	assert.deepEqual(await server.posted("steer"), { text: "Are you there?" });
});

await run.test("a link that is revoked", async (page, server) => {
	await page.getByLabel("Prompt").waitFor();
	server.authorized = false;
	server.dropStreams();
	await page.getByText("This link has expired or was revoked.").waitFor();
	await page.reload();
	await page.getByRole("heading", { name: "This link has expired or was revoked" }).waitFor();
	await accessible(page, "refused");
});

const HOSTILE = `<script>window.pwned = 1</script><img src=x onerror="window.pwned = 2"><style>body { display: none }</style>
[click](javascript:window.pwned=3) ![picture](http://192.0.2.1/x.png) <a href="javascript:window.pwned=4">x</a>

<iframe src="http://192.0.2.1/"></iframe>

[ok](https://example.org/a "t") <https://example.org/b> \u202eevil\u202c zero\u200bwidth

| <b>a</b> | b |
|---|---|
| <svg onload=alert(1)> | 2 |
`;

await run.test("what a model writes stays text", async (page, server) => {
	server.bus("content", { text: HOSTILE });
	server.bus("thought", { text: HOSTILE, subject: HOSTILE });
	server.bus("tool-call", { callId: "c", toolName: HOSTILE, title: HOSTILE, arguments: { a: HOSTILE }, description: HOSTILE });
	server.bus("tool-output", { callId: "c", text: `\u001b[31m${HOSTILE}\u001b]0;title\u0007` });
	server.bus("notice", { severity: "error", message: HOSTILE });
	server.bus("comment", { text: HOSTILE, by: HOSTILE });
	server.bus("todos", { todos: [{ description: HOSTILE, status: HOSTILE }] });
	server.bus("topic-update", { title: HOSTILE, strategicIntent: "" });
	edit(server, { reason: HOSTILE, rule: HOSTILE, agentName: HOSTILE }, { title: HOSTILE, filePath: HOSTILE,
		originalContent: "", newContent: HOSTILE, fileDiff: "" });
	server.bus("elicitation-request", { correlationId: "e", serverName: HOSTILE, message: HOSTILE, mode: "url", url: "javascript:alert(1)" });
	server.bus("elicitation-request", { correlationId: "f", serverName: "s", message: HOSTILE, mode: "form",
		fields: [{ name: HOSTILE, title: HOSTILE, description: HOSTILE, type: "choice", options: [{ value: HOSTILE, label: HOSTILE }] }] });
	await page.locator(".question").nth(2).waitFor();
	const openAll = () => page.evaluate(() => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
	await openAll();
	await page.locator(".tool .code").first().waitFor({ state: "attached" });
	await openAll();
	assert.equal(await page.evaluate(() => window.pwned), undefined);
	assert.deepEqual(await page.locator("script:not([src]), style, iframe, svg, main img:not(.cm-widgetBuffer), [onerror], [onload]")
		.evaluateAll((all) => all.map((one) => one.outerHTML)), []);
	const targets = await page.locator("main a").evaluateAll((all) => all.map((one) => one.protocol));
	assert.deepEqual([...new Set(targets)], ["http:", "https:"]);
	assert.ok(await page.getByText("<U+202E>evil<U+202C> zero<U+200B>width").count() > 0);
	await accessible(page, "hostile text");
});

await run.test("huge lines and deep Markdown", async (page, server) => {
	server.bus("content", { text: `${"> ".repeat(2000)}deep\n\n${"*a ".repeat(3000)}\n\n${"[".repeat(3000)}` });
	server.bus("tool-call", { callId: "c", toolName: "t", title: "T", arguments: { a: "x".repeat(500_000) }, description: "y".repeat(100_000) });
	server.bus("tool-output", { callId: "c", text: "z".repeat(1_000_000) });
	server.bus("prompt", { text: "w".repeat(300_000) });
	edit(server, {}, { originalContent: "a\n", newContent: `${"b".repeat(1_000_000)}\n`, fileDiff: "" });
	await page.locator(".diff .cm-line").first().waitFor();
	await fits(page, "huge lines");
	server.bus("content", { text: "The end." });
	await page.getByText("The end.").waitFor();
}, { options: PHONE });

await run.test("a list of ten thousand changed files", async (page, server) => {
	edit(server, {}, { files: Array.from({ length: 10_000 }, (_, i) => ({ filePath: `/p/file_${i}.c`, kind: "edit", fileDiff: "",
		originalContent: "a\n", newContent: "b\n" })) });
	await button(page, "/p/file_99.c").waitFor();
	await button(page, "Show more files (9900 left)").click();
	await button(page, "/p/file_1099.c").waitFor();
	await button(page, "Approve").click();
	assert.equal((await server.posted("answer")).answer.outcome, "proceed_once");
});

await run.test("code in every language is coloured without a complaint", async (page, server) => {
	const sample = "# a comment\n// another\nclass A<T> extends B { public int x = 0x1f; \"text\" 'c' @note def f(self): return None; }\n" +
		"<a href=\"x\">y</a>\n[section]\nkey = value\nkey: {\"a\": [1, true, null]}\nlet x = `a ${b}`; $VAR %w(a) :sym /re/g\nSELECT * FROM t;\n+added\n-removed\n";
	const names = "c cpp cs cmake css dart diff dockerfile go hs html java js json kt less lua m pl ps1 ini proto python r rb rs scss scala sh sql swift toml ts xml yaml".split(" ");
	for (const name of names)
		server.bus("content", { text: `\`\`\`${name}\n${sample}\`\`\`\n\n` });
	await page.locator(".code").nth(names.length - 1).waitFor();
	for (const [i, block] of (await page.locator(".code code").all()).entries())
		assert.ok(await block.locator("[class^=tok-]").count() > 0, names[i]);
});

for (const count of [2, 5, 50])
	await run.test(`${count} people at the same question`, async (page, server) => {
		const approvals = { needed: count, rules: [{ needed: count, owner: "counts", rule: "r" }] };
		edit(server, { approvals, outcomes: ["proceed_once", "cancel"] });
		const second = await run.open(server);
		await button(second, "Approve").click();
		assert.equal((await server.posted("answer")).answer.outcome, "proceed_once");
		for (let i = 1; i < count; i++)
			server.bus("question-vote", { correlationId: "q1", by: `person ${i}`, vote: "approve", approvals: i, needed: count });
		for (const one of [page, second]) {
			await one.locator(".approvals", { hasText: `${count - 1} of ${count} approvals` }).waitFor();
			assert.equal(await one.locator(".vote").count(), count - 1);
		}
		await fits(page, "many votes");
		answered(server, "q1", "proceed_once", "person 1");
		for (const one of [page, second])
			await one.locator(".item", { hasText: "approved by person 1" }).waitFor();
		assert.deepEqual(second.troubles, []);
		await second.context().close();
	});

await run.end();
