// SPDX-License-Identifier: Apache-2.0
// The companion: an MCP server over HTTP on a port of loopback, as Gemini CLI's interface for editors
// says (docs/ide-integration/ide-companion-spec.md there).  Every request needs the token; one from a
// page of the web (an Origin, another Host) is refused.  Problems are listed as in Claude Code's protocol.
//
//     const companion = new Companion(editor, log);
//     const port = await companion.start();
//     companion.contextChanged();                  // after the user moved
//     companion.diffEnded(path, content);          // undefined: rejected
//     companion.problemsChanged(uris);
//     await companion.stop();
//
// The end of a diff is reported to the client that opened it, and to no other.
import { randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { IdeContext } from './files.js';

/** What the companion needs of an editor. */
export interface Editor {
	context(): IdeContext;
	/** Shows a diff of the file that the user can change and take; throws if it cannot. */
	openDiff(filePath: string, newContent: string): Promise<void>;
	/** Closes it without an answer; what its text was, or undefined: there is none. */
	closeDiff(filePath: string): Promise<string | undefined>;
	/** The problems of the file with this URI, or of all. */
	problems(uri: string | undefined): FileProblems[];
}

/** As Claude Code's protocol has them: lines and characters from 0. */
export interface FileProblems {
	uri: string;
	diagnostics: {
		message: string;
		severity: string;
		range: { start: Place; end: Place };
		source?: string;
		code?: string;
	}[];
}

interface Place {
	line: number;
	character: number;
}

const BODY_BYTES = 10 * 1024 * 1024;
const SESSIONS_MAX = 32;
const DEBOUNCE_MS = 50; // the specification's
const GONE_MS = 10_000; // a client without a stream for so long has ended

class Refusal extends Error {
	constructor(readonly status: number, message: string) {
		super(message);
	}
}

interface Session {
	transport: StreamableHTTPServerTransport;
	streams: number;
	gone?: NodeJS.Timeout | undefined;
}

export class Companion {
	readonly token = randomUUID();
	port = 0;
	private server: Server | undefined;
	private readonly sessions = new Map<string, Session>();
	private readonly diffs = new Map<string, string>(); // a file's path: the session that opened it
	private debounce: NodeJS.Timeout | undefined;

	constructor(private readonly editor: Editor, private readonly log: (text: string) => void = () => {}) {}

	async start(): Promise<number> {
		const server = createServer((request, response) => {
			this.handle(request, response).catch((error: unknown) => this.fail(response, error));
		});
		this.server = server;
		await new Promise<void>((resolve, reject) => {
			server.once('error', reject);
			server.listen(0, '127.0.0.1', resolve);
		});
		this.port = (server.address() as AddressInfo).port;
		return this.port;
	}

	async stop(): Promise<void> {
		clearTimeout(this.debounce);
		for (const id of [...this.sessions.keys()]) {
			await this.end(id);
		}
		const server = this.server;
		this.server = undefined;
		if (server) {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		}
	}

	/** Tells all clients, once things have been quiet for a moment. */
	contextChanged(): void {
		clearTimeout(this.debounce);
		this.debounce = setTimeout(() => {
			for (const id of this.sessions.keys()) {
				this.sendContext(id);
			}
		}, DEBOUNCE_MS);
	}

	/** The problems of these files are others now. */
	problemsChanged(uris: string[]): void {
		for (const id of this.sessions.keys()) {
			this.notify(id, 'diagnostics_changed', { uris });
		}
	}

	/** The user took a diff with this content, or (undefined) rejected it. */
	diffEnded(filePath: string, content: string | undefined): void {
		const id = this.diffs.get(filePath);
		this.diffs.delete(filePath);
		if (id === undefined) {
			return;
		}
		if (content === undefined) {
			this.notify(id, 'ide/diffRejected', { filePath });
		} else {
			this.notify(id, 'ide/diffAccepted', { filePath, content });
		}
	}

	private notify(id: string, method: string, params: Record<string, unknown>): void {
		this.sessions.get(id)?.transport.send({ jsonrpc: '2.0', method, params }).catch((error: unknown) => {
			this.log(`${method} was not sent: ${String(error)}`);
		});
	}

	private sendContext(id: string): void {
		this.notify(id, 'ide/contextUpdate', { ...this.editor.context() });
	}

	// ---- requests

	private fail(response: ServerResponse, error: unknown): void {
		const status = error instanceof Refusal ? error.status : 500;
		this.log(`${status}: ${String(error)}`);
		if (response.headersSent) {
			response.destroy();
			return;
		}
		const message = error instanceof Refusal ? error.message : 'The request failed.';
		response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
		response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }));
	}

	private check(request: IncomingMessage): void {
		const hosts = [`127.0.0.1:${this.port}`, `localhost:${this.port}`];
		if (request.headers.origin !== undefined || !hosts.includes(request.headers.host ?? '')) {
			throw new Refusal(403, 'Only programs of this machine may ask.');
		}
		const given = Buffer.from(request.headers.authorization ?? '');
		const known = Buffer.from(`Bearer ${this.token}`);
		if (given.length !== known.length || !timingSafeEqual(given, known)) {
			throw new Refusal(401, 'The token is missing or wrong.');
		}
		if (request.url !== '/mcp') {
			throw new Refusal(404, 'The only path is /mcp.');
		}
	}

	private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
		this.check(request);
		const body = request.method === 'POST' ? await readBody(request) : undefined;
		const id = request.headers['mcp-session-id'];
		let session = typeof id === 'string' ? this.sessions.get(id) : undefined;
		if (typeof id === 'string' && !session) {
			throw new Refusal(404, 'There is no such session.');
		}
		if (!session) {
			if (!isInitializeRequest(body)) {
				throw new Refusal(400, 'The first request must be initialize.');
			}
			session = await this.open();
		}
		if (request.method === 'GET') {
			this.watch(String(id), session, response);
		}
		await session.transport.handleRequest(request, response, body);
	}

	/** A client's stream begins with the context; when it has been closed for a while, the client has ended. */
	private watch(id: string, session: Session, response: ServerResponse): void {
		const writeHead = response.writeHead.bind(response) as (...rest: unknown[]) => ServerResponse;
		response.writeHead = ((...rest: unknown[]) => {
			setImmediate(() => this.sendContext(id));
			return writeHead(...rest);
		}) as typeof response.writeHead;
		session.streams++;
		clearTimeout(session.gone);
		response.once('close', () => {
			session.streams--;
			if (!session.streams && this.sessions.has(id)) {
				this.expire(id, session);
			}
		});
	}

	private expire(id: string, session: Session): void {
		session.gone = setTimeout(() => void this.end(id), GONE_MS);
		session.gone.unref();
	}

	// ---- sessions

	private async open(): Promise<Session> {
		if (this.sessions.size >= SESSIONS_MAX) {
			throw new Refusal(503, 'Too many clients are connected.');
		}
		const id = randomUUID();
		const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => id });
		const session: Session = { transport, streams: 0 };
		this.sessions.set(id, session);
		this.expire(id, session);
		// The SDK's class is not declared for exactOptionalPropertyTypes.
		await this.tools(id).connect(transport as Transport);
		const closed = transport.onclose;
		transport.onclose = () => {
			closed?.();
			void this.end(id);
		};
		return session;
	}

	private async end(id: string): Promise<void> {
		const session = this.sessions.get(id);
		if (!session) {
			return;
		}
		this.sessions.delete(id);
		clearTimeout(session.gone);
		for (const [filePath, owner] of [...this.diffs]) {
			if (owner === id) {
				this.diffs.delete(filePath);
				await this.editor.closeDiff(filePath);
			}
		}
		await session.transport.close();
	}

	private tools(id: string): McpServer {
		const server = new McpServer({ name: 'hasp-companion', version: '1.0.0' }, { capabilities: { logging: {} } });
		server.registerTool('openDiff', {
			description: 'Opens a diff of a file. How it ends is a notification.',
			inputSchema: { filePath: z.string().startsWith('/'), newContent: z.string() },
		}, async ({ filePath, newContent }) => {
			const owner = this.diffs.get(filePath);
			if (owner !== undefined && owner !== id) {
				return failure(`Another program shows a diff of ${filePath}.`);
			}
			this.diffs.set(filePath, id);
			try {
				await this.editor.openDiff(filePath, newContent);
			} catch (error) {
				this.diffs.delete(filePath);
				return failure(`The diff cannot be opened: ${String(error)}`);
			}
			return { content: [] };
		});
		server.registerTool('closeDiff', {
			description: 'Closes the diff of a file; its content is in the result.',
			inputSchema: { filePath: z.string(), suppressNotification: z.boolean().optional() },
		}, async ({ filePath, suppressNotification }) => {
			if (this.diffs.get(filePath) !== id) {
				return failure(`No diff of ${filePath} is open.`);
			}
			this.diffs.delete(filePath);
			const content = await this.editor.closeDiff(filePath);
			if (!suppressNotification) {
				this.notify(id, 'ide/diffRejected', { filePath });
			}
			return { content: [{ type: 'text', text: JSON.stringify({ content: content ?? null }) }] };
		});
		server.registerTool('getDiagnostics', {
			description: 'Lists the problems of a file, or of all.',
			inputSchema: { uri: z.string().optional() },
		}, ({ uri }) => ({ content: [{ type: 'text', text: JSON.stringify(this.editor.problems(uri)) }] }));
		return server;
	}
}

function failure(text: string) {
	return { isError: true, content: [{ type: 'text' as const, text }] };
}

async function readBody(request: IncomingMessage): Promise<unknown> {
	const parts: Buffer[] = [];
	let bytes = 0;
	for await (const part of request as AsyncIterable<Buffer>) {
		bytes += part.length;
		if (bytes > BODY_BYTES) {
			throw new Refusal(413, 'The request is larger than 10 MiB.');
		}
		parts.push(part);
	}
	try {
		return JSON.parse(Buffer.concat(parts).toString('utf8')) as unknown;
	} catch {
		throw new Refusal(400, 'The request is not JSON.');
	}
}
