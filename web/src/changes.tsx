// SPDX-License-Identifier: Apache-2.0
// What changed since the session started, and undoing it by hunk.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError, get, post, sessionPath, type Change } from "./api";
import { Diff, type DiffHandle } from "./diff/view";
import { countWords, parseDiff } from "./edit";
import { visible } from "./terminal";

const NONE: never[] = [];

function File({ change, sessionId, mayUndo, onUndone }:
	{ change: Change; sessionId: string; mayUndo: boolean; onUndone: (text: string) => void }) {
	const hunks = useMemo(() => parseDiff(change.diff ?? ""), [change]);
	const [hunk, setHunk] = useState(0);
	const [error, setError] = useState("");
	const [sure, setSure] = useState(false);
	const handle = useRef<DiffHandle>();
	const undo = async (which?: number[]) => {
		try {
			await post(sessionPath(sessionId, "/changes/undo"), { path: change.path, after_sha256: change.after_sha256,
				...(which ? { hunks: which } : {}) });
			onUndone(which ? `Undid hunk ${which[0] + 1} of ${change.path}.` : `Undid all changes of ${change.path}.`);
		} catch (failure) {
			setError(failure instanceof ApiError && failure.code === "state_mismatch" ?
				`${change.path} has changed since. Nothing was undone; refresh to see it as it is now.` : (failure as Error).message);
		}
	};
	const goTo = (to: number) => {
		setHunk(to);
		handle.current?.goToHunk(to);
	};
	if (change.action === "conflict" || !hunks.length)
		return <p>{visible(change.reason || "There is no diff to show for this file.")}</p>;
	return <>
		<div class="bar" role="group" aria-label="Hunk">
			<button type="button" disabled={hunk === 0} onClick={() => goTo(hunk - 1)}>Previous</button>
			<button type="button" disabled={hunk >= hunks.length - 1} onClick={() => goTo(hunk + 1)}>Next</button>
			<span aria-live="polite">Hunk {hunk + 1} of {hunks.length}: {countWords(hunks[hunk] ?? hunks[0])}</span>
			{mayUndo && <button type="button" onClick={() => undo([hunk])}>Undo this hunk</button>}
			{mayUndo && !sure && <button type="button" onClick={() => setSure(true)}>Undo all of the file</button>}
			{sure && <><button type="button" class="danger" onClick={() => undo()}>Yes, undo all of it</button>
				<button type="button" onClick={() => setSure(false)}>No</button></>}
		</div>
		{error && <p role="alert" class="error">{error}</p>}
		<Diff path={change.path} hunks={hunks} old={null} new={null} split={false} wrap={false} left={NONE} notes={NONE}
			onCursor={setHunk} handle={(made) => { handle.current = made; }}
			onKey={(key) => {
				if (key !== "n" && key !== "p")
					return false;
				goTo(Math.max(0, Math.min(hunks.length - 1, hunk + (key === "n" ? 1 : -1))));
				return true;
			}} />
	</>;
}

export function Changes({ sessionId, mayUndo }: { sessionId: string; mayUndo: boolean }) {
	const [files, setFiles] = useState<Change[]>();
	const [kept, setKept] = useState(true);
	const [error, setError] = useState("");
	const [done, setDone] = useState("");
	const [path, setPath] = useState("");
	const look = async () => {
		try {
			const answer = await get(sessionPath(sessionId, "/changes"));
			setFiles(answer.files ?? []);
			setKept(answer.kept !== false);
			setError("");
		} catch (failure) {
			setError((failure as Error).message);
		}
	};
	useEffect(() => void look(), [sessionId]);
	const chosen = files?.find((one) => one.path === path) ?? files?.[0];
	const count = (one: Change) => one.added !== undefined ? `+${one.added} −${one.removed ?? 0}` : "";
	return <div class="changes">
		<div class="bar"><h2>Changes since the start</h2>
			<button type="button" onClick={() => { setDone(""); void look(); }}>Refresh</button></div>
		<p role="status">{done}</p>
		{error && <p role="alert" class="error">{error}</p>}
		{!kept && <p>This session keeps no checkpoints, so there is nothing to compare with. See docs/checkpoints.md.</p>}
		{files && kept && !files.length && <p>Nothing has changed.</p>}
		{files && files.length > 0 && <>
			<ul class="files" aria-label="Changed files">{files.map((one) => <li>
				<button type="button" class="link" aria-current={one === chosen ? "true" : undefined}
					onClick={() => setPath(one.path)}>{visible(one.path)}</button>
				<span class="dim">{one.action} {count(one)}</span></li>)}</ul>
			{chosen && <File key={chosen.path + (chosen.after_sha256 ?? "")} change={chosen} sessionId={sessionId}
				mayUndo={mayUndo} onUndone={(text) => { setDone(text); void look(); }} />}
		</>}
	</div>;
}
