/* SPDX-License-Identifier: Apache-2.0 */
/* Prompts: one at a time, the others wait.  A prompt that is a slash command runs on the session's
 * thread, and what it makes of itself may be sent to the model. */
#include <stdlib.h>
#include <string.h>

#include "acp/private.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "front/command/command.h"

struct acp_prompt {
	struct acp_prompt *next;
	struct acp_request *request;
	struct acp_content content;
	bool is_given;      /* its task or prompt is the session's now */
	bool is_cancelled;  /* by the client */
	bool is_command;
	struct front_task task; /* before the prompt: media, a command */
	struct command_result result;
};

/* ---- slash commands -------------------------------------------------------------- */

/* "//NAME" is "/NAME" for the model. */
static bool acp_prompt_is_command(struct acp_content *content)
{
	struct span said = buf_view(&content->said);

	if (span_starts(said, SPAN("//")) && command_is(span_skip(said, 1))) {
		memmove(content->said.data, content->said.data + 1, content->said.len);
		content->said.len--;
		return false;
	}
	return span_starts(said, SPAN("/")) && command_is(said);
}

/* As front_task.run. */
static void acp_prompt_prepare(struct front_task *task, struct front_session *session)
{
	struct acp_prompt *prompt = (struct acp_prompt *)((char *)task -
	                                                  offsetof(struct acp_prompt, task));

	const struct command_context context = acp_command_context(session);

	if (!context.host)
		return;
	if (json_array_size(prompt->content.media))
		host_attach(context.host, mem_steal(&prompt->content.media));
	if (prompt->is_command)
		command_run(&context, span_trim(buf_view(&prompt->content.said)), &prompt->result);
}

/* ---- the end --------------------------------------------------------------------- */

static void acp_prompt_free(struct acp_prompt *prompt)
{
	acp_content_release(&prompt->content);
	command_result_release(&prompt->result);
	free(prompt);
}

/* Takes it out of the queue. */
static void acp_prompt_take(struct acp_session *session, struct acp_prompt *prompt)
{
	struct acp_prompt **link = &session->prompts;

	while (*link != prompt)
		link = &(*link)->next;
	*link = prompt->next;
	if (!*link)
		session->last_prompt = link;
}

static void acp_prompt_answer(struct acp_session *session, struct acp_prompt *prompt,
                              const char *reason)
{
	acp_prompt_take(session, prompt);
	acp_answer(prompt->request, json_pack("{s:s}", "stopReason", reason));
	acp_prompt_free(prompt);
}

static void acp_prompt_fail(struct acp_session *session, struct acp_prompt *prompt,
                            const struct err *err)
{
	acp_prompt_take(session, prompt);
	acp_refuse_err(prompt->request, err);
	acp_prompt_free(prompt);
}

/* Why it ended.  A user's no to a call is an end like another: the client cancelled nothing. */
static const char *acp_stop_reason(const struct acp_session *session, enum agent_end end)
{
	if (end == AGENT_TURN_LIMIT || end == AGENT_LOOP)
		return "max_turn_requests";
	if (end != AGENT_ANSWERED)
		return "end_turn";
	if (!strcmp(session->stop, "length"))
		return "max_tokens";
	return !strcmp(session->stop, "safety") ? "refusal" : "end_turn";
}

void acp_prompt_ended(struct acp_session *session, const struct front_event *event)
{
	struct acp_prompt *prompt = session->prompts;
	const json_t *reason = json_object_get(event->message, "reason");

	if (!prompt || !prompt->is_given)
		return;
	if (prompt->is_cancelled) {
		acp_prompt_answer(session, prompt, "cancelled");
	} else if (event->err) {
		acp_prompt_fail(session, prompt, event->err);
	} else {
		/* Of an answer it was a notice already. */
		if (reason && event->end != AGENT_ANSWERED)
			acp_update_text(session, "agent_message_chunk", json_span(reason));
		acp_prompt_answer(session, prompt, acp_stop_reason(session, event->end));
	}
	/* Servers may have brought prompts meanwhile. */
	acp_menus_begin(session);
	acp_prompt_next(session);
}

/* ---- under way ------------------------------------------------------------------- */

static bool acp_prompt_send(struct acp_session *session, struct acp_prompt *prompt)
{
	struct err err = ERR_INIT;

	session->stop[0] = '\0';
	acp_title_from(session, buf_view(&prompt->content.said));
	if (front_prompt(session->front, buf_view(&prompt->content.piped),
	                 buf_view(&prompt->content.said), &err))
		return true;
	acp_prompt_fail(session, prompt, &err);
	return false;
}

/* What a command has made: rows to show, and perhaps a prompt. False: it is over. */
static bool acp_command_done(struct acp_session *session, struct acp_prompt *prompt)
{
	const struct command_result *result = &prompt->result;
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);

	for (size_t i = 0; i < result->rows.count; i++) {
		row_plain(&result->rows.at[i], &text);
		buf_str(&text, "  \n"); /* Markdown's line end */
	}
	if (text.len)
		acp_update_text(session, "agent_message_chunk", buf_view(&text));
	if (!result->ok || result->then != COMMAND_SEND || prompt->is_cancelled) {
		acp_prompt_answer(session, prompt, prompt->is_cancelled ? "cancelled" : "end_turn");
		return false;
	}
	buf_clear(&prompt->content.said);
	buf_str(result->plain ? &prompt->content.piped : &prompt->content.said, result->text);
	return true;
}

void acp_prompt_task_done(struct acp_session *session, const struct front_event *event)
{
	struct acp_prompt *prompt = session->prompts;

	if (!prompt || event->task != &prompt->task)
		return;
	if (prompt->is_command && !acp_command_done(session, prompt)) {
		acp_menus_begin(session); /* it may have changed what they have */
		acp_prompt_next(session);
	} else if (prompt->is_cancelled) {
		acp_prompt_answer(session, prompt, "cancelled");
		acp_prompt_next(session);
	} else if (!acp_prompt_send(session, prompt)) {
		acp_prompt_next(session);
	}
}

void acp_prompt_next(struct acp_session *session)
{
	struct acp_prompt *prompt;
	struct err err = ERR_INIT;

	while (session->state == ACP_OPEN && (prompt = session->prompts) && !prompt->is_given) {
		prompt->is_given = true;
		session->is_cancelling = false;
		prompt->is_command = acp_prompt_is_command(&prompt->content);
		if (!prompt->is_command && !json_array_size(prompt->content.media)) {
			if (acp_prompt_send(session, prompt))
				return;
			continue;
		}
		prompt->task.run = acp_prompt_prepare;
		if (front_give(session->front, &prompt->task, &err))
			return;
		acp_prompt_fail(session, prompt, &err);
	}
}

/* The client's own end of one. */
static void acp_prompt_cancel(struct acp_session *session, struct acp_prompt *prompt)
{
	struct err ignored = ERR_INIT;

	if (!prompt->is_given) {
		acp_prompt_answer(session, prompt, "cancelled");
		return;
	}
	prompt->is_cancelled = session->is_cancelling = true;
	acp_buffers_drop(session);
	front_interrupt(session->front, &ignored);
}

void acp_prompts_cancel(struct acp_session *session)
{
	struct acp_prompt *prompt, *next;

	for (prompt = session->prompts; prompt; prompt = next) {
		next = prompt->next;
		acp_prompt_cancel(session, prompt);
	}
}

void acp_prompts_drop(struct acp_session *session, const struct err *err)
{
	while (session->prompts && err)
		acp_prompt_fail(session, session->prompts, err);
	while (session->prompts)
		acp_prompt_answer(session, session->prompts, "cancelled");
}

/* ---- methods --------------------------------------------------------------------- */

/* As acp_request.cancel. */
static void acp_cancel_prompt(struct acp_request *request)
{
	struct acp_session *session = request->data;

	for (struct acp_prompt *prompt = session->prompts; prompt; prompt = prompt->next)
		if (prompt->request == request) {
			acp_prompt_cancel(session, prompt);
			return;
		}
}

void acp_do_cancel(struct acp_request *request)
{
	struct acp_session *session = acp_session_of(request);

	if (!session)
		return;
	acp_prompts_cancel(session);
	acp_answer(request, NULL);
}

void acp_do_prompt(struct acp_request *request)
{
	struct acp_session *session = acp_session_of(request);
	struct acp_prompt *prompt;
	struct err err = ERR_INIT;

	if (!session)
		return;
	prompt = mem_alloc(1, sizeof(*prompt));
	prompt->request = request;
	if (!acp_content_read(json_object_get(request->params, "prompt"), &prompt->content, &err)) {
		acp_refuse_err(request, &err);
		acp_prompt_free(prompt);
		return;
	}
	/* Its blocks are not needed twice. */
	json_object_clear(request->params);
	request->cancel = acp_cancel_prompt;
	request->data = session;
	*session->last_prompt = prompt;
	session->last_prompt = &prompt->next;
	acp_prompt_next(session);
}
