// SPDX-License-Identifier: Apache-2.0
// A diff in one column: CodeMirror shows the diff's own text, so that it is drawn where it is looked at, and can be
// searched, copied and read aloud with its markers.
//
// Rows are the lines of that text.  Each knows its numbers in the old and the new file.

import { EditorState, RangeSet, RangeSetBuilder, StateEffect, StateField, type Extension } from "@codemirror/state";
import { Decoration, EditorView, gutter, GutterMarker, ViewPlugin, type DecorationSet, type ViewUpdate }
	from "@codemirror/view";
import { highlightTree } from "@lezer/highlight";
import type { Tree } from "@lezer/common";
import type { StreamLanguage } from "@codemirror/language";
import type { Hunk } from "../edit";
import { COLOURS } from "../colours";
import { parseSlowly } from "./parse";

export interface Row {
	kind: "@" | " " | "-" | "+";
	hunk: number;
	old: number; // line numbers from 1; 0: it is not in that file
	new: number;
}

export interface Rows { text: string; rows: Row[] }

const plain = (line: string) => line.replace(/\r?\n$/, "");

export function rowsOf(hunks: Hunk[]): Rows {
	const text: string[] = [];
	const rows: Row[] = [];
	hunks.forEach((hunk, number) => {
		text.push(hunk.header);
		rows.push({ kind: "@", hunk: number, old: 0, new: 0 });
		let [old, now] = [hunk.oldStart + 1, hunk.newStart + 1];
		for (const line of hunk.lines) {
			const kind = line[0] as Row["kind"];
			text.push(plain(line));
			rows.push({ kind, hunk: number, old: kind === "+" ? 0 : old++, new: kind === "-" ? 0 : now++ });
		}
	});
	return { text: text.join("\n"), rows };
}

class NumberMarker extends GutterMarker {
	constructor(readonly text: string) {
		super();
	}

	eq(other: NumberMarker): boolean {
		return other.text === this.text;
	}

	toDOM(): Node {
		return document.createTextNode(this.text);
	}
}

type OnNumber = (row: number, extend: boolean) => void;

const numbers = (rows: Row[], side: "old" | "new", onNumber: OnNumber): Extension => gutter({
	class: `cm-number cm-number-${side}`,
	domEventHandlers: {
		click(view, line, event) {
			onNumber(view.state.doc.lineAt(line.from).number - 1, (event as MouseEvent).shiftKey);
			return true;
		},
	},
	lineMarker(view, line) {
		const row = rows[view.state.doc.lineAt(line.from).number - 1];
		return row && row[side] ? new NumberMarker(String(row[side])) : null;
	},
	initialSpacer: () => new NumberMarker("0".repeat(String(rows.reduce((most, row) =>
		Math.max(most, row[side]), 0)).length)),
});

const LINES = {
	"@": Decoration.line({ class: "cm-hunk" }),
	"-": Decoration.line({ class: "cm-removed" }),
	"+": Decoration.line({ class: "cm-added" }),
};

// Which hunks are left out: their lines are shown so.
export const setLeft = StateEffect.define<boolean[]>();
const LEFT = Decoration.line({ class: "cm-left" });

function leftField(rows: Row[]): Extension {
	return StateField.define<boolean[]>({
		create: () => [],
		update: (value, transaction) => transaction.effects.reduce((left, effect) =>
			effect.is(setLeft) ? effect.value : left, value),
		provide: (field) => EditorView.decorations.compute([field], (state) => {
			const left = state.field(field);
			const builder = new RangeSetBuilder<Decoration>();
			if (left.some(Boolean))
				rows.forEach((row, i) => {
					if (left[row.hunk]) {
						const at = state.doc.line(i + 1).from;
						builder.add(at, at, LEFT);
					}
				});
			return builder.finish();
		}),
	});
}

// Colours: each side's text is parsed in idle time, and what is in view gets the classes of its tokens.
interface Side { text: string; starts: number[]; tree?: Tree }

function sideOf(text: string): Side {
	const starts = [0];
	for (let at = 0; (at = text.indexOf("\n", at)) >= 0;)
		starts.push(++at);
	return { text, starts };
}

const marks = new Map<string, Decoration>();

function mark(classes: string): Decoration {
	let found = marks.get(classes);
	if (!found)
		marks.set(classes, found = Decoration.mark({ class: classes }));
	return found;
}

const LONGEST_COLOURED = 2000;

function colourRow(builder: RangeSetBuilder<Decoration>, side: Side, line: number, at: number, length: number): void {
	const from = side.starts[line - 1];
	if (from === undefined || !side.tree || length > LONGEST_COLOURED)
		return;
	const to = Math.min(side.text.length, from + length);
	highlightTree(side.tree, COLOURS, (start, end, classes) => {
		const [a, b] = [Math.max(start, from), Math.min(end, to)];
		if (a < b)
			builder.add(at + 1 + a - from, at + 1 + b - from, mark(classes));
	}, from, to);
}

function draw(view: EditorView, rows: Row[], sides: { old?: Side; new?: Side }): DecorationSet {
	const builder = new RangeSetBuilder<Decoration>();
	const doc = view.state.doc;
	let done = -1;
	for (const { from, to } of view.visibleRanges) {
		for (let line = doc.lineAt(from); ; line = doc.line(line.number + 1)) {
			const row = rows[line.number - 1];
			if (line.number > done && row) {
				done = line.number;
				if (row.kind !== " ")
					builder.add(line.from, line.from, LINES[row.kind]);
				const side = row.kind === "-" ? sides.old : row.kind === "@" ? undefined : sides.new;
				if (side)
					colourRow(builder, side, row.kind === "-" ? row.old : row.new, line.from, line.length - 1);
			}
			if (line.to >= to || line.number === doc.lines)
				break;
		}
	}
	return builder.finish();
}

const recolour = StateEffect.define<null>();

function colours(rows: Row[], texts: { old: string | null; new: string | null }, language?: StreamLanguage<any>):
	Extension {
	return ViewPlugin.fromClass(class {
		decorations: DecorationSet = RangeSet.empty;
		sides: { old?: Side; new?: Side } = {};
		stop: () => void = () => {};

		constructor(view: EditorView) {
			this.decorations = draw(view, rows, this.sides);
			if (language)
				this.stop = parseSlowly(language, [texts.old, texts.new], (trees) => {
					if (texts.old !== null)
						this.sides.old = { ...sideOf(texts.old), tree: trees[0] };
					if (texts.new !== null)
						this.sides.new = { ...sideOf(texts.new), tree: trees[1] };
					view.dispatch({ effects: recolour.of(null) });
				});
		}

		update(update: ViewUpdate): void {
			if (update.viewportChanged || update.docChanged ||
			    update.transactions.some((one) => one.effects.some((effect) => effect.is(recolour))))
				this.decorations = draw(update.view, rows, this.sides);
		}

		destroy(): void {
			this.stop();
		}
	}, { decorations: (plugin) => plugin.decorations });
}

export interface UnifiedOptions {
	parent: HTMLElement;
	root: ShadowRoot;
	hunks: Hunk[];
	old: string | null;
	new: string | null;
	language?: StreamLanguage<any>;
	extensions: (rows: Row[]) => Extension;
	onNumber: OnNumber; // a line's number was clicked
}

export function unifiedView(options: UnifiedOptions): { view: EditorView; rows: Row[] } {
	const { text, rows } = rowsOf(options.hunks);
	const view = new EditorView({
		parent: options.parent,
		root: options.root,
		state: EditorState.create({
			doc: text,
			extensions: [
				EditorState.lineSeparator.of("\n"),
				numbers(rows, "old", options.onNumber), numbers(rows, "new", options.onNumber),
				leftField(rows), colours(rows, options, options.language), options.extensions(rows),
			],
		}),
	});
	return { view, rows };
}
