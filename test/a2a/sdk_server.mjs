// SPDX-License-Identifier: Apache-2.0
// An A2A agent of the official SDK:
//     node sdk_server.mjs SDK-FOLDER VERSION [still] [rest]   VERSION: 1.0 or 0.3; still: it does not stream; rest: HTTP+JSON
// Prints its port, then a line of JSON for each request and for each task that begins or is cancelled.  What it does is the
// first word of the task: report, ask, rest, wait, say, fail, break (the connection, until a stream is asked for again); anything else is an answer to what it asked.
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';

const [folder, version, ...flags] = process.argv.slice(2);
const own = createRequire(`${folder}/node_modules/`);
const load = (name) => import(own.resolve(name).replace(/\.cjs$/, '.js'));
const { DefaultRequestHandler, InMemoryTaskStore, AgentEvent } = await load('@a2a-js/sdk/server');
const { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } = await load('@a2a-js/sdk/server/express');
const { TaskState, Role } = await load('@a2a-js/sdk');
const express = own('express');
const isV1 = version === '1.0';
const note = (what) => console.log(JSON.stringify(what));

// ---- what is published, in either version's form ----

const part = (text) =>
	isV1 ? { content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: 'text/plain' } : { kind: 'text', text };

const state = (name) => (isV1 ? TaskState[`TASK_STATE_${name.toUpperCase().replace('-', '_')}`] : name);

const message = (ids, text) => ({
	...(isV1 ? { role: Role.ROLE_AGENT, extensions: [], metadata: {}, referenceTaskIds: [] } : { kind: 'message', role: 'agent' }),
	messageId: randomUUID(),
	parts: [part(text)],
	...ids,
});

function events(bus, ids) {
	const publish = (kind, name, data) => bus.publish(isV1 ? AgentEvent[name](data) : { kind, ...data });
	const status = (name, text) => ({
		state: state(name),
		timestamp: new Date().toISOString(),
		message: text ? message(ids, text) : undefined,
	});
	return {
		task: (user) =>
			publish('task', 'task', {
				id: ids.taskId,
				contextId: ids.contextId,
				status: status('submitted'),
				artifacts: [],
				history: [user],
				metadata: {},
			}),
		status: (name, text, final = false) =>
			publish('status-update', 'statusUpdate', {
				...ids,
				status: status(name, text),
				metadata: {},
				...(isV1 ? {} : { final }),
			}),
		artifact: (text, append, lastChunk) =>
			publish('artifact-update', 'artifactUpdate', {
				...ids,
				artifact: { artifactId: 'a', name: 'report.md', description: '', parts: [part(text)], metadata: {}, extensions: [] },
				append,
				lastChunk,
				metadata: {},
			}),
		message: (text) => publish('message', 'message', message(isV1 ? { ...ids, taskId: '' } : { contextId: ids.contextId }, text)),
	};
}

// ---- what it does ----

const waiting = new Map();
let again;
const joined = new Promise((resolve) => (again = resolve));

class Executor {
	cancelTask = async (taskId) => {
		note({ cancelled: taskId });
		waiting.get(taskId)?.();
	};

	async execute(context, bus) {
		const ids = { taskId: context.taskId, contextId: context.contextId };
		const first = context.userMessage.parts[0];
		const text = isV1 ? first.content.value : first.text;
		const to = events(bus, ids);
		const word = context.task ? 'answer' : text.split(' ')[0];

		note({ task: ids, text, word });
		if (word !== 'say' && !context.task) to.task(context.userMessage);
		if (word === 'report') {
			to.status('working', 'Reading the files.');
			to.artifact('MANGO-', false, false);
			to.artifact('REPORT', true, true);
			to.status('completed', 'That is all.', true);
		} else if (word === 'ask') {
			to.status('input-required', 'Which colour?', true);
		} else if (word === 'rest') {
			to.status('working', 'MANGO-PART');
			to.status('input-required', undefined, true);
		} else if (word === 'wait') {
			to.status('working', 'Waiting.');
			await new Promise((resolve) => waiting.set(ids.taskId, resolve));
			to.status('canceled', 'Stopped.', true);
		} else if (word === 'break') {
			to.status('working', 'BREAK-HERE');
			await joined;
			to.artifact('MANGO', false, true);
			to.status('completed', 'After it.', true);
		} else if (word === 'say') {
			to.message('MANGO-MESSAGE');
		} else if (word === 'fail') {
			to.status('failed', 'The disk is full.', true);
		} else {
			to.status('completed', `The answer was ${text}.`, true);
		}
		bus.finished();
	}
}

// ---- the server ----

const app = express();
const server = app.listen(0, '127.0.0.1', () => {
	const { port } = server.address();
	const rest = flags.includes('rest');
	const url = `http://127.0.0.1:${port}/${rest ? 'rest' : 'rpc'}`;
	const card = {
		name: 'Far',
		description: 'An agent that is far.',
		version: '1.0.0',
		capabilities: { streaming: !flags.includes('still'), pushNotifications: false, extensions: [] },
		defaultInputModes: ['text'],
		defaultOutputModes: ['text'],
		skills: [],
		...(isV1
			? {
					supportedInterfaces: [{ url, protocolBinding: rest ? 'HTTP+JSON' : 'JSONRPC', tenant: '', protocolVersion: '1.0' }],
					securitySchemes: {},
					securityRequirements: [],
					signatures: [],
					provider: undefined,
					documentationUrl: '',
				}
			: { url, protocolVersion: '0.3.0', preferredTransport: 'JSONRPC' }),
	};
	const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new Executor());

	if (!rest) app.use(express.json());
	app.use((request, response, next) => {
		const write = response.write.bind(response);

		note({ request: request.method, path: request.path, headers: request.headers, body: request.body });
		if (/ubscribe/.test(request.path + request.body?.method))
			// The SDK listens to the task behind the first event that it writes.
			response.write = (...all) => {
				setTimeout(again, 100);
				return write(...all);
			};
		else
			response.write = (chunk, ...more) =>
				String(chunk).includes('BREAK-HERE') ? write(chunk, () => response.socket.destroy()) : write(chunk, ...more);
		next();
	});
	app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
	app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
	if (rest) app.use('/rest', restHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
	console.log(port);
});
