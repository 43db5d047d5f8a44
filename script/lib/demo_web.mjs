// SPDX-License-Identifier: Apache-2.0
// The two reviewers of script/demo web: MODULES FOLDER LINK-OF-ANNA LINK-OF-BEN.  Prints what they do, "who: what" a line.
import { createRequire } from "node:module";
import { join } from "node:path";

const [modules, folder, ...links] = process.argv.slice(2);
const require = createRequire(join(modules, "node_modules", "x.js"));
const { chromium } = require("playwright-core");
const MOST_MS = 30_000;

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
	args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });

async function visit(link, options) {
	const page = await (await browser.newContext(options)).newPage();
	page.setDefaultTimeout(MOST_MS);
	await page.goto(link);
	await page.getByRole("link", { name: "Conversation" }).waitFor();
	return page;
}

let pictures = 0;
const picture = (page, name) => page.screenshot({ path: join(folder, `${++pictures}-${name}.png`) });
const button = (page, name) => page.getByRole("button", { name, exact: true });
const approvals = (page, text) => page.locator(".approvals", { hasText: text }).waitFor();

try {
	const anna = await visit(links[0], { viewport: { width: 1200, height: 800 } });
	const ben = await visit(links[1], { viewport: { width: 390, height: 800 }, colorScheme: "dark" });
	console.log("both: both are here");
	await button(anna, "Approve").click();
	await approvals(ben, "1 of 2 approvals");
	console.log("anna: approves the edit: 1 of 2 approvals");
	await picture(anna, "anna-approves");
	await button(ben, "Next").click();
	await ben.locator(".diff .cm-number-new .cm-gutterElement", { hasText: /^25$/ }).click();
	await ben.getByLabel("Comment on line 25").fill("A hundred times? 26 is meant.");
	await button(ben, "Add comment").click();
	console.log("ben: comments on line 25: A hundred times? 26 is meant.");
	await picture(ben, "ben-comments");
	await ben.getByLabel("What should hasp do instead?").fill("See my comment");
	await button(ben, "Veto").click();
	console.log("ben: says no");
	await anna.getByText("Round 2").waitFor();
	console.log("anna: sees the next proposal, which answers the comment");
	await button(anna, "Changes since the last round").click();
	await anna.waitForTimeout(500);
	await picture(anna, "round-2");
	await button(anna, "Approve").click();
	await approvals(ben, "1 of 2 approvals");
	console.log("anna: approves");
	await button(ben, "Approve").click();
	console.log("ben: approves");
	await anna.getByText("as Ben wanted").waitFor();
	await picture(anna, "done");
	console.log("both: the session goes on");
} finally {
	await browser.close();
}
