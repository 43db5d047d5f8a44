// SPDX-License-Identifier: Apache-2.0
// What the page asks of the server (docs/web-protocol.md): requests, and the stream of a session's events.

export interface Me {
	name: string;
	role?: string;
	roles: string[];
	groups?: string[];
	owner?: boolean;
	can_create?: boolean;
	can_invite?: boolean;
	stats?: boolean;
	version?: string;
}

export interface SessionRow {
	id: string;
	session?: string;
	title?: string;
	folder?: string;
	state?: string;
	model?: string;
	updated?: string | number;
}

export interface Front { name: string; roles: string[] }

export interface SessionInfo {
	id: string;
	session?: string; // the id of its record, which /clear and /resume change
	folder?: string;
	model?: string;
	mode?: string;
	modes?: string[];
	title?: string;
	branch?: string;
	fronts?: Front[];
	state?: string;
	commands?: { name: string; description?: string; hint?: string }[];
}

export interface Invite {
	id: string;
	name: string;
	role: string;
	groups?: string[];
	expires?: string;
	used?: boolean;
	connected?: boolean;
}

export interface Change {
	path: string;
	action: string;
	diff?: string;
	added?: number;
	removed?: number;
	reason?: string;
	before_sha256?: string;
	after_sha256?: string;
}

// An event of a session: struct front_event of src/front/front.h.
export interface Event {
	number: number;
	last?: number;
	kind: string;
	topic?: string;
	// Its members depend on the topic (docs/bus.md).
	message?: any;
	by?: string;
	own?: boolean;
	ends?: boolean;
	end?: string;
	error?: { code?: string; message: string } | null;
}

export class ApiError extends Error {
	constructor(readonly code: string, message: string, readonly status: number) {
		super(message);
	}
}

// The connection itself failed: the server has ended, or the network is down.
export const OFFLINE = "offline";

async function request(path: string, init: RequestInit): Promise<any> {
	let response: Response;
	try {
		response = await fetch(path, { credentials: "same-origin", ...init });
	} catch {
		throw new ApiError(OFFLINE, "Cannot reach hasp. Check that it is still running, then try again.", 0);
	}
	const text = await response.text();
	let body: any = {};
	try {
		body = text ? JSON.parse(text) : {};
	} catch {
		if (response.ok)
			throw new ApiError("protocol_error", `${path}: the answer is not JSON.`, response.status);
	}
	if (!response.ok) {
		const error = body.error ?? {};
		throw new ApiError(error.code ?? String(response.status),
			error.message ?? `${path}: ${response.status} ${response.statusText}`, response.status);
	}
	return body;
}

// The key that the first address brings in its fragment; kept for this origin, and sent with what changes something.
const KEY = "hasp-key";

export function takeKey(): void {
	const key = /^#key=(.+)$/.exec(location.hash)?.[1];
	if (!key)
		return;
	localStorage.setItem(KEY, key);
	history.replaceState(null, "", location.pathname);
}

export function get(path: string): Promise<any> {
	return request(path, { headers: { Accept: "application/json" } });
}

export function post(path: string, body: unknown): Promise<any> {
	return request(path, {
		method: "POST",
		headers: { "Content-Type": "application/json", "X-Hasp": localStorage.getItem(KEY) ?? "" },
		body: JSON.stringify(body),
	});
}

export function sessionPath(id: string, rest = ""): string {
	return `/api/sessions/${encodeURIComponent(id)}${rest}`;
}

// A list, whether it comes bare or as the member of an object.
export function listOf<T>(body: any, member: string): T[] {
	const list = Array.isArray(body) ? body : body?.[member];
	return Array.isArray(list) ? list : [];
}

export type Connection = "connecting" | "open" | "lost" | "refused";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

// Follows a session's events; after a lost connection from the last that came.
export class EventStream {
	private source?: EventSource;
	private timer?: number;
	private wait = FIRST_WAIT_MS;
	private closed = false;
	last = 0;

	constructor(private readonly id: string, private readonly take: (event: Event) => void,
		private readonly report: (state: Connection) => void) {
		addEventListener("online", this.retry);
		document.addEventListener("visibilitychange", this.retry);
		this.open();
	}

	close(): void {
		this.closed = true;
		clearTimeout(this.timer);
		this.source?.close();
		removeEventListener("online", this.retry);
		document.removeEventListener("visibilitychange", this.retry);
	}

	private readonly retry = () => {
		if (this.timer !== undefined && document.visibilityState === "visible") {
			clearTimeout(this.timer);
			this.timer = undefined;
			this.open();
		}
	};

	private open(): void {
		const source = new EventSource(sessionPath(this.id, `/events?after=${this.last}`));
		this.source = source;
		source.onopen = () => {
			this.wait = FIRST_WAIT_MS;
			this.report("open");
		};
		source.onmessage = (raw) => {
			const event: Event = JSON.parse(raw.data);
			// What was read before the connection was lost may come again.
			if (event.number && event.number <= this.last)
				return;
			this.last = Math.max(this.last, event.last ?? event.number ?? 0);
			this.take(event);
		};
		source.onerror = () => void this.lost(source);
	}

	// The browser's own retries give up after an answer such as 502, so all of them are made here.
	private async lost(source: EventSource): Promise<void> {
		source.close();
		if (this.closed || source !== this.source)
			return;
		this.report("lost");
		try {
			await get("/api/me");
		} catch (error) {
			if (error instanceof ApiError && (error.status === 401)) {
				this.report("refused");
				return;
			}
		}
		if (this.closed)
			return;
		this.timer = window.setTimeout(() => {
			this.timer = undefined;
			this.open();
		}, this.wait);
		this.wait = Math.min(this.wait * 2, LONGEST_WAIT_MS);
	}
}
