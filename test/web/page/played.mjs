// SPDX-License-Identifier: Apache-2.0
// Plays hasp's web server (docs/web-protocol.md) for the page: serves the bundle, sends the events that a test gives it,
// and refuses requests that the real one would refuse.
//
//     const server = await Played.start(process.argv[2]);   // the folder of the bundle
//     server.bus("content", { text: "Hello" });
//     const { answer } = await server.posted("answer");
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const FILES = {
	"/": ["index.html", "text/html; charset=utf-8"],
	"/assets/app.js": ["app.js", "text/javascript; charset=utf-8"],
	"/assets/app.css": ["app.css", "text/css; charset=utf-8"],
};
// The members that a request of the page has: those that must be, then those that may be.
const BODIES = {
	prompt: [["text"], []],
	steer: [["text"], []],
	interrupt: [[], []],
	mode: [["mode"], []],
	answer: [["topic", "answer"], []],
	comment: [["text"], []],
	"changes/undo": [["path", "after_sha256"], ["hunks"]],
	invite: [["name", "role"], ["groups", "minutes"]],
	revoke: [[], []],
	sessions: [["folder"], ["resume"]],
};
const ANSWERS = {
	"tool-confirmation-response": [["correlationId", "outcome"],
		["newContent", "message", "review", "files", "mode", "comments", "shown", "signature"]],
	"ask-user-response": [["correlationId"], ["answers", "cancelled"]],
	"elicitation-response": [["correlationId", "action"], ["content", "open", "address", "session"]],
};

function check(what, object, [must, may]) {
	for (const name of must)
		if (!(name in object))
			throw new Error(`${what} lacks ${name}`);
	for (const name of Object.keys(object))
		if (!must.includes(name) && !may.includes(name))
			throw new Error(`${what} has ${name}`);
}

export class Played {
	me = { name: "owner", role: "drive", roles: ["comment", "approve", "drive"], groups: [], owner: true, can_create: false,
		can_invite: true, version: "0.1.0", port: 1 };
	session = { id: "s1", folder: "/home/me/project", title: "", state: "idle", model: "gemini-3-pro", mode: "default",
		modes: ["default", "autoEdit", "plan", "yolo"], branch: "main", fronts: [{ name: "terminal", roles: ["comment", "approve", "drive"] }],
		commands: [{ name: "stats", description: "Show statistics" }, { name: "status", description: "Show the state" }] };
	sessions = null;
	events = [];
	streams = new Set();
	posts = [];
	problems = [];
	waiting = [];
	invites = [];
	changes = { kept: true, files: [] };
	record = { messages: [], last: 0 };
	oldest = 0; // events before it are not kept
	number = 0;
	refuse = new Map(); // path: [status, code, message]
	reachable = true;
	authorized = true;

	static async start(folder) {
		const played = new Played();
		played.folder = folder;
		played.server = createServer((request, response) => played.serve(request, response));
		played.server.keepAliveTimeout = 1000;
		await new Promise((done) => played.server.listen(0, "127.0.0.1", done));
		played.address = `http://127.0.0.1:${played.server.address().port}`;
		return played;
	}

	close() {
		this.server.closeAllConnections();
		this.server.close();
	}

	event(kind, more = {}) {
		const event = { number: ++this.number, last: this.number, kind, own: false, ...more };
		this.events.push(event);
		for (const stream of this.streams)
			this.write(stream, event);
		return event;
	}

	bus(topic, message, more = {}) {
		return this.event("bus", { topic, message, ...more });
	}

	write(stream, event) {
		stream.write(`${event.kind === "missed" ? "" : `id: ${event.last}\n`}data: ${JSON.stringify(event)}\n\n`);
	}

	dropStreams() {
		for (const stream of this.streams)
			stream.destroy();
		this.streams.clear();
	}

	// The body of the next POST to a path that ends so.
	posted(name) {
		const at = this.posts.findIndex((post) => post.name === name);
		if (at >= 0)
			return Promise.resolve(this.posts.splice(at, 1)[0].body);
		return new Promise((done) => this.waiting.push({ name, done }));
	}

	serve(request, response) {
		if (!this.reachable) {
			request.socket.destroy();
			return;
		}
		const url = new URL(request.url, this.address);
		response.setHeader("Content-Security-Policy", CSP);
		response.setHeader("X-Content-Type-Options", "nosniff");
		if (FILES[url.pathname]) {
			response.setHeader("Content-Type", FILES[url.pathname][1]);
			response.end(readFileSync(join(this.folder, FILES[url.pathname][0])));
		} else if (!this.authorized) {
			this.error(response, 401, "unauthorized", "The link has expired or was revoked.");
		} else if (request.method === "POST") {
			let text = "";
			request.on("data", (piece) => { text += piece; });
			request.on("end", () => this.post(request, response, url.pathname, text));
		} else {
			this.get(request, response, url);
		}
	}

	error(response, status, code, message) {
		this.json(response, { error: { code, message } }, status);
	}

	json(response, body, status = 200) {
		response.statusCode = status;
		response.setHeader("Content-Type", "application/json");
		response.setHeader("Cache-Control", "no-store");
		response.end(JSON.stringify(body));
	}

	get(request, response, url) {
		const pages = {
			"/api/me": this.me,
			"/api/sessions": this.sessions ?? [this.session],
			"/api/sessions/s1": this.session,
			"/api/sessions/s1/record": this.record,
			"/api/sessions/s1/changes": this.changes,
			"/api/invites": this.invites,
		};
		if (url.pathname === "/api/sessions/s1/events")
			this.stream(request, response, url);
		else if (pages[url.pathname])
			this.json(response, pages[url.pathname]);
		else
			this.error(response, 404, "not_found", `${url.pathname}: there is no such page`);
	}

	stream(request, response, url) {
		const after = Number(request.headers["last-event-id"] ?? url.searchParams.get("after") ?? 0);
		response.setHeader("Content-Type", "text/event-stream");
		response.write(": hello\n\n");
		const first = Math.max(after, this.oldest);
		if (first > after)
			this.write(response, { kind: "missed", message: { from: after + 1, to: first } });
		for (const event of this.events)
			if (event.last > first)
				this.write(response, event);
		this.streams.add(response);
		response.on("close", () => this.streams.delete(response));
	}

	post(request, response, path, text) {
		const name = path.replace(/^\/api\/(sessions\/s1\/|invites\/[^/]+\/)?/, "");
		let body;
		try {
			body = JSON.parse(text);
			if (request.headers["x-hasp"] !== "thekey")
				throw new Error(`${path}: no key`);
			if (request.headers["content-type"] !== "application/json" || request.headers.origin !== this.address)
				throw new Error(`${path}: type ${request.headers["content-type"]}, origin ${request.headers.origin}`);
			check(path, body, BODIES[name] ?? [[], []]);
			if (!BODIES[name])
				throw new Error(`${path}: there is no such path`);
			if (name === "answer") {
				const asked = this.events.findLast((event) => event.message?.correlationId === body.answer.correlationId && event.message.details);
				check(body.topic, body.answer, ANSWERS[body.topic] ?? [[], []]);
				if (asked?.message.shown !== body.answer.shown)
					throw new Error(`the answer is about ${body.answer.shown}`);
			}
		} catch (error) {
			this.problems.push(String(error));
			this.error(response, 400, "invalid_argument", String(error));
			return;
		}
		const refusal = this.refuse.get(name);
		if (refusal)
			this.error(response, ...refusal);
		else
			this.json(response, this.reply(name, body), name === "prompt" ? 202 : 200);
		const at = this.waiting.findIndex((one) => one.name === name);
		if (at >= 0)
			this.waiting.splice(at, 1)[0].done(body);
		else
			this.posts.push({ name, body });
	}

	reply(name, body) {
		if (name === "prompt")
			return body.text.startsWith("/") ? { kind: "command", ok: true, text: `Ran ${body.text}` } : { kind: "prompt" };
		if (name === "invite") {
			this.invites.push({ id: `i${this.invites.length}`, used: false, connected: false, groups: [], expires: "2026-11-30T12:00:00Z", ...body });
			return { id: `i${this.invites.length - 1}`, url: `${this.address}/?token=secret`, expires: "2026-11-30T12:00:00Z" };
		}
		return name === "sessions" ? { id: "s1" } : {};
	}
}
