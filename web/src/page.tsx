// SPDX-License-Identifier: Apache-2.0
// One session: its conversation, its open questions, the box for prompts, its changes, its people.

import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, EventStream, get, post, sessionPath, type Connection, type Me, type SessionInfo } from "./api";
import { Changes } from "./changes";
import { Composer } from "./composer";
import { Conversation } from "./conversation";
import { keepDrafts } from "./draft";
import { Invites, People } from "./people";
import { QuestionCard } from "./questions";
import { recordItems } from "./record";
import { Session } from "./session";
import { visible } from "./terminal";

const CONNECTIONS: Record<Connection, string> = {
	connecting: "Connecting …",
	open: "",
	lost: "Connection lost. Reconnecting …",
	refused: "This link has expired or was revoked.",
};

const FRAME_MS = 16;

// Draws what has changed: immediately, but no more often than the screen does.
function useFrames(): () => void {
	const [, setVersion] = useState(0);
	const drawn = useRef(0);
	const waiting = useRef(false);
	const ask = useRef(() => {
		if (waiting.current)
			return;
		const draw = () => {
			waiting.current = false;
			drawn.current = performance.now();
			setVersion((n) => n + 1);
		};
		if (performance.now() - drawn.current > FRAME_MS) {
			draw();
			return;
		}
		waiting.current = true;
		// Frames do not come while the page is hidden.
		document.hidden ? setTimeout(draw, 250) : requestAnimationFrame(draw);
	});
	return ask.current;
}

function Todos({ session }: { session: Session }) {
	if (!session.todos.length)
		return null;
	const words: Record<string, string> = { completed: "done", in_progress: "in progress", pending: "to do", cancelled: "cancelled" };
	return <section aria-labelledby="todos"><h2 id="todos">Plan</h2>
		<ol class="todos">{session.todos.map((todo) => <li class={todo.status}>
			<span class="state">{words[todo.status] ?? todo.status}</span> {visible(todo.description)}</li>)}</ol></section>;
}

function Mode({ info, mode, may, onMode }:
	{ info: SessionInfo; mode: string; may: boolean; onMode: (mode: string) => void }) {
	const modes = info.modes ?? [];
	if (!may || modes.length < 2)
		return <span>{mode}</span>;
	return <label>Mode <select value={mode} onChange={(event) => onMode(event.currentTarget.value)}>
		{modes.map((one) => <option>{one}</option>)}</select></label>;
}

// After these the facts of the session may be others.
const LOOK_AFTER = ["comment", "slash-command", "approval-mode"];

interface Props { id: string; me: Me; tab: string; hasList: boolean }

export function SessionPage({ id, me, tab, hasList }: Props) {
	const redraw = useFrames();
	const [session] = useState(() => new Session(redraw));
	const [connection, setConnection] = useState<Connection>("connecting");
	const [info, setInfo] = useState<SessionInfo>({ id });
	const [error, setError] = useState("");
	const recovering = useRef(false);
	const recordId = useRef<string>();
	// Shows the conversation as it is recorded: after events that are not kept, and when it is another.
	const recover = async () => {
		session.begin();
		if (recovering.current)
			return;
		recovering.current = true;
		try {
			const record = await get(sessionPath(id, "/record"));
			session.restore(recordItems(record.messages ?? []), record.last ?? 0);
		} catch (failure) {
			session.restore([], 0);
			setError((failure as ApiError).message);
		}
		recovering.current = false;
	};
	const look = async () => {
		try {
			const found: SessionInfo = await get(sessionPath(id));
			session.mode = found.mode ?? session.mode;
			setInfo(found);
			if (recordId.current && found.session && found.session !== recordId.current)
				void recover();
			recordId.current = found.session ?? recordId.current;
		} catch (failure) {
			setError((failure as Error).message);
		}
	};
	useEffect(() => {
		const stream = new EventStream(id, (event) => {
			session.take(event);
			if (event.kind === "missed" || event.topic === "rewound")
				void recover();
			if (["started", "ended", "done", "over", "opened"].includes(event.kind) || LOOK_AFTER.includes(event.topic ?? ""))
				void look();
		}, setConnection);
		void look();
		return () => stream.close();
	}, [id]);
	keepDrafts(session.questions);
	const roles = me.roles;
	const title = session.title || info.title || info.folder?.replace(/^.*\//, "") || "hasp";
	useEffect(() => {
		document.title = (session.questions.size ? "(?) " : "") + title;
	}, [title, session.questions.size]);
	const order = async (path: string, body: unknown) => {
		try {
			const answer = await post(sessionPath(id, path), body);
			setError("");
			return answer;
		} catch (failure) {
			setError((failure as Error).message);
			return undefined;
		}
	};
	const address = `#/s/${encodeURIComponent(id)}`;
	const questions = [...session.questions.values()];
	return <>
		<a class="skip" href="#main" onClick={(event) => {
			event.preventDefault();
			(document.querySelector<HTMLElement>(".question, #prompt") ?? document.getElementById("main")!).focus();
		}}>Skip to the question or the prompt</a>
		<header>
			<h1>{visible(title)}</h1>
			<div class="facts">
				<span class="path">{visible(info.folder ?? "")}</span>
				{(session.branch || info.branch) && <span>{visible(session.branch || info.branch!)}</span>}
				<span>{visible(session.model || info.model || "")}</span>
				<Mode info={info} mode={session.mode} may={roles.includes("drive")}
					onMode={async (mode) => { await order("/mode", { mode }); void look(); }} />
				<span role="status" class={`connection ${connection}`}>{CONNECTIONS[connection] || (session.running ? "working" : "")}</span>
			</div>
			<nav aria-label="Views">
				{hasList && <a href="#/">Sessions</a>}
				<a href={address} aria-current={tab === "" ? "page" : undefined}>Conversation</a>
				<a href={`${address}/changes`} aria-current={tab === "changes" ? "page" : undefined}>Changes</a>
				<a href={`${address}/people`} aria-current={tab === "people" ? "page" : undefined}>People</a>
				{me.stats && <a href={`/stats?session=${encodeURIComponent(id)}`}>Statistics</a>}
			</nav>
		</header>
		<div class="visually-hidden" aria-live="polite">{session.announcement}</div>
		<main id="main" tabIndex={-1}>
			{tab === "changes" ? <Changes sessionId={id} mayUndo={roles.includes("drive")} /> :
				tab === "people" ? <><People fronts={info.fronts ?? []} onLook={look} /><Invites me={me} /></> : <>
					<Conversation session={session} />
					<Todos session={session} />
					{questions.map((question) => <QuestionCard key={question.id} question={question} sessionId={id} me={me.name}
						editable={roles.includes("approve")} mayAlways={roles.includes("drive")} />)}
				</>}
			{error && <p role="alert" class="error">{error}</p>}
		</main>
		{tab === "" && !session.over && <Composer sessionId={id} session={session} info={info} roles={roles} order={order} />}
	</>;
}
