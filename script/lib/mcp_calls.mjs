// SPDX-License-Identifier: Apache-2.0
// Calls a tool of an MCP server through the official SDK's client, as often as possible.
//
//     node mcp_calls.mjs HOME CALLS IN_FLIGHT '[{"name": ..., "arguments": ...}, ...]' COMMAND ...
//
// HOME has the SDK in its node_modules. The calls take turns, in whole rounds (CALLS is rounded up).
// Prints calls a second.

import { createRequire } from 'node:module';

const [home, calls, inFlight, turns, command, ...args] = process.argv.slice(2);
const require = createRequire(home + '/');
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');

const requests = JSON.parse(turns);
const client = new Client({ name: 'bench', version: '1' });
await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore',
	env: process.env }));

async function make(count, width) {
	let next = 0;
	const worker = async () => {
		while (next < count) {
			const result = await client.callTool(requests[next++ % requests.length]);
			if (result.isError)
				throw new Error(result.content[0].text);
		}
	};
	await Promise.all(Array.from({ length: width }, worker));
}

const rounds = (count) => Math.ceil(count / requests.length) * requests.length;
const count = rounds(Number(calls));
await make(rounds(100), Number(inFlight));
const start = process.hrtime.bigint();
await make(count, Number(inFlight));
const seconds = Number(process.hrtime.bigint() - start) / 1e9;
console.log((count / seconds).toFixed(1));
await client.close();
process.exit(0);
