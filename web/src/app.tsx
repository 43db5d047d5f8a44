// SPDX-License-Identifier: Apache-2.0
// The page: a list of sessions, or one session.  The address's fragment says which: #/s/ID, #/s/ID/changes.

import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError, get, listOf, post, takeKey, type Me, type SessionRow } from "./api";
import { SessionPage } from "./page";
import { visible, when } from "./terminal";

function route(): string[] {
	return location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
}

function NewSession({ onMade }: { onMade: (id: string) => void }) {
	const [folder, setFolder] = useState("");
	const [error, setError] = useState("");
	const submit = async () => {
		try {
			onMade((await post("/api/sessions", { folder: folder.trim() })).id);
		} catch (failure) {
			setError((failure as Error).message);
		}
	};
	return <form class="panel" onSubmit={(event) => { event.preventDefault(); void submit(); }}>
		<label>New session in the folder <input type="text" required value={folder} placeholder="/home/me/project"
			autocomplete="off" onInput={(event) => setFolder(event.currentTarget.value)} /></label>
		<div class="buttons"><button class="primary">Start a session</button></div>
		{error && <p role="alert" class="error">{error}</p>}
	</form>;
}

const STATES: Record<string, string> = { question: "waits for an answer", recorded: "recorded" };

function Sessions({ me, rows, onChange }: { me: Me; rows: SessionRow[]; onChange: () => void }) {
	const [error, setError] = useState("");
	const open = async (row: SessionRow) => {
		try {
			const id = row.state === "recorded" ?
				(await post("/api/sessions", { folder: row.folder, resume: row.session ?? row.id })).id : row.id;
			location.hash = `#/s/${encodeURIComponent(id)}`;
		} catch (failure) {
			setError((failure as Error).message);
		}
	};
	return <main class="sessions">
		<h1>Sessions</h1>
		<button type="button" class="small" onClick={onChange}>Refresh</button>
		{me.stats && <p><a href="/stats">Statistics</a></p>}
		{error && <p role="alert" class="error">{error}</p>}
		<ul>{rows.map((row) => <li>
			<button type="button" class="link" onClick={() => open(row)}>
				{visible(row.title || row.folder || row.id)}</button>
			<div class="dim">{visible(row.folder ?? "")} · {STATES[row.state ?? ""] ?? row.state}
				{row.model ? ` · ${row.model}` : ""}{row.updated ? ` · ${when(row.updated)}` : ""}</div>
		</li>)}</ul>
		{!rows.length && <p>No session is open.</p>}
		{me.can_create && <NewSession onMade={(id) => { location.hash = `#/s/${encodeURIComponent(id)}`; }} />}
	</main>;
}

function Refused({ error }: { error: ApiError | Error }) {
	const expired = error instanceof ApiError && error.status === 401;
	return <main class="sessions">
		<h1>{expired ? "This link has expired or was revoked" : "Cannot reach hasp"}</h1>
		<p>{expired ? "Ask for a new one: the owner of the session makes it with /share, or with “hasp web invite”." : error.message}</p>
		<button type="button" onClick={() => location.reload()}>Try again</button>
	</main>;
}

function App() {
	const [me, setMe] = useState<Me>();
	const [rows, setRows] = useState<SessionRow[]>([]);
	const [error, setError] = useState<Error>();
	const [path, setPath] = useState(route());
	const look = async () => {
		try {
			setMe(await get("/api/me"));
			setRows(listOf<SessionRow>(await get("/api/sessions"), "sessions"));
			setError(undefined);
		} catch (failure) {
			setError(failure as Error);
		}
	};
	useEffect(() => {
		const onRoute = () => setPath(route());
		addEventListener("hashchange", onRoute);
		void look();
		return () => removeEventListener("hashchange", onRoute);
	}, []);
	useEffect(() => {
		if (path[0] !== "s" && me)
			void look();
	}, [path[0]]);
	if (error)
		return <Refused error={error} />;
	if (!me)
		return <main class="sessions"><p role="status">Loading …</p></main>;
	// A server with one session has no list to choose from.
	const id = path[0] === "s" ? path[1] : rows.length === 1 && !me.can_create ? rows[0].id : undefined;
	return id ? <SessionPage key={id} id={id} me={me} tab={path[0] === "s" ? path[2] ?? "" : ""} hasList={me.can_create || rows.length > 1} /> :
		<Sessions me={me} rows={rows} onChange={look} />;
}

takeKey();
render(<App />, document.getElementById("app")!);
