// SPDX-License-Identifier: Apache-2.0
// The system's Chromium for the tests of the page, and what they all need: pages of a size, axe, checks.
//
//     const run = await begin();              // argv: MODULES BUNDLE [PICTURES]
//     await run.test("a prompt is sent", async (page, server) => { ... });
//     await run.end();                        // prints "N tests"
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Played } from "./played.mjs";

const [modules, bundle, pictures] = process.argv.slice(2);
const require = createRequire(join(modules, "node_modules", "x.js"));
const { chromium } = require("playwright-core");
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
export const DESK = { viewport: { width: 1280, height: 900 } };
const MOST_MS = 120_000;

// Violations of WCAG 2.2 A and AA, in words.
export async function accessible(page, what) {
	await page.evaluate(AXE);
	const { violations } = await page.evaluate(() => window.axe.run(document,
		{ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
	assert.deepEqual(violations.map((one) => `${what}: ${one.id}: ${one.nodes.map((node) => node.html.slice(0, 200)).join(" | ")}`), []);
}

// Nothing is wider than the window.
export async function fits(page, what) {
	const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
	assert.ok(over <= 0, `${what} is ${over} pixels too wide`);
}

class Run {
	count = 0;

	constructor(browser) {
		this.browser = browser;
	}

	async open(server, options = DESK, path = "/#key=thekey") {
		const context = await this.browser.newContext({ ...options, locale: "en-GB", timezoneId: "UTC" });
		const page = await context.newPage();
		page.setDefaultTimeout(MOST_MS);
		page.troubles = [];
		page.on("pageerror", (error) => page.troubles.push(String(error)));
		page.on("console", (message) => {
			if (["error", "warning"].includes(message.type()) && !/Failed to load resource|net::ERR/.test(message.text()))
				page.troubles.push(message.text());
		});
		page.on("request", (request) => {
			if (!request.url().startsWith(server.address) && !request.url().startsWith("data:"))
				page.troubles.push(`asks ${request.url()}`);
		});
		await page.goto(server.address + path);
		return page;
	}

	async test(name, body, { options = DESK, prepare = () => {}, path } = {}) {
		const server = await Played.start(bundle);
		prepare(server);
		const page = await this.open(server, options, path);
		try {
			await body(page, server);
			assert.deepEqual(page.troubles, [], "the page reports no trouble");
			assert.deepEqual(server.problems, [], "the page asks only for what there is");
		} catch (error) {
			error.message = `${name}: ${error.message}`;
			if (pictures)
				await page.screenshot({ path: join(pictures, `failed-${this.count}.png`) }).catch(() => {});
			throw error;
		}
		this.count++;
		await page.context().close();
		server.close();
	}

	async picture(page, name) {
		if (pictures)
			await page.screenshot({ path: join(pictures, `${name}.png`) });
	}

	async end() {
		await this.browser.close();
		console.log(`${this.count} tests`);
	}
}

export async function begin() {
	const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
		args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
	return new Run(browser);
}
