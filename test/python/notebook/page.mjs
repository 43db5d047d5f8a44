// SPDX-License-Identifier: Apache-2.0
// Jupyter's own page in a real Chromium: MODULES ADDRESS PICTURES.  Runs the notebook, takes one hunk and refuses another by
// clicking, lets the agent add a cell, and prints "played" at its end.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";

const [modules, address, pictures] = process.argv.slice(2);
const { chromium } = createRequire(join(modules, "node_modules", "x.js"))("playwright-core");
const MOST_MS = 30_000;
// The cell of a prompt, what its question shows, what the model says afterwards.
const QUESTIONS = [
	[4, "made = 6 * 7", "Computed."],
	[5, "rm -rf build", "Removed."],
	[6, "text: hello", "Echoed."],
];

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1100, height: 900 }, locale: "en-GB", timezoneId: "UTC" });
page.setDefaultTimeout(MOST_MS);
const dialogs = [];
page.on("dialog", (dialog) => {
	dialogs.push(dialog.message());
	dialog.accept();
});

async function picture(name, locator) {
	if (pictures)
		await locator.screenshot({ path: join(pictures, name) });
}

// Runs the cell at a place, as Ctrl+Enter does.
async function run(place) {
	await page.evaluate((at) => {
		window.Jupyter.notebook.select(at);
		window.Jupyter.notebook.execute_selected_cells();
	}, place);
	return page.locator(".code_cell").nth(place);
}

const settled = (place) => page.waitForFunction((at) => window.Jupyter.notebook.get_cell(at).input_prompt_number > 0, place);

try {
	await page.goto(address);
	await page.waitForFunction(() => window.Jupyter?.notebook?.kernel?.is_connected?.());
	await run(0);
	await settled(0);

	const cell = await run(1);
	const question = cell.locator(".hasp-question");
	await question.waitFor();
	assert.match(await question.textContent(), /a\.txt/);
	assert.equal(await question.locator("code").textContent(), "a.txt");
	assert.equal(await question.locator("table").count(), 2, "the hunks are side by side");
	await picture("notebook-question.png", cell);
	await question.getByText("Take hunk 2").locator("..").locator("input").click();
	await question.getByRole("button", { name: "Allow once" }).click();
	await cell.getByText("Done.").waitFor();
	await settled(1);
	assert.equal(await page.locator(".hasp-question:visible").count(), 0);
	await picture("notebook-answer.png", cell);
	await cell.locator("summary").first().click();
	await cell.getByText("file_path").waitFor();

	// Markup of the model is text, and asks no one for anything.
	const spoken = await run(2);
	await spoken.getByText("alert(1)").waitFor();
	await settled(2);
	assert.equal(await spoken.locator("script, img").count(), 0);
	assert.deepEqual(dialogs, []);

	// The agent adds a cell, through the server, which the page shows when it is opened anew.
	const adding = await run(3);
	const added = adding.locator(".hasp-question");
	await added.waitFor();
	assert.match(await added.textContent(), /n\.ipynb: a new code cell after cell add/);
	assert.match(await added.locator("table").textContent(), /print\('added'\)/);
	assert.doesNotMatch(await added.textContent(), /operation/, "a diff, and not the arguments");
	await picture("notebook-cell.png", adding);
	await added.getByRole("button", { name: "Allow once" }).click();
	await adding.getByText("Added.").waitFor();
	await settled(3);

	// The same widget asks about code, a command and a server's tool.
	for (const [place, shown, done] of QUESTIONS) {
		const asking = await run(place);
		const asked = asking.locator(".hasp-question");
		await asked.waitFor();
		assert.ok((await asked.locator("pre").allTextContents()).join("\n").includes(shown), await asked.textContent());
		assert.equal(await asked.getByPlaceholder("A comment for the model").count(), 1);
		assert.equal(await asked.getByRole("button", { name: "Refuse" }).count(), 1);
		await picture(`notebook-${done.slice(0, -1).toLowerCase()}.png`, asking);
		await asked.getByRole("button", { name: "Allow once" }).click();
		await asking.getByText(done).waitFor();
		await settled(place);
	}
	// What is always allowed is not asked about again, also after the kernel was interrupted in a later call.
	const twice = await run(7);
	const first = twice.locator(".hasp-question");
	await first.waitFor();
	await first.getByRole("button", { name: "Always allow" }).click();
	await twice.getByText("Twice.").waitFor();
	await settled(7);
	assert.equal(await page.locator(".hasp-question:visible").count(), 0);
	const asleep = await run(8);
	await asleep.locator(".hasp-question").getByRole("button", { name: "Allow once" }).click();
	await page.waitForFunction(async () => (await fetch("/files/started")).ok, null, { polling: 200 });
	await page.evaluate(() => window.Jupyter.notebook.kernel.interrupt());
	await settled(8);
	const again = await run(9);
	await again.getByText("Again.").waitFor();
	await settled(9);
	assert.equal(await page.locator(".hasp-question:visible").count(), 0);

	const seen = page.locator(".code_cell").nth(QUESTIONS[0][0]);
	assert.equal(await seen.locator(".output img").count(), 1, "what the code drew is shown");

	// What was typed meanwhile and not saved is not lost: the page asks before it saves over the agent's cell.
	await page.evaluate(() => {
		window.Jupyter.notebook.get_cell(2).set_text("%%hasp typed meanwhile");
		window.Jupyter.notebook.save_notebook();
	});
	const changed = page.locator(".modal-dialog:visible");
	await changed.getByText(/changed/).first().waitFor();
	await picture("notebook-changed.png", changed);
	await changed.getByRole("button", { name: "Cancel" }).click();
	assert.equal(await page.evaluate(() => window.Jupyter.notebook.get_cell(2).get_text()), "%%hasp typed meanwhile");

	// The saved notebook has the cell of the agent's.
	await page.goto(address);
	await page.waitForFunction(() => window.Jupyter?.notebook?.get_cells?.().some((one) => one.get_text() === "print('added')"));
	console.log("played");
} catch (error) {
	if (pictures)
		await page.screenshot({ path: join(pictures, "failed.png") }).catch(() => {});
	throw error;
} finally {
	await browser.close();
}
