// SPDX-License-Identifier: Apache-2.0
// The extension's server with an editor that is played, and clients of the official SDK: node
// vscode_companion.mjs FOLDER, where FOLDER is what script/lib/vsix.py has built.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import http from 'node:http';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const home = path.resolve(process.argv[2]);
const require = createRequire(path.join(home, 'package.json'));
const load = (name) => import(pathToFileURL(name.startsWith('/') ? name : require.resolve(name)).href);
const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js');
const { Companion } = await load(path.join(home, 'dist/companion.mjs'));
const { OpenFiles } = await load(path.join(home, 'dist/files.mjs'));

class PlayedEditor {
	open = new Map();
	files = new OpenFiles();
	context() {
		return this.files.context(true);
	}
	async openDiff(filePath, newContent) {
		if (filePath.endsWith('unopenable')) {
			throw new Error('no such place');
		}
		this.open.set(filePath, newContent);
	}
	problems(uri) {
		return this.listed.filter((one) => uri === undefined || one.uri === uri);
	}
	listed = [];
	async closeDiff(filePath) {
		const text = this.open.get(filePath);
		this.open.delete(filePath);
		this.closed?.(filePath);
		return text;
	}
}

// A client that keeps the notifications; `next(method)` waits for one.
async function connect(companion, token = companion.token) {
	const client = new Client({ name: 'test', version: '1' });
	const heard = [], waiting = [];
	client.fallbackNotificationHandler = async (notification) => {
		heard.push(notification);
		waiting.splice(0).forEach((wake) => wake());
	};
	client.next = async (method) => {
		for (;;) {
			const at = heard.findIndex((one) => one.method === method);
			if (at >= 0) {
				return heard.splice(at, 1)[0].params;
			}
			await new Promise((wake) => waiting.push(wake));
		}
	};
	client.heard = heard;
	const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${companion.port}/mcp`),
		{ requestInit: { headers: { authorization: `Bearer ${token}` } } });
	await client.connect(transport);
	client.leave = async () => {
		await transport.terminateSession();
		await client.close();
	};
	client.tool = (name, args) => client.callTool({ name, arguments: args });
	return client;
}

function post(companion, headers, body, where = '/mcp') {
	return new Promise((resolve, reject) => {
		const request = http.request({ port: companion.port, host: '127.0.0.1', path: where, method: 'POST', headers: {
			'content-type': 'application/json', accept: 'application/json, text/event-stream',
			authorization: `Bearer ${companion.token}`, ...headers } }, (response) => {
			response.resume().on('end', () => resolve(response.statusCode));
		});
		request.on('error', reject);
		request.end(body);
	});
}

const tests = {
	async 'the context comes with the stream, and when it changes'(companion, editor) {
		editor.files.focus('/w/a.c', 1);
		const client = await connect(companion);
		let { workspaceState } = await client.next('ide/contextUpdate');
		assert.deepEqual(workspaceState, { openFiles: [{ path: '/w/a.c', timestamp: 1, isActive: true }], isTrusted: true });
		editor.files.focus('/w/b.c', 2);
		editor.files.select('/w/b.c', { line: 3, character: 4 }, 'x'.repeat(20000));
		companion.contextChanged();
		({ workspaceState } = await client.next('ide/contextUpdate'));
		assert.equal(workspaceState.openFiles[0].selectedText.length, 16384);
		assert.deepEqual(workspaceState.openFiles[1], { path: '/w/a.c', timestamp: 1 });
		await client.leave();
	},
	async 'at most ten files are named, closed ones are not, and renamed ones by their names'(_, editor) {
		for (let i = 0; i < 30; i++) {
			editor.files.focus(`/w/${i}`, i);
		}
		editor.files.close('/w/29');
		editor.files.rename('/w/28', '/w/new');
		const { openFiles } = editor.context().workspaceState;
		assert.equal(openFiles.length, 9);
		assert.equal(openFiles[0].path, '/w/new');
		assert.ok(!openFiles.some((file) => file.isActive));
	},
	async 'a diff is opened, and taken as the user made it'(companion, editor) {
		const client = await connect(companion);
		assert.deepEqual((await client.listTools()).tools.map((tool) => tool.name), ['openDiff', 'closeDiff', 'getDiagnostics']);
		assert.deepEqual((await client.tool('openDiff', { filePath: '/w/a', newContent: 'new' })).content, []);
		assert.equal(editor.open.get('/w/a'), 'new');
		companion.diffEnded('/w/a', 'edited');
		assert.deepEqual(await client.next('ide/diffAccepted'), { filePath: '/w/a', content: 'edited' });
		await client.tool('openDiff', { filePath: '/w/a', newContent: 'new' });
		companion.diffEnded('/w/a', undefined);
		assert.deepEqual(await client.next('ide/diffRejected'), { filePath: '/w/a' });
		await client.leave();
	},
	async 'a client closes its diff and gets the text'(companion) {
		const client = await connect(companion);
		await client.tool('openDiff', { filePath: '/w/a', newContent: 'new' });
		const result = await client.tool('closeDiff', { filePath: '/w/a', suppressNotification: true });
		assert.deepEqual(JSON.parse(result.content[0].text), { content: 'new' });
		assert.ok((await client.tool('closeDiff', { filePath: '/w/a' })).isError);
		await client.leave();
	},
	async 'problems are listed, and announced to all'(companion, editor) {
		const first = await connect(companion), second = await connect(companion);
		editor.listed = [{ uri: 'file:///w/a', diagnostics: [{ message: 'x' }] }, { uri: 'file:///w/b', diagnostics: [] }];
		const list = async (args) => JSON.parse((await first.tool('getDiagnostics', args)).content[0].text);
		assert.deepEqual(await list({}), editor.listed);
		assert.deepEqual(await list({ uri: 'file:///w/a' }), editor.listed.slice(0, 1));
		companion.problemsChanged(['file:///w/a']);
		for (const client of [first, second]) {
			assert.deepEqual(await client.next('diagnostics_changed'), { uris: ['file:///w/a'] });
			await client.leave();
		}
	},
	async 'what cannot be opened is an error'(companion) {
		const client = await connect(companion);
		for (const filePath of ['/w/unopenable', 'relative']) {
			assert.ok((await client.tool('openDiff', { filePath, newContent: '' })).isError);
		}
		await client.leave();
	},
	async 'a diff is its own client’s, and ends with it'(companion, editor) {
		const first = await connect(companion), second = await connect(companion);
		await first.tool('openDiff', { filePath: '/w/a', newContent: 'new' });
		assert.ok((await second.tool('openDiff', { filePath: '/w/a', newContent: 'other' })).isError);
		assert.ok((await second.tool('closeDiff', { filePath: '/w/a' })).isError);
		companion.diffEnded('/w/a', 'secret');
		await first.next('ide/diffAccepted');
		assert.ok(!second.heard.some((one) => one.method === 'ide/diffAccepted'));
		await first.tool('openDiff', { filePath: '/w/b', newContent: 'new' });
		const closed = new Promise((resolve) => (editor.closed = resolve));
		await first.leave();
		assert.equal(await closed, '/w/b');
		await second.leave();
	},
	async 'strangers are refused'(companion) {
		const { port } = companion;
		await assert.rejects(connect(companion, 'wrong'));
		const hello = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {
			protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } } });
		assert.equal(await post(companion, {}, hello), 200);
		assert.equal(await post(companion, { authorization: '' }, hello), 401);
		assert.equal(await post(companion, { authorization: 'Bearer' }, hello), 401);
		assert.equal(await post(companion, { origin: `http://127.0.0.1:${port}` }, hello), 403);
		assert.equal(await post(companion, { host: `rebound.example:${port}` }, hello), 403);
		assert.equal(await post(companion, {}, hello, '/other'), 404);
		assert.equal(await post(companion, { 'mcp-session-id': 'none' }, hello), 404);
		assert.equal(await post(companion, {}, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'), 400);
		assert.equal(await post(companion, {}, '{'), 400);
		assert.equal(await post(companion, {}, ' '.repeat(11 << 20)).catch(() => 413), 413);
		for (let i = 1; i < 32; i++) {
			assert.equal(await post(companion, {}, hello), 200);
		}
		assert.equal(await post(companion, {}, hello), 503);
	},
};

for (const [name, test] of Object.entries(tests)) {
	const editor = new PlayedEditor();
	const companion = new Companion(editor);
	await companion.start();
	await test(companion, editor).catch((error) => {
		console.error(`${name}: ${error.stack}`);
		process.exitCode = 1;
	});
	await companion.stop();
}
console.log(`${Object.keys(tests).length} tests`);
process.exit();
