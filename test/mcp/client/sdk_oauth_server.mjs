// SPDX-License-Identifier: Apache-2.0
// An MCP server and its authorization server, both of the official SDK: its example's, which has no refresh tokens, with these.
// Each is good once; access tokens hold until somebody posts to /expire.
//     node sdk_oauth_server.mjs SDK-FOLDER
// Prints its port, then a line for each request: method, path and what it asks for.
const [sdk] = process.argv.slice(2);
const from = (file) => import(`${sdk}/node_modules/${file}`);
const ours = (file) => from(`@modelcontextprotocol/sdk/dist/esm/${file}`);
const { default: express } = await from('express/index.js');
const { McpServer } = await ours('server/mcp.js');
const { StreamableHTTPServerTransport } = await ours('server/streamableHttp.js');
const { mcpAuthRouter, mcpAuthMetadataRouter, createOAuthMetadata, getOAuthProtectedResourceMetadataUrl } =
	await ours('server/auth/router.js');
const { requireBearerAuth } = await ours('server/auth/middleware/bearerAuth.js');
const { InvalidGrantError, InvalidTokenError } = await ours('server/auth/errors.js');
const { DemoInMemoryAuthProvider } = await ours('examples/server/demoInMemoryOAuthProvider.js');

class Provider extends DemoInMemoryAuthProvider {
	refreshes = new Map();

	with_refresh(answer, kept) {
		const refresh = crypto.randomUUID();
		this.refreshes.set(refresh, kept);
		return { ...answer, refresh_token: refresh };
	}

	async exchangeAuthorizationCode(client, code, ...more) {
		const { params } = this.codes.get(code);
		return this.with_refresh(await super.exchangeAuthorizationCode(client, code, ...more), { client, params });
	}

	async exchangeRefreshToken(client, refresh, scopes, resource) {
		const kept = this.refreshes.get(refresh);
		this.refreshes.delete(refresh);
		if (kept?.client.client_id !== client.client_id || resource?.href !== kept.params.resource.href)
			throw new InvalidGrantError('no such refresh token');
		const code = crypto.randomUUID();
		this.codes.set(code, { client, params: kept.params });
		return this.with_refresh(await super.exchangeAuthorizationCode(client, code), kept);
	}

	async verifyAccessToken(token) {
		return super.verifyAccessToken(token).catch((error) => {
			throw new InvalidTokenError(error.message);
		});
	}
}

const app = express();
const web = app.listen(0, '127.0.0.1', () => {
	const base = new URL(`http://localhost:${web.address().port}`);
	const resource = new URL('/mcp', base);
	const provider = new Provider((said) => said?.href === resource.href);
	const about = { provider, issuerUrl: base, scopesSupported: ['mcp:tools'] };
	app.use(express.json(), express.urlencoded());
	app.use((request, _, next) => {
		console.log(request.method, request.path, request.body?.grant_type ?? request.body?.method ?? '');
		next();
	});
	app.use(mcpAuthMetadataRouter({ oauthMetadata: createOAuthMetadata(about), resourceServerUrl: resource,
		scopesSupported: ['mcp:tools'] }));
	app.use(mcpAuthRouter(about));
	app.post('/expire', (_, response) => {
		provider.tokens.clear();
		response.end();
	});
	app.post('/mcp', requireBearerAuth({ verifier: provider, requiredScopes: ['mcp:tools'], expectedResource: resource,
		resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resource) }), async (request, response) => {
		const server = new McpServer({ name: 'far', version: '1' });
		server.registerTool('greet', { description: 'Says hello.' }, ({ authInfo }) =>
			({ content: [{ type: 'text', text: `Hello, client of ${authInfo.resource.href}!` }] }));
		const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
		await server.connect(transport);
		await transport.handleRequest(request, response, request.body);
	});
	console.log(web.address().port);
});
