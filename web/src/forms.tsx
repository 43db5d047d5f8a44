// SPDX-License-Identifier: Apache-2.0
// Questions that are forms: the model's (ask_user), and those of MCP servers.

import { useState } from "preact/hooks";
import type { AnswerProps } from "./questions";
import { visible } from "./terminal";

const OTHER = "\0other";

interface Field {
	name: string;
	title?: string;
	description?: string;
	type: string;
	required?: boolean;
	default?: any;
	options?: { value: string; label: string }[];
	format?: string;
	minimum?: number;
	maximum?: number;
	minLength?: number;
	maxLength?: number;
}

type Value = string | string[] | undefined;

// One question of ask_user: options as radio buttons or boxes, with room for another answer.
function Choices({ question, number, value, onValue }:
	{ question: any; number: number; value: Value; onValue: (value: Value) => void }) {
	const several = question.multiSelect === true;
	const labels: string[] = question.type === "yesno" ? ["Yes", "No"] :
		(Array.isArray(question.options) ? question.options : []).map((one: any) => String(one.label ?? ""));
	const [other, setOther] = useState("");
	const [isOther, setIsOther] = useState(false);
	const chosen = Array.isArray(value) ? value : value === undefined ? [] : [value];
	const put = (picked: string[], text: string, useOther: boolean) => {
		const known = picked.filter((one) => labels.includes(one));
		const all = useOther && text.trim() ? [...known, text.trim()] : known;
		onValue(several ? (all.length ? all : undefined) : all[all.length - 1]);
	};
	const toggle = (label: string, checked: boolean) => {
		if (label === OTHER) {
			setIsOther(checked);
			put(several ? chosen : [], other, checked);
		} else {
			if (!several)
				setIsOther(false);
			put(several ? (checked ? [...chosen, label] : chosen.filter((one) => one !== label)) : [label], other, several && isOther);
		}
	};
	const box = (label: string, shown: string, note: string, checked: boolean) => <label class="option">
		<input type={several ? "checkbox" : "radio"} name={`question-${number}`} checked={checked}
			onChange={(event) => toggle(label, event.currentTarget.checked)} />
		<span>{visible(shown)}{note && <span class="dim"> {visible(note)}</span>}</span>
	</label>;
	return <>
		{labels.map((label, i) => box(label, label, String(question.options?.[i]?.description ?? ""), chosen.includes(label) && (several || !isOther)))}
		{box(OTHER, "Something else", "", isOther)}
		{isOther && <input type="text" aria-label="Something else" value={other} onInput={(event) => {
			setOther(event.currentTarget.value);
			put(several ? chosen : [], event.currentTarget.value, true);
		}} />}
	</>;
}

export function AskForm({ question, editable, send }: AnswerProps) {
	const questions: any[] = Array.isArray(question.message.questions) ? question.message.questions : [];
	const [answers, setAnswers] = useState<Value[]>([]);
	const [error, setError] = useState("");
	const put = (i: number, value: Value) => setAnswers((old) => Object.assign([...old], { [i]: value }));
	const submit = async () => {
		const given = Object.fromEntries(questions.flatMap((_, i) =>
			answers[i] === undefined || answers[i] === "" ? [] : [[String(i), answers[i]]]));
		if (!Object.keys(given).length) {
			setError("Answer at least one question, or choose “No answer”.");
			return;
		}
		setError(await send("ask-user-response", { correlationId: question.id, answers: given }));
	};
	return <form onSubmit={(event) => { event.preventDefault(); void submit(); }}>
		{questions.map((one, i) => <fieldset disabled={!editable}>
			<legend>{one.header && <span class="dim">{visible(one.header)} </span>}{visible(String(one.question ?? ""))}</legend>
			{one.type === "text" ? <textarea rows={2} aria-label={visible(String(one.question ?? ""))}
				placeholder={visible(one.placeholder ?? "")} value={(answers[i] as string) ?? ""}
				onInput={(event) => put(i, event.currentTarget.value)} /> :
				<Choices question={one} number={i} value={answers[i]} onValue={(value) => put(i, value)} />}
		</fieldset>)}
		{error && <p role="alert" class="error">{error}</p>}
		{editable && <div class="buttons">
			<button class="primary">Send answers</button>
			<button type="button" onClick={async () =>
				setError(await send("ask-user-response", { correlationId: question.id, cancelled: true }))}>No answer</button>
		</div>}
	</form>;
}

function fieldValue(field: Field, value: Value): unknown {
	if (field.type === "boolean")
		return value === "true";
	if (value === undefined || value === "" || (Array.isArray(value) && !value.length && !field.required))
		return undefined;
	if (field.type === "integer" || field.type === "number")
		return Number(value);
	return value;
}

function FieldInput({ field, value, onValue }:
	{ field: Field; value: Value; onValue: (value: Value) => void }) {
	const title = visible(field.title || field.name) + (field.required ? " (required)" : "");
	const note = field.description ? <span class="dim">{visible(field.description)}</span> : null;
	const options = field.options ?? [];
	if (field.type === "choices")
		return <fieldset><legend>{title}</legend>{note}
			{options.map((one) => <label class="option"><input type="checkbox" checked={(value ?? []).includes(one.value)}
				onChange={(event) => {
					const list = Array.isArray(value) ? value : [];
					onValue(event.currentTarget.checked ? [...list, one.value] : list.filter((other) => other !== one.value));
				}} /> <span>{visible(one.label)}</span></label>)}
		</fieldset>;
	if (field.type === "boolean")
		return <label class="option"><input type="checkbox" checked={value === "true"}
			onChange={(event) => onValue(String(event.currentTarget.checked))} /> <span>{title} {note}</span></label>;
	if (field.type === "choice")
		return <label>{title} {note}<select required={field.required} value={(value as string) ?? ""}
			onChange={(event) => onValue(event.currentTarget.value)}>
			<option value="">No answer</option>{options.map((one) => <option value={one.value}>{visible(one.label)}</option>)}
		</select></label>;
	const isNumber = field.type === "integer" || field.type === "number";
	const types: Record<string, string> = { email: "email", uri: "url", date: "date" };
	return <label>{title} {note}<input type={isNumber ? "number" : types[field.format ?? ""] ?? "text"}
		required={field.required} step={field.type === "integer" ? 1 : "any"} min={field.minimum} max={field.maximum}
		minLength={field.minLength} maxLength={field.maxLength} value={(value as string) ?? ""}
		onInput={(event) => onValue(event.currentTarget.value)} /></label>;
}

function initial(field: Field): Value {
	return Array.isArray(field.default) ? field.default : field.default === undefined ? undefined : String(field.default);
}

export function ElicitForm({ question, editable, send }: AnswerProps) {
	const { message } = question;
	const fields: Field[] = Array.isArray(message.fields) ? message.fields : [];
	const [values, setValues] = useState<Value[]>(fields.map(initial));
	const [address, setAddress] = useState("");
	const [error, setError] = useState("");
	const reply = async (action: string, more: object = {}) =>
		setError(await send("elicitation-response", { correlationId: question.id, action, ...more }));
	const accept = () => {
		if (message.mode === "url")
			return reply("accept", address.trim() ? { address: address.trim() } : {});
		if (message.mode === "sampling")
			return reply("accept");
		const content = Object.fromEntries(fields.map((field, i) => [field.name, fieldValue(field, values[i])])
			.filter(([, value]) => value !== undefined));
		return reply("accept", { content });
	};
	return <form onSubmit={(event) => { event.preventDefault(); void accept(); }}>
		<p class="plain">{visible(String(message.message ?? ""))}</p>
		{message.problem && <p class="error">{visible(message.problem)}</p>}
		{message.mode === "url" && <p>It leads to <code>{visible(String(message.url ?? ""))}</code>.
			{/^https?:\/\//i.test(message.url ?? "") && <> <a href={message.url} target="_blank" rel="noopener noreferrer">Open it</a></>}</p>}
		{message.mode === "url" && message.login && <label>Where the browser ended up, if it was on another machine
			<input type="url" value={address} onInput={(event) => setAddress(event.currentTarget.value)} /></label>}
		{message.mode === "sampling" && <p class="dim">The model {visible(message.model ?? "")} would answer,
			in at most {message.maxTokens} tokens.</p>}
		{fields.map((field, i) => <FieldInput field={field} value={values[i]}
			onValue={(value) => setValues((old) => Object.assign([...old], { [i]: value }))} />)}
		{error && <p role="alert" class="error">{error}</p>}
		{editable && <div class="buttons">
			<button class="primary">{message.mode === "form" ? "Send" : message.login ? "I have logged in" : "Accept"}</button>
			{message.mode === "sampling" && <button type="button" onClick={() => reply("accept", { session: true })}>
				Accept for this session</button>}
			<button type="button" class="danger" onClick={() => reply("decline")}>Decline</button>
			<button type="button" onClick={() => reply("cancel")}>Cancel</button>
		</div>}
	</form>;
}
