// SPDX-License-Identifier: Apache-2.0
// The whole extension in a VS Code that is played: node vscode_stub.mjs FOLDER.  What the types of VS Code's
// API require, tsc has checked; here is what happens.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import Module, { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

const home = path.resolve(process.argv[2]);
const require = createRequire(path.join(home, 'package.json'));
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');

const disposable = { dispose() {} };
const event = () => disposable;
const commands = new Map(), variables = new Map(), logged = [], subscriptions = [];
let tabsChanged;

class Uri {
	constructor(parts) {
		Object.assign(this, { scheme: 'file', query: '' }, parts);
	}
	static file = (name) => new Uri({ path: name });
	static from = (parts) => new Uri(parts);
	get fsPath() {
		return this.path;
	}
	with(parts) {
		return new Uri({ ...this, ...parts });
	}
	toString() {
		return `${this.scheme}:${this.path}?${this.query}`;
	}
}

class TabInputTextDiff {
	constructor(original, modified) {
		Object.assign(this, { original, modified });
	}
}

const group = { tabs: [] };
const documents = [];
let provider;
const vscode = {
	Uri, TabInputTextDiff,
	Disposable: class {
		static from = () => disposable;
	},
	EventEmitter: class {
		event = event;
		fire() {}
	},
	FileType: { File: 1 }, FilePermission: { Readonly: 1 }, FileChangeType: { Changed: 1 },
	FileSystemError: { FileNotFound: (uri) => new Error(`no ${uri}`), NoPermissions: (uri) => new Error(`${uri}`) },
	env: { appName: 'Played' },
	commands: {
		registerCommand: (name, run) => commands.set(name, run) && disposable,
		async executeCommand(name, original, modified) {
			assert.equal(name, 'vscode.diff');
			group.tabs.push({ input: new TabInputTextDiff(original, modified) });
			const document = { uri: modified, text: Buffer.from(provider.readFile(modified)).toString(), isDirty: false,
				getText: () => document.text, async save() {
					document.isDirty = false;
					provider.writeFile(modified, Buffer.from(document.text));
				} };
			documents.push(document);
		},
	},
	window: {
		tabGroups: { all: [group], onDidChangeTabs: (run) => (tabsChanged = run) && disposable,
			async close(tabs) {
				group.tabs = group.tabs.filter((tab) => !tabs.includes(tab));
				tabsChanged({ closed: tabs });
			} },
		activeTextEditor: { document: { uri: Uri.file('/w/open.c'), getText: () => 'chosen' },
			selection: { active: { line: 4, character: 2 } } },
		onDidChangeActiveTextEditor: event, onDidChangeTextEditorSelection: event,
		createOutputChannel: () => ({ info: (text) => logged.push(text), warn: (text) => logged.push(text), ...disposable }),
	},
	workspace: {
		isTrusted: false, textDocuments: documents, workspaceFolders: [{ uri: Uri.file('/w') }, { uri: Uri.file('/v') }],
		registerFileSystemProvider: (_, one) => (provider = one) && disposable, asRelativePath: (uri) => uri.path,
		fs: { stat: async () => assert.fail('there is no such file') },
		onDidCloseTextDocument: event, onDidDeleteFiles: event, onDidRenameFiles: event,
		onDidChangeWorkspaceFolders: event, onDidGrantWorkspaceTrust: event,
	},
};

const load = Module._load;
Module._load = (name, ...rest) => (name === 'vscode' ? vscode : load(name, ...rest));
const extension = require(path.join(home, 'dist/extension.js'));
const folder = path.join(os.tmpdir(), 'gemini', 'ide');

const context = { subscriptions, environmentVariableCollection: { replace: (name, value) => variables.set(name, value) } };
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
await open('/w/c');
await commands.get('hasp.reject')(last().uri);
assert.deepEqual(await next('ide/diffRejected'), { filePath: '/w/c' });
await open('/w/d');
await vscode.window.tabGroups.close([...group.tabs]);
assert.deepEqual(await next('ide/diffRejected'), { filePath: '/w/d' });
// Closed by the client, with what the user had typed.
await open('/w/e');
Object.assign(last(), { text: 'typed', isDirty: true });
const closed = await client.callTool({ name: 'closeDiff', arguments: { filePath: '/w/e', suppressNotification: true } });
assert.deepEqual(JSON.parse(closed.content[0].text), { content: 'typed' });
await new Promise((resolve) => setTimeout(resolve));
assert.deepEqual(heard, []);
assert.deepEqual(group.tabs, []);

await extension.deactivate();
assert.ok(!fs.existsSync(file));
console.log('played');
process.exit();
