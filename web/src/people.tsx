// SPDX-License-Identifier: Apache-2.0
// Who is here, and the links by which others come in.

import { useEffect, useState } from "preact/hooks";
import { get, listOf, post, type Front, type Invite, type Me } from "./api";
import { CopyButton } from "./code";
import { visible, when } from "./terminal";

export function People({ fronts, onLook }: { fronts: Front[]; onLook: () => void }) {
	return <section aria-labelledby="people">
		<h2 id="people">Who is here</h2>
		<ul class="people">
			{fronts.map((front) => <li><strong>{visible(front.name)}</strong>{" "}
				<span class="dim">{front.roles.length ? front.roles.join(", ") : "watch"}</span></li>)}
			{!fronts.length && <li class="dim">Only you.</li>}
		</ul>
		<button type="button" class="small" onClick={onLook}>Refresh</button>
	</section>;
}

const ROLES: [string, string][] = [
	["watch", "watch: see everything"],
	["comment", "comment: also talk to the others"],
	["approve", "approve: also answer questions"],
	["drive", "drive: also send prompts"],
];

function NewInvite({ onMade }: { onMade: () => void }) {
	const [name, setName] = useState("");
	const [role, setRole] = useState("approve");
	const [groups, setGroups] = useState("");
	const [minutes, setMinutes] = useState(480);
	const [url, setUrl] = useState("");
	const [error, setError] = useState("");
	const submit = async () => {
		try {
			const list = groups.split(/[\s,]+/).filter(Boolean).map((one) => one.replace(/^@/, ""));
			const made = await post("/api/invite", { name: name.trim(), role, minutes, ...(list.length ? { groups: list } : {}) });
			setUrl(made.url);
			setError("");
			setName("");
			onMade();
		} catch (failure) {
			setError((failure as Error).message);
		}
	};
	return <form onSubmit={(event) => { event.preventDefault(); void submit(); }}>
		<label>Name <input type="text" required maxLength={64} value={name} autocomplete="off"
			onInput={(event) => setName(event.currentTarget.value)} /></label>
		<label>Role <select value={role} onChange={(event) => setRole(event.currentTarget.value)}>
			{ROLES.map(([value, label]) => <option value={value}>{label}</option>)}</select></label>
		<label>Groups (optional) <input type="text" value={groups} placeholder="security" autocomplete="off"
			onInput={(event) => setGroups(event.currentTarget.value)} /></label>
		<label>Valid for minutes <input type="number" min={1} max={43200} value={minutes}
			onInput={(event) => setMinutes(Number(event.currentTarget.value))} /></label>
		<div class="buttons"><button class="primary">Make a link</button></div>
		{error && <p role="alert" class="error">{error}</p>}
		{url && <div role="status" class="panel"><p>Send this link to one person. It works once, and is not shown again.</p>
			<code class="address">{url}</code> <CopyButton text={url} label="link" /></div>}
	</form>;
}

function inviteState(invite: Invite): string {
	return invite.connected ? "connected" : invite.used ? "used, not connected" : "not used yet";
}

export function Invites({ me }: { me: Me }) {
	const [invites, setInvites] = useState<Invite[]>([]);
	const [error, setError] = useState("");
	const look = async () => {
		try {
			setInvites(listOf<Invite>(await get("/api/invites"), "invites"));
			setError("");
		} catch (failure) {
			setError((failure as Error).message);
		}
	};
	const revoke = async (id: string) => {
		try {
			await post(`/api/invites/${encodeURIComponent(id)}/revoke`, {});
		} catch (failure) {
			setError((failure as Error).message);
		}
		await look();
	};
	useEffect(() => void look(), []);
	if (!me.can_invite)
		return null;
	return <section aria-labelledby="invites">
		<h2 id="invites">Links for others</h2>
		<ul class="people">{invites.map((invite) => <li>
			<strong>{visible(invite.name)}</strong> <span class="dim">{invite.role}
				{invite.groups?.length ? `, ${invite.groups.map((group) => `@${group}`).join(" ")}` : ""}, {inviteState(invite)},
				until {when(invite.expires)}</span>{" "}
			<button type="button" class="small danger" aria-label={`Revoke the link of ${invite.name}`}
				onClick={() => revoke(invite.id)}>Revoke</button>
		</li>)}</ul>
		{error && <p role="alert" class="error">{error}</p>}
		<NewInvite onMade={look} />
	</section>;
}
