// SPDX-License-Identifier: Apache-2.0
// Diffs in VS Code's diff editor.  The proposed side is a file of a small file system in memory, so that
// it can be edited; saving it takes what it then has, closing it without saving rejects the diff.
import * as vscode from 'vscode';

export const SCHEME = 'hasp-diff';

interface Diff {
	filePath: string;
	uri: vscode.Uri;
	content: Uint8Array;
	changed: number; // ms
	ended: boolean;
}

export class Diffs implements vscode.FileSystemProvider {
	private readonly diffs = new Map<string, Diff>(); // by the file's path
	private readonly changes = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
	readonly onDidChangeFile = this.changes.event;
	private last = 0;

	/** `ended`: the user took the content, or (undefined) rejected it. */
	constructor(private readonly ended: (filePath: string, content: string | undefined) => void) {}

	register(): vscode.Disposable {
		return vscode.Disposable.from(
			vscode.workspace.registerFileSystemProvider(SCHEME, this, { isCaseSensitive: true }),
			vscode.window.tabGroups.onDidChangeTabs((event) => {
				for (const tab of event.closed) {
					const diff = this.ofTab(tab);
					if (diff) {
						this.finish(diff, undefined);
					}
				}
			}),
			vscode.commands.registerCommand('hasp.accept', (uri?: vscode.Uri) => this.accept(uri)),
			vscode.commands.registerCommand('hasp.reject', (uri?: vscode.Uri) => this.reject(uri)),
		);
	}

	async open(filePath: string, newContent: string): Promise<void> {
		await this.close(filePath);
		const uri = vscode.Uri.from({ scheme: SCHEME, path: filePath, query: String(++this.last) });
		const file = vscode.Uri.file(filePath);
		const diff: Diff = {
			filePath, uri, content: new TextEncoder().encode(newContent), changed: Date.now(), ended: false,
		};
		const exists = await vscode.workspace.fs.stat(file).then(() => true, () => false);
		this.diffs.set(filePath, diff);
		try {
			await vscode.commands.executeCommand('vscode.diff', exists ? file : uri.with({ query: 'empty' }), uri,
				`${vscode.workspace.asRelativePath(file)} (hasp)`, { preview: false, preserveFocus: true });
		} catch (error) {
			this.diffs.delete(filePath);
			throw error;
		}
	}

	/** Closes it without an answer; the text that it had. */
	async close(filePath: string): Promise<string | undefined> {
		const diff = this.diffs.get(filePath);
		if (!diff) {
			return undefined;
		}
		diff.ended = true;
		const text = this.document(diff)?.getText() ?? new TextDecoder().decode(diff.content);
		await this.leave(diff);
		return text;
	}

	private document(diff: Diff): vscode.TextDocument | undefined {
		return vscode.workspace.textDocuments.find((one) => one.uri.toString() === diff.uri.toString());
	}

	private ofUri(uri: vscode.Uri | undefined): Diff | undefined {
		const wanted = (uri ?? vscode.window.activeTextEditor?.document.uri)?.toString();
		return [...this.diffs.values()].find((diff) => diff.uri.toString() === wanted);
	}

	private ofTab(tab: vscode.Tab): Diff | undefined {
		return tab.input instanceof vscode.TabInputTextDiff ? this.ofUri(tab.input.modified) : undefined;
	}

	private finish(diff: Diff, content: string | undefined): void {
		if (diff.ended) {
			return;
		}
		diff.ended = true;
		this.ended(diff.filePath, content);
		void this.leave(diff);
	}

	/** Closes the tabs; a text that was changed is saved first (to memory), or VS Code would ask. */
	private async leave(diff: Diff): Promise<void> {
		const document = this.document(diff);
		if (document?.isDirty) {
			await document.save();
		}
		for (const group of vscode.window.tabGroups.all) {
			await vscode.window.tabGroups.close(group.tabs.filter((tab) => this.ofTab(tab) === diff), true);
		}
		if (this.diffs.get(diff.filePath) === diff) {
			this.diffs.delete(diff.filePath);
		}
	}

	private async accept(uri?: vscode.Uri): Promise<void> {
		const diff = this.ofUri(uri);
		const document = diff && this.document(diff);
		if (document) {
			this.finish(diff, document.getText());
		}
	}

	private async reject(uri?: vscode.Uri): Promise<void> {
		const diff = this.ofUri(uri);
		if (diff) {
			this.finish(diff, undefined);
		}
	}

	// ---- the file system

	private find(uri: vscode.Uri): Diff {
		const diff = this.ofUri(uri);
		if (!diff) {
			throw vscode.FileSystemError.FileNotFound(uri);
		}
		return diff;
	}

	watch(): vscode.Disposable {
		return new vscode.Disposable(() => {});
	}

	stat(uri: vscode.Uri): vscode.FileStat {
		if (uri.query === 'empty') {
			return { type: vscode.FileType.File, ctime: 0, mtime: 0, size: 0, permissions: vscode.FilePermission.Readonly };
		}
		const diff = this.find(uri);
		return { type: vscode.FileType.File, ctime: 0, mtime: diff.changed, size: diff.content.length };
	}

	readFile(uri: vscode.Uri): Uint8Array {
		return uri.query === 'empty' ? new Uint8Array() : this.find(uri).content;
	}

	/** The user has saved: what is there now is taken. */
	writeFile(uri: vscode.Uri, content: Uint8Array): void {
		const diff = this.find(uri);
		diff.content = content;
		diff.changed = Date.now();
		this.changes.fire([{ type: vscode.FileChangeType.Changed, uri }]);
		const text = new TextDecoder().decode(content);
		setTimeout(() => this.finish(diff, text)); // after VS Code has marked it as saved
	}

	readDirectory(): [string, vscode.FileType][] {
		return [];
	}

	createDirectory(uri: vscode.Uri): void {
		throw vscode.FileSystemError.NoPermissions(uri);
	}

	delete(uri: vscode.Uri): void {
		throw vscode.FileSystemError.NoPermissions(uri);
	}

	rename(uri: vscode.Uri): void {
		throw vscode.FileSystemError.NoPermissions(uri);
	}
}
