// SPDX-License-Identifier: Apache-2.0
// Open questions: what each is about, and the answers that may be given.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { ApiError, post, sessionPath } from "./api";
import { Arguments, Code } from "./code";
import { draftOf, editAnswer, takesAll, takesNothing, type Draft } from "./draft";
import { AskForm, ElicitForm } from "./forms";
import { Markdown } from "./markdown";
import { approveLabel, Review } from "./review";
import type { Question } from "./session";
import { visible } from "./terminal";

export interface AnswerProps {
	question: Question;
	editable: boolean; // this person may answer
	mayAlways: boolean; // and with more than this one call
	me: string; // this person's name
	send: (topic: string, answer: Record<string, unknown>) => Promise<string>; // what went wrong, or ""
}

function List({ title, items }: { title: string; items: unknown }) {
	if (!Array.isArray(items) || !items.length)
		return null;
	return <div><strong>{title}</strong><ul>{items.map((item) => <li>{visible(describe(item))}</li>)}</ul></div>;
}

function describe(item: any): string {
	if (typeof item === "string")
		return item;
	if (item && typeof item === "object" && (item.kind || item.what))
		return [item.kind, item.what, item.to && `→ ${item.to}`, item.why && `(${item.why})`].filter(Boolean).join(" ");
	return JSON.stringify(item);
}

function Command({ details }: { details: any }) {
	return <>
		<Code text={String(details.command ?? "")} language="sh" />
		{details.summary && <p>{visible(details.summary)}</p>}
		<List title="Could not be parsed" items={details.problems} />
		<List title="The sandbox will block" items={details.denials} />
		<List title="“Always” would allow" items={details.commandPrefixes} />
	</>;
}

function Tool({ details, message }: { details: any; message: any }) {
	return <>
		<p>{visible(`${details.toolDisplayName || details.toolName} of the server ${details.serverName}`)}</p>
		{details.changed && <><p>This tool has changed since it was last allowed:</p>
			<Code text={String(details.changed)} language="diff" /></>}
		<Arguments tool="" args={message.arguments} whole />
	</>;
}

// A text that can be edited is Markdown; arguments are not.
function Info({ details, message }: { details: any; message: any }) {
	return <>
		{typeof details.newContent === "string" ? <Markdown text={details.newContent} /> :
			typeof message.arguments?.code === "string" ? <Arguments tool={message.toolName} args={message.arguments} whole /> :
				<Code text={String(details.prompt ?? "")} language="" />}
		<List title="Addresses" items={details.urls} />
	</>;
}

function Expansion({ details }: { details: any }) {
	return <>
		{details.command && <Code text={String(details.command)} language="sh" />}
		<List title="Would be allowed" items={details.allowed} />
		<List title="Stays blocked" items={details.stillDenied} />
		{details.leftOut > 0 && <p>{details.leftOut} others stay blocked.</p>}
	</>;
}

function Subject({ question, editable, onChange }: AnswerProps & { onChange: () => void }) {
	const details = question.message.details ?? {};
	switch (details.type) {
	case "edit":
		return <Review question={question} editable={editable} onChange={onChange} />;
	case "exec":
		return <Command details={details} />;
	case "mcp":
		return <Tool details={details} message={question.message} />;
	case "sandbox_expansion":
		return <Expansion details={details} />;
	default:
		return <Info details={details} message={question.message} />;
	}
}

const VOTES: Record<string, string> = {
	approve: "approved",
	veto: "vetoed",
	against: "voted against",
	lapsed: "approval lapsed",
};
const OWNER: Record<string, string> = {
	does_not_count: "the owner's approval does not count",
	may_be_outvoted: "the owner may be outvoted",
};

// Approvals, where several are needed: how many, whose, and who may give them.
export function Approvals({ question }: { question: Question }) {
	const rules: any[] = Array.isArray(question.message.approvals?.rules) ? question.message.approvals.rules : [];
	if (!question.message.approvals && !question.votes.length)
		return null;
	return <div class="approvals">
		<strong>{question.approvals} of {question.needed} approvals</strong>
		{question.votes.map((vote) => <span class={`vote ${vote.vote}`}>{visible(vote.by)}: {VOTES[vote.vote] ?? visible(vote.vote)}</span>)}
		{question.missing && <span class="dim">{visible(question.missing)}</span>}
		{rules.map((rule) => <span class="dim">{visible([`${rule.needed} from ${Array.isArray(rule.reviewers) ?
			rule.reviewers.join(", ") : "anybody"}`, OWNER[rule.owner], rule.rule].filter(Boolean).join("; "))}</span>)}
	</div>;
}

// An approval may be signed by the reviewer's SSH key, so that others can verify it later (docs/audit.md).
function Signature({ statement, draft, onChange }: { statement: string; draft: Draft; onChange: () => void }) {
	return <details><summary>Sign this approval (optional)</summary>
		<p><a download="statement" href={`data:text/plain;charset=utf-8,${encodeURIComponent(statement)}`}>Download the statement</a>,
			sign it with your SSH key, and paste the signature.</p>
		<Code text={statement} language="" />
		<Code text="ssh-keygen -Y sign -f ~/.ssh/id_ed25519 -n hasp-approval < statement" language="sh" />
		<label>Signature <textarea class="mono" rows={3} spellcheck={false} value={draft.signature}
			onInput={(event) => { draft.signature = event.currentTarget.value; onChange(); }} /></label>
	</details>;
}

const LABELS: Record<string, string> = {
	proceed_once: "Approve",
	proceed_always_tool: "Always allow this tool",
	proceed_always_server: "Always allow this server",
	proceed_always_and_save: "Always allow, and save",
};

function outcomeLabel(outcome: string, message: any): string {
	return outcome === "proceed_always" ? `Always allow ${visible(message.scope || "this")} in this session` :
		LABELS[outcome] ?? outcome;
}

function Confirmation(props: AnswerProps) {
	const { question, send, editable, me } = props;
	const several = !!question.message.approvals;
	const voted = question.votes.find((vote) => vote.by === me)?.vote;
	const message = question.message;
	const isEdit = message.details?.type === "edit";
	const draft = draftOf(question);
	const [busy, setBusy] = useState(false);
	const [, redraw] = useState(0);
	const outcomes: string[] = Array.isArray(message.outcomes) ? message.outcomes : [];
	const modes: string[] = Array.isArray(message.modes) ? message.modes : [];
	const [mode, setMode] = useState(modes[0] ?? "");
	const answer = async (outcome: string) => {
		setBusy(true);
		const body = editAnswer(question, draft, outcome);
		if (mode && outcome === "proceed_once")
			body.mode = mode;
		draft.error = await send("tool-confirmation-response", body);
		draft.sent = !draft.error;
		setBusy(false);
	};
	const approve = isEdit && !takesAll(draft) ? "modify_with_editor" : "proceed_once";
	const nothing = isEdit && takesNothing(draft);
	const others = outcomes.filter((one) => props.mayAlways && !["proceed_once", "cancel", "modify_with_editor"].includes(one));
	return <>
		<Subject {...props} onChange={() => redraw((n) => n + 1)} />
		{editable && <>
			<label class="feedback">What should hasp do instead? (sent when you decline)
				<textarea rows={2} value={draft.message} onInput={(event) => { draft.message = event.currentTarget.value; redraw((n) => n + 1); }} />
			</label>
			{several && message.approvals.statement && <Signature statement={String(message.approvals.statement)} draft={draft}
				onChange={() => redraw((n) => n + 1)} />}
			{modes.length > 0 && <label>Continue in mode <select value={mode}
				onChange={(event) => setMode(event.currentTarget.value)}>{modes.map((one) => <option>{one}</option>)}</select></label>}
			<div class="buttons answers">
				{!nothing && outcomes.includes(approve) && <button type="button" class="primary" disabled={busy}
					onClick={() => answer(approve)}>{isEdit ? approveLabel(draft, several) : "Approve"}</button>}
				<button type="button" class="danger" disabled={busy} onClick={() => answer("cancel")}>
					{several ? "Veto" : "Decline"}</button>
				{voted === "approve" && <button type="button" disabled={busy} onClick={() => answer("withdraw")}>Withdraw my approval</button>}
				{!nothing && (!isEdit || takesAll(draft)) && others.map((one) => <button type="button" disabled={busy}
					onClick={() => answer(one)}>{outcomeLabel(one, message)}</button>)}
			</div>
			{draft.sent && several && <p role="status">Your vote was sent.</p>}
			{draft.error && <p role="alert" class="error">{draft.error}</p>}
		</>}
	</>;
}

function heading(question: Question): string {
	const { message } = question;
	if (question.topic === "ask-user-request")
		return "Question from hasp";
	if (question.topic === "elicitation-request")
		return message.login ? `Login at ${message.serverName}` : `Request from the server ${message.serverName}`;
	return message.details?.title || `Run ${message.toolName}?`;
}

function body(props: AnswerProps): ComponentChildren {
	switch (props.question.topic) {
	case "ask-user-request":
		return <AskForm {...props} />;
	case "elicitation-request":
		return <ElicitForm {...props} />;
	default:
		return <Confirmation {...props} />;
	}
}

export function QuestionCard({ question, sessionId, ...rights }:
	{ question: Question; sessionId: string; editable: boolean; mayAlways: boolean; me: string }) {
	const { editable, mayAlways } = rights;
	const send = async (topic: string, answer: Record<string, unknown>) => {
		try {
			await post(sessionPath(sessionId, "/answer"), { topic, answer });
			return "";
		} catch (error) {
			return error instanceof ApiError ? error.message : String(error);
		}
	};
	const { message } = question;
	const title = visible(heading(question));
	return <section class="question" tabIndex={-1} aria-label={`Question: ${title}`}>
		<h2>{title}</h2>
		{message.agentName && <p class="dim">Asked by the agent {visible(message.agentName)}.</p>}
		{message.reason && <p class="reason">{visible(message.reason)}</p>}
		{message.rule && <p class="dim">Rule: {visible(message.rule)}</p>}
		<Approvals question={question} />
		{body({ question, ...rights, send })}
		{message.noAlways && mayAlways && <p class="dim">{visible(message.noAlways)}</p>}
		{!editable && <p class="dim">You can see this question, but not answer it.</p>}
	</section>;
}
