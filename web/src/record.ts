// SPDX-License-Identifier: Apache-2.0
// The conversation as it was recorded (docs/sessions.md), as items of a session.

import type { Item, Tool } from "./session";

function partText(part: any): string {
	if (typeof part === "string")
		return part;
	if (typeof part?.text === "string")
		return part.text;
	if (part?.inlineData || part?.fileData)
		return `[${part.inlineData?.mimeType ?? part.fileData?.mimeType ?? "file"}]`;
	return "";
}

function contentText(content: any): string {
	return Array.isArray(content) ? content.map(partText).join("") : partText(content);
}

function toolOf(call: any): Tool {
	const done = ["success", "error", "cancelled"].includes(call.status);
	const display = typeof call.resultDisplay === "string" ? call.resultDisplay : "";
	return {
		callId: String(call.id ?? ""), name: String(call.name ?? ""),
		title: String(call.displayName ?? call.name ?? ""), description: String(call.description ?? ""),
		args: call.args ?? {}, state: done ? call.status : "success", output: "", cut: false, inner: [],
		display, result: call.result,
	};
}

function itemsOf(message: any): Item[] {
	const text = contentText(message.content);
	switch (message.type) {
	case "user":
		return text ? [{ kind: "prompt", text }] : [];
	case "gemini": {
		const items: Item[] = [];
		for (const thought of Array.isArray(message.thoughts) ? message.thoughts : [])
			items.push({ kind: "thought", text: thought.subject ? `**${thought.subject}** ${thought.description ?? ""}` :
				String(thought.description ?? "") });
		if (text)
			items.push({ kind: "answer", text });
		for (const call of Array.isArray(message.toolCalls) ? message.toolCalls : [])
			items.push({ kind: "tool", text: "", tool: toolOf(call) });
		return items;
	}
	case "info":
	case "warning":
	case "error":
		return text ? [{ kind: "notice", severity: message.type, text }] : [];
	default:
		return [];
	}
}

// Lines of a record, or the messages of one: a later line with the same id replaces the earlier.
export function recordItems(messages: any[]): Item[] {
	const byId = new Map<string, any>();
	let unnamed = 0;
	for (const message of messages) {
		if (!message || typeof message !== "object")
			continue;
		if (typeof message.$rewindTo === "string") {
			let found = false;
			for (const id of [...byId.keys()]) {
				found ||= id === message.$rewindTo;
				if (found)
					byId.delete(id);
			}
			continue;
		}
		if (message.type)
			byId.set(String(message.id ?? `unnamed ${unnamed++}`), message);
	}
	return [...byId.values()].flatMap(itemsOf);
}
