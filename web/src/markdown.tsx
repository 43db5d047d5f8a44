// SPDX-License-Identifier: Apache-2.0
// Markdown as DOM nodes.  What a model wrote never becomes markup: HTML in it is shown as text, pictures as links,
// and links lead only to http, https and mailto.

import type { Nodes, Parents, Root } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmStrikethroughFromMarkdown } from "mdast-util-gfm-strikethrough";
import { gfmTableFromMarkdown } from "mdast-util-gfm-table";
import { gfmStrikethrough } from "micromark-extension-gfm-strikethrough";
import { gfmTable } from "micromark-extension-gfm-table";
import { h, type ComponentChildren, type VNode } from "preact";
import { memo } from "./memo";
import { Code } from "./code";
import { visible } from "./terminal";

// Longer texts are shown as they are: parsing takes more than linear time on some.
const MOST_PARSED = 100_000;
const DEEPEST = 40;

const EXTENSIONS = {
	extensions: [gfmTable(), gfmStrikethrough()],
	mdastExtensions: [gfmTableFromMarkdown(), gfmStrikethroughFromMarkdown()],
};

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

type Definitions = Map<string, string>;

function all(node: Parents, definitions: Definitions, depth: number): ComponentChildren {
	return node.children.map((child) => draw(child as Nodes, definitions, depth + 1));
}

function table(node: Extract<Nodes, { type: "table" }>, definitions: Definitions, depth: number): VNode {
	const [head, ...rows] = node.children;
	const cells = (row: typeof head, tag: "th" | "td") =>
		<tr>{row.children.map((cell) => h(tag, tag === "th" ? { scope: "col" } : {}, all(cell, definitions, depth + 2)))}</tr>;
	return <div class="scrolls" tabIndex={0} role="group" aria-label="Table">
		<table>{head && <thead>{cells(head, "th")}</thead>}<tbody>{rows.map((row) => cells(row, "td"))}</tbody></table>
	</div>;
}

// Headings of a message stand beneath those of the page.
const heading = (depth: number) => `h${Math.min(6, depth + 2)}`;

function draw(node: Nodes, definitions: Definitions, depth: number): ComponentChildren {
	if (depth > DEEPEST)
		return "children" in node ? "…" : visible((node as { value?: string }).value ?? "");
	switch (node.type) {
	case "text":
		return visible(node.value);
	case "html":
		return visible(node.value);
	case "inlineCode":
		return <code>{visible(node.value)}</code>;
	case "code":
		return <Code text={node.value} language={node.lang ?? ""} />;
	case "emphasis":
		return <em>{all(node, definitions, depth)}</em>;
	case "strong":
		return <strong>{all(node, definitions, depth)}</strong>;
	case "delete":
		return <del>{all(node, definitions, depth)}</del>;
	case "break":
		return <br />;
	case "thematicBreak":
		return <hr />;
	case "paragraph":
		return <p>{all(node, definitions, depth)}</p>;
	case "heading":
		return h(heading(node.depth), {}, all(node, definitions, depth));
	case "blockquote":
		return <blockquote>{all(node, definitions, depth)}</blockquote>;
	case "list":
		return node.ordered ? <ol start={node.start ?? 1}>{all(node, definitions, depth)}</ol> :
			<ul>{all(node, definitions, depth)}</ul>;
	case "listItem":
		return <li>{node.checked === true ? "☑ " : node.checked === false ? "☐ " : ""}
			{node.children.length === 1 && node.children[0].type === "paragraph" ?
				all(node.children[0], definitions, depth) : all(node, definitions, depth)}</li>;
	case "table":
		return table(node, definitions, depth);
	case "link":
		return link(node.url, all(node, definitions, depth));
	case "linkReference":
		return link(definitions.get(node.identifier) ?? "", all(node, definitions, depth));
	case "image":
		return link(node.url, `[picture: ${visible(node.alt || node.url)}]`);
	case "imageReference":
		return `[picture: ${visible(node.alt || node.identifier)}]`;
	case "definition":
		return null;
	default:
		return "children" in node ? all(node as Parents, definitions, depth) :
			visible((node as { value?: string }).value ?? "");
	}
}

export const Markdown = memo(function Markdown({ text }: { text: string }) {
	if (text.length > MOST_PARSED)
		return <div class="plain">{visible(text)}</div>;
	const root: Root = fromMarkdown(text, EXTENSIONS);
	const definitions: Definitions = new Map();
	for (const child of root.children)
		if (child.type === "definition")
			definitions.set(child.identifier, child.url);
	return <div class="markdown">{all(root, definitions, 0)}</div>;
});
