// SPDX-License-Identifier: Apache-2.0
// The page /stats: figures of recorded sessions (GET /api/stats) as tables, with the charts of stats.ts. Of one session's
// project, which ?session=ID names, or of all projects.

import { ApiError, get } from "./api";
import { drawCharts } from "./stats";
import { visible } from "./terminal";

interface Column { title: string; kind: string }
interface Row { name: string; cells: number[]; texts: string[] }
interface Section { title: string; label: string; charts?: string; columns: Column[]; rows: Row[]; left_off: number }
interface Figures { heading: string; sections: Section[] }

const session = new URLSearchParams(location.search).get("session");
const form = document.querySelector("form")!;
const status = document.querySelector<HTMLElement>("[role=status]")!;
const place = document.getElementById("figures")!;
let asked = 0;

function element<K extends keyof HTMLElementTagNameMap>(name: K, text = "", attributes: Record<string, string> = {}) {
	const made = document.createElement(name);

	made.textContent = visible(text);
	for (const [key, value] of Object.entries(attributes))
		made.setAttribute(key, value);
	return made;
}

function rowOf(section: Section, row: Row): HTMLTableRowElement {
	const line = element("tr");

	line.append(element("th", row.name, { scope: "row" }));
	section.columns.forEach((_, i) => line.append(element("td", row.texts[i], { "data-value": String(row.cells[i]) })));
	return line;
}

function sectionOf(section: Section): HTMLElement {
	const made = element("section");
	const scrolls = element("div", "", { class: "scrolls", tabindex: "0", role: "region", "aria-label": section.title });
	const table = element("table");
	const names = table.createTHead().insertRow();

	names.append(element("th", section.label || "of", { scope: "col" }));
	for (const column of section.columns)
		names.append(element("th", column.title, { scope: "col", "data-kind": column.kind }));
	table.createTBody().append(...section.rows.map((row) => rowOf(section, row)));
	if (section.charts)
		table.dataset.charts = section.charts;
	scrolls.append(table);
	made.append(element("h2", section.title), scrolls);
	if (section.left_off)
		made.append(element("p", `${section.left_off} more rows: hasp stats --json`, { class: "dim" }));
	return made;
}

/** Figures are counted for one page at a time. */
async function count(query: URLSearchParams): Promise<Figures> {
	for (;;) {
		try {
			return await get(`/api/stats?${query}`);
		} catch (failure) {
			if (!(failure instanceof ApiError) || failure.status !== 429)
				throw failure;
		}
		await new Promise((resolve) => setTimeout(resolve, 1000));
	}
}

async function show(): Promise<void> {
	const number = ++asked;
	const query = new URLSearchParams();

	for (const [name, value] of new FormData(form))
		if (String(value).trim())
			query.set(name, String(value).trim());
	if (session)
		query.set("session", session);
	status.textContent = "Counting …";
	try {
		const figures = await count(query);

		if (number !== asked)
			return;
		status.textContent = visible(figures.heading);
		place.replaceChildren(...figures.sections.map(sectionOf));
		drawCharts();
	} catch (failure) {
		if (number === asked)
			status.textContent = (failure as Error).message;
	}
}

form.addEventListener("submit", (event) => { event.preventDefault(); void show(); });
form.addEventListener("change", () => void show());
document.querySelector("a")!.href = session ? `/#/s/${encodeURIComponent(session)}` : "/";
void show();
