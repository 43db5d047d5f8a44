// SPDX-License-Identifier: Apache-2.0
// A VS Code that is played, as far as companions use it: `vscode` is the module, the rest is what a user does.  What the types of VS
// Code's API require, tsc has checked.
//     const played = play(['/w']);                 // with these folders open
//     const extension = played.load('dist/extension.js');
//     await extension.activate(played.context);
//     played.show('/w/a.c', { line: 5, character: 3 }, 'chosen');
//     played.diffs()                               // the diffs that are open: { path, text }
//     await played.take('/w/a.c', 'mine');         // the user changes the proposed side, and takes it
import assert from 'node:assert/strict';
import fs from 'node:fs';
import Module, { createRequire } from 'node:module';

class Uri {
	constructor(parts) {
		Object.assign(this, { scheme: 'file', query: '' }, parts);
	}
	static file = (name) => new Uri({ path: name });
	static from = (parts) => new Uri(parts);
	static parse(text) {
		const [, scheme, path, query] = /^([^:]*):([^?]*)\??(.*)$/.exec(text);
		return new Uri({ scheme, path, query });
	}
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

class EventEmitter {
	listeners = [];
	event = (run) => this.listeners.push(run) && disposable;
	fire(value) {
		this.listeners.forEach((run) => run(value));
	}
}

const disposable = { dispose() {} };
const empty = () => disposable;

export function play(folders) {
	const commands = new Map(), variables = new Map(), logged = [], subscriptions = [], memory = new Map();
	const documents = [], group = { tabs: [] }, systems = new Map(), contents = new Map();
	const events = Object.fromEntries(['tabs', 'closed', 'active', 'selection'].map((name) => [name, new EventEmitter()]));

	function read(uri) {
		return systems.has(uri.scheme) ? Buffer.from(systems.get(uri.scheme).readFile(uri)).toString() :
			contents.has(uri.scheme) ? contents.get(uri.scheme).provideTextDocumentContent(uri) : '';
	}
	async function openTextDocument(uri) {
		let document = documents.find((one) => one.uri.toString() === uri.toString());
		if (!document) {
			document = { uri, text: read(uri), isDirty: false, getText: () => document.text, async save() {
				document.isDirty = false;
				systems.get(uri.scheme).writeFile(uri, Buffer.from(document.text));
			} };
			documents.push(document);
		}
		return document;
	}
	const log = { info: (text) => logged.push(text), warn: (text) => logged.push(text), appendLine: (text) => logged.push(text), show() {},
		...disposable };
	const context = { subscriptions, extensionUri: Uri.file('/'), extensionMode: 1, extension: { packageJSON: { version: '99.0.0' } },
		globalState: { get: (name) => memory.get(name), update: async (name, value) => memory.set(name, value) },
		environmentVariableCollection: { replace: (name, value) => variables.set(name, value), clear: () => variables.clear() } };
	const vscode = {
		Uri, TabInputTextDiff, EventEmitter,
		Disposable: class {
			static from = () => disposable;
		},
		ExtensionMode: { Production: 1, Development: 2, Test: 3 },
		FileType: { File: 1 }, FilePermission: { Readonly: 1 }, FileChangeType: { Changed: 1 },
		FileSystemError: { FileNotFound: (uri) => new Error(`no ${uri}`), NoPermissions: (uri) => new Error(`${uri}`) },
		TextEditorSelectionChangeKind: { Mouse: 2 },
		env: { appName: 'Played' },
		commands: {
			registerCommand: (name, run) => commands.set(name, run) && disposable,
			async executeCommand(name, original, modified) {
				if (name === 'vscode.diff') {
					group.tabs.push({ input: new TabInputTextDiff(original, modified) });
					await openTextDocument(modified);
				} else {
					assert.ok(['setContext', 'workbench.action.files.setActiveEditorWriteableInSession'].includes(name), name);
				}
			},
		},
		window: {
			tabGroups: { all: [group], onDidChangeTabs: events.tabs.event, async close(given) {
				const tabs = Array.isArray(given) ? given : [given];
				group.tabs = group.tabs.filter((tab) => !tabs.includes(tab));
				events.tabs.fire({ closed: tabs });
				for (const tab of tabs) {
					const at = documents.findIndex((one) => one.uri.toString() === tab.input.modified.toString());
					at >= 0 && events.closed.fire(documents.splice(at, 1)[0]);
				}
			} },
			activeTextEditor: undefined,
			onDidChangeActiveTextEditor: events.active.event, onDidChangeTextEditorSelection: events.selection.event,
			createOutputChannel: () => log, showInformationMessage: async () => undefined,
		},
		workspace: {
			isTrusted: false, textDocuments: documents, workspaceFolders: folders.map((name) => ({ uri: Uri.file(name), name })),
			registerFileSystemProvider: (scheme, one) => systems.set(scheme, one) && disposable,
			registerTextDocumentContentProvider: (scheme, one) => contents.set(scheme, one) && disposable,
			asRelativePath: (uri) => uri.path, openTextDocument,
			getConfiguration: () => ({ get: (_name, otherwise) => otherwise }),
			fs: { stat: async (uri) => fs.statSync(uri.path) },
			onDidCloseTextDocument: events.closed.event, onDidDeleteFiles: empty, onDidRenameFiles: empty, onDidChangeWorkspaceFolders: empty,
			onDidGrantWorkspaceTrust: empty,
		},
	};
	const shown = (path) => group.tabs.map((tab) => tab.input.modified).find((uri) => uri.path === path);

	return {
		vscode, context, commands, variables, logged, documents, group,
		load(file) {
			const load = Module._load;
			Module._load = (name, ...rest) => (name === 'vscode' ? vscode : load(name, ...rest));
			return createRequire(file)(file);
		},
		show(path, active, text = '') {
			const editor = { document: { uri: Uri.file(path), getText: () => text }, selection: { active, start: active, end: active } };
			vscode.window.activeTextEditor = editor;
			events.active.fire(editor);
			events.selection.fire({ textEditor: editor });
		},
		diffs: () => group.tabs.map((tab) => documents.find((one) => one.uri.toString() === tab.input.modified.toString()))
			.map((one) => ({ path: one.uri.path, text: one.text })),
		async take(path, text, command) {
			const uri = shown(path), document = documents.find((one) => one.uri.toString() === uri.toString());
			if (text !== undefined)
				Object.assign(document, { text, isDirty: true });
			await commands.get(command)(uri);
		},
		reject: (path, command) => commands.get(command)(shown(path)),
		closeTabs: () => vscode.window.tabGroups.close([...group.tabs]),
	};
}
