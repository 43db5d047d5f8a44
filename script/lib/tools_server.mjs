// SPDX-License-Identifier: Apache-2.0
// An MCP server of the official SDK with 30 tools, for script/lib/bench_servers.py.
//
//     node tools_server.mjs FOLDER-WITH-NODE_MODULES
//
// All but the first only stand there, as large as tools usually are; "echo" returns its text.
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';

const require = createRequire(process.argv[2] + '/');
const load = async name => import(pathToFileURL(require.resolve('@modelcontextprotocol/sdk/' + name)));
const {Server} = await load('server/index.js');
const {StdioServerTransport} = await load('server/stdio.js');
const {CallToolRequestSchema, ListToolsRequestSchema} = await load('types.js');

const text = description => ({type: 'string', description});
const tools = [{name: 'echo', description: 'Returns its text.',
                inputSchema: {type: 'object', properties: {text: text('What is returned.')}, required: ['text']}}];
for (let i = 1; i < 30; i++)
	tools.push({
		name: 'records_' + i,
		description: `Lists the records of collection ${i} that match a filter, newest first. Use it when the user ` +
			'asks for what changed in a time, or who changed it. Returns at most 100 records with their ids.',
		inputSchema: {
			type: 'object', required: ['filter'],
			properties: {
				filter: text('An expression over fields, such as "state = open and author = me".'),
				since: text('Only records that changed at or after this time, in ISO 8601.'),
				fields: {type: 'array', items: {type: 'string'}, description: 'Which fields are returned.'},
				limit: {type: 'integer', minimum: 1, maximum: 100, description: 'At most so many records.'},
			},
		},
	});

const server = new Server({name: 'tools', version: '1'}, {capabilities: {tools: {}}});
server.setRequestHandler(ListToolsRequestSchema, () => ({tools}));
server.setRequestHandler(CallToolRequestSchema, ({params}) =>
	({content: [{type: 'text', text: String(params.arguments?.text)}]}));
await server.connect(new StdioServerTransport());
