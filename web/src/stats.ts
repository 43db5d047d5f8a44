// SPDX-License-Identifier: Apache-2.0
// Charts of the page that `hasp stats --html` writes, and of /stats (stats-page.ts): each is drawn from the table that it
// stands above, whose attribute data-charts says which columns belong together. The tables stay: they are the charts in words.

import { BarChart, Svg } from "chartist";

const MOST_ROWS = 20;
const LETTERS = "abcdefg"; // Chartist's names of series; stats.css has their colours

interface Chart {
	title: string;
	names: string[];
	series: { name: string; values: number[] }[];
	kind: string;
}

function number(value: number, kind: string): string {
	if (kind === "money")
		return "$" + (value / 1e6).toFixed(value < 1e8 ? 2 : 0);
	if (kind === "time")
		return value < 120e3 ? Math.round(value / 1000) + " s" : Math.round(value / 60e3) + " min";
	return Intl.NumberFormat("en", { notation: "compact" }).format(value);
}

/** The columns of a table as a chart; null: there is nothing to compare. */
function read(table: HTMLTableElement, columns: number[], title: string): Chart | null {
	const head = [...table.tHead!.rows[0].cells];
	const rows = [...table.tBodies[0].rows].filter((row) => row.cells[0].textContent !== "all");
	// By day, the last ones count; the other tables begin with what they have most of, or are short.
	const shown = isDays(table) ? rows.slice(-MOST_ROWS) : rows.slice(0, MOST_ROWS);
	const series = columns.map((column) => ({
		name: head[column].textContent ?? "",
		values: shown.map((row) => Number(row.cells[column].dataset.value)),
	})).filter((one) => one.values.some((value) => value > 0));

	if (shown.length < 2 || !series.length)
		return null;
	if (!isDays(table)) { // Chartist's lying bars begin at the bottom
		shown.reverse();
		series.forEach((one) => one.values.reverse());
	}
	return { title, names: shown.map((row) => row.cells[0].textContent ?? ""), series, kind: head[columns[0]].dataset.kind ?? "count" };
}

function isDays(table: HTMLTableElement): boolean {
	return table.tHead!.rows[0].cells[0].textContent!.startsWith("day");
}

function legend(chart: Chart): HTMLElement {
	const list = document.createElement("ul");

	list.className = "legend";
	chart.series.forEach((one, i) => {
		const item = document.createElement("li");

		item.className = "legend-" + LETTERS[i];
		item.textContent = one.name;
		list.append(item);
	});
	return list;
}

/** Names stand beside lying bars; days beneath upright ones. */
function draw(chart: Chart, upright: boolean, before: Element): void {
	const figure = document.createElement("figure");
	const caption = document.createElement("figcaption");
	const place = document.createElement("div");

	caption.textContent = chart.title + ": " + chart.series.map((one) => one.name).join(", ");
	place.setAttribute("role", "img");
	place.setAttribute("aria-label", "Bar chart of the table below: " + caption.textContent);
	figure.append(caption, place);
	if (chart.series.length > 1)
		figure.append(legend(chart));
	before.before(figure);
	new BarChart(place, {
		labels: chart.names.map((name) => upright ? name.slice(5) : name.length > 32 ? "…" + name.slice(-31) : name),
		series: chart.series.map((one) => one.values),
	}, {
		height: upright ? 180 : 40 + chart.names.length * 24,
		horizontalBars: !upright,
		stackBars: true,
		chartPadding: { right: 40 },
		axisX: upright ? { showGrid: false } : { labelInterpolationFnc: (value) => number(Number(value), chart.kind), scaleMinSpace: 60 },
		axisY: upright ? { labelInterpolationFnc: (value) => number(Number(value), chart.kind), offset: 60 } :
			{ showGrid: false, offset: 270 },
	});
}

// A Content-Security-Policy without inline styles forbids the attribute that Chartist sets, not the property.
const attr: (this: Svg, attributes: any, space?: string) => any = Svg.prototype.attr;

Svg.prototype.attr = function (this: Svg, attributes: any, space?: string): any {
	if (typeof attributes !== "object" || !("style" in attributes))
		return attr.call(this, attributes, space);
	const { style, ...others } = attributes;

	this.getNode<SVGElement>().style.cssText = String(style);
	return attr.call(this, others, space);
};

export function drawCharts(): void {
	for (const table of document.querySelectorAll<HTMLTableElement>("table[data-charts]")) {
		const title = table.closest("section")!.querySelector("h2")!.textContent ?? "";

		for (const columns of table.dataset.charts!.split(";")) {
			const chart = read(table, columns.split(" ").map(Number), title);

			if (chart)
				draw(chart, isDays(table), table.closest(".scrolls")!);
		}
	}
}

drawCharts();
