// SPDX-License-Identifier: Apache-2.0
// What a person has decided about a question about an edit, until it is sent; and the answer that is made of it.
//
// Kept outside the components, so that looking at something else meanwhile loses nothing.

import { compose, hunksOf, type Choice, type Hunk } from "./edit";
import type { Note } from "./diff/notes";
import type { Question } from "./session";

export interface FileEdit {
	path: string;
	title: string;
	kind: string;
	old: string | null;
	new: string | null;
	hunks: Hunk[];
	inParts: boolean; // hunks can be taken one by one
}

export interface Draft {
	files: FileEdit[];
	taken: boolean[]; // of a list of changes, by file
	choices: Choice[][]; // by file and hunk
	notes: Note[][];
	message: string;
	several: boolean;
	sent: boolean;
	error: string;
}

export interface Comment { filePath: string; side: string; startLine: number; endLine: number; text: string }

const drafts = new Map<string, Draft>();

function fileEdit(file: any): FileEdit {
	const text = (value: unknown) => typeof value === "string" ? value : null;
	const kind = typeof file.kind === "string" ? file.kind : file.originalContent === null ? "create" : "edit";
	const path = String(file.filePath ?? file.fileName ?? "");
	// A file that is made or goes is shown whole: its other side is empty.
	const old = kind === "create" && file.originalContent === null ? "" : text(file.originalContent);
	const planned = kind === "delete" && file.newContent === null ? "" : text(file.newContent);
	const hunks = hunksOf(old, planned, String(file.fileDiff ?? ""));
	return { path, kind, old, new: planned, hunks,
		title: file.newPath ? `${path} → ${file.newPath}` : path,
		inParts: kind === "edit" && old !== null && planned !== null && hunks.length > 0 };
}

export function draftOf(question: Question): Draft {
	let draft = drafts.get(question.id);
	if (!draft) {
		const details = question.message.details ?? {};
		const several = Array.isArray(details.files) && details.files.length > 0;
		const files: FileEdit[] = several ? details.files.map(fileEdit) : [fileEdit(details)];
		draft = { files, several, taken: files.map(() => true), notes: files.map(() => []), message: "", sent: false, error: "",
			choices: files.map((file) => file.hunks.map((): Choice => ({ verdict: "taken" }))) };
		drafts.set(question.id, draft);
	}
	return draft;
}

// Drafts of questions that are answered go.
export function keepDrafts(open: Map<string, unknown>): void {
	for (const id of drafts.keys())
		if (!open.has(id))
			drafts.delete(id);
}

export function fileChanged(draft: Draft, i: number): boolean {
	return !draft.taken[i] || draft.choices[i].some((choice) => choice.verdict !== "taken");
}

function nothingOf(draft: Draft, i: number): boolean {
	const choices = draft.choices[i];
	return !draft.taken[i] || (choices.length > 0 && choices.every((choice) => choice.verdict === "left"));
}

export function takesAll(draft: Draft): boolean {
	return draft.files.every((_, i) => !fileChanged(draft, i));
}

export function takesNothing(draft: Draft): boolean {
	return draft.files.every((_, i) => nothingOf(draft, i));
}

export function comments(draft: Draft): Comment[] {
	return draft.files.flatMap((file, i) => draft.notes[i].map((note) => ({
		filePath: file.path, side: note.side, startLine: note.startLine, endLine: note.endLine, text: note.text,
	})));
}

function hunkReport(draft: Draft, i: number) {
	return draft.files[i].hunks.map((hunk, number) => {
		const { verdict } = draft.choices[i][number];
		return { header: hunk.header, taken: verdict === "edited" ? "edited" : verdict === "taken" };
	});
}

// How many hunks are taken, for the button that approves.
export function countTaken(draft: Draft): [number, number] {
	let [taken, all] = [0, 0];
	draft.files.forEach((file, i) => {
		const count = Math.max(1, file.hunks.length);
		const left = draft.choices[i].filter((choice) => choice.verdict === "left").length;
		all += count;
		taken += draft.taken[i] ? count - left : 0;
	});
	return [taken, all];
}

function content(draft: Draft, i: number): string {
	return compose(draft.files[i].old ?? "", draft.files[i].hunks, draft.choices[i]);
}

function partial(draft: Draft): Record<string, unknown> {
	if (!draft.several)
		return { newContent: content(draft, 0), review: { hunks: hunkReport(draft, 0) } };
	return { files: draft.files.map((file, i) => {
		const taken = !nothingOf(draft, i);
		const parts = file.inParts && fileChanged(draft, i) && draft.taken[i];
		return { filePath: file.path, taken,
			...(taken && parts ? { newContent: content(draft, i) } : {}),
			...(parts ? { hunks: hunkReport(draft, i) } : {}) };
	}) };
}

// The answer to a question about an edit: docs/bus.md.
export function editAnswer(question: Question, draft: Draft, outcome: string): Record<string, unknown> {
	const notes = comments(draft);
	const answer: Record<string, unknown> = { correlationId: question.id, outcome };
	if (outcome === "modify_with_editor")
		Object.assign(answer, partial(draft));
	else if (outcome === "cancel" && !draft.several && draft.choices[0].length && takesNothing(draft))
		answer.review = { hunks: hunkReport(draft, 0) };
	if (outcome === "cancel" && draft.message.trim())
		answer.message = draft.message.trim();
	if (notes.length)
		answer.comments = notes;
	return answer;
}
