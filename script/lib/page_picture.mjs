// SPDX-License-Identifier: Apache-2.0
// A picture of a page in a chromium that listens for its developer tools: node page_picture.mjs PORT FILE EXPRESSION.  It is taken once the
// expression is true in the page.
import { writeFileSync } from 'node:fs';

const [port, file, expression] = process.argv.slice(2);
const page = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()).find((one) => one.type === 'page');
const socket = new WebSocket(page.webSocketDebuggerUrl), waiting = new Map();
let last = 0;

const ask = (method, params) => new Promise((resolve) => {
	waiting.set(++last, resolve);
	socket.send(JSON.stringify({ id: last, method, params }));
});
socket.onmessage = ({ data }) => {
	const { id, result, error } = JSON.parse(data);
	waiting.get(id)?.(result ?? Promise.reject(new Error(error.message)));
};
await new Promise((resolve) => (socket.onopen = resolve));
for (let i = 0; !(await ask('Runtime.evaluate', { expression })).result?.value; i++) {
	if (i === 150) {
		console.error(`This was never true in the page: ${expression}`);
		process.exit(1);
	}
	await new Promise((resolve) => setTimeout(resolve, 100));
}
writeFileSync(file, Buffer.from((await ask('Page.captureScreenshot', { format: 'png' })).data, 'base64'));
process.exit();
