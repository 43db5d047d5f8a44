/* SPDX-License-Identifier: Apache-2.0 */
/* Questions: what the agent asks on the bus is asked of the client, and its answer is the bus's.
 *
 * A confirmation is session/request_permission.  Its options are the outcomes that the question
 * offers, by their own words, so that nothing can be chosen that was not offered.  Everything else
 * that can come back (an error, nothing, another word) is a no. */
#include <stdlib.h>
#include <string.h>

#include "acp/private.h"
#include "base/mem.h"
#include "data/json.h"

/* One that is open. */
struct acp_question {
	struct acp_question *next;
	struct acp_session *session;
	enum bus_topic topic;
	json_t *message;  /* owned; of the bus */
	int64_t id;       /* of the request to the client; 0: none */
};

/* ---- the list -------------------------------------------------------------------- */

static void acp_question_free(struct acp_question *question)
{
	for (struct acp_question **link = &question->session->questions; *link;
	     link = &(*link)->next)
		if (*link == question) {
			*link = question->next;
			break;
		}
	json_decref(question->message);
	free(question);
}

/* Answers on the bus, with what `answer` (taken) has besides the id; frees the question. */
static void acp_question_answer(struct acp_question *question, json_t *answer)
{
	struct err ignored = ERR_INIT;

	json_object_set(answer, "correlationId",
	                json_object_get(question->message, "correlationId"));
	/* False: it was withdrawn meanwhile. */
	(void)front_answer(question->session->front, bus_topic_answer(question->topic), answer,
	                   &ignored);
	json_decref(answer);
	acp_question_free(question);
}

/* The answer no, of each topic. */
static void acp_question_decline(struct acp_question *question)
{
	acp_question_answer(question,
	                    question->topic == BUS_TOOL_CONFIRMATION_REQUEST ?
	                            json_pack("{s:s}", "outcome", "cancel") :
	                    question->topic == BUS_ASK_USER_REQUEST ?
	                            json_pack("{s:b}", "cancelled", 1) :
	                            json_pack("{s:s}", "action", "cancel"));
}

void acp_ask_over(struct acp_session *session, const json_t *message)
{
	const json_t *id = json_object_get(message, "correlationId");

	struct acp_question *question = session->questions;

	while (question && !json_equal(json_object_get(question->message, "correlationId"), id))
		question = question->next;
	if (!question)
		return;
	acp_forget(session->acp, question->id);
	acp_question_free(question);
}

void acp_ask_drop(struct acp_session *session)
{
	while (session->questions) {
		acp_forget(session->acp, session->questions->id);
		acp_question_decline(session->questions);
	}
}

/* ---- confirmations --------------------------------------------------------------- */

/* Outcomes as options; the first row of an outcome that fits the question's type counts. */
static const struct acp_option {
	const char *outcome, *type, *kind, *name;
} acp_options_known[] = {
	{ "proceed_once", NULL, "allow_once", "Allow once" },
	{ "proceed_always", NULL, "allow_always", "Allow for this session" },
	{ "proceed_always_tool", NULL, "allow_always", "Allow tool for this session" },
	{ "proceed_always_server", NULL, "allow_always",
	  "Allow all server tools for this session" },
	{ "proceed_always_and_save", "edit", "allow_always",
	  "Allow for this file in all future sessions" },
	{ "proceed_always_and_save", "exec", "allow_always",
	  "Allow this command for all future sessions" },
	{ "proceed_always_and_save", NULL, "allow_always", "Allow for all future sessions" },
	{ "cancel", NULL, "reject_once", "No" },
};

static const struct acp_option *acp_option_of(const char *outcome, const char *type)
{
	for (size_t i = 0; i < ARRAY_LEN(acp_options_known); i++)
		if (!strcmp(acp_options_known[i].outcome, outcome) &&
		    (!acp_options_known[i].type || !strcmp(acp_options_known[i].type, type)))
			return &acp_options_known[i];
	return NULL;
}

/* What "for this session" covers stands in its name. */
static char *acp_option_name(const struct acp_option *option, const json_t *message)
{
	const char *scope = acp_text(message, "scope");
	const bool always = !strcmp(option->kind, "allow_always");

	return always && scope ? mem_printf("%s: %s", option->name, scope) :
	                         mem_strdup(option->name);
}

static json_t *acp_permission_options(const json_t *message)
{
	const char *type = acp_text(json_object_get(message, "details"), "type");
	json_t *options = json_array(), *outcome;
	size_t i;

	json_array_foreach(json_object_get(message, "outcomes"), i, outcome) {
		const struct acp_option *option =
			acp_option_of(json_string_value(outcome), type ? type : "");
		_cleanup_free_ char *name = option ? acp_option_name(option, message) : NULL;

		if (option)
			json_array_append_new(options, json_pack(
				"{s:O, s:o, s:s}", "optionId", outcome, "name",
				json_text(span_str(name)), "kind", option->kind));
	}
	return options;
}

static void acp_permission_chosen(struct acp_session *session, const json_t *message)
{
	acp_update(session, json_pack("{s:s, s:O, s:s}", "sessionUpdate", "tool_call_update",
	                              "toolCallId", json_object_get(message, "callId"), "status",
	                              "in_progress"));
}

/* As acp_replied. */
static void acp_permission_replied(void *data, const json_t *result, const json_t *error)
{
	struct acp_question *question = data;
	const json_t *outcome = json_object_get(result, "outcome");
	const char *chosen = acp_text(outcome, "optionId"), *word = acp_text(outcome, "outcome");
	const json_t *offered = json_object_get(question->message, "outcomes");

	(void)error;
	if (!word || strcmp(word, "selected") != 0 || !chosen ||
	    !json_lists(offered, span_str(chosen)) || !acp_option_of(chosen, "") ||
	    !strcmp(chosen, "cancel")) {
		acp_question_decline(question);
		return;
	}
	acp_permission_chosen(question->session, question->message);
	acp_question_answer(question, json_pack("{s:s}", "outcome", chosen));
}

static void acp_ask_permission(struct acp_question *question)
{
	struct acp_session *session = question->session;
	json_t *call = acp_call_asked(session, question->message);
	const char *id = acp_text(call, "toolCallId");
	const bool is_known = json_object_get(session->calls, id);
	json_t *update;

	if (is_known)
		json_object_del(call, "title");
	else /* a sub-agent's call, which is the client's from here on */
		json_object_set_new(session->calls, id, json_object());
	update = json_copy(call);
	json_object_set_new(update, "sessionUpdate",
	                    json_string(is_known ? "tool_call_update" : "tool_call"));
	acp_update(session, update);
	question->id = acp_request_client(
		session->acp, "session/request_permission",
		json_pack("{s:s, s:o, s:o}", "sessionId", session->id, "toolCall", call, "options",
		          acp_permission_options(question->message)),
		acp_permission_replied, question);
}

/* ---- all of them ----------------------------------------------------------------- */

void acp_ask(struct acp_session *session, enum bus_topic topic, const json_t *message)
{
	struct acp_question *question = mem_alloc(1, sizeof(*question));

	*question = (struct acp_question){ .next = session->questions, .session = session,
		                           .topic = topic,
		                           .message = json_incref((json_t *)message) };
	session->questions = question;
	if (topic == BUS_TOOL_CONFIRMATION_REQUEST && session->state == ACP_OPEN)
		acp_ask_permission(question);
	else
		acp_question_decline(question);
}
