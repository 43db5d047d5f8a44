// SPDX-License-Identifier: Apache-2.0
// A client of the official SDK:
//     node sdk_client.mjs SDK-FOLDER VERSION BINDING ORIGIN TOKEN WEBHOOK      BINDING: JSONRPC, HTTP+JSON
// Does all that a server can be asked for, and prints one JSON object of what came: names, states, texts.  What the
// server's model does is the first word of a message: hello, wait.
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';

const [folder, version, binding, origin, token, webhook] = process.argv.slice(2);
const own = createRequire(`${folder}/node_modules/`);
const load = (name) => import(own.resolve(name).replace(/\.cjs$/, '.js'));
const { ClientFactory, JsonRpcTransportFactory, RestTransportFactory, ...errors } = await load('@a2a-js/sdk/client');
const { TaskState, Role } = await load('@a2a-js/sdk');
const isV1 = version === '1.0';

const fetchImpl = (url, init = {}) => {
	const headers = new Headers(init.headers);
	headers.set('Authorization', `Bearer ${token}`);
	return fetch(url, { ...init, headers });
};
const factory = new ClientFactory({
	transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
	preferredTransports: [binding],
});
const client = await factory.createFromUrl(origin);

// ---- both versions' forms ----

const part = (text) =>
	isV1 ? { content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: 'text/plain' } : { kind: 'text', text };
const message = (text, ids = {}) => ({
	...(isV1
		? { role: Role.ROLE_USER, extensions: [], metadata: {}, referenceTaskIds: [], taskId: '', contextId: '' }
		: { kind: 'message', role: 'user' }),
	messageId: randomUUID(),
	parts: [part(text)],
	...ids,
});
const params = (text, ids, configuration) =>
	isV1
		? {
				tenant: '',
				message: message(text, ids),
				configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: false, ...configuration },
				metadata: {},
			}
		: { message: message(text, ids), configuration: { blocking: !configuration?.returnImmediately } };
const state = (value) => (isV1 ? TaskState[value].replace('TASK_STATE_', '').toLowerCase().replace('_', '-') : value);
const texts = (parts) => (parts ?? []).map((one) => (isV1 ? one.content?.value : one.text)).filter((one) => typeof one === 'string').join('');

// {kind, state?, text?}
function event(one) {
	const kind = isV1 ? one.payload.$case : { task: 'task', 'status-update': 'statusUpdate', 'artifact-update': 'artifactUpdate' }[one.kind];
	const value = isV1 ? one.payload.value : one;
	if (kind === 'artifactUpdate') return { kind, text: texts(value.artifact.parts), name: value.artifact.artifactId };
	return { kind, state: state(value.status.state), text: texts(value.status.message?.parts) };
}
const taskOf = (one) => (isV1 ? (one.payload.$case === 'task' ? one.payload.value : one.payload.value) : one);
const idsOf = (one) => ({ taskId: taskOf(one).taskId ?? taskOf(one).id, contextId: taskOf(one).contextId });
async function all(stream, each) {
	const events = [];
	for await (const one of stream) {
		events.push(event(one));
		await each?.(one, events);
	}
	return events;
}
const by = (id, more) => (isV1 ? { tenant: '', id, ...more } : { id, ...more });
const failed = (promise) => promise.then(() => 'nothing', (error) => error.constructor.name);

// ---- what is asked ----

const found = { binding: client.transport.protocolName, version: client.protocolVersion };

const sent = await client.sendMessage(params('hello world'));
found.sent = { state: state(sent.status.state), text: texts(sent.status.message?.parts), history: sent.history.length };
found.got = state((await client.getTask(by(sent.id))).status.state);
found.streamed = await all(client.sendMessageStream(params('hello stream')));
found.again = state((await client.sendMessage(params('hello again', { contextId: sent.contextId }))).status.state);
found.missing = await failed(client.getTask(by('no-such-task')));
found.over = await failed(client.cancelTask(by(sent.id)));

// Cancelled while it streams, which another stream follows.
const waiting = await client.sendMessage(params('wait', {}, { returnImmediately: true }));
const followed = all(client.resubscribeTask(by(waiting.id)));
found.waiting = state(waiting.status.state);
found.canceled = state((await client.cancelTask(by(waiting.id, isV1 ? { metadata: {} } : {}))).status.state);
found.followed = (await followed).map(({ kind, state }) => ({ kind, state }));

if (isV1) {
	const list = await client.listTasks({ tenant: '', contextId: sent.contextId, status: 0, pageToken: '', statusTimestampAfter: undefined });
	found.listed = { total: list.totalSize, states: list.tasks.map((one) => state(one.status.state)) };
}

// Push notifications: of a task that goes on after they were asked for.
const pushed = await client.sendMessage(params('wait', {}, { returnImmediately: true }));
const config = isV1
	? { tenant: '', id: 'one', taskId: pushed.id, url: webhook, token: 'shared', authentication: undefined }
	: { taskId: pushed.id, pushNotificationConfig: { id: 'one', url: webhook, token: 'shared' } };
const address = (one) => (isV1 ? one.url : one.pushNotificationConfig.url);
const which = isV1 ? { tenant: '', taskId: pushed.id, id: 'one' } : { id: pushed.id, pushNotificationConfigId: 'one' };
found.push = {
	made: address(await (isV1 ? client.createTaskPushNotificationConfig(config) : client.setTaskPushNotificationConfig(config))),
	got: address(await client.getTaskPushNotificationConfig(which)),
	listed: await client
		.listTaskPushNotificationConfig(isV1 ? { tenant: '', taskId: pushed.id, pageSize: 10, pageToken: '' } : { id: pushed.id })
		.then((list) => (isV1 ? list.configs : list).length),
};
await client.cancelTask(by(pushed.id, isV1 ? { metadata: {} } : {}));
await client.deleteTaskPushNotificationConfig(which);
found.push.left = await client
	.listTaskPushNotificationConfig(isV1 ? { tenant: '', taskId: pushed.id, pageSize: 10, pageToken: '' } : { id: pushed.id })
	.then((list) => (isV1 ? list.configs : list).length);
console.log(JSON.stringify({ ...found, pushedTask: pushed.id }));
