// SPDX-License-Identifier: Apache-2.0
// A server that speaks HTTP/2 over TLS, and hands each request to one that speaks plain HTTP/1.1.
//
//     node http2_front.mjs KEY CERTIFICATE PORT-OF-THE-OTHER
//
// Prints its own port.

import { readFileSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';

const [key, cert, port] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: true });
const unwanted = new Set(['connection', 'keep-alive', 'transfer-encoding']);
const only = (headers) => Object.fromEntries(Object.entries(headers).filter(
	([name]) => !name.startsWith(':') && !unwanted.has(name)));

const server = http2.createSecureServer({ key: readFileSync(key), cert: readFileSync(cert) });
server.on('stream', (stream, headers) => {
	const inner = http.request({ host: '127.0.0.1', port, agent, method: headers[':method'],
		path: headers[':path'], headers: only(headers) }, (answer) => {
		stream.respond({ ':status': answer.statusCode, ...only(answer.headers) });
		answer.pipe(stream);
	});
	inner.on('error', () => stream.close());
	stream.on('error', () => inner.destroy());
	stream.pipe(inner);
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
