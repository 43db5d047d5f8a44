// SPDX-License-Identifier: Apache-2.0
// The extension: starts the companion, says in the terminals' environment and in a file where it is, and
// reports what the user looks at.
import * as path from 'node:path';
import * as vscode from 'vscode';
import { Companion } from './companion.js';
import { Diffs } from './diffs.js';
import { OpenFiles } from './files.js';
import { PortFile } from './portfile.js';

let companion: Companion | undefined;
let portFile: PortFile | undefined;

function folders(): string {
	return (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath).join(path.delimiter);
}

/** Says where the companion is, for terminals that are opened from now on and for those that search. */
function announce(context: vscode.ExtensionContext, log: vscode.LogOutputChannel): void {
	if (!companion || !portFile) {
		return;
	}
	const variables = context.environmentVariableCollection;
	variables.persistent = false; // the token ends with this window
	variables.replace('GEMINI_CLI_IDE_SERVER_PORT', String(companion.port));
	variables.replace('GEMINI_CLI_IDE_WORKSPACE_PATH', folders());
	variables.replace('GEMINI_CLI_IDE_AUTH_TOKEN', companion.token);
	try {
		portFile.write({
			port: companion.port, workspacePath: folders(), authToken: companion.token,
			ideInfo: { name: 'vscode', displayName: vscode.env.appName },
		});
	} catch (error) {
		log.warn(`Only terminals of this window find the companion: ${String(error)}`);
	}
}

/** Follows files, cursor and selection. */
function follow(files: OpenFiles, changed: () => void): vscode.Disposable {
	const isFile = (uri: vscode.Uri) => uri.scheme === 'file';
	const select = (editor: vscode.TextEditor) => {
		const { active } = editor.selection;
		files.select(editor.document.uri.fsPath, { line: active.line + 1, character: active.character + 1 },
			editor.document.getText(editor.selection));
	};
	const focus = (editor: vscode.TextEditor | undefined) => {
		if (editor && isFile(editor.document.uri)) {
			files.focus(editor.document.uri.fsPath);
			select(editor);
			changed();
		}
	};
	focus(vscode.window.activeTextEditor);
	return vscode.Disposable.from(
		vscode.window.onDidChangeActiveTextEditor(focus),
		vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
			if (isFile(textEditor.document.uri)) {
				select(textEditor);
				changed();
			}
		}),
		vscode.workspace.onDidCloseTextDocument(({ uri }) => {
			if (isFile(uri)) { // not the proposed side of its diff
				files.close(uri.fsPath);
				changed();
			}
		}),
		vscode.workspace.onDidDeleteFiles((event) => {
			event.files.forEach((uri) => files.close(uri.fsPath));
			changed();
		}),
		vscode.workspace.onDidRenameFiles((event) => {
			event.files.forEach(({ oldUri, newUri }) => files.rename(oldUri.fsPath, newUri.fsPath));
			changed();
		}),
	);
}

function run(): void {
	const terminal = vscode.window.createTerminal({ name: 'hasp' });
	const command = vscode.workspace.getConfiguration('hasp').get<string>('command', 'hasp');
	terminal.show();
	terminal.sendText(command);
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
	const log = vscode.window.createOutputChannel('hasp companion', { log: true });
	const files = new OpenFiles();
	const diffs = new Diffs((filePath, content) => companion?.diffEnded(filePath, content));
	companion = new Companion({
		context: () => files.context(vscode.workspace.isTrusted),
		openDiff: (filePath, newContent) => diffs.open(filePath, newContent),
		closeDiff: (filePath) => diffs.close(filePath),
	}, (text) => log.info(text));
	const changed = () => companion?.contextChanged();
	portFile = new PortFile(process.ppid, await companion.start());
	announce(context, log);
	context.subscriptions.push(log, diffs.register(), follow(files, changed),
		vscode.workspace.onDidChangeWorkspaceFolders(() => announce(context, log)),
		vscode.workspace.onDidGrantWorkspaceTrust(changed),
		vscode.commands.registerCommand('hasp.run', run));
}

export async function deactivate(): Promise<void> {
	portFile?.remove();
	await companion?.stop();
	companion = portFile = undefined;
}
