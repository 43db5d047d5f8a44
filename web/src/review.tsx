// SPDX-License-Identifier: Apache-2.0
// A question about an edit: by file and hunk, with comments on lines.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Diff, type DiffHandle, type Lines } from "./diff/view";
import { noteTitle, type Note } from "./diff/notes";
import { compare, countWords, sideLines, withEndings, type Hunk } from "./edit";
import { countTaken, draftOf, fileChanged, takesAll, type Draft, type FileEdit } from "./draft";
import { drawNow } from "./memo";
import type { Question } from "./session";
import { visible } from "./terminal";

const WIDE = matchMedia("(min-width: 900px)");

function preferred(): boolean {
	return WIDE.matches && localStorage.getItem("hasp-split") !== "no";
}

export function LayoutChoice({ split, onChange }: { split: boolean; onChange: (split: boolean) => void }) {
	const choose = (value: boolean) => {
		localStorage.setItem("hasp-split", value ? "yes" : "no");
		onChange(value);
	};
	return <div class="choice" role="group" aria-label="Layout of the diff">
		<button type="button" aria-pressed={!split} onClick={() => choose(false)}>Unified</button>
		<button type="button" aria-pressed={split} onClick={() => choose(true)}>Side by side</button>
	</div>;
}

function LineComment({ lines, onSave, onCancel }:
	{ lines: Lines; onSave: (text: string) => void; onCancel: () => void }) {
	const [text, setText] = useState("");
	const area = useRef<HTMLTextAreaElement>(null);
	useLayoutEffect(() => area.current?.focus(), [lines]);
	const where = lines.startLine === lines.endLine ? `line ${lines.startLine}` : `lines ${lines.startLine}–${lines.endLine}`;
	const save = () => text.trim() && onSave(text.trim());
	return <form class="panel" onSubmit={(event) => { event.preventDefault(); save(); }}
		onKeyDown={(event) => {
			if (event.key === "Escape")
				onCancel();
			else if (event.key === "Enter" && (event.ctrlKey || event.metaKey))
				save();
		}}>
		<label>Comment on {where}{lines.side === "old" ? " before the edit" : ""}
			<textarea ref={area} rows={3} value={text} onInput={(event) => setText(event.currentTarget.value)} />
		</label>
		<div class="buttons">
			<button class="primary" disabled={!text.trim()}>Add comment</button>
			<button type="button" onClick={onCancel}>Cancel</button>
		</div>
	</form>;
}

function HunkEditor({ hunk, text, onSave, onCancel }:
	{ hunk: Hunk; text: string; onSave: (text: string) => void; onCancel: () => void }) {
	const [value, setValue] = useState(text);
	const area = useRef<HTMLTextAreaElement>(null);
	useLayoutEffect(() => area.current?.focus(), []);
	return <form class="panel" onSubmit={(event) => { event.preventDefault(); onSave(value); }}
		onKeyDown={(event) => event.key === "Escape" && onCancel()}>
		<label>New text for {hunk.header}
			<textarea ref={area} class="mono" spellcheck={false} wrap="off" rows={Math.min(20, value.split("\n").length + 1)}
				value={value} onInput={(event) => setValue(event.currentTarget.value)} />
		</label>
		<div class="buttons">
			<button class="primary">Use these lines</button>
			<button type="button" onClick={onCancel}>Cancel</button>
		</div>
	</form>;
}

const VERDICTS = { taken: "taken", left: "left out", edited: "edited" };

interface BarProps {
	draft: Draft;
	file: number;
	hunk: number;
	onHunk: (hunk: number) => void;
	onChange: () => void;
	onEdit: () => void;
	editable: boolean;
}

// The hunk that is looked at: which, what happens to it.
function HunkBar({ draft, file, hunk, onHunk, onChange, onEdit, editable }: BarProps) {
	const { hunks, inParts } = draft.files[file];
	if (!hunks.length)
		return null;
	const choice = draft.choices[file][hunk];
	const decide = (verdict: "taken" | "left") => {
		draft.choices[file][hunk] = { verdict };
		onChange();
	};
	return <div class="bar" role="group" aria-label="Hunk">
		<button type="button" disabled={hunk === 0} onClick={() => onHunk(hunk - 1)}>Previous</button>
		<button type="button" disabled={hunk === hunks.length - 1} onClick={() => onHunk(hunk + 1)}>Next</button>
		<span aria-live="polite">Hunk {hunk + 1} of {hunks.length}: {countWords(hunks[hunk])}
			{inParts && editable ? `, ${VERDICTS[choice.verdict]}` : ""}</span>
		{inParts && editable && <>
			<button type="button" aria-pressed={choice.verdict !== "left"} onClick={() => decide("taken")}>Take</button>
			<button type="button" aria-pressed={choice.verdict === "left"} onClick={() => decide("left")}>Leave out</button>
			<button type="button" onClick={onEdit}>Edit</button>
		</>}
	</div>;
}

const FILES_SHOWN = 100;

function FileList({ draft, file, onFile, onChange, editable }:
	{ draft: Draft; file: number; onFile: (file: number) => void; onChange: () => void; editable: boolean }) {
	const [shown, setShown] = useState(FILES_SHOWN);
	if (draft.files.length < 2)
		return null;
	const more = draft.files.length - shown;
	return <ul class="files" aria-label="Files of this edit">
		{draft.files.slice(0, shown).map((one, i) => <li>
			{editable && <input type="checkbox" checked={draft.taken[i]} aria-label={`Take ${one.title}`}
				onChange={(event) => { draft.taken[i] = event.currentTarget.checked; onChange(); }} />}
			<button type="button" class="link" aria-current={i === file ? "true" : undefined} onClick={() => onFile(i)}>
				{visible(one.title)}</button>
			<span class="dim">{one.kind}{fileChanged(draft, i) && draft.taken[i] ? ", in part" : ""}
				{draft.notes[i].length ? `, ${draft.notes[i].length} comments` : ""}</span>
		</li>)}
		{more > 0 && <li><button type="button" class="small" onClick={() => setShown(shown + 10 * FILES_SHOWN)}>
			Show more files ({more} left)</button></li>}
	</ul>;
}

function Notes({ draft, file, others, onChange }:
	{ draft: Draft; file: number; others: Note[]; onChange: () => void }) {
	const own = draft.notes[file];
	if (!own.length && !others.length)
		return null;
	return <ul class="notes" aria-label="Comments">
		{others.map((note) => <li><strong>{noteTitle(note)}</strong> {visible(note.text)}</li>)}
		{own.map((note) => <li><strong>{noteTitle(note)}</strong> {visible(note.text)}{" "}
			<button type="button" class="small" aria-label={`Remove the comment on line ${note.startLine}`}
				onClick={() => { draft.notes[file] = own.filter((one) => one !== note); onChange(); }}>Remove</button>
		</li>)}
	</ul>;
}

function Round({ question }: { question: Question }) {
	const { round, answers } = question.message;
	if (!round || round < 2)
		return null;
	const count = Array.isArray(answers) ? answers.length : 0;
	const words = count === 1 ? "1 comment" : `${count} comments`;
	return <div class="round"><p>Round {round}{count ? `, after ${words} on the previous round` : ""}</p>
		{question.answered.length > 0 && <ul>{question.answered.map((one) =>
			<li><span class="dim">{one.by ? `${visible(one.by)}, ` : ""}{/\D/.test(one.lines) ? "lines" : "line"} {one.lines}:</span> {visible(one.text)}</li>)}</ul>}
	</div>;
}

let noteNumber = 0;

export function Review({ question, editable, onChange }:
	{ question: Question; editable: boolean; onChange: () => void }) {
	const draft = draftOf(question);
	const [file, setFile] = useState(0);
	const [hunk, setHunk] = useState(0);
	const [split, setSplit] = useState(preferred());
	const [wrap, setWrap] = useState(!WIDE.matches);
	const [since, setSince] = useState(false);
	const [lines, setLines] = useState<Lines>();
	const [editing, setEditing] = useState(false);
	const handle = useRef<DiffHandle>();
	const [, redraw] = useState(0);
	const changed = () => { redraw((n) => n + 1); onChange(); };
	const edit: FileEdit = draft.files[file];
	const previous = since && edit.previous !== null ? edit.previous : undefined;
	const sinceHunks = useMemo(() => previous === undefined || edit.new === null ? undefined :
		compare(previous, edit.new), [previous, edit]);
	const others: Note[] = Array.isArray(question.message.comments) ? question.message.comments : [];
	const notes = useMemo(() => [...others, ...draft.notes[file]], [draft.notes[file], file]);
	const goTo = (to: number) => {
		setHunk(Math.max(0, Math.min(edit.hunks.length - 1, to)));
		handle.current?.goToHunk(Math.max(0, Math.min(edit.hunks.length - 1, to)));
	};
	const comment = (on?: Lines) => drawNow(() => setLines(on));
	const key = (name: string) => {
		if (name === "n" || name === "p")
			goTo(hunk + (name === "n" ? 1 : -1));
		else if (!editable || !edit.inParts || since)
			return false;
		else {
			draft.choices[file][hunk] = { verdict: name === "t" ? "taken" : "left" };
			changed();
		}
		return true;
	};
	const save = (text: string) => {
		draft.notes[file] = [...draft.notes[file], { id: `new-${++noteNumber}`, ...lines!, text }];
		setLines(undefined);
		changed();
		handle.current?.focus();
	};
	return <div class="review">
		<Round question={question} />
		<FileList draft={draft} file={file} onFile={(i) => { setFile(i); setHunk(0); setLines(undefined); }}
			onChange={changed} editable={editable} />
		<div class="bar">
			<strong class="path">{visible(edit.title)}</strong>
			<LayoutChoice split={split} onChange={setSplit} />
			<button type="button" aria-pressed={wrap} onClick={() => setWrap(!wrap)}>Wrap lines</button>
			{edit.previous !== null && <button type="button" aria-pressed={since} onClick={() => setSince(!since)}>
				Changes since the last round</button>}
			{editable && <button type="button" onClick={() => comment(handle.current?.selection())}>Comment on selection</button>}
			{editable && edit.inParts && edit.hunks.length > 1 && <>
				<button type="button" onClick={() => { draft.choices[file] = edit.hunks.map(() => ({ verdict: "taken" })); changed(); }}>Take all</button>
				<button type="button" onClick={() => { draft.choices[file] = edit.hunks.map(() => ({ verdict: "left" })); changed(); }}>Leave all out</button>
			</>}
		</div>
		{!since && <HunkBar draft={draft} file={file} hunk={hunk} onHunk={goTo} onChange={changed} editable={editable}
			onEdit={() => setEditing(true)} />}
		{editing && <HunkEditor hunk={edit.hunks[hunk]} onCancel={() => setEditing(false)}
			text={(draft.choices[file][hunk].edited ?? sideLines(edit.hunks[hunk], "new").join("")).replace(/\r\n/g, "\n")}
			onSave={(text) => { draft.choices[file][hunk] = withEndings(edit.hunks[hunk], text); setEditing(false); changed(); }} />}
		{lines && editable && <LineComment lines={lines} onSave={save}
			onCancel={() => { setLines(undefined); handle.current?.focus(); }} />}
		<Diff path={edit.path} hunks={sinceHunks ?? edit.hunks} old={previous ?? edit.old} new={edit.new} split={split}
			wrap={wrap} notes={notes} left={since ? [] : draft.choices[file].map((one) => one.verdict === "left" || !draft.taken[file])}
			onComment={editable ? comment : undefined} onKey={key} onCursor={since ? undefined : setHunk}
			handle={(made) => { handle.current = made; }} />
		<Notes draft={draft} file={file} others={others} onChange={changed} />
	</div>;
}

// Where several people must approve, other bytes than those that were shown are a proposal that is asked about again.
export function approveLabel(draft: Draft, several: boolean): string {
	const [taken, all] = countTaken(draft);
	if (takesAll(draft))
		return "Approve";
	const what = taken === all ? "the edited hunks" : `${taken} of ${all} hunks`;
	return `${several ? "Propose" : "Approve"} ${what}`;
}
