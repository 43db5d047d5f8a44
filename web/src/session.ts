// SPDX-License-Identifier: Apache-2.0
// A session as its events tell it: the conversation, what runs, open questions, plans, people.
//
//     const session = new Session(changed);
//     session.take(event);        // each event once, in order; calls changed()
//     session.restore(items, last);   // after "missed": the conversation as it was recorded
//
// Items are kept in blocks; a block that has changed has another version, so that only it is drawn again.

import type { Event, Front } from "./api";
import { stripTerminal } from "./terminal";

export interface Item {
	kind: "prompt" | "answer" | "thought" | "tool" | "notice" | "comment" | "decision" | "end";
	text: string;
	by?: string;
	severity?: string;
	streaming?: boolean;
	steer?: boolean;
	tool?: Tool;
}

export interface Tool {
	callId: string;
	name: string;
	title: string;
	description: string;
	args: any;
	state: "running" | "success" | "error" | "cancelled";
	output: string;
	cut: boolean; // the beginning of the output is not kept
	progress?: string;
	result?: any;
	display?: string;
	error?: string;
	durationMs?: number;
	pid?: number;
	inner: string[]; // what a sub-agent does, a line each
}

export interface Block { items: Item[]; version: number }

export interface Vote { by: string; vote: string; from?: string }

export interface Question {
	id: string;
	topic: string;
	message: any;
	votes: Vote[];
	approvals: number;
	needed: number;
	previous?: { content: string; sha?: string }; // of the round before, for the same file
}

export interface Todo { description: string; status: string }

const BLOCK_ITEMS = 50;
const MOST_OUTPUT = 64 * 1024;
const MOST_INNER = 200;
// After these a reply is in the record; and what the record has.
const COMPLETES = ["api-response", "tool-result", "turn-end"];
const RECORDED = ["prompt", "content", "thought", "tool-call", "tool-output", "tool-result"];
const QUESTIONS = ["tool-confirmation-request", "ask-user-request", "elicitation-request"];

function textOf(value: unknown): string {
	return typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
}

// Without so many of its last bytes in UTF-8.
function forget(text: string, bytes: number): string {
	const encoded = new TextEncoder().encode(text);
	return new TextDecoder().decode(encoded.slice(0, Math.max(0, encoded.length - bytes)));
}

export class Session {
	blocks: Block[] = [];
	count = 0;
	questions = new Map<string, Question>();
	todos: Todo[] = [];
	fronts = new Map<string, Front>();
	title = "";
	mode = "";
	model = "";
	branch = "";
	running = false;
	runningBy = "";
	over = false;
	missed = false;
	usage?: any;
	announcement = ""; // for screen readers
	private waiting: Event[] = []; // since "missed"
	private calls = new Map<string, [Tool, Block]>();
	private commands = new Map<number, string>();
	private proposals = new Map<string, string>(); // file: what was last proposed for it
	private open?: [Item, Block]; // the text that streams

	constructor(private readonly changed: () => void) {}

	take(event: Event): void {
		if (event.kind === "missed") {
			this.missed = true;
			this.waiting = [];
		} else if (this.missed) {
			this.waiting.push(event);
		} else {
			this.apply(event);
		}
		this.changed();
	}

	private apply(event: Event): void {
		switch (event.kind) {
		case "bus":
			this.publish(event.topic ?? "", event.message ?? {}, event.by);
			break;
		case "notice":
			this.notice(event.message ?? {});
			break;
		case "started":
			this.running = true;
			this.runningBy = event.by ?? "";
			break;
		case "opened":
			this.opened(event.message ?? {});
			break;
		case "closed":
		case "ended":
			this.ended(event);
			break;
		case "over":
			this.over = true;
			this.running = false;
			this.add({ kind: "end", text: "The session is closed." });
			break;
		}
		if (event.ends)
			this.running = false;
	}

	// Begins again with what was recorded, and what has come since "missed" on it.  The record was read when event
	// `last` had come: a reply that was complete then is in it.
	restore(items: Item[], last: number): void {
		this.blocks = [];
		this.count = 0;
		this.calls.clear();
		this.open = undefined;
		for (const item of items) {
			const block = this.add(item);
			if (item.tool)
				this.calls.set(item.tool.callId, [item.tool, block]);
		}
		const complete = this.waiting.findLastIndex((event) => (event.last ?? event.number) <= last &&
			(COMPLETES.includes(event.topic ?? "") || event.kind === "ended"));
		const waiting = this.waiting;
		this.missed = false;
		this.waiting = [];
		waiting.forEach((event, i) => {
			if (i > complete || !RECORDED.includes(event.topic ?? ""))
				this.apply(event);
		});
		this.changed();
	}

	private add(item: Item): Block {
		this.closeText();
		let block = this.blocks[this.blocks.length - 1];
		if (!block || block.items.length >= BLOCK_ITEMS) {
			block = { items: [], version: 0 };
			this.blocks.push(block);
		}
		block.items.push(item);
		block.version++;
		this.count++;
		return block;
	}

	private closeText(): void {
		if (this.open) {
			this.open[0].streaming = false;
			this.open[1].version++;
			this.open = undefined;
		}
	}

	private stream(kind: "answer" | "thought", text: string): void {
		if (this.open?.[0].kind !== kind) {
			const item: Item = { kind, text: "", streaming: true };
			const block = this.add(item);
			this.open = [item, block];
		}
		this.open![0].text += text;
		this.open![1].version++;
	}

	private notice(message: any): void {
		if (message.forget && this.open?.[0].kind === "answer") {
			this.open[0].text = forget(this.open[0].text, message.forget);
			this.open[1].version++;
		}
		this.add({ kind: "notice", severity: textOf(message.severity) || "info", text: textOf(message.message) });
	}

	private opened(message: any): void {
		this.model = textOf(message.model) || this.model;
		this.branch = textOf(message.branch) || this.branch;
	}

	private ended(event: Event): void {
		this.closeText();
		const message = event.message ?? {};
		const reason = event.error?.message || textOf(message.reason) || textOf(message.missing);
		if (event.error || (event.end && event.end !== "answered"))
			this.add({ kind: "notice", severity: event.error ? "error" : "info",
				text: reason || (event.end === "cancelled" ? "Interrupted." : `Ended: ${event.end}`) });
		else if (reason)
			this.add({ kind: "notice", severity: "warning", text: reason });
		if (message.unsent)
			this.add({ kind: "notice", severity: "warning", text: `Not sent: ${textOf(message.unsent)}` });
		if (message.branch)
			this.branch = textOf(message.branch);
		this.announcement = "hasp has finished.";
	}

	private publish(topic: string, message: any, by?: string): void {
		if (QUESTIONS.includes(topic)) {
			this.ask(topic, message);
			return;
		}
		const handler = this.handlers[topic];
		handler?.(message, by);
	}

	private readonly handlers: Record<string, (message: any, by?: string) => void> = {
		"prompt": (m, by) => this.prompt({ kind: "prompt", text: textOf(m.text), by, steer: m.steer === true }),
		"content": (m) => this.stream("answer", textOf(m.text)),
		"thought": (m) => this.stream("thought", (m.subject ? `**${textOf(m.subject)}** ` : "") + textOf(m.text)),
		"tool-call": (m) => this.call(m),
		"tool-output": (m) => this.onCall(m.callId, (tool) => this.output(tool, textOf(m.text))),
		"tool-progress": (m) => this.onCall(m.callId, (tool) => {
			const share = m.total ? `${Math.round(100 * m.progress / m.total)} %` : textOf(m.progress);
			tool.progress = [share, textOf(m.message)].filter(Boolean).join(" ");
		}),
		"tool-result": (m) => this.result(m),
		"tool-policy-rejection": (m) => this.onCall(m.callId, (tool) => {
			tool.state = "error";
			tool.error = textOf(m.message);
		}),
		"command": (m) => {
			if (m.callId)
				this.commands.set(m.pid, m.callId);
		},
		"command-output": (m) => this.onCall(this.commands.get(m.pid) ?? "", (tool) => this.output(tool, textOf(m.text))),
		"notice": (m) => this.notice(m),
		"model": (m) => {
			this.model = textOf(m.model) || this.model;
			this.notice({ severity: "warning", message: m.message || `Model: ${this.model}`, forget: m.forget });
		},
		"compressed": (m) => this.notice({ message: `Conversation compressed from ${m.before} to ${m.after} tokens.` }),
		"todos": (m) => { this.todos = Array.isArray(m.todos) ? m.todos : []; },
		"topic-update": (m) => { this.title = textOf(m.title) || this.title; },
		"approval-mode": (m) => { this.mode = textOf(m.mode); },
		"loop-detected": (m) => this.notice({ severity: "warning", message: m.count > 1 ?
			"Stopped: the model repeats itself." : "The model repeats itself." }),
		"rewound": (m) => this.notice({ message: `Back to an earlier prompt: ${textOf(m.what)}.` }),
		"subagent": (m) => this.subagent(m),
		"agent-run": (m) => this.onCall(m.callId, (tool) => {
			tool.inner.push(m.state === "ended" ? `${textOf(m.agentName)}: ${textOf(m.end)}` : `${textOf(m.agentName)} starts`);
		}),
		"question-answered": (m) => this.answered(m),
		"question-vote": (m) => this.vote(m),
		"comment": (m) => {
			this.add({ kind: "comment", text: textOf(m.text), by: textOf(m.by) });
			this.announcement = `${textOf(m.by)} says: ${textOf(m.text)}`;
		},
		"front-attached": (m) => void this.fronts.set(textOf(m.name), { name: textOf(m.name), roles: m.roles ?? [] }),
		"front-detached": (m) => void this.fronts.delete(textOf(m.name)),
		"turn-end": (m) => { this.usage = m.usage; },
	};

	private prompt(item: Item): void {
		const last = this.blocks.at(-1)?.items.at(-1);
		if (last?.kind !== "prompt" || last.text !== item.text)
			this.add(item);
	}

	private call(m: any): void {
		if (this.calls.has(textOf(m.callId)))
			return;
		const tool: Tool = {
			callId: textOf(m.callId), name: textOf(m.toolName), title: textOf(m.title) || textOf(m.toolName),
			description: textOf(m.description), args: m.arguments ?? {}, state: "running", output: "", cut: false, inner: [],
		};
		this.calls.set(tool.callId, [tool, this.add({ kind: "tool", text: "", tool })]);
	}

	private onCall(callId: string, change: (tool: Tool) => void): void {
		const found = this.calls.get(callId);
		if (!found)
			return;
		change(found[0]);
		found[1].version++;
	}

	private output(tool: Tool, text: string): void {
		tool.output += stripTerminal(text);
		if (tool.output.length > MOST_OUTPUT) {
			tool.output = tool.output.slice(-MOST_OUTPUT / 2);
			tool.cut = true;
		}
	}

	private result(m: any): void {
		this.onCall(textOf(m.callId), (tool) => {
			tool.state = ["success", "error", "cancelled"].includes(m.status) ? m.status : "error";
			tool.display = textOf(m.display);
			tool.result = m.result;
			tool.durationMs = m.durationMs;
			tool.error = m.error ? textOf(m.error.message ?? m.error) : undefined;
			tool.progress = undefined;
		});
	}

	private subagent(m: any): void {
		this.onCall(textOf(m.callId), (tool) => {
			const inner = m.message ?? {};
			if (m.topic === "tool-call")
				tool.inner.push(`${textOf(inner.title) || textOf(inner.toolName)} ${textOf(inner.description)}`);
			else if (m.topic === "tool-result" && inner.status !== "success")
				tool.inner.push(`${textOf(inner.toolName)}: ${textOf(inner.error?.message ?? inner.status)}`);
			tool.inner.splice(0, tool.inner.length - MOST_INNER);
		});
	}

	private ask(topic: string, message: any): void {
		const id = textOf(message.correlationId);
		const path = message.details?.filePath;
		const question: Question = { id, topic, message, votes: [], approvals: 0,
			needed: message.approvals?.needed ?? 1 };
		if (typeof path === "string" && typeof message.details.newContent === "string") {
			const content = this.proposals.get(path);
			if (content !== undefined && content !== message.details.newContent)
				question.previous = { content, sha: message.previous };
			this.proposals.set(path, message.details.newContent);
		}
		this.questions.set(id, question);
		this.announcement = `Question: ${textOf(message.details?.title) || textOf(message.message) || "hasp asks you."}`;
	}

	private vote(m: any): void {
		const question = this.questions.get(textOf(m.correlationId));
		if (!question)
			return;
		question.votes = question.votes.filter((vote) => vote.by !== m.by);
		question.votes.push({ by: textOf(m.by), vote: textOf(m.vote), from: m.from });
		question.approvals = m.approvals ?? question.approvals;
		question.needed = m.needed ?? question.needed;
		this.announcement = `${textOf(m.by)}: ${textOf(m.vote)}. ${question.approvals} of ${question.needed} approvals.`;
	}

	private answered(m: any): void {
		const question = this.questions.get(textOf(m.correlationId));
		if (!question)
			return;
		this.questions.delete(question.id);
		const who = m.by ? ` by ${textOf(m.by)}` : "";
		const what = textOf(question.message.details?.title) || textOf(question.message.toolName) ||
			textOf(question.message.serverName) || "Question";
		const text = `${what}: ${outcomeWords(textOf(m.outcome))}${who}`;
		this.add({ kind: "decision", text });
		this.announcement = text;
	}
}

const OUTCOMES: Record<string, string> = {
	proceed_once: "approved",
	proceed_always: "approved for this session",
	proceed_always_tool: "approved, and this tool for this session",
	proceed_always_server: "approved, and this server for this session",
	proceed_always_and_save: "approved, and saved as a rule",
	modify_with_editor: "approved in part or changed",
	cancel: "declined",
	accept: "answered",
	decline: "declined",
	answered: "answered",
	cancelled: "not answered",
	withdrawn: "withdrawn",
};

export function outcomeWords(outcome: string): string {
	return OUTCOMES[outcome] ?? outcome;
}
