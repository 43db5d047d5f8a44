// SPDX-License-Identifier: Apache-2.0
// Clients of the official SDK, driven from outside: commands in, answers and events out, as lines
// of JSON.  sdk.py is the other end.  One process has all clients of one major version, because
// loading the SDK costs more than most of what is tested with it.
//
//     node sdk_client.mjs '{"home": ..., "sdk": 1 | 2}'
//
// In:  {"client": 1, "open": {"mode": ..., "command": [...] | "url": ...}}
//      {"client": 1, "id": 1, "do": "call", "name": "read_file", "arguments": {...}}
// Out: {"client": 1, "id": 1, "result": ...} or {"client": 1, "id": 1, "error": {...}};
//      {"client": 1, "event": "...", ...} at any time

import { createRequire } from 'node:module';
import readline from 'node:readline';

const chosen = JSON.parse(process.argv[2]);
const require = createRequire(chosen.home + '/');

// What differs between the two major versions of the SDK.
const sdk1 = () => {
	const base = '@modelcontextprotocol/sdk/';
	const types = require(base + 'types.js');
	const schemas = {
		'elicitation/create': types.ElicitRequestSchema,
		'sampling/createMessage': types.CreateMessageRequestSchema,
		'roots/list': types.ListRootsRequestSchema,
		'notifications/resources/updated': types.ResourceUpdatedNotificationSchema,
		'notifications/resources/list_changed': types.ResourceListChangedNotificationSchema,
		'notifications/message': types.LoggingMessageNotificationSchema,
	};
	return {
		Client: require(base + 'client/index.js').Client,
		Stdio: require(base + 'client/stdio.js').StdioClientTransport,
		Http: require(base + 'client/streamableHttp.js').StreamableHTTPClientTransport,
		name: (method) => schemas[method],
		call: (client, params, more) => client.callTool(params, undefined, more),
	};
};
const sdk2 = () => ({
	Client: require('@modelcontextprotocol/client').Client,
	Stdio: require('@modelcontextprotocol/client/stdio').StdioClientTransport,
	Http: require('@modelcontextprotocol/client').StreamableHTTPClientTransport,
	name: (method) => method,
	call: (client, params, more) => client.callTool(params, more),
});
const sdk = chosen.sdk === 1 ? sdk1() : sdk2();

// One client with what it was told; connected when "connected" has been said.
async function open(number, options) {
	const say = (message) =>
		process.stdout.write(JSON.stringify({ client: number, ...message }) + '\n');
	let roots = options.roots ?? null;
	let answer = { action: 'decline' };
	let stream = null;
	let transport = null;

	const capabilities = { elicitation: {}, ...(roots ? { roots: { listChanged: true } } : {}) };
	const client = new sdk.Client(
		{ name: 'hasp-test', version: '1' },
		{ capabilities, ...(options.mode ? { versionNegotiation: { mode: options.mode } } : {}) });

	client.setRequestHandler(sdk.name('elicitation/create'), async (request) => {
		say({ event: 'elicitation', params: request.params });
		return answer ?? new Promise(() => {});
	});
	if (roots)
		client.setRequestHandler(sdk.name('roots/list'), async () => {
			say({ event: 'roots' });
			return { roots };
		});
	for (const method of ['notifications/resources/updated', 'notifications/resources/list_changed',
		'notifications/message'])
		client.setNotificationHandler(sdk.name(method), async (notification) =>
			say({ event: method, params: notification.params }));
	client.onerror = (error) => say({ event: 'error', message: String(error) });

	function connection() {
		if (options.url)
			return new sdk.Http(new URL(options.url), {
				requestInit: { headers: { Authorization: 'Bearer ' + options.token } },
			});
		const [command, ...args] = options.command;
		return new sdk.Stdio({
			command, args, cwd: options.cwd, env: options.env, stderr: 'inherit' });
	}

	function callOptions(id, command) {
		const more = { timeout: 120000 };
		if (command.progress)
			more.onprogress = (progress) => say({ event: 'progress', of: id, progress });
		if (command.abort_ms !== undefined) {
			const controller = new AbortController();
			setTimeout(() => controller.abort('not wanted any more'), command.abort_ms);
			more.signal = controller.signal;
		}
		return more;
	}

	async function watch(uris) {
		if (client.getProtocolEra?.() === 'modern') {
			stream = await client.listen({ resourceSubscriptions: uris, resourcesListChanged: true });
			return stream.honoredFilter;
		}
		for (const uri of uris)
			await client.subscribeResource({ uri });
		return {};
	}

	async function unwatch(uris) {
		if (stream) {
			await stream.close();
			stream = null;
			return {};
		}
		for (const uri of uris)
			await client.unsubscribeResource({ uri });
		return {};
	}

	const commands = {
		info: () => ({ server: client.getServerVersion(), capabilities: client.getServerCapabilities(),
			instructions: client.getInstructions(), session: transport.sessionId,
			era: client.getProtocolEra?.() ?? 'legacy',
			version: client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion }),
		tools: () => client.listTools(),
		call: ({ id, name, arguments: given, ...rest }) =>
			sdk.call(client, { name, arguments: given }, callOptions(id, rest)),
		resources: ({ cursor }) => client.listResources(cursor ? { cursor } : undefined),
		templates: () => client.listResourceTemplates(),
		read: ({ uri }) => client.readResource({ uri }),
		watch: ({ uris }) => watch(uris),
		unwatch: ({ uris }) => unwatch(uris),
		prompts: () => client.listPrompts(),
		prompt: ({ name, arguments: given }) => client.getPrompt({ name, arguments: given }),
		complete: ({ ref, argument }) => client.complete({ ref, argument }),
		ping: () => client.ping(),
		level: ({ level }) => client.setLoggingLevel(level),
		answer: ({ with: given }) => { answer = given; return {}; },
		roots: async ({ roots: given }) => {
			roots = given;
			await client.sendRootsListChanged();
			return {};
		},
		end: async () => {
			if (stream)
				await unwatch([]);
			if (options.url && transport.sessionId)
				await transport.terminateSession();
			await client.close();
			return {};
		},
	};

	async function obey(command) {
		try {
			say({ id: command.id, result: await commands[command.do](command) });
		} catch (error) {
			say({ id: command.id, error: { name: error.constructor.name, code: error.code,
				message: String(error.message), data: error.data } });
		}
	}

	try {
		transport = connection();
		await client.connect(transport);
		say({ event: 'connected' });
	} catch (error) {
		say({ event: 'failed', message: String(error.stack ?? error) });
	}
	return obey;
}

const clients = new Map(); // by number: promises of what obeys its commands
for await (const line of readline.createInterface({ input: process.stdin })) {
	const command = JSON.parse(line);
	if (command.open)
		clients.set(command.client, open(command.client, command.open));
	else
		clients.get(command.client).then((obey) => obey(command));
	if (command.do === 'end')
		clients.delete(command.client);
}
process.exit(0);
