// SPDX-License-Identifier: Apache-2.0
// The whole extension in a VS Code that is played: node vscode_stub.mjs FOLDER.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

import { play } from './vscode_played.mjs';

const home = path.resolve(process.argv[2]);
const require = createRequire(path.join(home, 'package.json'));
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');

const played = play(['/w', '/v']);
const { vscode, context, commands, variables, logged, documents, group } = played;
played.show('/w/open.c', { line: 4, character: 2 }, 'chosen');
const extension = played.load(path.join(home, 'dist/extension.js'));
const folder = path.join(os.tmpdir(), 'gemini', 'ide');

const allowed = process.argv[3] !== 'strangers';
await extension.activate(context);
assert.equal(context.environmentVariableCollection.persistent, false);
const port = variables.get('GEMINI_CLI_IDE_SERVER_PORT'), token = variables.get('GEMINI_CLI_IDE_AUTH_TOKEN');
assert.equal(variables.get('GEMINI_CLI_IDE_WORKSPACE_PATH'), '/w:/v');
const file = path.join(folder, `gemini-ide-server-${process.ppid}-${port}.json`);
if (!allowed) {
	assert.ok(!fs.existsSync(file) && logged.some((text) => /Others can write|is not a folder/.test(text)), logged.join());
	process.exit();
}
assert.deepEqual(JSON.parse(fs.readFileSync(file, 'utf8')), { port: Number(port), workspacePath: '/w:/v', authToken: token,
	ideInfo: { name: 'vscode', displayName: 'Played' } });
assert.equal(fs.statSync(file).mode & 0o777, 0o600);
assert.equal(fs.statSync(folder).mode & 0o777, 0o700);

const client = new Client({ name: 'test', version: '1' });
const heard = [];
let wake = () => {};
client.fallbackNotificationHandler = async (one) => wake(heard.push(one));
const next = async (method) => {
	for (;;) {
		const at = heard.findIndex((one) => one.method === method);
		if (at >= 0) {
			return heard.splice(at, 1)[0].params;
		}
		await new Promise((resolve) => (wake = resolve));
	}
};
await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`),
	{ requestInit: { headers: { authorization: `Bearer ${token}` } } }));
const { workspaceState } = await next('ide/contextUpdate');
assert.equal(workspaceState.isTrusted, false);
const [{ timestamp, ...active }] = workspaceState.openFiles;
assert.ok(timestamp > 0);
assert.deepEqual(active, { path: '/w/open.c', isActive: true, cursor: { line: 5, character: 3 }, selectedText: 'chosen' });

const open = (filePath) => client.callTool({ name: 'openDiff', arguments: { filePath, newContent: 'proposed' } });
const last = () => documents.at(-1);

// Saved as the user changed it; then its tab is closed.
await open('/w/a');
last().text = 'mine';
await last().save();
assert.deepEqual(await next('ide/diffAccepted'), { filePath: '/w/a', content: 'mine' });
// Taken and rejected by the buttons, also while it is not saved; closed by the user.
await open('/w/b');
Object.assign(last(), { text: 'unsaved', isDirty: true });
await commands.get('hasp.accept')(last().uri);
assert.deepEqual(await next('ide/diffAccepted'), { filePath: '/w/b', content: 'unsaved' });
await open('/w/open.c');
await commands.get('hasp.reject')(last().uri);
assert.deepEqual(await next('ide/diffRejected'), { filePath: '/w/open.c' });
await open('/w/d');
await played.closeTabs();
assert.deepEqual(await next('ide/diffRejected'), { filePath: '/w/d' });
// Closed by the client, with what the user had typed.
await open('/w/e');
Object.assign(last(), { text: 'typed', isDirty: true });
const closed = await client.callTool({ name: 'closeDiff', arguments: { filePath: '/w/e', suppressNotification: true } });
assert.deepEqual(JSON.parse(closed.content[0].text), { content: 'typed' });
await new Promise((resolve) => setTimeout(resolve));
assert.deepEqual(heard.filter((one) => one.method !== 'ide/contextUpdate'), []);
assert.deepEqual(group.tabs, []);
// The diff of /w/open.c was closed, the file was not.
played.show('/w/other.c', { line: 0, character: 0 });
const files = (await next('ide/contextUpdate')).workspaceState.openFiles;
assert.deepEqual(files.map((one) => one.path), ['/w/other.c', '/w/open.c']);

await extension.deactivate();
assert.ok(!fs.existsSync(file));
console.log('played');
process.exit();
