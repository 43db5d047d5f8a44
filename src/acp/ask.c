/* SPDX-License-Identifier: Apache-2.0 */
/* Questions: what the agent asks on the bus is asked of the client, and its answer is the bus's.
 *
 * A confirmation is session/request_permission.  Its options are the outcomes that the question
 * offers, by their own words, so that nothing can be chosen that was not offered.  Everything else
 * that can come back (an error, nothing, another word) is a no. */
#include <string.h>

#include "acp/private.h"
#include "base/mem.h"
#include "base/path.h"
#include "data/json.h"
#include "data/tools.h"

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

/* The option that is none of the outcomes: no, with words. */
#define ACP_SAY "cancel_and_say"

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

static json_t *acp_permission_options(const json_t *message, bool has_form)
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
	/* Words need a form. */
	if (has_form)
		json_array_append_new(options, json_pack(
			"{s:s, s:s, s:s}", "optionId", ACP_SAY, "name",
			"No, and say what to do instead", "kind", "reject_once"));
	return options;
}

/* A vote lets nothing run yet. */
static void acp_permission_chosen(struct acp_session *session, const json_t *message)
{
	if (json_object_get(message, "approvals"))
		return;
	acp_update(session, json_pack("{s:s, s:O, s:s}", "sessionUpdate", "tool_call_update",
	                              "toolCallId", json_object_get(message, "callId"), "status",
	                              "in_progress"));
}

/* The row of a client's list that is about this file: {path, newText (null: it is left out)}. */
static const json_t *acp_edited_row(const struct acp_session *session, const json_t *list,
                                    const json_t *file)
{
	const char *path = acp_text(file, "filePath");
	_cleanup_free_ char *absolute =
		path ? path_join(session_folder(session->session), path) : NULL;
	const json_t *row;
	size_t i;

	json_array_foreach((json_t *)list, i, row) {
		const char *named = acp_text(row, "path");

		if (absolute && named && !strcmp(named, absolute))
			return row;
	}
	return NULL;
}

/* The answer of a client that sends the texts to write; a new reference.  NULL: they are not about
 * the question's files.  Whether each may be modified, the agent checks. */
static json_t *acp_edited_answer(const struct acp_question *question, const json_t *list)
{
	json_t *details = json_object_get(question->message, "details"), *file;
	const json_t *files = json_object_get(details, "files"), *row, *text;
	json_t *answer = json_pack("{s:s}", "outcome", "modify_with_editor");
	json_t *rows = json_array();
	size_t i;

	json_object_set_new(answer, "files", rows);
	json_array_foreach((json_t *)files, i, file) {
		row = acp_edited_row(question->session, list, file);
		text = json_object_get(row, "newText");
		if (!row)
			continue;
		json_array_append_new(rows, json_pack(
			"{s:O, s:b}", "filePath", json_object_get(file, "filePath"), "taken",
			!json_is_null(text)));
		if (json_is_string(text))
			json_object_set(json_array_get(rows, json_array_size(rows) - 1),
			                "newContent", (json_t *)text);
	}
	if (files && json_array_size(rows) == json_array_size(list))
		return answer;
	text = json_object_get(acp_edited_row(question->session, list, details), "newText");
	if (!files && json_is_string(text) && json_array_size(list) == 1) {
		json_object_del(answer, "files");
		json_object_set(answer, "newContent", (json_t *)text);
		return answer;
	}
	json_decref(answer);
	return NULL;
}

/* Once, with what the client's user made of the diffs (_meta.hasp.files); false: as shown. */
static bool acp_permission_edited(struct acp_question *question, const json_t *result)
{
	const json_t *hasp = json_object_get(json_object_get(result, "_meta"), "hasp");
	const json_t *list = json_object_get(hasp, "files");
	json_t *answer = NULL;

	if (!list)
		return false;
	if (json_lists(json_object_get(question->message, "outcomes"),
	               SPAN("modify_with_editor")) &&
	    !strcmp(acp_text(json_object_get(result, "outcome"), "optionId"), "proceed_once"))
		answer = acp_edited_answer(question, list);
	if (!answer) {
		acp_question_decline(question);
		return true;
	}
	acp_permission_chosen(question->session, question->message);
	acp_question_answer(question, answer);
	return true;
}

/* As acp_replied. */
static void acp_permission_replied(void *data, const json_t *result, const json_t *error)
{
	struct acp_question *question = data;
	const json_t *outcome = json_object_get(result, "outcome");
	const char *chosen = acp_text(outcome, "optionId"), *word = acp_text(outcome, "outcome");
	const json_t *offered = json_object_get(question->message, "outcomes");

	(void)error;
	question->id = 0;
	if (chosen && !strcmp(chosen, ACP_SAY) && question->session->acp->client.elicits_form) {
		acp_elicit_words(question);
		return;
	}
	if (!word || strcmp(word, "selected") != 0 || !chosen ||
	    !json_lists(offered, span_str(chosen)) || !acp_option_of(chosen, "") ||
	    !strcmp(chosen, "cancel")) {
		acp_question_decline(question);
		return;
	}
	if (acp_permission_edited(question, result))
		return;
	acp_permission_chosen(question->session, question->message);
	acp_question_answer(question, json_pack("{s:s}", "outcome", chosen));
}

static void acp_ask_permission(struct acp_question *question)
{
	struct acp_session *session = question->session;
	json_t *call = acp_call_asked(session, question->message);
	const char *id = acp_text(call, "toolCallId");
	const json_t *known = json_object_get(session->calls, id);
	json_t *update;

	if (known) /* "Edit a.c" says more than "Confirm Edit" */
		json_object_set(call, "title", json_object_get(known, "title"));
	else /* a sub-agent's call, which is the client's from here on */
		json_object_set_new(session->calls, id, json_object());
	update = json_copy(call);
	json_object_set_new(update, "sessionUpdate",
	                    json_string(known ? "tool_call_update" : "tool_call"));
	acp_update(session, update);
	if (tool_info_find(acp_text(question->message, "toolName")) ==
	    &tool_infos[TOOL_EXIT_PLAN_MODE])
		acp_plan_from(session, json_span(json_object_get(
			json_object_get(question->message, "details"), "prompt")));
	question->id = acp_request_client(
		session->acp, "session/request_permission",
		json_pack("{s:s, s:o, s:o}", "sessionId", session->id, "toolCall", call, "options",
		          acp_permission_options(question->message,
		                                 session->acp->client.elicits_form)),
		acp_permission_replied, question);
}

/* ---- all of them ----------------------------------------------------------------- */

void acp_ask(struct acp_session *session, enum bus_topic topic, const json_t *message)
{
	struct acp_question *question = acp_question_new(session, topic, message);

	if (session->state != ACP_OPEN)
		acp_question_decline(question);
	else if (topic == BUS_TOOL_CONFIRMATION_REQUEST)
		acp_ask_permission(question);
	else if (topic == BUS_ASK_USER_REQUEST)
		acp_elicit_questions(question);
	else
		acp_elicit_server(question);
}
