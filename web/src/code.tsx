// SPDX-License-Identifier: Apache-2.0
// A block of code, coloured, with a button that copies it.

import { highlightTree } from "@lezer/highlight";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { COLOURS, isColourable, languageNamed } from "./languages";
import { memo } from "./memo";
import { shorten, visible } from "./terminal";

// Colouring more would be noticed as a pause.
const MOST_COLOURED = 30_000;

function coloured(text: string, language: string): ComponentChildren {
	const known = text.length <= MOST_COLOURED && isColourable(text) ? languageNamed(language) : undefined;
	if (!known)
		return visible(text);
	const parts: ComponentChildren[] = [];
	let at = 0;
	highlightTree(known.parser.parse(text), COLOURS, (from, to, classes) => {
		if (from > at)
			parts.push(visible(text.slice(at, from)));
		parts.push(<span class={classes}>{visible(text.slice(from, to))}</span>);
		at = to;
	});
	parts.push(visible(text.slice(at)));
	return parts;
}

async function copy(text: string): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		return false; // not a secure context, or not permitted
	}
}

export function CopyButton({ text, label }: { text: string; label: string }) {
	const [state, setState] = useState("");
	if (!navigator.clipboard)
		return null;
	return <button type="button" class="small copy" aria-label={`Copy ${label}`}
		onClick={async () => setState(await copy(text) ? "Copied" : "Not copied")}>
		<span aria-live="polite">{state || "Copy"}</span>
	</button>;
}

// Arguments of a call: code as it would run, and the rest as JSON. A question shows all of it.
export function Arguments({ tool, args, whole = false }: { tool: string; args: any; whole?: boolean }) {
	const { code, ...others } = args && typeof args === "object" ? args : {} as any;
	const shown = (text: string) => whole ? text : shorten(text);
	if (typeof code !== "string")
		return <Code text={shown(JSON.stringify(args ?? {}, null, 2))} language="json" />;
	return <>
		<Code text={shown(code)} language={tool === "run_python" ? "python" : ""} />
		{Object.keys(others).length > 0 && <Code text={shown(JSON.stringify(others, null, 2))} language="json" />}
	</>;
}

export const Code = memo(function Code({ text, language }: { text: string; language: string }) {
	return <div class="code">
		<CopyButton text={text} label={language ? `${language} code` : "code"} />
		<pre tabIndex={0} role="group" aria-label={language ? `Code, ${visible(language)}` : "Code"}>
			<code>{coloured(text, language)}</code>
		</pre>
	</div>;
});
