// SPDX-License-Identifier: Apache-2.0
// An editor with Gemini CLI's companion, as its specification says (docs/ide-integration/ide-companion-spec.md): the official SDK's MCP
// server over HTTP, which refuses whatever the specification does not allow.
//     node companion_server.mjs SDK-FOLDER TOKEN
// Prints its port; then a line of JSON for each request that it refuses, session and tool call.  Lines on its input: {"send":
// notification} to all sessions, {"fail": text}: openDiff fails with it from now on, {"hang": true}: no request is answered any more.
import http from 'node:http';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';

const [sdk, token] = process.argv.slice(2);
const from = (file) => import(`${sdk}/node_modules/@modelcontextprotocol/sdk/dist/esm/${file}`);
const { Server } = await from('server/index.js');
const { StreamableHTTPServerTransport } = await from('server/streamableHttp.js');
const { ListToolsRequestSchema, CallToolRequestSchema, isInitializeRequest } = await from('types.js');

const note = (what) => console.log(JSON.stringify(what));
const shown = new Map(); // what each open diff has in it
const sessions = new Map();
let fails, hangs = false;

const string = { type: 'string' };
const tools = [
	{ name: 'openDiff', inputSchema: { type: 'object', properties: { filePath: string, newContent: string }, required: ['filePath', 'newContent'] } },
	{ name: 'closeDiff', inputSchema: { type: 'object', properties: { filePath: string, suppressNotification: { type: 'boolean' } }, required: ['filePath'] } },
];

function run({ name, arguments: given }) {
	const tool = tools.find((one) => one.name === name);
	const wrong = !tool || tool.inputSchema.required.some((member) => typeof given[member] !== 'string') ||
		Object.keys(given).some((member) => !tool.inputSchema.properties[member]) || !given.filePath.startsWith('/');
	note({ tool: name, arguments: given, wrong });
	if (wrong || (fails && name === 'openDiff'))
		return { isError: true, content: [{ type: 'text', text: wrong ? 'wrong arguments' : fails }] };
	if (name === 'openDiff') {
		shown.set(given.filePath, given.newContent);
		return { content: [] };
	}
	const content = shown.get(given.filePath);
	shown.delete(given.filePath);
	return { content: [{ type: 'text', text: JSON.stringify({ content }) }] };
}

function session() {
	const server = new Server({ name: 'companion', version: '1' }, { capabilities: { tools: {}, logging: {} } });
	const transport = new StreamableHTTPServerTransport({
		sessionIdGenerator: () => randomUUID(),
		onsessioninitialized: (id) => sessions.set(id, transport),
	});
	server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
	server.setRequestHandler(CallToolRequestSchema, ({ params }) => run(params));
	server.connect(transport);
	return transport;
}

async function body(request) {
	let text = '';
	for await (const piece of request)
		text += piece;
	return text ? JSON.parse(text) : undefined;
}

const web = http.createServer(async (request, response) => {
	const { port } = web.address(), headers = request.headers;
	const refuse = (status, why) => {
		note({ refused: why, status });
		response.writeHead(status).end(why);
	};
	if (hangs)
		return;
	if (headers.origin)
		return refuse(403, 'origin');
	if (headers.host !== `127.0.0.1:${port}` && headers.host !== `localhost:${port}`)
		return refuse(403, 'host');
	if (headers.authorization !== `Bearer ${token}`)
		return refuse(401, 'token');
	if (request.url !== '/mcp')
		return refuse(404, 'path');
	const said = request.method === 'POST' ? await body(request) : undefined;
	const id = headers['mcp-session-id'];
	let transport = id && sessions.get(id);
	if (!transport && (id || !said || !isInitializeRequest(said)))
		return refuse(400, 'session');
	if (!transport) {
		transport = session();
		note({ session: said.params });
	}
	if (request.method === 'GET') { // it stands from its head on
		const head = response.writeHead.bind(response);
		response.writeHead = (...given) => {
			setImmediate(() => note({ stream: true }));
			return head(...given);
		};
	}
	await transport.handleRequest(request, response, said);
	if (request.method === 'DELETE')
		note({ ended: true });
});

createInterface({ input: process.stdin }).on('line', (line) => {
	const order = JSON.parse(line);
	fails = order.fail ?? fails;
	hangs = order.hang ?? hangs;
	if (order.send?.method?.startsWith('ide/diff'))
		shown.delete(order.send.params.filePath);
	for (const transport of order.send ? sessions.values() : [])
		transport.send({ jsonrpc: '2.0', ...order.send });
});
web.listen(0, '127.0.0.1', () => console.log(web.address().port));
