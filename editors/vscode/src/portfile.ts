// SPDX-License-Identifier: Apache-2.0
// The file by which a program in the editor's terminal finds the companion:
// TMPDIR/gemini/ide/gemini-ide-server-PID-PORT.json, for its user alone.  The name is Gemini CLI's.
import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';

export interface Announcement {
	port: number;
	workspacePath: string; // folders, separated as those of PATH
	authToken: string;
	ideInfo: { name: string; displayName: string };
}

/** Makes a folder that only its user can write; throws if there is another. */
function ownFolder(folder: string): void {
	try {
		fs.mkdirSync(folder, { mode: 0o700 });
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
			throw error;
		}
	}
	const found = fs.lstatSync(folder);
	if (!found.isDirectory()) {
		throw new Error(`${folder} is not a folder.`);
	}
	if (process.getuid && (found.uid !== process.getuid() || (found.mode & 0o022) !== 0)) {
		throw new Error(`Others can write to ${folder}: the token is not put there.`);
	}
}

export class PortFile {
	readonly path: string;

	/** `pid`: the process above the extension's, by which a terminal's programs find the editor. */
	constructor(pid: number, port: number, temporary = os.tmpdir()) {
		this.path = path.join(temporary, 'gemini', 'ide', `gemini-ide-server-${pid}-${port}.json`);
	}

	/** Writes it whole or not at all. */
	write(announcement: Announcement): void {
		const folder = path.dirname(this.path);
		ownFolder(path.dirname(folder));
		ownFolder(folder);
		const partial = `${this.path}.${randomUUID()}`;
		try {
			fs.writeFileSync(partial, JSON.stringify(announcement), { mode: 0o600, flag: 'wx' });
			fs.renameSync(partial, this.path);
		} catch (error) {
			fs.rmSync(partial, { force: true });
			throw error;
		}
	}

	remove(): void {
		fs.rmSync(this.path, { force: true });
	}
}
