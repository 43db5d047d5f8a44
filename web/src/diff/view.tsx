// SPDX-License-Identifier: Apache-2.0
// One file's diff, in one column or two, with its comments.  Read with the mouse, by touch, or with the keyboard:
// arrows move a cursor, Shift selects, and single letters work while the diff has the focus.
//
// CodeMirror lives in a shadow root: there it adds its style sheet as an object, which the page's
// Content-Security-Policy permits; in the document it would make a <style> element.

import { cursorDocEnd, cursorDocStart, cursorLineDown, cursorLineUp, cursorPageDown, cursorPageUp, cursorCharLeft,
	cursorCharRight, selectLineDown, selectLineUp, selectPageDown, selectPageUp, selectAll } from "@codemirror/commands";
import { EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, highlightSpecialChars, keymap } from "@codemirror/view";
import type { MergeView } from "@codemirror/merge";
import { useEffect, useRef } from "preact/hooks";
import type { Hunk } from "../edit";
import { languageOf } from "../languages";
import { notesField, setNotes, type Note } from "./notes";
import { splitView } from "./split";
import { setLeft, unifiedView, type Row } from "./unified";
import styles from "./diff.css";

export interface Lines { side: "old" | "new"; startLine: number; endLine: number }

export interface DiffProps {
	path: string;
	hunks: Hunk[];
	old: string | null;
	new: string | null;
	split: boolean;
	wrap: boolean;
	left: boolean[]; // hunks that are not taken
	notes: Note[];
	onComment?: (lines: Lines) => void;
	onKey?: (key: string) => boolean; // n, p, t, l: see review.tsx
	onCursor?: (hunk: number) => void;
	handle?: (handle: DiffHandle) => void;
}

export interface DiffHandle {
	goToHunk(hunk: number): void;
	selection(): Lines | undefined;
	focus(): void;
}

let sheet: CSSStyleSheet | undefined;

function shadowOf(host: HTMLElement): ShadowRoot {
	if (host.shadowRoot)
		return host.shadowRoot;
	const root = host.attachShadow({ mode: "open" });
	if (!sheet) {
		sheet = new CSSStyleSheet();
		sheet.replaceSync(styles);
	}
	root.adoptedStyleSheets = [sheet];
	return root;
}

const MOVES = keymap.of([
	{ key: "ArrowDown", run: cursorLineDown, shift: selectLineDown },
	{ key: "ArrowUp", run: cursorLineUp, shift: selectLineUp },
	{ key: "ArrowLeft", run: cursorCharLeft },
	{ key: "ArrowRight", run: cursorCharRight },
	{ key: "PageDown", run: cursorPageDown, shift: selectPageDown },
	{ key: "PageUp", run: cursorPageUp, shift: selectPageUp },
	{ key: "Home", run: cursorDocStart },
	{ key: "End", run: cursorDocEnd },
	{ key: "Mod-a", run: selectAll },
]);

function base(props: DiffProps, label: string, shortcut: (key: string) => boolean): Extension {
	return [
		EditorState.readOnly.of(true), EditorView.editable.of(false),
		EditorView.contentAttributes.of({ tabindex: "0", "aria-label": label }),
		drawSelection(), highlightSpecialChars(), MOVES,
		keymap.of(["c", "n", "p", "t", "l"].map((key) => ({ key, run: () => shortcut(key) }))),
		props.wrap ? EditorView.lineWrapping : [],
	];
}

// The rows of a selection as lines of one side: the new one, unless only removed lines are selected.
function linesOfRows(rows: Row[], from: number, to: number): Lines | undefined {
	const chosen = rows.slice(from, to + 1).filter((row) => row.kind !== "@");
	const side = chosen.some((row) => row.new) ? "new" : "old";
	const numbers = chosen.map((row) => row[side]).filter(Boolean);
	return numbers.length ? { side, startLine: numbers[0], endLine: numbers[numbers.length - 1] } : undefined;
}

function selectedLines(view: EditorView): [number, number] {
	const { from, to } = view.state.selection.main;
	const first = view.state.doc.lineAt(from).number;
	const last = view.state.doc.lineAt(to);
	return [first, last.number > first && last.from === to ? last.number - 1 : last.number];
}

interface Shown {
	views: EditorView[];
	handle: DiffHandle;
	destroy(): void;
}

function showUnified(props: () => DiffProps, root: ShadowRoot, parent: HTMLElement): Shown {
	const first = props();
	let rows: Row[] = [];
	const selection = () => {
		const [from, to] = selectedLines(view);
		return linesOfRows(rows, from - 1, to - 1);
	};
	const comment = () => {
		const lines = selection();
		if (lines)
			props().onComment?.(lines);
		return true;
	};
	const shown = unifiedView({
		parent, root, hunks: first.hunks, old: first.old, new: first.new, language: languageOf(first.path),
		onNumber: (row, extend) => {
			const anchor = extend ? view.state.selection.main.anchor : view.state.doc.line(row + 1).from;
			view.dispatch({ selection: { anchor, head: view.state.doc.line(row + 1).from } });
			view.focus();
			if (props().onComment)
				comment();
		},
		extensions: (all) => [
			base(first, `Changes of ${first.path}`, (key) => key === "c" ? comment() : !!props().onKey?.(key)),
			notesField((state, note) => {
				const row = all.findIndex((one) => one[note.side] === note.endLine && (note.side === "new" || one.kind !== "+"));
				return row < 0 ? undefined : state.doc.line(row + 1).to;
			}),
			EditorView.updateListener.of((update) => {
				if (update.selectionSet)
					props().onCursor?.(all[update.state.doc.lineAt(update.state.selection.main.head).number - 1]?.hunk ?? 0);
			}),
		],
	});
	const view = shown.view;
	rows = shown.rows;
	return {
		views: [view],
		destroy: () => view.destroy(),
		handle: {
			selection,
			focus: () => view.focus(),
			goToHunk(hunk) {
				const row = rows.findIndex((one) => one.kind === "@" && one.hunk === hunk);
				const at = view.state.doc.line(Math.max(1, row + 1)).from;
				view.dispatch({ selection: { anchor: at },
					effects: EditorView.scrollIntoView(at, { y: "start", yMargin: 8 }) });
			},
		},
	};
}

function showSplit(props: () => DiffProps, root: ShadowRoot, parent: HTMLElement): Shown {
	const first = props();
	const lines = (side: "old" | "new"): Lines => {
		const [startLine, endLine] = selectedLines(side === "old" ? merge.a : merge.b);
		return { side, startLine, endLine };
	};
	const lastSide = () => root.activeElement && merge.a.dom.contains(root.activeElement) ? "old" : "new";
	const merge: MergeView = splitView({
		parent, root, hunks: first.hunks, old: first.old ?? "", new: first.new ?? "", language: languageOf(first.path),
		onNumber: (side, line, extend) => {
			const view = side === "old" ? merge.a : merge.b;
			const head = view.state.doc.line(line).from;
			view.dispatch({ selection: { anchor: extend ? view.state.selection.main.anchor : head, head } });
			view.focus();
			props().onComment?.(lines(side));
		},
		extensions: (side) => [
			base(first, `${first.path} ${side === "old" ? "before" : "after"} the edit`, (key) => {
				if (key !== "c")
					return !!props().onKey?.(key);
				props().onComment?.(lines(side));
				return true;
			}),
			notesField((state, note) => note.side === side && note.endLine <= state.doc.lines ?
				state.doc.line(note.endLine).to : undefined),
			EditorView.updateListener.of((update) => {
				if (!update.selectionSet)
					return;
				const line = update.state.doc.lineAt(update.state.selection.main.head).number - 1;
				const start = (hunk: Hunk) => side === "old" ? hunk.oldStart : hunk.newStart;
				props().onCursor?.(Math.max(0, first.hunks.findLastIndex((hunk) => start(hunk) <= line)));
			}),
		],
	});
	return {
		views: [merge.a, merge.b],
		destroy: () => merge.destroy(),
		handle: {
			selection: () => lines(lastSide()),
			focus: () => merge.b.focus(),
			goToHunk(hunk) {
				const line = merge.b.state.doc.line(Math.min(merge.b.state.doc.lines, first.hunks[hunk].newStart + 1));
				merge.b.dispatch({ selection: { anchor: line.from },
					effects: EditorView.scrollIntoView(line.from, { y: "start", yMargin: 40 }) });
			},
		},
	};
}

export function Diff(props: DiffProps) {
	const host = useRef<HTMLDivElement>(null);
	const latest = useRef(props);
	const shown = useRef<Shown>();
	latest.current = props;
	const split = props.split && props.old !== null && props.new !== null;
	useEffect(() => {
		const root = shadowOf(host.current!);
		const parent = document.createElement("div");
		parent.className = split ? "split" : "unified";
		root.append(parent);
		shown.current = (split ? showSplit : showUnified)(() => latest.current, root, parent);
		props.handle?.(shown.current.handle);
		return () => {
			shown.current?.destroy();
			shown.current = undefined;
			parent.remove();
		};
	}, [props.path, props.hunks, props.old, props.new, split, props.wrap]);
	const left = props.left.map(Number).join("");
	useEffect(() => {
		for (const view of shown.current?.views ?? [])
			view.dispatch({ effects: [setLeft.of(latest.current.left), setNotes.of(latest.current.notes)] });
	}, [props.path, props.hunks, props.old, props.new, split, props.wrap, left, props.notes]);
	return <div class="diff" ref={host} />;
}
