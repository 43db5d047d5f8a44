/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to stateless clients: multi round-trip requests.
 *
 * What was answered in earlier rounds, as far as the handler asked for it, travels through the
 * client in requestState, together with what the handler remembers: "<64 digits>:<JSON>",
 * the digits being an HMAC-SHA-256 of the JSON under a key that lives as long as the process.
 * The JSON says until when it holds and of which request it is.
 *
 * Source: 2026-07-28, basic/patterns/mrtr.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "mcp/protocol/ask.h"
#include "mcp/protocol/private.h"
#include "mcp/protocol/sign.h"

enum { LIFETIME_S = 1800 }; /* a person has to answer meanwhile */

static json_int_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec;
}

void questions_release(struct questions *questions)
{
	json_decref(questions->answers);
	json_decref(questions->used);
	json_decref(questions->asked);
	free(questions->state);
	*questions = (struct questions){ 0 };
}

/* Names the request: its method and what it is about, whatever the order of members. */
static json_t *request_digest(const struct mcp_call *call)
{
	_cleanup_free_ char *arguments =
		json_dumps(call->arguments, JSON_SORT_KEYS | JSON_COMPACT | JSON_ENCODE_ANY);
	struct span parts[] = { span_str(call->message.method), span_str(call->name),
	                        span_str(call->uri), span_str(arguments) };
	struct sha256_stream stream;
	struct sha256 sum;

	sha256_init(&stream);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		sha256_update(&stream, parts[i]);
		sha256_update(&stream, SPAN("\0"));
	}
	sum = sha256_final(&stream);
	return json_sha256(&sum);
}

static json_t *state_text(const struct mcp_call *call)
{
	_cleanup_buf_ struct buf payload = BUF_INIT(LIMIT_RESULT_BYTES);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	const struct questions *questions = &call->questions;
	json_t *object = json_pack("{s:I,s:o,s:o}", "expires", now_s() + LIFETIME_S, "request",
	                           request_digest(call), "state",
	                           json_cstr(questions->state ? questions->state : ""));
	char hex[SHA256_HEX_SIZE];

	if (questions->used)
		json_object_set(object, "answers", questions->used);
	json_print(&payload, object, 0);
	json_decref(object);
	sign_hex(&call->peer->server->key, buf_view(&payload), hex);
	buf_str(&out, hex);
	buf_char(&out, ':');
	buf_span(&out, buf_view(&payload));
	return json_text(buf_view(&out));
}

json_t *questions_result(const struct mcp_call *call)
{
	json_t *state = state_text(call);
	json_t *result;

	if (json_string_length(state) > LIMIT_REQUEST_STATE_BYTES) {
		json_decref(state);
		return NULL;
	}
	result = json_object();
	json_object_set_new(result, "resultType", json_string("input_required"));
	if (call->questions.asked)
		json_object_set(result, "inputRequests", call->questions.asked);
	json_object_set_new(result, "requestState", state);
	return result;
}

enum mcp_ask questions_ask(struct mcp_call *call, const char *key, const char *method,
                           json_t *params, json_t **ret)
{
	struct questions *questions = &call->questions;
	json_t *answer = json_object_get(questions->answers, key);
	json_t *question;

	if (answer) {
		questions->used = questions->used ? questions->used : json_object();
		json_object_set(questions->used, key, answer);
		*ret = json_incref(answer);
		return MCP_ASK_ANSWERED;
	}
	questions->asked = questions->asked ? questions->asked : json_object();
	question = json_object();
	json_object_set_new(question, "method", json_cstr(method));
	json_object_set(question, "params", params);
	json_object_set_new(questions->asked, key, question);
	return MCP_ASK_PENDING;
}

/* --- Reading them back ------------------------------------------------------------------- */

static bool bad_state(struct refusal *refusal, const char *why)
{
	return refuse(refusal, RPC_INVALID_PARAMS, "params.requestState %s.", why);
}

static bool take_state(struct mcp_call *call, const json_t *payload, struct refusal *refusal)
{
	struct questions *questions = &call->questions;
	json_t *digest = request_digest(call);
	bool same = json_equal(digest, json_object_get(payload, "request"));
	json_t *answers = json_object_get(payload, "answers");

	json_decref(digest);
	if (!same)
		return bad_state(refusal, "belongs to another request");
	if (json_integer_value(json_object_get(payload, "expires")) < now_s())
		return bad_state(refusal, "has expired: send the request without it");
	questions->state = mem_strdup(json_string_value(json_object_get(payload, "state")));
	questions->answers = answers ? json_copy(answers) : NULL;
	return true;
}

static bool open_state(struct mcp_call *call, const json_t *state, struct refusal *refusal)
{
	struct span text = json_span(state);
	struct err err = ERR_INIT;
	struct span payload;
	json_t *object;
	bool taken;

	if (!json_is_string(state))
		return bad_state(refusal, "has to be a string");
	if (text.len > LIMIT_REQUEST_STATE_BYTES)
		return bad_state(refusal, "is too long");
	payload = span_skip(text, SHA256_HEX_SIZE);
	if (text.len < SHA256_HEX_SIZE || text.data[SHA256_HEX_SIZE - 1] != ':' ||
	    !sign_check(&call->peer->server->key, payload,
	                span_head(text, SHA256_HEX_SIZE - 1)) ||
	    !json_parse(payload, &object, &err))
		return bad_state(refusal, "is not what this server has sent");
	taken = take_state(call, object, refusal);
	json_decref(object);
	return taken;
}

/* The client's answers of this round, beside those of earlier rounds. */
static bool take_answers(struct mcp_call *call, json_t *responses, struct refusal *refusal)
{
	const char *key;
	json_t *answer;

	if (!json_is_object(responses))
		return refuse(refusal, RPC_INVALID_PARAMS,
		              "params.inputResponses has to be an object, not %s.",
		              json_type_phrase(responses));
	json_object_foreach(responses, key, answer) {
		if (!json_is_object(answer))
			return refuse(refusal, RPC_INVALID_PARAMS,
			              "params.inputResponses.%s has to be an object, not %s.", key,
			              json_type_phrase(answer));
	}
	if (!call->questions.answers)
		call->questions.answers = json_object();
	json_object_update(call->questions.answers, responses);
	return true;
}

bool questions_open(struct mcp_call *call, struct refusal *refusal)
{
	const json_t *state = json_object_get(call->params, "requestState");
	json_t *responses = json_object_get(call->params, "inputResponses");

	return (!state || open_state(call, state, refusal)) &&
	       (!responses || take_answers(call, responses, refusal));
}
