/* SPDX-License-Identifier: Apache-2.0 */
/* Answers and errors, and what of a body they are about. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "web/private.h"

void web_answer(struct http_request *request, unsigned status, json_t *value)
{
	_cleanup_buf_ struct buf body = BUF_INIT(LIMIT_RESULT_BYTES);

	json_print(&body, value, 0);
	json_decref(value);
	http_add_header(request, "Cache-Control", "no-store");
	http_answer(request, status, "application/json", &body);
}

void web_refuse_with(struct http_request *request, unsigned status, const char *code,
                     const char *sentence)
{
	web_answer(request, status, json_pack("{s:{s:s, s:o}}", "error", "code", code, "message",
	                                      json_text(span_str(sentence))));
}

static unsigned web_status_of(enum err_code code)
{
	static const unsigned statuses[] = {
		[ERR_CLASS_INPUT] = 400, [ERR_CLASS_CONFLICT] = 409, [ERR_CLASS_DENIED] = 403,
		[ERR_CLASS_LIMIT] = 429, [ERR_CLASS_SYSTEM] = 503,
	};
	const enum err_class class = err_class_of(code);

	if (code == ERR_FILE_NOT_FOUND)
		return 404;
	if (code == ERR_TOO_LARGE)
		return 413;
	return (size_t)class < ARRAY_LEN(statuses) && statuses[class] ? statuses[class] : 500;
}

void web_refuse(struct http_request *request, const struct err *err)
{
	web_refuse_with(request, web_status_of(err->code),
	                err->code == ERR_FILE_NOT_FOUND ? "not_found" : err_name(err->code),
	                err->message);
}

const char *web_text_of(struct web_exchange *exchange, const char *name)
{
	const json_t *value = json_object_get(exchange->body, name);
	struct err err = ERR_INIT;

	/* A NUL would end it early. */
	if (json_string_length(value) && strlen(json_string_value(value)) ==
	                                 json_string_length(value))
		return json_string_value(value);
	err_set(&err, ERR_INVALID_ARGUMENT, "The body needs \"%s\", a text that is not empty.",
	        name);
	web_refuse(exchange->http, &err);
	return NULL;
}
