// SPDX-License-Identifier: Apache-2.0
// The box for prompts: sends one, steers the one under way, interrupts, talks to the other people, runs slash commands.

import { useRef, useState } from "preact/hooks";
import type { SessionInfo } from "./api";
import { Code } from "./code";
import type { Session } from "./session";
import { visible } from "./terminal";

interface Props {
	sessionId: string;
	session: Session;
	info: SessionInfo;
	roles: string[];
	order: (path: string, body: unknown) => Promise<any>;
}

interface Reply {
	text: string;
	ok: boolean;
	question?: string;
	choices?: { label: string; note?: string; line: string; chosen?: boolean }[];
}

const COMMANDS_SHOWN = 8;

function Completion({ info, text, onPick }: { info: SessionInfo; text: string; onPick: (line: string) => void }) {
	if (!/^\/\S*$/.test(text))
		return null;
	const found = (info.commands ?? []).filter((one) => `/${one.name}`.startsWith(text)).slice(0, COMMANDS_SHOWN);
	return found.length ? <ul class="completion" aria-label="Commands">{found.map((one) => <li>
		<button type="button" class="link" onClick={() => onPick(`/${one.name} `)}>/{one.name}</button>{" "}
		<span class="dim">{visible(one.description ?? "")}</span></li>)}</ul> : null;
}

function CommandReply({ reply, onChoice, onClose }:
	{ reply: Reply; onChoice: (line: string) => void; onClose: () => void }) {
	return <section class="panel" aria-label="Answer of the command">
		{reply.text && <Code text={reply.text} language="" />}
		{reply.question && <p>{visible(reply.question)}</p>}
		{reply.choices && <ul>{reply.choices.map((one) => <li>
			<button type="button" class="link" aria-current={one.chosen ? "true" : undefined}
				onClick={() => onChoice(one.line)}>{visible(one.label)}</button>{" "}
			<span class="dim">{visible(one.note ?? "")}</span></li>)}</ul>}
		<button type="button" class="small" onClick={onClose}>Close</button>
	</section>;
}

export function Composer({ session, info, roles, order }: Props) {
	const [text, setText] = useState("");
	const [reply, setReply] = useState<Reply>();
	const [busy, setBusy] = useState(false);
	const area = useRef<HTMLTextAreaElement>(null);
	const drives = roles.includes("drive");
	const comments = roles.includes("comment");
	if (!comments)
		return <footer><p class="dim">You are watching this session.</p></footer>;
	const send = async (path: string, line = text) => {
		if (!line.trim() || busy)
			return;
		setBusy(true);
		const answer = await order(path, { text: line });
		setBusy(false);
		if (!answer)
			return;
		setText(answer.compose ?? "");
		setReply(answer.kind === "command" && (answer.text || answer.choices?.length) ?
			{ text: answer.text ?? "", ok: answer.ok !== false, question: answer.question, choices: answer.choices } : undefined);
		area.current?.focus();
	};
	const main = drives ? (session.running && !text.startsWith("/") ? "/steer" : "/prompt") : "/comment";
	return <footer>
		{reply && <CommandReply reply={reply} onClose={() => setReply(undefined)}
			onChoice={(line) => { setReply(undefined); void send("/prompt", line); }} />}
		{drives && <Completion info={info} text={text} onPick={(line) => { setText(line); area.current?.focus(); }} />}
		<form onSubmit={(event) => { event.preventDefault(); void send(main); }}>
			<label class="visually-hidden" for="prompt">{drives ? "Prompt" : "Comment"}</label>
			<textarea id="prompt" ref={area} rows={Math.min(10, text.split("\n").length + 1)} value={text}
				placeholder={!drives ? "Say something to the others" : session.running ? "Steer the prompt under way" : "What would you like to do?"}
				onInput={(event) => setText(event.currentTarget.value)}
				onKeyDown={(event) => {
					// An Enter that ends the composition of a character is not one that sends.
					if (event.key === "Enter" && !event.shiftKey && !event.isComposing && matchMedia("(pointer: fine)").matches) {
						event.preventDefault();
						void send(main);
					}
				}} />
			<div class="buttons">
				<button class="primary" disabled={busy || !text.trim()}>
					{main === "/steer" ? "Steer" : main === "/prompt" ? "Send" : "Comment"}</button>
				{drives && session.running && <button type="button" class="danger" onClick={() => order("/interrupt", {})}>Interrupt</button>}
				{drives && <button type="button" disabled={busy || !text.trim()} onClick={() => send("/comment")}>To people only</button>}
			</div>
		</form>
	</footer>;
}
