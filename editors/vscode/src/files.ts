// SPDX-License-Identifier: Apache-2.0
// What the user looks at, as the companion interface has it: open files, the one last focused first,
// with the cursor and the selection of the active one.  No part of VS Code is needed for it.

export interface Cursor {
	line: number; // from 1
	character: number; // from 1
}

export interface OpenFile {
	path: string;
	timestamp: number; // ms, when it was last focused
	isActive?: boolean;
	cursor?: Cursor;
	selectedText?: string;
}

export interface IdeContext {
	workspaceState: { openFiles: OpenFile[]; isTrusted: boolean };
}

export const FILES_MAX = 10;
export const SELECTED_MAX = 16384; // characters

export class OpenFiles {
	private files: OpenFile[] = [];

	/** The file is the active one from now on. */
	focus(path: string, timestamp = Date.now()): void {
		this.blur();
		this.files = this.files.filter((file) => file.path !== path);
		this.files.unshift({ path, timestamp, isActive: true });
		this.files.length = Math.min(this.files.length, FILES_MAX);
	}

	/** No file is active. */
	blur(): void {
		this.files = this.files.map(({ path, timestamp }) => ({ path, timestamp }));
	}

	/** Counts for the active file only. */
	select(path: string, cursor: Cursor, selectedText: string): void {
		const file = this.files[0];
		if (file?.path !== path || !file.isActive) {
			return;
		}
		file.cursor = cursor;
		delete file.selectedText;
		if (selectedText) {
			file.selectedText = selectedText.slice(0, SELECTED_MAX);
		}
	}

	close(path: string): void {
		this.files = this.files.filter((file) => file.path !== path);
	}

	rename(from: string, to: string): void {
		for (const file of this.files) {
			file.path = file.path === from ? to : file.path;
		}
	}

	context(isTrusted: boolean): IdeContext {
		return { workspaceState: { openFiles: this.files.map((file) => ({ ...file })), isTrusted } };
	}
}
