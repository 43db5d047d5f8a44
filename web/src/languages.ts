// SPDX-License-Identifier: Apache-2.0
// Languages whose code is coloured, by the endings of files and by the names in fenced blocks.

import { StreamLanguage, type StreamParser } from "@codemirror/language";
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
	[rust, "rs rust"],
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

const PARSERS = new Map(TABLE.flatMap(([parser, names]) => names.split(" ").map((name) => [name, parser])));
const languages = new Map<StreamParser<any>, StreamLanguage<any>>();

// The language with this name; undefined: it stays without colours.
export function languageNamed(name: string): StreamLanguage<any> | undefined {
	const parser = PARSERS.get(name.toLowerCase());
	if (!parser)
		return undefined;
	let language = languages.get(parser);
	if (!language)
		languages.set(parser, language = StreamLanguage.define(parser));
	return language;
}

// The language of a file, by its name.
export function languageOf(path: string): StreamLanguage<any> | undefined {
	const name = path.slice(path.lastIndexOf("/") + 1);
	return languageNamed(name) ?? languageNamed(name.slice(name.lastIndexOf(".") + 1));
}
