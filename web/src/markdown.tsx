// SPDX-License-Identifier: Apache-2.0
// Markdown as DOM nodes.  What a model wrote never becomes markup: HTML in it is shown as text, pictures as links,
// and links lead only to http, https and mailto.

import { Lexer, type Token, type Tokens } from "marked";
import { h, type ComponentChildren, type VNode } from "preact";
import { memo } from "./memo";
import { Code } from "./code";
import { visible } from "./terminal";

// Longer texts are shown as they are.
const MOST_PARSED = 200_000;
const DEEPEST = 40;

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: "\"", apos: "'", nbsp: "\u00a0", copy: "©",
	hellip: "…", mdash: "—", ndash: "–", rarr: "→", larr: "←", times: "×" };

function decode(text: string): string {
	return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{1,31}));/gi, (whole, decimal, hex, name) => {
		const code = decimal ? Number(decimal) : hex ? parseInt(hex, 16) : 0;
		if (code > 0 && code <= 0x10ffff)
			return String.fromCodePoint(code);
		return ENTITIES[name] ?? whole;
	});
}

const shown = (text: string) => visible(decode(text));

function safeAddress(address: string): string | undefined {
	try {
		const url = new URL(address);
		return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : undefined;
	} catch {
		return undefined;
	}
}

function link(address: string, children: ComponentChildren): VNode {
	const href = safeAddress(address);
	if (!href)
		return <span>{children}</span>;
	return <a href={href} target="_blank" rel="noopener noreferrer" title={visible(address)}>{children}</a>;
}

function all(tokens: Token[] | undefined, depth: number): ComponentChildren {
	return (tokens ?? []).map((token) => draw(token as Tokens.Generic, depth + 1));
}

function table(token: Tokens.Table, depth: number): VNode {
	const cells = (row: Tokens.TableCell[], tag: "th" | "td") =>
		<tr>{row.map((cell) => h(tag, tag === "th" ? { scope: "col" } : {}, all(cell.tokens, depth + 2)))}</tr>;
	return <div class="scrolls" tabIndex={0} role="group" aria-label="Table">
		<table><thead>{cells(token.header, "th")}</thead><tbody>{token.rows.map((row) => cells(row, "td"))}</tbody></table>
	</div>;
}

function list(token: Tokens.List, depth: number): VNode {
	const items = token.items.map((item) => <li>{item.task ? item.checked ? "☑ " : "☐ " : ""}{all(item.tokens, depth + 1)}</li>);
	return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

// Headings of a message stand beneath those of the page.
const heading = (depth: number) => `h${Math.min(6, depth + 2)}`;

const DRAW: Record<string, (token: any, depth: number) => ComponentChildren> = {
	space: () => null,
	def: () => null,
	checkbox: () => null, // list() shows it
	br: () => <br />,
	hr: () => <hr />,
	code: (token) => <Code text={token.text} language={token.lang ?? ""} />,
	codespan: (token) => <code>{visible(token.text)}</code>,
	em: (token, depth) => <em>{all(token.tokens, depth)}</em>,
	strong: (token, depth) => <strong>{all(token.tokens, depth)}</strong>,
	del: (token, depth) => <del>{all(token.tokens, depth)}</del>,
	paragraph: (token, depth) => <p>{all(token.tokens, depth)}</p>,
	heading: (token, depth) => h(heading(token.depth), {}, all(token.tokens, depth)),
	blockquote: (token, depth) => <blockquote>{all(token.tokens, depth)}</blockquote>,
	list,
	table,
	link: (token, depth) => link(token.href, all(token.tokens, depth)),
	image: (token) => link(token.href, `[picture: ${shown(token.text || token.href)}]`),
	escape: (token) => visible(token.text),
	html: (token) => visible(token.raw),
	text: (token, depth) => token.tokens ? all(token.tokens, depth) : shown(token.text),
};

function draw(token: Tokens.Generic, depth: number): ComponentChildren {
	const known = depth <= DEEPEST ? DRAW[token.type] : undefined;
	return known ? known(token, depth) : visible(token.raw);
}

export const Markdown = memo(function Markdown({ text }: { text: string }) {
	if (text.length > MOST_PARSED)
		return <div class="plain">{visible(text)}</div>;
	let tokens: Token[];
	try {
		tokens = new Lexer({ gfm: true }).lex(text);
	} catch {
		return <div class="plain">{visible(text)}</div>; // nested too deep for the parser
	}
	return <div class="markdown">{all(tokens, 0)}</div>;
});
