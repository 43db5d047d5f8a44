// SPDX-License-Identifier: Apache-2.0
// The client of the official SDK, driven from outside: editor.py speaks the protocol's own messages with it, on
// standard input and output, and it makes the SDK say and hear the same.
//
//     node sdk_client.mjs '{"home": ..., "command": [...], "cwd": ...}'

import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import readline from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';

const chosen = JSON.parse(process.argv[2]);
const require = createRequire(chosen.home + '/');
const acp = await import(pathToFileURL(
	chosen.home + '/node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js'));

const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
const failed = (error) => ({ code: error.code ?? -32603, message: String(error.message ?? error), data: error.data });

const child = spawn(chosen.command[0], chosen.command.slice(1),
	{ cwd: chosen.cwd, stdio: ['pipe', 'pipe', 'inherit'] });
const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));

// The SDK has notifications handled a little later than what came after them.
const later = (message) => setImmediate(() => say(message));

// What the agent asks, by the number that it has here.
const asked = new Map();
let last = 0;
const ask = (method) => ({ params, signal }) => new Promise((resolve, reject) => {
	const id = 'sdk-' + ++last;
	asked.set(id, { resolve, reject });
	signal?.addEventListener('abort', () => {
		say({ method: '$/cancel_request', params: { requestId: id } });
		asked.delete(id);
		reject(acp.RequestError.requestCancelled());
	});
	later({ id, method, params });
});

const app = acp.client({ name: 'hasp-tests' });
for (const method of ['session/request_permission', 'fs/read_text_file', 'fs/write_text_file', 'elicitation/create',
	'terminal/create', 'terminal/output', 'terminal/release', 'terminal/wait_for_exit', 'terminal/kill'])
	app.onRequest(method, ask(method));
for (const method of ['session/update', 'elicitation/complete'])
	app.onNotification(method, ({ params }) => say({ method, params }));
const connection = app.connect(stream);

const requests = new Map();
readline.createInterface({ input: process.stdin }).on('line', (line) => {
	const { id, method, params, result, error } = JSON.parse(line);

	if (method === '$/cancel_request') {
		requests.get(params.requestId)?.abort();
	} else if (method && id !== undefined) {
		const controller = new AbortController();
		requests.set(id, controller);
		connection.agent.request(method, params, { cancellationSignal: controller.signal }).then(
			(answer) => later({ id, result: answer ?? {} }), (problem) => later({ id, error: failed(problem) }));
	} else if (method) {
		connection.agent.notify(method, params);
	} else {
		const { resolve, reject } = asked.get(id) ?? {};
		asked.delete(id);
		if (error)
			reject?.(new acp.RequestError(error.code, error.message));
		else
			resolve?.(result);
	}
}).on('close', () => child.stdin.end());
child.on('exit', (code, signal) => process.exit(signal ? 255 : code));
