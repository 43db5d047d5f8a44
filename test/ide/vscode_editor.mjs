// SPDX-License-Identifier: Apache-2.0
// A companion that was bundled from an extension for VS Code, in a VS Code that is played:
//     node vscode_editor.mjs EXTENSION FOLDER TAKE REJECT
// TAKE and REJECT are its commands for a diff.  Prints its port; then a line of JSON for each diff that opens, {"diff", "content"}, and
// closes, {"closed"}.  Lines on its input: {"show": path, "line", "character", "text"}, {"take": path, "content"?}, {"reject": path},
// {"close": true}: all tabs.
import { createInterface } from 'node:readline';

import { play } from '../editors/vscode_played.mjs';

const [extension, folder, take, reject] = process.argv.slice(2);
const played = play([folder]);
const note = (what) => console.log(JSON.stringify(what));
const open = played.vscode.commands.executeCommand, close = played.vscode.window.tabGroups.close;

played.vscode.commands.executeCommand = async (name, ...rest) => {
	const result = await open(name, ...rest);
	if (name === 'vscode.diff')
		note({ diff: rest[1].path, content: played.diffs().at(-1).text });
	return result;
};
played.vscode.window.tabGroups.close = async (tabs) => {
	await close(tabs);
	[tabs].flat().forEach((tab) => note({ closed: tab.input.modified.path }));
};
await played.load(extension).activate(played.context);
console.log(played.variables.get('GEMINI_CLI_IDE_SERVER_PORT'));
for await (const line of createInterface({ input: process.stdin })) {
	const order = JSON.parse(line);
	if (order.show)
		played.show(order.show, { line: order.line, character: order.character }, order.text);
	if (order.take)
		await played.take(order.take, order.content, take);
	if (order.reject)
		await played.reject(order.reject, reject);
	if (order.close)
		await played.closeTabs();
}
