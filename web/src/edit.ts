// SPDX-License-Identifier: Apache-2.0
// An edit as hunks, each taken or not, and the text that is left of it.
//
// The hunks are the diff's own if they lead from the original to the planned text; otherwise those of a new
// comparison.  Lines keep their endings: what is not taken stays byte for byte as it was, and with everything taken
// the content is the planned one.
//
// Not here: how it is shown (diff/), what is sent as an answer (review.tsx).

import { Text } from "@codemirror/state";
import { Chunk } from "@codemirror/merge";

export type Verdict = "taken" | "left" | "edited";

export interface Hunk {
	header: string; // "@@ -1,2 +1,3 @@"
	oldStart: number; // index of the first line in the old text, from 0
	newStart: number;
	lines: string[]; // marker (" ", "-", "+") and the line with its ending
}

export interface Choice {
	verdict: Verdict;
	edited?: string; // of "edited": what replaces the hunk's lines, with endings
}

const CONTEXT = 3;
const HEADER = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
// Comparing texts stops being thorough after this, so that no pair of texts blocks the page.
const COMPARISON = { scanLimit: 500, timeout: 150 };

export function splitLines(text: string): string[] {
	const lines: string[] = [];
	let start = 0;
	for (let end; (end = text.indexOf("\n", start)) >= 0; start = end + 1)
		lines.push(text.slice(start, end + 1));
	if (start < text.length)
		lines.push(text.slice(start));
	return lines;
}

// The hunks of the first file of a unified diff, or of all of them: the lines between hunks are passed over.
export function parseDiff(diff: string): Hunk[] {
	const hunks: Hunk[] = [];
	let hunk: Hunk | undefined;
	let oldLeft = 0, newLeft = 0;
	for (const line of splitLines(diff)) {
		const marker = line[0];
		if (hunk && marker === "\\") {
			const last = hunk.lines.length - 1;
			hunk.lines[last] = hunk.lines[last].replace(/\r?\n$/, "");
		} else if (hunk && oldLeft + newLeft > 0 && (marker === " " || marker === "-" || marker === "+")) {
			hunk.lines.push(line);
			oldLeft -= marker === "+" ? 0 : 1;
			newLeft -= marker === "-" ? 0 : 1;
		} else {
			const match = HEADER.exec(line);
			if (!match)
				continue;
			const [oldCount, newCount] = [Number(match[2] ?? 1), Number(match[4] ?? 1)];
			hunk = {
				header: match[0],
				oldStart: Number(match[1]) - (oldCount ? 1 : 0),
				newStart: Number(match[3]) - (newCount ? 1 : 0),
				lines: [],
			};
			hunks.push(hunk);
			[oldLeft, newLeft] = [oldCount, newCount];
		}
	}
	return hunks;
}

function header(oldStart: number, oldCount: number, newStart: number, newCount: number): string {
	const place = (start: number, count: number) =>
		`${count ? start + 1 : start}${count === 1 ? "" : `,${count}`}`;
	return `@@ -${place(oldStart, oldCount)} +${place(newStart, newCount)} @@`;
}

// The hunks that lead from one text to another, with three lines around each change.
export function compare(original: string, planned: string): Hunk[] {
	const [a, b] = [splitLines(original), splitLines(planned)];
	const text = (lines: string[]) => Text.of(lines.length ? lines.map((line) => line.replace(/\n$/, "")) : [""]);
	const [ta, tb] = [text(a), text(b)];
	const number = (doc: Text, at: number, length: number) =>
		at > doc.length ? length : Math.min(length, doc.lineAt(at).number - 1);
	const ranges = Chunk.build(ta, tb, COMPARISON).map((chunk) => ({
		fromA: number(ta, chunk.fromA, a.length), toA: number(ta, chunk.toA, a.length),
		fromB: number(tb, chunk.fromB, b.length), toB: number(tb, chunk.toB, b.length),
	}));
	// A last line that gained or lost its line feed is not different as CodeMirror has it.
	const last = ranges[ranges.length - 1];
	if (a.length && b.length && a[a.length - 1] !== b[b.length - 1] &&
	    !(last && last.toA === a.length && last.toB === b.length))
		ranges.push({ fromA: a.length - 1, toA: a.length, fromB: b.length - 1, toB: b.length });
	return groupRanges(ranges, a, b);
}

interface Range { fromA: number; toA: number; fromB: number; toB: number }

function groupRanges(ranges: Range[], a: string[], b: string[]): Hunk[] {
	const hunks: Hunk[] = [];
	for (let i = 0; i < ranges.length;) {
		let end = i + 1;
		while (end < ranges.length && ranges[end].fromA - ranges[end - 1].toA <= 2 * CONTEXT)
			end++;
		const before = Math.min(CONTEXT, ranges[i].fromA, ranges[i].fromB);
		const [oldStart, newStart] = [ranges[i].fromA - before, ranges[i].fromB - before];
		const oldEnd = Math.min(a.length, ranges[end - 1].toA + CONTEXT);
		const lines: string[] = [];
		let at = oldStart;
		for (; i < end; i++) {
			const range = ranges[i];
			for (; at < range.fromA; at++)
				lines.push(" " + a[at]);
			for (; at < range.toA; at++)
				lines.push("-" + a[at]);
			for (let j = range.fromB; j < range.toB; j++)
				lines.push("+" + b[j]);
		}
		for (; at < oldEnd; at++)
			lines.push(" " + a[at]);
		const newCount = lines.filter((line) => line[0] !== "-").length;
		hunks.push({ header: header(oldStart, oldEnd - oldStart, newStart, newCount), oldStart, newStart, lines });
	}
	return hunks;
}

// The lines that a hunk leaves, or those that it was made for.
export function sideLines(hunk: Hunk, side: "old" | "new"): string[] {
	const other = side === "old" ? "+" : "-";
	return hunk.lines.filter((line) => line[0] !== other).map((line) => line.slice(1));
}

// The original with what is taken or edited.
export function compose(original: string, hunks: Hunk[], choices: Choice[]): string {
	const lines = splitLines(original);
	const parts: string[] = [];
	let at = 0;
	hunks.forEach((hunk, i) => {
		const { verdict, edited } = choices[i];
		const old = sideLines(hunk, "old");
		parts.push(lines.slice(at, hunk.oldStart).join(""));
		if (verdict === "edited")
			parts.push(edited ?? "");
		else
			parts.push((verdict === "taken" ? sideLines(hunk, "new") : old).join(""));
		at = hunk.oldStart + old.length;
	});
	parts.push(lines.slice(at).join(""));
	return parts.join("");
}

// The hunks of an edit: those of its diff where they lead to the planned text.
export function hunksOf(original: string | null, planned: string | null, diff: string): Hunk[] {
	const hunks = parseDiff(diff);
	if (original === null || planned === null)
		return hunks;
	const all = hunks.map((): Choice => ({ verdict: "taken" }));
	const none = hunks.map((): Choice => ({ verdict: "left" }));
	const holds = compose(original, hunks, all) === planned && compose(original, hunks, none) === original;
	return hunks.length && holds ? hunks : compare(original, planned);
}

// A hunk's new lines as they were typed: lines that stayed keep their endings, others get that of the line before.
export function withEndings(hunk: Hunk, typed: string): Choice {
	const lines = sideLines(hunk, "new");
	const plain = (line: string) => line.replace(/\r?\n$/, "");
	const known = new Map(lines.map((line) => [plain(line), line.slice(plain(line).length)]));
	const rows = typed.replace(/\n$/, "").split("\n");
	let ending = lines.length ? lines[0].slice(plain(lines[0]).length) || "\n" : "\n";
	const edited = typed === "" ? [] : rows.map((row) => {
		ending = known.get(row) || ending;
		return row + ending;
	});
	const endsOpen = lines.length > 0 && !/\n$/.test(lines[lines.length - 1]);
	const text = endsOpen ? plain(edited.join("")) : edited.join("");
	if (text === lines.join(""))
		return { verdict: "taken" };
	if (text === sideLines(hunk, "old").join(""))
		return { verdict: "left" };
	return { verdict: "edited", edited: text };
}

// How many lines a hunk takes away and adds, in words.
export function countWords(hunk: Hunk): string {
	const count = (marker: string) => hunk.lines.filter((line) => line[0] === marker).length;
	return `${count("-")} removed, ${count("+")} added`;
}
