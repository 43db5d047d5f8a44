// SPDX-License-Identifier: Apache-2.0
// What a command wrote for a terminal, as plain text, and other small things about texts.

// CSI, OSC and the other escape sequences (ECMA-48), whole ones; what is cut off at the end of a piece stays text.
// eslint-disable-next-line no-control-regex
const SEQUENCES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])/g;
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

export function stripTerminal(text: string): string {
	return text.replace(SEQUENCES, "").replace(/\r\n/g, "\n").replace(CONTROLS, "");
}

// A line that was written over shows what was written last.
export function overwritten(text: string): string {
	if (!text.includes("\r"))
		return text;
	return text.split("\n").map((line) => line.slice(line.lastIndexOf("\r", line.length - 2) + 1).replace(/\r$/, ""))
		.join("\n");
}

// Characters that show nothing or change the order of others, as <U+202E>: whoever approves sees what is there.
// eslint-disable-next-line no-misleading-character-class, no-control-regex
const UNSEEN = /[\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\u3164\ufeff\uffa0\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|[\u{e0000}-\u{e007f}]/gu;

export function visible(text: string): string {
	return text.replace(UNSEEN, (c) => `<U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}>`);
}

const MOST_SHOWN = 200_000;

// The beginning of a very long text, and how much was left out.
export function shorten(text: string, most = MOST_SHOWN): string {
	return text.length <= most ? text : `${text.slice(0, most)}\n… ${text.length - most} more characters`;
}

export function duration(ms: number): string {
	if (ms < 1000)
		return `${ms} ms`;
	const seconds = Math.round(ms / 100) / 10;
	return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

export function when(value: string | number | undefined): string {
	if (value === undefined || value === "")
		return "";
	const date = new Date(typeof value === "number" ? value * 1000 : value);
	return Number.isNaN(date.getTime()) ? String(value) : date.toLocaleString();
}
