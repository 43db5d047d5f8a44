/* SPDX-License-Identifier: Apache-2.0 */
/* JSON-RPC for tables of tests: string literals put together. */
#ifndef HASP_TEST_MCP_PHRASES_H
#define HASP_TEST_MCP_PHRASES_H

#define REQUEST(id, method, params) \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\",\"params\":" params "}"
#define CALL(id, tool, arguments) \
	REQUEST(id, "tools/call", "{\"name\":\"" tool "\",\"arguments\":" arguments "}")
#define NOTIFICATION(method) "{\"jsonrpc\":\"2.0\",\"method\":\"" method "\"}"
#define NOTIFICATION_WITH(method, params) \
	"{\"jsonrpc\":\"2.0\",\"method\":\"" method "\",\"params\":" params "}"
#define RESULT(id, result) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":" result "}"
#define ERROR(id, code) \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":" code ",\"message\":\"*\"}}"
#define ERROR_SAYS(id, code, message) \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":" code \
	",\"message\":\"" message "\"}}"
#define ERROR_WITH(id, code, data) \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":" code \
	",\"message\":\"*\",\"data\":" data "}}"
#define TEXT(id, text) RESULT(id, "{\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]}")

/* Stateless: _meta with these capabilities and, with a comma before them, more members. */
#define META(capabilities, more) \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"," \
	"\"io.modelcontextprotocol/clientCapabilities\":" capabilities more "}"
#define SELF "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":" \
	"{\"name\":\"fixture\",\"title\":\"Fixture\",\"version\":\"1.2\"," \
	"\"websiteUrl\":\"https://example.org\"}}"

#endif
