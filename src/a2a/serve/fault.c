/* SPDX-License-Identifier: Apache-2.0 */
/* What is refused, and how each binding says so (A2A 1.0, sections 3.3.2, 5.4, 9.5 and 11.6). */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "a2a/serve/wire.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"

struct a2a_fault_row {
	int code;           /* JSON-RPC's */
	unsigned http;
	const char *status; /* google.rpc.Code */
	const char *reason; /* of google.rpc.ErrorInfo; NULL: no error of A2A's own */
	const char *sentence;
};

static const struct a2a_fault_row rows[A2A_FAULT_COUNT] = {
	[A2A_FAULT_PARSE] = { -32700, 400, "INVALID_ARGUMENT", NULL, "Invalid JSON payload" },
	[A2A_FAULT_REQUEST] = { -32600, 400, "INVALID_ARGUMENT", NULL,
	                        "Request payload validation error" },
	[A2A_FAULT_METHOD] = { -32601, 404, "NOT_FOUND", NULL, "Method not found" },
	[A2A_FAULT_PARAMS] = { -32602, 400, "INVALID_ARGUMENT", NULL, "Invalid parameters" },
	[A2A_FAULT_INTERNAL] = { -32603, 500, "INTERNAL", NULL, "Internal error" },
	[A2A_FAULT_NO_TASK] = { -32001, 404, "NOT_FOUND", "TASK_NOT_FOUND", "Task not found" },
	[A2A_FAULT_NOT_CANCELABLE] = { -32002, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE",
	                               "Task cannot be canceled" },
	[A2A_FAULT_NO_PUSH] = { -32003, 400, "FAILED_PRECONDITION",
	                        "PUSH_NOTIFICATION_NOT_SUPPORTED",
	                        "Push notifications are not supported" },
	[A2A_FAULT_UNSUPPORTED] = { -32004, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION",
	                            "This operation is not supported" },
	[A2A_FAULT_CONTENT_TYPE] = { -32005, 400, "INVALID_ARGUMENT",
	                             "CONTENT_TYPE_NOT_SUPPORTED", "Incompatible content types" },
	[A2A_FAULT_AGENT_RESPONSE] = { -32006, 500, "INTERNAL", "INVALID_AGENT_RESPONSE",
	                               "Invalid agent response" },
	[A2A_FAULT_NO_EXTENDED_CARD] = { -32007, 400, "FAILED_PRECONDITION",
	                                 "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
	                                 "There is no extended agent card" },
	[A2A_FAULT_EXTENSION_REQUIRED] = { -32008, 400, "FAILED_PRECONDITION",
	                                   "EXTENSION_SUPPORT_REQUIRED",
	                                   "An extension is required" },
	[A2A_FAULT_VERSION] = { -32009, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED",
	                        "This protocol version is not supported" },
	/* Codes that the protocol leaves to servers: the transport's status says it as well. */
	[A2A_FAULT_UNAUTHENTICATED] = { -32097, 401, "UNAUTHENTICATED", NULL,
	                                "Authentication required" },
	[A2A_FAULT_FORBIDDEN] = { -32098, 403, "PERMISSION_DENIED", NULL, "Permission denied" },
	[A2A_FAULT_BUSY] = { -32099, 429, "RESOURCE_EXHAUSTED", NULL, "Too many requests" },
};

static const struct a2a_fault_row *fault_row(const struct a2a_fault *fault)
{
	return &rows[fault->kind ? fault->kind : A2A_FAULT_INTERNAL];
}

/* ---- made ------------------------------------------------------------------------ */

bool a2a_fault_set(struct a2a_fault *fault, enum a2a_fault_kind kind, const char *format, ...)
{
	char text[sizeof(fault->sentence)];
	struct buf whole = BUF_INIT(sizeof(fault->sentence));
	struct span rest, kept;
	struct utf8_char c;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* The end of a name that was cut, and bytes of one that were never text. */
	rest = span_str(text);
	while (utf8_next(&rest, &c))
		if (!c.bad)
			buf_span(&whole, c.bytes);
	kept = utf8_head(buf_view(&whole), sizeof(fault->sentence) - 1);
	fault->kind = kind;
	memcpy(fault->sentence, kept.len ? kept.data : "", kept.len);
	fault->sentence[kept.len] = '\0';
	buf_release(&whole);
	return false;
}

void a2a_fault_of(struct a2a_fault *fault, const struct err *err)
{
	static const struct {
		enum err_code code;
		enum a2a_fault_kind kind;
	} kinds[] = {
		{ ERR_INVALID_ARGUMENT, A2A_FAULT_PARAMS },
		{ ERR_FILE_NOT_FOUND, A2A_FAULT_PARAMS },
		{ ERR_NOT_TEXT, A2A_FAULT_CONTENT_TYPE },
		{ ERR_TOO_LARGE, A2A_FAULT_PARAMS },
		{ ERR_PERMISSION_DENIED, A2A_FAULT_FORBIDDEN },
		{ ERR_OUTSIDE_WORKSPACE, A2A_FAULT_FORBIDDEN },
		{ ERR_DENIED_BY_POLICY, A2A_FAULT_FORBIDDEN },
		{ ERR_AUTHENTICATION_FAILED, A2A_FAULT_INTERNAL },
		{ ERR_LIMIT_REACHED, A2A_FAULT_BUSY }, { ERR_NO_RESOURCES, A2A_FAULT_BUSY },
		{ ERR_BUSY, A2A_FAULT_BUSY },
	};
	enum a2a_fault_kind kind = A2A_FAULT_INTERNAL;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (kinds[i].code == err->code)
			kind = kinds[i].kind;
	a2a_fault_set(fault, kind, "%s", err->message);
}

void a2a_fault_field(struct a2a_fault *fault, const char *field, const char *format, ...)
{
	char text[256];
	va_list args;

	if (fault->kind != A2A_FAULT_PARAMS)
		a2a_fault_set(fault, A2A_FAULT_PARAMS, "Invalid parameters");
	if (!fault->fields)
		fault->fields = json_array();
	if (json_array_size(fault->fields) >= LIMIT_A2A_VIOLATIONS)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	json_array_append_new(fault->fields,
	                      json_pack("{s:o, s:o}", "field", json_text(span_str(field)),
	                                "description", json_text(span_str(text))));
}

void a2a_fault_release(struct a2a_fault *fault)
{
	json_decref(fault->fields);
	*fault = (struct a2a_fault){ 0 };
}

/* ---- said ------------------------------------------------------------------------ */

unsigned a2a_fault_http(const struct a2a_fault *fault)
{
	return fault_row(fault)->http;
}

/* "message.parts: one part at least is required; ...", for readers who look at no details. */
static json_t *fault_sentence(const struct a2a_fault *fault)
{
	const char *sentence = fault->sentence[0] ? fault->sentence : fault_row(fault)->sentence;
	const json_t *first = json_array_get(fault->fields, 0);
	_cleanup_free_ char *text = NULL;

	if (!first)
		return json_text(span_str(sentence));
	text = mem_printf("%s: %s: %s", sentence,
	                  json_string_value(json_object_get(first, "field")),
	                  json_string_value(json_object_get(first, "description")));
	return json_text(span_str(text));
}

static json_t *fault_details(const struct a2a_fault *fault)
{
	const char *reason = fault_row(fault)->reason;
	json_t *details = json_array();

	if (reason)
		json_array_append_new(details, json_pack("{s:s, s:s, s:s}", "@type",
		                                         "type.googleapis.com/google.rpc.ErrorInfo",
		                                         "reason", reason, "domain",
		                                         "a2a-protocol.org"));
	if (fault->fields)
		json_array_append_new(details,
		                      json_pack("{s:s, s:O}", "@type",
		                                "type.googleapis.com/google.rpc.BadRequest",
		                                "fieldViolations", fault->fields));
	return details;
}

json_t *a2a_fault_rpc(const struct a2a_fault *fault)
{
	json_t *error = json_pack("{s:i, s:o}", "code", fault_row(fault)->code, "message",
	                          fault_sentence(fault));
	json_t *details = fault_details(fault);

	if (json_array_size(details))
		json_object_set(error, "data", details);
	json_decref(details);
	return error;
}

json_t *a2a_fault_rest(const struct a2a_fault *fault)
{
	return json_pack("{s:{s:i, s:s, s:o, s:o}}", "error", "code", (int)a2a_fault_http(fault),
	                 "status", fault_row(fault)->status, "message", fault_sentence(fault),
	                 "details", fault_details(fault));
}
