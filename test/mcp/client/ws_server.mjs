// SPDX-License-Identifier: Apache-2.0
// An MCP server of the official SDK behind npm's `ws`, which takes the subprotocol that the SDK's own client asks for:
//     node ws_server.mjs SDK-FOLDER WS-FOLDER [CERTIFICATE KEY]
// Prints its port; then a line of JSON for each connection, ping that was answered, message and end. "die-once" as the text of a
// call ends the first connection; "large" answers with 3 MiB, in fragments.
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';

const [sdk, ws, certificate, key] = process.argv.slice(2);
const from = (folder, file) => import(`${folder}/node_modules/${file}`);
const { Server } = await from(sdk, '@modelcontextprotocol/sdk/dist/esm/server/index.js');
const { ListToolsRequestSchema, CallToolRequestSchema } = await from(sdk, '@modelcontextprotocol/sdk/dist/esm/types.js');
const { WebSocketServer } = await from(ws, 'ws/wrapper.mjs');

const note = (what) => console.log(JSON.stringify(what));
let connections = 0;

class Transport {
	constructor(socket) {
		this.socket = socket;
	}

	async start() {
		this.socket.on('message', (data, binary) => {
			const message = JSON.parse(data.toString());
			note({ message, binary });
			this.onmessage?.(message);
		});
		this.socket.on('pong', (data) => note({ pong: data.toString() }));
		this.socket.on('close', (code) => {
			note({ closed: code });
			this.onclose?.();
		});
		this.socket.on('error', (error) => note({ error: String(error) }));
	}

	// In fragments, with a ping between two of them.
	async send(message) {
		const text = JSON.stringify(message);
		const half = Math.floor(text.length / 2);
		this.socket.send(text.slice(0, half), { fin: false });
		this.socket.ping('between');
		this.socket.send(text.slice(half), { fin: true });
	}

	async close() {
		this.socket.close();
	}
}

const web = certificate
	? https.createServer({ cert: readFileSync(certificate), key: readFileSync(key) })
	: http.createServer();
const sockets = new WebSocketServer({ server: web, handleProtocols: (all) => all.has('mcp') && 'mcp',
	verifyClient: ({ req }) => req.headers.authorization === 'Bearer sesame' });

sockets.on('connection', async (socket, request) => {
	const number = ++connections;
	note({ connected: request.url, headers: request.headers, protocol: socket.protocol });
	const server = new Server({ name: 'far', version: '1' }, { capabilities: { tools: {} } });
	server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [{ name: 'echo', description: 'Says it again.',
		inputSchema: { type: 'object', properties: { text: { type: 'string' } } } }] }));
	server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
		const said = params.arguments.text;
		if (said === 'die-once' && number === 1)
			socket.close(1011, 'tired \u001b[31m');
		else if (said === 'hang')
			return new Promise(() => {});
		return { content: [{ type: 'text', text: said === 'large' ? 'x'.repeat(3 << 20) : `you said ${said.length > 99 ? said.length : said}` }] };
	});
	await server.connect(new Transport(socket));
});
web.listen(0, '127.0.0.1', () => console.log(web.address().port));
