/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of the client, from their arrival to their answer; updates of its sessions, which wait
 * for the answer to the request that opens the session. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acp/private.h"
#include "base/mem.h"

const char *acp_text(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

struct acp_request *acp_request_new(struct acp *acp, const struct rpc_message *message)
{
	struct acp_request *request = mem_alloc(1, sizeof(*request));

	*request = (struct acp_request){
		.next = acp->requests, .acp = acp,
		.bytes = acp->line_bytes,
		.id = message->id ? json_incref((json_t *)message->id) : NULL,
		.params = message->body ? json_incref((json_t *)message->body) : json_object(),
	};
	acp->requests = request;
	acp->request_count++;
	acp->request_bytes += request->bytes;
	return request;
}

/* Takes it out of the list, and frees it. */
static void acp_request_end(struct acp_request *request)
{
	struct acp *acp = request->acp;

	for (struct acp_request **link = &acp->requests; *link; link = &(*link)->next) {
		if (*link != request)
			continue;
		*link = request->next;
		acp->request_count--;
		acp->request_bytes -= request->bytes;
		break;
	}
	json_decref(request->id);
	json_decref(request->params);
	free(request);
}

void acp_answer(struct acp_request *request, json_t *result)
{
	_cleanup_buf_ struct buf message = BUF_INIT(2 * LIMIT_MESSAGE_BYTES);

	if (request->id) {
		rpc_write_result(&message, request->id, result);
		acp_send(request->acp, &message);
	}
	json_decref(result);
	acp_request_end(request);
}

void acp_refuse(struct acp_request *request, int code, const char *format, ...)
{
	_cleanup_buf_ struct buf message = BUF_INIT(LIMIT_RESULT_BYTES);
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (request->id) {
		rpc_write_error(&message, request->id, code, text, NULL);
		acp_send(request->acp, &message);
	}
	acp_request_end(request);
}

void acp_refuse_err(struct acp_request *request, const struct err *err)
{
	static const struct {
		enum err_code inside;
		int code;
	} rows[] = {
		{ ERR_AUTHENTICATION_FAILED, ACP_AUTH_REQUIRED },
		{ ERR_FILE_NOT_FOUND, ACP_NOT_FOUND },
		{ ERR_CANCELLED, ACP_CANCELLED },
		{ ERR_INVALID_ARGUMENT, RPC_INVALID_PARAMS },
		{ ERR_TOO_LARGE, RPC_INVALID_PARAMS },
	};
	int code = RPC_INTERNAL_ERROR;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].inside == err->code)
			code = rows[i].code;
	acp_refuse(request, code, "%s", err->message);
}

struct acp_session *acp_session_of(struct acp_request *request)
{
	const char *id = acp_text(request->params, "sessionId");

	for (struct acp_session *session = request->acp->sessions; session; session = session->next)
		if (session->id && session->state != ACP_CLOSING && !strcmp(session->id, id))
			return session;
	acp_refuse(request, ACP_NOT_FOUND, "No session \"%.100s\" is open here.", id);
	return NULL;
}

/* ---- updates --------------------------------------------------------------------- */

void acp_update_now(struct acp_session *session, json_t *update)
{
	acp_notify(session->acp, "session/update", json_pack("{s:s, s:o}", "sessionId", session->id,
	                                                     "update", update));
}

void acp_update(struct acp_session *session, json_t *update)
{
	if (session->opening || !session->id)
		json_array_append_new(session->held, update);
	else
		acp_update_now(session, update);
}

void acp_updates_release(struct acp_session *session)
{
	json_t *update;
	size_t i;

	json_array_foreach(session->held, i, update)
		acp_update_now(session, json_incref(update));
	json_array_clear(session->held);
}
