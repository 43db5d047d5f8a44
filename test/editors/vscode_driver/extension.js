// SPDX-License-Identifier: Apache-2.0
// The hands of a test in a real VS Code (script/companions): runs what comes over the socket HASP_DRIVER, a line of JSON with the body of
// a function of `vscode`, and answers each with a line: { value } or { error }.
const net = require('node:net');
const readline = require('node:readline');
const vscode = require('vscode');

async function run(line) {
	try {
		const body = Object.getPrototypeOf(async () => {}).constructor('vscode', JSON.parse(line));
		return { value: (await body(vscode)) ?? null };
	} catch (error) {
		return { error: String(error?.stack ?? error) };
	}
}

exports.activate = () => {
	net.createServer((socket) => {
		readline.createInterface({ input: socket }).on('line', async (line) => socket.write(`${JSON.stringify(await run(line))}\n`));
	}).listen(process.env.HASP_DRIVER);
};
