// SPDX-License-Identifier: Apache-2.0
// Stories with the page as hasp serves it: MODULES STORY ADDRESS [FOLDER].  Prints "ready" when it has started, and
// "played" at its end.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [modules, story, address, folder] = process.argv.slice(2);
const require = createRequire(join(modules, "node_modules", "x.js"));
const { chromium } = require("playwright-core");
const MOST_MS = 120_000;

const button = (page, name) => page.getByRole("button", { name, exact: true });

async function visit(browser, link) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
	const page = await context.newPage();
	page.troubles = [];
	page.setDefaultTimeout(MOST_MS);
	page.on("pageerror", (error) => page.troubles.push(String(error)));
	page.on("console", (message) => message.type() === "error" && page.troubles.push(message.text()));
	await page.goto(link);
	return page;
}

const STORIES = {
	async review(browser) {
		const page = await visit(browser, address);
		await page.getByLabel("New session in the folder").fill(folder);
		console.log("ready");
		assert.ok(!page.url().includes("key"), "the key does not stay in the address");
		await button(page, "Start a session").click();
		await page.getByLabel("Prompt").fill("Change two lines");
		await button(page, "Send").click();
		await page.locator(".question .diff").waitFor();
		await button(page, "Unified").click();
		await page.getByText("Hunk 1 of 2").waitFor();
		await page.locator(".diff .cm-number-new .cm-gutterElement", { hasText: /^31$/ }).click();
		await page.getByLabel("Comment on line 31").fill("Leave this line alone");
		await button(page, "Add comment").click();
		await button(page, "Leave out").click();
		await button(page, "Approve 1 of 2 hunks").click();
		await page.locator(".answer strong", { hasText: "Done." }).waitFor();
		assert.equal(readFileSync(join(folder, "a.txt"), "utf8").match(/three|thirty/g).join(), "three");
		await page.reload();
		await page.locator(".answer strong", { hasText: "Done." }).waitFor();
		await page.getByRole("link", { name: "Changes" }).click();
		await page.locator(".diff .cm-line", { hasText: "+line three" }).waitFor();
		await button(page, "Undo this hunk").click();
		await page.getByText("Undid hunk 1 of").waitFor();
		await page.getByText("Nothing has changed.").waitFor();
		await page.getByRole("link", { name: "People" }).click();
		await page.getByLabel("Name").fill("ben");
		await page.getByLabel("Role").selectOption("comment");
		await button(page, "Create link").click();
		const other = await visit(browser, await page.locator(".address").textContent());
		await other.getByLabel("Comment").fill("Hello");
		await other.keyboard.press("Enter");
		await page.getByRole("link", { name: "Conversation" }).click();
		await page.locator(".comment", { hasText: "Hello" }).waitFor();
		await page.getByRole("link", { name: "People" }).click();
		await button(page, "Revoke the link of ben").click();
		await other.getByText("This link has expired or was revoked.").waitFor();
		assert.deepEqual(page.troubles, []);
		assert.deepEqual(other.troubles.filter((one) => !/401|INCOMPLETE_CHUNKED/.test(one)), []);
	},
	async stats(browser) {
		const page = await visit(browser, address);
		console.log("ready");
		await page.getByRole("link", { name: "Statistics" }).click();
		await page.getByRole("heading", { name: "Work" }).waitFor();
		await page.getByRole("region", { name: "Calls", exact: true }).getByText("write_file").waitFor();
		await page.getByRole("img", { name: "Bar chart of the table below: Calls: ok", exact: true }).waitFor();
		assert.ok(await page.locator("figure svg .ct-bar").count() > 0);
		await page.getByLabel("Model").fill("no such model");
		await page.keyboard.press("Enter");
		await page.getByRole("heading", { name: "Calls", exact: true }).waitFor({ state: "detached" });
		await page.getByRole("link", { name: "Back" }).click();
		await page.getByRole("link", { name: "Statistics" }).waitFor();
		assert.deepEqual(page.troubles, []);
	},
	// Of a program's agent, which ends with its answer, and the page with it.
	async answer(browser) {
		const page = await visit(browser, address);
		console.log("ready");
		await page.locator(".question .diff").waitFor();
		await button(page, "Unified").click();
		await page.getByText("Hunk 1 of 2").waitFor();
		await button(page, "Leave out").click();
		const answered = page.waitForResponse((response) => response.request().method() === "POST" && response.ok());
		await button(page, "Approve 1 of 2 hunks").click();
		await answered;
		assert.deepEqual(page.troubles.filter((one) => !/INCOMPLETE_CHUNKED|REFUSED/.test(one)), []);
	},
	async watch(browser) {
		const page = await visit(browser, address);
		await page.getByText("You are watching this session.").waitFor();
		console.log("ready");
		await page.locator(".item", { hasText: "by person 7" }).waitFor();
		assert.equal(await button(page, "Approve").count(), 0);
		assert.deepEqual(page.troubles, []);
	},
};

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
	args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
const pages = () => browser.contexts().flatMap((one) => one.pages());
try {
	await STORIES[story](browser);
	console.log("played");
} catch (error) {
	for (const page of pages())
		console.log(page.url(), page.troubles, await page.locator("body").innerText().catch(() => ""));
	throw error;
} finally {
	await browser.close();
}
