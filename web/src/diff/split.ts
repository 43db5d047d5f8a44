// SPDX-License-Identifier: Apache-2.0
// A diff in two columns: @codemirror/merge with the hunks of the diff, the whole of both files, long stretches without
// changes folded.

import { Change, diff, MergeView } from "@codemirror/merge";
import { EditorState, type Extension } from "@codemirror/state";
import { lineNumbers, type EditorView } from "@codemirror/view";
import { syntaxHighlighting, type StreamLanguage } from "@codemirror/language";
import { splitLines, type Hunk } from "../edit";
import { COLOURS } from "../colours";

// Within changed lines of no more characters than this the changed words are marked.
const MOST_COMPARED = 2000;

function offsets(lines: string[]): number[] {
	const at = [0];
	for (const line of lines)
		at.push(at[at.length - 1] + line.length);
	return at;
}

// The changes that the hunks consist of, as ranges of characters.
function changesOf(a: string, b: string, hunks: Hunk[]): Change[] {
	const [oldAt, newAt] = [offsets(splitLines(a)), offsets(splitLines(b))];
	const changes: Change[] = [];
	for (const hunk of hunks) {
		let [old, now] = [hunk.oldStart, hunk.newStart];
		for (let i = 0; i < hunk.lines.length;) {
			if (hunk.lines[i][0] === " ") {
				[i, old, now] = [i + 1, old + 1, now + 1];
				continue;
			}
			const [fromA, fromB] = [old, now];
			for (; i < hunk.lines.length && hunk.lines[i][0] !== " "; i++)
				hunk.lines[i][0] === "-" ? old++ : now++;
			addChange(changes, a, b, oldAt[fromA], oldAt[old], newAt[fromB], newAt[now]);
		}
	}
	return changes;
}

function addChange(changes: Change[], a: string, b: string, fromA: number, toA: number, fromB: number, toB: number) {
	if (toA > fromA && toB > fromB && toA - fromA + toB - fromB < MOST_COMPARED) {
		for (const inner of diff(a.slice(fromA, toA), b.slice(fromB, toB), { scanLimit: 100 }))
			changes.push(new Change(fromA + inner.fromA, fromA + inner.toA, fromB + inner.fromB, fromB + inner.toB));
	} else {
		changes.push(new Change(fromA, toA, fromB, toB));
	}
}

export interface SplitOptions {
	parent: HTMLElement;
	root: ShadowRoot;
	hunks: Hunk[];
	old: string;
	new: string;
	language?: StreamLanguage<any>;
	extensions: (side: "old" | "new") => Extension;
	onNumber: (side: "old" | "new", line: number, extend: boolean) => void;
}

export function splitView(options: SplitOptions): MergeView {
	const state = (doc: string, side: "old" | "new") => ({
		doc,
		extensions: [EditorState.lineSeparator.of("\n"), lineNumbers({ domEventHandlers: {
			click(view, line, event) {
				options.onNumber(side, view.state.doc.lineAt(line.from).number, (event as MouseEvent).shiftKey);
				return true;
			},
		} }), options.language ?? [], syntaxHighlighting(COLOURS), options.extensions(side)],
	});
	// The hunks hold for the texts as they are; with their last line ends missing or not, both are lines for CodeMirror.
	const changes = changesOf(options.old, options.new, options.hunks);
	return new MergeView({
		parent: options.parent,
		root: options.root,
		a: state(options.old, "old"),
		b: state(options.new, "new"),
		gutter: false,
		collapseUnchanged: { margin: 3, minSize: 8 },
		diffConfig: { override: () => changes.slice() },
	});
}

// Shows a line of a side, and puts the cursor there.
export function goToLine(view: EditorView, number: number): void {
	const line = view.state.doc.line(Math.max(1, Math.min(number, view.state.doc.lines)));
	view.dispatch({ selection: { anchor: line.from }, scrollIntoView: true });
}
