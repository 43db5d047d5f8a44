// SPDX-License-Identifier: Apache-2.0
// Colours of code: the languages, by the endings of files and by the names in fenced blocks; the classes of tokens
// (app.css and diff/diff.css have the colours); parsing that leaves the page quick.

import { StreamLanguage, type StreamParser } from "@codemirror/language";
import { Tree, type PartialParse } from "@lezer/common";
import { tagHighlighter, tags as t } from "@lezer/highlight";
import { c, cpp, csharp, dart, java, kotlin, objectiveC, scala } from "@codemirror/legacy-modes/mode/clike";
import { cmake } from "@codemirror/legacy-modes/mode/cmake";
import { css, less, sCSS } from "@codemirror/legacy-modes/mode/css";
import { diff } from "@codemirror/legacy-modes/mode/diff";
import { dockerFile } from "@codemirror/legacy-modes/mode/dockerfile";
import { go } from "@codemirror/legacy-modes/mode/go";
import { haskell } from "@codemirror/legacy-modes/mode/haskell";
import { javascript, json, typescript } from "@codemirror/legacy-modes/mode/javascript";
import { lua } from "@codemirror/legacy-modes/mode/lua";
import { perl } from "@codemirror/legacy-modes/mode/perl";
import { powerShell } from "@codemirror/legacy-modes/mode/powershell";
import { properties } from "@codemirror/legacy-modes/mode/properties";
import { protobuf } from "@codemirror/legacy-modes/mode/protobuf";
import { python } from "@codemirror/legacy-modes/mode/python";
import { r } from "@codemirror/legacy-modes/mode/r";
import { ruby } from "@codemirror/legacy-modes/mode/ruby";
import { rust } from "@codemirror/legacy-modes/mode/rust";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import { standardSQL } from "@codemirror/legacy-modes/mode/sql";
import { swift } from "@codemirror/legacy-modes/mode/swift";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { html, xml } from "@codemirror/legacy-modes/mode/xml";
import { yaml } from "@codemirror/legacy-modes/mode/yaml";

// A parser, then the names and endings that it is for.
const TABLE: [StreamParser<any>, string][] = [
	[c, "c h"],
	[cpp, "cpp cc cxx hpp hh hxx c++"],
	[csharp, "cs csharp c#"],
	[cmake, "cmake cmakelists.txt"],
	[css, "css"],
	[dart, "dart"],
	[diff, "diff patch"],
	[dockerFile, "dockerfile containerfile"],
	[go, "go golang"],
	[haskell, "hs haskell"],
	[html, "html htm"],
	[java, "java"],
	[javascript, "js mjs cjs jsx javascript node"],
	[json, "json jsonc jsonl"],
	[kotlin, "kt kts kotlin"],
	[less, "less"],
	[lua, "lua"],
	[objectiveC, "m mm objc"],
	[perl, "pl pm perl"],
	[powerShell, "ps1 psm1 powershell"],
	[properties, "ini cfg conf properties env"],
	[protobuf, "proto protobuf"],
	[python, "py pyi python python3 build meson.build"],
	[r, "r"],
	[ruby, "rb ruby rake gemfile rakefile"],
	// Its "string.special" arrives as two names.
	[{ ...rust, tokenTable: { special: t.special(t.string) } }, "rs rust"],
	[sCSS, "scss"],
	[scala, "scala sc"],
	[shell, "sh bash zsh shell console bashrc"],
	[standardSQL, "sql"],
	[swift, "swift"],
	[toml, "toml cargo.lock"],
	[typescript, "ts tsx mts cts typescript"],
	[xml, "xml svg xsl plist vue"],
	[yaml, "yaml yml"],
];

// Old names of tokens, which CodeMirror knows alone but not in a row ("string property").
const TOKENS = {
	attribute: t.attributeName, builtin: t.standard(t.variableName), def: t.definition(t.variableName), error: t.invalid,
	header: t.heading, link: t.link, property: t.propertyName, qualifier: t.modifier, "string-2": t.special(t.string),
	tag: t.tagName, type: t.typeName, variable: t.variableName, "variable-2": t.special(t.variableName),
	"variable-3": t.typeName,
};

const PARSERS = new Map(TABLE.flatMap(([parser, names]) => names.split(" ").map((name) => [name, parser])));
const languages = new Map<StreamParser<any>, StreamLanguage<any>>();

// The language with this name; undefined: it stays without colours.
export function languageNamed(name: string): StreamLanguage<any> | undefined {
	const parser = PARSERS.get(name.toLowerCase());
	if (!parser)
		return undefined;
	let language = languages.get(parser);
	if (!language)
		languages.set(parser, language = StreamLanguage.define({ ...parser, tokenTable: { ...TOKENS, ...parser.tokenTable } }));
	return language;
}

// Some of these parsers take time that grows with the square of a word's length, or of a line's.
const LONGEST_WORD = 1000;
const LONGEST_LINE = 5000;

function hasLongWords(text: string): boolean {
	let [word, line] = [0, 0];
	for (let i = 0; i < text.length; i++) {
		const code = text.charCodeAt(i);
		word = code <= 32 ? 0 : word + 1;
		line = code === 10 ? 0 : line + 1;
		if (word > LONGEST_WORD || line > LONGEST_LINE)
			return true;
	}
	return false;
}

// Whether texts can be coloured without a pause that would be noticed.
export function isColourable(...texts: (string | null)[]): boolean {
	return !texts.some((text) => text !== null && hasLongWords(text));
}

// The language of a file, by its name.
export function languageOf(path: string): StreamLanguage<any> | undefined {
	const name = path.slice(path.lastIndexOf("/") + 1);
	return languageNamed(name) ?? languageNamed(name.slice(name.lastIndexOf(".") + 1));
}

// Which class a token gets.
export const COLOURS = tagHighlighter([
	{ tag: [t.comment, t.lineComment, t.blockComment, t.docComment], class: "tok-comment" },
	{ tag: [t.keyword, t.controlKeyword, t.operatorKeyword, t.modifier, t.definitionKeyword, t.moduleKeyword,
		t.processingInstruction], class: "tok-keyword" },
	{ tag: [t.string, t.special(t.string), t.regexp, t.character, t.attributeValue, t.url], class: "tok-string" },
	{ tag: [t.number, t.bool, t.null, t.atom, t.unit, t.color], class: "tok-number" },
	{ tag: [t.typeName, t.className, t.namespace, t.tagName, t.standard(t.typeName)], class: "tok-type" },
	{ tag: [t.propertyName, t.attributeName, t.labelName, t.definition(t.propertyName)], class: "tok-property" },
	{ tag: [t.function(t.variableName), t.definition(t.variableName), t.standard(t.variableName), t.macroName],
		class: "tok-name" },
	{ tag: [t.meta, t.annotation, t.documentMeta], class: "tok-meta" },
	{ tag: [t.heading, t.strong], class: "tok-strong" },
	{ tag: t.inserted, class: "tok-inserted" },
	{ tag: t.deleted, class: "tok-deleted" },
	{ tag: t.invalid, class: "tok-invalid" },
]);

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
