// SPDX-License-Identifier: Apache-2.0
// The conversation: what was said, thought, called and decided.  The last blocks are in the page; older ones come when
// they are scrolled to.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Arguments, Code } from "./code";
import { Markdown } from "./markdown";
import { memo } from "./memo";
import type { Block, Item, Session, Tool } from "./session";
import { duration, overwritten, shorten, visible } from "./terminal";

const BLOCKS_SHOWN = 4;
// A message that grows is drawn again after this, or ten times what drawing took.
const REDRAW_MS = 60;

// Text that streams in, parsed no more often than the page stays quick.
function Streaming({ text }: { text: string }) {
	const [shown, setShown] = useState(text);
	const wait = useRef(REDRAW_MS);
	const latest = useRef(text);
	const timer = useRef<number>();
	latest.current = text;
	useEffect(() => {
		timer.current ??= window.setTimeout(() => {
			timer.current = undefined;
			const start = performance.now();
			setShown(latest.current);
			requestAnimationFrame(() => { wait.current = Math.max(REDRAW_MS, 10 * (performance.now() - start - 16)); });
		}, wait.current);
	}, [text]);
	useEffect(() => () => clearTimeout(timer.current), []);
	return <Markdown text={shown} />;
}

const STATES = { running: "running", success: "done", error: "failed", cancelled: "cancelled" };

function resultText(tool: Tool): string {
	if (tool.display)
		return tool.display;
	if (typeof tool.result === "string")
		return tool.result;
	return tool.result === undefined ? "" : JSON.stringify(tool.result, null, 2);
}

function ToolBody({ tool }: { tool: Tool }) {
	const result = resultText(tool);
	const isDiff = /^(--- |diff --git|@@ )/m.test(result);
	return <>
		{tool.error && <p class="error">{visible(tool.error)}</p>}
		{tool.inner.length > 0 && <ul class="inner">{tool.inner.map((line) => <li>{visible(line)}</li>)}</ul>}
		<details><summary>Arguments</summary>
			<Arguments tool={tool.name} args={tool.args} /></details>
		{tool.output && <><p class="dim">{tool.cut ? "Output (the last part)" : "Output"}</p>
			<Code text={overwritten(tool.output)} language="" /></>}
		{result && <><p class="dim">Result</p><Code text={shorten(result)} language={isDiff ? "diff" : ""} /></>}
	</>;
}

function ToolItem({ tool }: { tool: Tool }) {
	const [open, setOpen] = useState(false);
	const tail = tool.state === "running" && tool.output ? overwritten(tool.output).trimEnd().split("\n").slice(-6).join("\n") : "";
	return <article class={`item tool ${tool.state}`}>
		<details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
			<summary>
				<span class="state">{STATES[tool.state]}</span> <strong>{visible(tool.title)}</strong>{" "}
				<span class="what">{visible(shorten(tool.description, 500))}</span>
				{tool.durationMs !== undefined && <span class="dim"> {duration(tool.durationMs)}</span>}
			</summary>
			{open && <ToolBody tool={tool} />}
		</details>
		{tool.progress && <p class="dim">{visible(tool.progress)}</p>}
		{!open && tail && <pre class="tail" tabIndex={0} role="group" aria-label="Last lines of the output">{visible(tail)}</pre>}
		{!open && tool.state === "error" && tool.error && <p class="error">{visible(shorten(tool.error, 500))}</p>}
	</article>;
}

const SEVERITIES: Record<string, string> = { error: "Error: ", warning: "Warning: ", info: "" };

function ItemView({ item }: { item: Item }) {
	switch (item.kind) {
	case "prompt":
		return <article class="item prompt"><h2>{item.by ? visible(item.by) : "Prompt"}{item.steer ? " (joins the prompt under way)" : ""}</h2>
			<div class="plain">{visible(shorten(item.text))}</div></article>;
	case "answer":
		return <article class="item answer"><h2>hasp</h2>
			{item.streaming ? <Streaming text={item.text} /> : <Markdown text={item.text} />}</article>;
	case "thought":
		return <article class="item thought"><details open={item.streaming}><summary>Thinking</summary>
			{item.streaming ? <Streaming text={item.text} /> : <Markdown text={item.text} />}</details></article>;
	case "tool":
		return <ToolItem tool={item.tool!} />;
	case "comment":
		return <article class="item comment"><h2>{visible(item.by || "A person")}, to everyone</h2>
			<div class="plain">{visible(item.text)}</div></article>;
	default:
		return <p class={`item notice ${item.severity ?? item.kind}`}>
			{SEVERITIES[item.severity ?? "info"]}{visible(shorten(item.text))}</p>;
	}
}

const BlockView = memo(function BlockView({ block }: { block: Block; version: number }) {
	return <div class="block">{block.items.map((item) => <ItemView item={item} />)}</div>;
});

const SETTLES_MS = 1500;

// Shows an element from its beginning, also while what is in it still grows; until the reader scrolls.
function showFromTop(element: Element): void {
	const show = () => element.scrollIntoView({ block: "start" });
	const observer = new ResizeObserver(show);
	const signs = ["wheel", "touchstart", "keydown", "pointerdown"];
	const stop = () => {
		observer.disconnect();
		signs.forEach((sign) => removeEventListener(sign, stop, true));
	};
	signs.forEach((sign) => addEventListener(sign, stop, true));
	observer.observe(element);
	setTimeout(stop, SETTLES_MS);
	show();
}

// Follows the end of the conversation while that is what is looked at; a question that comes then is shown from its
// beginning, and the end again when it is answered.
function useFollowing(questions: number): [boolean, (restore: () => void) => void] {
	const following = useRef(true);
	const known = useRef(0);
	const keep = useRef<() => void>();
	const [away, setAway] = useState(false);
	useEffect(() => {
		const onScroll = () => {
			const root = document.documentElement;
			const atEnd = root.scrollHeight - root.clientHeight - root.scrollTop < 80;
			if (!known.current)
				following.current = atEnd;
			setAway(!atEnd);
		};
		addEventListener("scroll", onScroll, { passive: true });
		return () => removeEventListener("scroll", onScroll);
	}, []);
	useLayoutEffect(() => {
		// A question may be drawn later than what is around it.
		const first = document.querySelector(".question");
		if (keep.current) {
			keep.current();
			keep.current = undefined;
		} else if (following.current && first && !known.current) {
			showFromTop(first);
		} else if (following.current && !questions) {
			scrollTo(0, document.documentElement.scrollHeight);
		}
		known.current = first ? questions : 0;
	});
	return [away, (restore) => { keep.current = restore; }];
}

export function Conversation({ session }: { session: Session }) {
	const [shown, setShown] = useState(BLOCKS_SHOWN);
	const [away, keep] = useFollowing(session.questions.size);
	const first = Math.max(0, session.blocks.length - shown);
	const earlier = () => {
		// What is looked at stays where it is when older blocks come before it.
		const block = document.querySelector(".block")!;
		const top = block.getBoundingClientRect().top;
		keep(() => scrollBy(0, block.getBoundingClientRect().top - top));
		setShown(shown + BLOCKS_SHOWN);
	};
	return <div class="log" role="log" aria-live="off" aria-label="Conversation">
		{first > 0 && <button type="button" class="earlier" onClick={earlier}>Show earlier messages</button>}
		{session.blocks.slice(first).map((block, i) => <BlockView key={first + i} block={block} version={block.version} />)}
		{away && session.questions.size === 0 && <button type="button" class="to-end"
			onClick={() => scrollTo(0, document.documentElement.scrollHeight)}>To the end</button>}
	</div>;
}
