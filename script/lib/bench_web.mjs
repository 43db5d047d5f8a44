// SPDX-License-Identifier: Apache-2.0
// The browser of script/bench web: bench_web.py gives one order a line as JSON, and gets one answer a line.
//
//     node bench_web.mjs MODULES BUNDLE
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Played } from "../../test/web/page/played.mjs";

const [modules, bundle] = process.argv.slice(2);
const { chromium } = createRequire(join(modules, "node_modules", "x.js"))("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
	args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
let page;

// Runs in the page before its own script: when a question came, when its first lines had been painted, and when comments were in
// the page.  All in ms since 1970, as the other processes count.
function watch() {
	const now = () => performance.timeOrigin + performance.now();
	window.stamps = { comments: {} };
	const Source = window.EventSource;
	window.EventSource = class extends Source {
		constructor(...all) {
			super(...all);
			this.addEventListener("message", (event) => {
				if (event.data.includes('"tool-confirmation-request"') && !event.data.includes('"question-answered"'))
					window.stamps.came ??= now();
			});
		}
	};
	const painted = (then) => requestAnimationFrame(() => {
		const channel = new MessageChannel();
		channel.port1.onmessage = () => then(now());
		channel.port2.postMessage(0);
	});
	const look = () => {
		if (document.querySelector(".diff")?.shadowRoot?.querySelector(".cm-line"))
			painted((at) => { window.stamps.painted = at; });
		else
			requestAnimationFrame(look);
	};
	look();
	new MutationObserver(() => {
		for (const item of document.querySelectorAll(".comment .plain"))
			window.stamps.comments[item.textContent] ??= now();
	}).observe(document, { childList: true, subtree: true });
}

async function memory(devtools) {
	await devtools.send("HeapProfiler.collectGarbage");
	const { metrics } = await devtools.send("Performance.getMetrics");
	const value = (name) => metrics.find((one) => one.name === name).value;
	return { heap: value("JSHeapUsedSize"), nodes: value("Nodes") };
}

const ORDERS = {
	async open({ address }) {
		const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
		await context.addInitScript(watch);
		page = await context.newPage();
		page.setDefaultTimeout(20_000);
		await page.goto(address);
		await page.getByLabel("Prompt").waitFor();
	},
	async layout({ split }) {
		await page.evaluate((value) => localStorage.setItem("hasp-split", value), split);
		await page.reload();
		await page.getByLabel("Prompt").waitFor();
	},
	async comment({ text }) {
		await page.waitForFunction((name) => window.stamps.comments[name], text, { polling: 5 });
		return page.evaluate((name) => window.stamps.comments[name], text);
	},
	async question() {
		await page.waitForFunction(() => window.stamps.painted, undefined, { polling: 20 });
		return page.evaluate(() => window.stamps);
	},
	// What a page holds that has seen so many messages, one after the other.
	async messages({ counts }) {
		const server = await Played.start(bundle);
		const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
		const one = await context.newPage();
		await one.goto(`${server.address}/#key=thekey`);
		await one.getByLabel("Prompt").waitFor();
		const devtools = await context.newCDPSession(one);
		await devtools.send("Performance.enable");
		const rows = [{ messages: 0, ...await memory(devtools) }];
		let sent = 0;
		for (const count of counts) {
			for (; sent < count; sent += 2) {
				server.bus("prompt", { text: `Question ${sent}` });
				server.bus("content", { text: `Answer ${sent}: ${"some words of an answer ".repeat(20)}` });
			}
			await one.getByText(`Answer ${sent - 2}:`).waitFor();
			rows.push({ messages: count, ...await memory(devtools) });
		}
		await context.close();
		server.close();
		return rows;
	},
};

for await (const line of createInterface({ input: process.stdin })) {
	const { order, ...more } = JSON.parse(line);
	console.log(JSON.stringify(await ORDERS[order](more) ?? null));
}
await browser.close();
