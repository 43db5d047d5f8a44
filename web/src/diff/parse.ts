// SPDX-License-Identifier: Apache-2.0
// Parses texts for their colours, a slice of time after the other, so that the page stays quick meanwhile.

import type { StreamLanguage } from "@codemirror/language";
import { Tree, type PartialParse } from "@lezer/common";

const SLICE_MS = 8;
// Longer texts stay without colours.
const MOST_PARSED = 2 << 20;

// Calls `done` once, with a tree for each text; returns what stops it.
export function parseSlowly(language: StreamLanguage<any>, texts: (string | null)[],
	done: (trees: Tree[]) => void): () => void {
	const trees: Tree[] = [];
	let parse: PartialParse | undefined;
	let timer = 0;
	const step = () => {
		const end = performance.now() + SLICE_MS;
		while (performance.now() < end) {
			if (trees.length === texts.length) {
				done(trees);
				return;
			}
			const text = texts[trees.length];
			if (text === null || text.length > MOST_PARSED) {
				trees.push(Tree.empty);
				continue;
			}
			parse ??= language.parser.startParse(text);
			const tree = parse.advance();
			if (tree) {
				trees.push(tree);
				parse = undefined;
			}
		}
		timer = window.setTimeout(step, 0);
	};
	timer = window.setTimeout(step, 50);
	return () => clearTimeout(timer);
}
