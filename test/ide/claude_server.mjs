// SPDX-License-Identifier: Apache-2.0
// An editor that speaks Claude Code's protocol as claudecode.nvim has it (PROTOCOL.md): MCP 2024-11-05 over npm's `ws`, checked as
// strictly as there.
//     node claude_server.mjs WS-FOLDER TOKEN
// Prints its port; then a line of JSON for each connection, refusal, call and end.  Lines on its input: {"send": notification},
// {"answer": [texts]}: to the openDiff that waits, {"problems": {URI: [diagnostics]}}, {"close": true}.
import http from 'node:http';
import { createInterface } from 'node:readline';

const [folder, token] = process.argv.slice(2);
const { WebSocketServer } = await import(`${folder}/node_modules/ws/wrapper.mjs`);

const note = (what) => console.log(JSON.stringify(what));
const content = (...texts) => ({ content: texts.map((text) => ({ type: 'text', text })) });
const strings = { old_file_path: 1, new_file_path: 1, new_file_contents: 1, tab_name: 1 };
let problems = {}, waits, socket;

const tools = {
	openDiff: {
		listed: true, takes: strings, needs: strings,
		run: (given, answer) => { waits = { answer, tab: given.tab_name }; },
	},
	getDiagnostics: {
		listed: true, takes: { uri: 1 }, needs: {},
		run: ({ uri }, answer) => answer(content(JSON.stringify(Object.entries(problems)
			.filter(([one]) => !uri || one === uri).map(([one, diagnostics]) => ({ uri: one, diagnostics }))))),
	},
	close_tab: {
		takes: { tab_name: 1 }, needs: { tab_name: 1 },
		run: ({ tab_name }, answer) => {
			if (waits && waits.tab === tab_name) {
				waits.answer(content('DIFF_REJECTED', tab_name));
				waits = undefined;
			}
			answer(content('TAB_CLOSED'));
		},
	},
};

const methods = {
	initialize: () => ({ protocolVersion: '2024-11-05', capabilities: { tools: { listChanged: true }, prompts: { listChanged: true } },
		serverInfo: { name: 'claudecode-neovim', version: '0.2.0' } }),
	'tools/list': () => ({ tools: Object.entries(tools).filter(([, tool]) => tool.listed).map(([name, tool]) => ({ name,
		inputSchema: { type: 'object', properties: Object.fromEntries(Object.keys(tool.takes).map((one) => [one, { type: 'string' }])) } })) }),
};

function call(id, { name, arguments: given }) {
	const tool = tools[name], reply = (result) => socket.send(JSON.stringify({ jsonrpc: '2.0', id, result }));
	const wrong = !tool || Object.keys(given).some((one) => !tool.takes[one] || typeof given[one] !== 'string') ||
		Object.keys(tool.needs).some((one) => !(one in given));
	note({ tool: name, arguments: given, wrong });
	if (wrong)
		socket.send(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32602, message: 'Invalid params' } }));
	else
		tool.run(given, reply);
}

const web = http.createServer();
const sockets = new WebSocketServer({ server: web, handleProtocols: (all) => all.has('mcp') && 'mcp', verifyClient: ({ req }, done) => {
	const ok = req.headers['x-claude-code-ide-authorization'] === token;
	if (!ok)
		note({ refused: req.headers['x-claude-code-ide-authorization'] ?? null });
	done(ok, 400, 'Bad WebSocket upgrade request');
} });
sockets.on('connection', (one, request) => {
	socket = one;
	note({ connected: request.url });
	one.on('close', () => note({ closed: true }));
	one.on('message', (data) => {
		const { id, method, params } = JSON.parse(data.toString());
		if (method === 'tools/call')
			call(id, params);
		else if (methods[method])
			one.send(JSON.stringify({ jsonrpc: '2.0', id, result: methods[method](params) }));
		else if (id !== undefined)
			one.send(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }));
	});
});

createInterface({ input: process.stdin }).on('line', (line) => {
	const order = JSON.parse(line);
	problems = order.problems ?? problems;
	if (order.send)
		socket.send(JSON.stringify({ jsonrpc: '2.0', ...order.send }));
	if (order.answer && waits)
		waits.answer(content(...order.answer));
	if (order.answer)
		waits = undefined;
	if (order.close)
		socket.terminate();
});
web.listen(0, '127.0.0.1', () => console.log(web.address().port));
