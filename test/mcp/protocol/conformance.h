/* SPDX-License-Identifier: Apache-2.0 */
/* What conformance_server offers, by subject. Private to this folder.
 *
 * The official conformance suite asks servers for tools, resources and prompts of agreed
 * names; its scenarios describe them.  Every handler is written against mcp/protocol/server.h like
 * that of any other server and knows nothing of who asks.
 */
#ifndef HASP_TEST_MCP_CONFORMANCE_H
#define HASP_TEST_MCP_CONFORMANCE_H

#include "mcp/protocol/server.h"

/* A red pixel, and a WAV file without samples, in Base64. */
#define FIXTURE_PNG                                                                           \
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElF"  \
	"TkSuQmCC"
#define FIXTURE_WAV "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="

/* Answers with `data`, the JSON text of the whole result. */
void fixture_constant(struct mcp_call *call, void *data);
/* A text result made as printf does. */
void fixture_answer(struct mcp_call *call, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The value of a string member, or "" if there is none; borrowed. */
const char *fixture_string(const json_t *object, const char *name);

/* Tools that ask the client something (conformance_asking.c). */
extern const struct mcp_tool asking_tools[];
extern const size_t asking_tool_count;

/* For struct mcp_offer (conformance_content.c). */
extern const char content_prompts[];
void content_list_resources(struct mcp_call *call, void *data);
void content_list_templates(struct mcp_call *call, void *data);
void content_read_resource(struct mcp_call *call, void *data);
bool content_subscribe(void *session, const char *uri, struct err *err);
void content_unsubscribe(void *session, const char *uri);
void content_get_prompt(struct mcp_call *call, void *data);
void content_complete(struct mcp_call *call, void *data);

#endif
