/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked beyond yes and no: elicitation/create, with a form or an address.  A client without
 * forms is asked one question with options as session/request_permission; of all else the answer is
 * no.  Answers are checked where they are used (agent/host/host.h), as those of any front. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acp/private.h"
#include "base/mem.h"
#include "data/form.h"
#include "data/json.h"

/* The field that follows a choice, for another answer. */
#define OTHER_SUFFIX "-other"

/* ---- sending --------------------------------------------------------------------- */

static void acp_elicit_form(struct acp_question *question, const char *message,
                            json_t *properties, json_t *required, acp_replied *replied)
{
	struct acp_session *session = question->session;

	question->id = acp_request_client(session->acp, "elicitation/create", json_pack(
		"{s:s, s:s, s:s, s:{s:s, s:o, s:o}}", "sessionId", session->id, "mode", "form",
		"message", message ? message : "", "requestedSchema", "type", "object",
		"properties", properties, "required", required), replied, question);
}

static json_t *acp_titled(json_t *property, const char *title, const char *description)
{
	if (title && *title)
		json_object_set_new(property, "title", json_text(span_str(title)));
	if (description && *description)
		json_object_set_new(property, "description", json_text(span_str(description)));
	return property;
}

/* The options of a choice: `value` and `label` are the members that have them. */
static json_t *acp_enum_options(const json_t *options, const char *value, const char *label)
{
	json_t *list = json_array(), *option;
	size_t i;

	json_array_foreach((json_t *)options, i, option) {
		const char *more = acp_text(option, "description");
		_cleanup_free_ char *title = mem_printf("%s%s%s", acp_text(option, label) ?: "",
		                                        more && *more ? ": " : "", more ?: "");

		json_array_append_new(list, json_pack("{s:O, s:o}", "const",
		                                      json_object_get(option, value), "title",
		                                      json_text(span_str(title))));
	}
	return list;
}

static json_t *acp_choice(const json_t *options, const char *value, const char *label, bool several)
{
	json_t *list = acp_enum_options(options, value, label);

	return several ? json_pack("{s:s, s:{s:o}}", "type", "array", "items", "anyOf", list) :
	                 json_pack("{s:s, s:o}", "type", "string", "oneOf", list);
}

/* ---- the model's questions --------------------------------------------------------- */

static bool acp_is_yes_or_no(const json_t *question)
{
	const char *type = acp_text(question, "type");

	return type && !strcmp(type, "yesno");
}

/* Of a question of the model's: its options, those of yes and no too; a new reference, or NULL. */
static json_t *acp_question_options(const json_t *question)
{
	json_t *options = json_object_get(question, "options");

	if (json_array_size(options))
		return json_incref(options);
	return acp_is_yes_or_no(question) ?
	               json_pack("[{s:s}, {s:s}]", "label", "Yes", "label", "No") : NULL;
}

static void acp_add_question(json_t *properties, size_t number, const json_t *question)
{
	const char *text = acp_text(question, "question"), *header = acp_text(question, "header");
	const bool several = json_is_true(json_object_get(question, "multiSelect"));
	json_auto_t *options = acp_question_options(question);
	char name[48];

	snprintf(name, sizeof(name), "%zu", number);
	json_object_set_new(properties, name, acp_titled(
		options ? acp_choice(options, "label", "label", several) :
		          json_pack("{s:s}", "type", "string"), header, text));
	if (!options || acp_is_yes_or_no(question))
		return;
	snprintf(name, sizeof(name), "%zu" OTHER_SUFFIX, number);
	json_object_set_new(properties, name, acp_titled(json_pack("{s:s}", "type", "string"),
	                                                 "Another answer", NULL));
}

/* What was chosen or typed; NULL: nothing. A new reference. */
static json_t *acp_answer_to(const json_t *content, size_t number)
{
	char name[48];
	json_t *chosen, *other;

	snprintf(name, sizeof(name), "%zu" OTHER_SUFFIX, number);
	other = json_object_get(content, name);
	snprintf(name, sizeof(name), "%zu", number);
	chosen = json_object_get(content, name);
	if (json_is_array(chosen) && json_string_length(other)) {
		chosen = json_copy(chosen);
		json_array_append(chosen, other);
		return chosen;
	}
	if (json_string_length(other))
		return json_incref(other);
	return json_string_length(chosen) || json_array_size(chosen) ? json_incref(chosen) : NULL;
}

/* As acp_replied. */
static void acp_questions_replied(void *data, const json_t *result, const json_t *error)
{
	struct acp_question *question = data;
	const json_t *questions = json_object_get(question->message, "questions");
	const char *action = acp_text(result, "action");
	json_auto_t *answers = json_object();
	char number[24];

	(void)error;
	for (size_t i = 0; action && !strcmp(action, "accept") && i < json_array_size(questions);
	     i++) {
		json_t *answer = acp_answer_to(json_object_get(result, "content"), i);

		snprintf(number, sizeof(number), "%zu", i);
		if (answer)
			json_object_set_new(answers, number, answer);
	}
	if (json_object_size(answers))
		acp_question_answer(question, json_pack("{s:O}", "answers", answers));
	else
		acp_question_decline(question);
}

/* ---- one question, as a permission ---------------------------------------------------- */

/* Asks with such options; the client sees a call that the question stands for. */
static void acp_elicit_options(struct acp_question *question, const char *title, json_t *content,
                               json_t *options, acp_replied *replied)
{
	struct acp_session *session = question->session;

	question->id = acp_request_client(session->acp, "session/request_permission", json_pack(
		"{s:s, s:{s:O, s:s, s:s, s:s, s:o}, s:o}", "sessionId", session->id, "toolCall",
		"toolCallId", json_object_get(question->message, "correlationId"), "title",
		title ? title : "", "kind", "other", "status", "pending", "content", content,
		"options", options), replied, question);
}

static const char *acp_option_chosen(const json_t *result)
{
	const json_t *outcome = json_object_get(result, "outcome");
	const char *word = acp_text(outcome, "outcome");

	return word && !strcmp(word, "selected") ? acp_text(outcome, "optionId") : NULL;
}

/* As acp_replied: the option's id is its number. */
static void acp_choice_replied(void *data, const json_t *result, const json_t *error)
{
	struct acp_question *question = data;
	const json_t *asked = json_array_get(json_object_get(question->message, "questions"), 0);
	json_auto_t *options = acp_question_options(asked);
	const char *chosen = acp_option_chosen(result);
	char number[24];

	(void)error;
	for (size_t i = 0; chosen && i < json_array_size(options); i++) {
		snprintf(number, sizeof(number), "%zu", i);
		if (strcmp(number, chosen) != 0)
			continue;
		acp_question_answer(question, json_pack(
			"{s:{s:O}}", "answers", "0",
			json_object_get(json_array_get(options, i), "label")));
		return;
	}
	acp_question_decline(question);
}

static bool acp_elicit_choice(struct acp_question *question, const json_t *asked)
{
	json_auto_t *options = acp_question_options(asked);
	json_t *list, *option;
	char number[24];
	size_t i;

	if (!options || json_is_true(json_object_get(asked, "multiSelect")))
		return false;
	list = json_array();
	json_array_foreach(options, i, option) {
		snprintf(number, sizeof(number), "%zu", i);
		json_array_append_new(list, json_pack("{s:s, s:O, s:s}", "optionId", number, "name",
		                                      json_object_get(option, "label"), "kind",
		                                      "allow_once"));
	}
	json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "optionId", "cancel", "name",
	                                      "No answer", "kind", "reject_once"));
	acp_elicit_options(question, acp_text(asked, "question"), json_array(), list,
	                   acp_choice_replied);
	return true;
}

void acp_elicit_questions(struct acp_question *question)
{
	const json_t *questions = json_object_get(question->message, "questions"), *asked;
	const json_t *first = json_array_get(questions, 0);
	json_t *properties;
	size_t i;

	if (!question->session->acp->client.elicits_form) {
		if (json_array_size(questions) != 1 || !acp_elicit_choice(question, first))
			acp_question_decline(question);
		return;
	}
	properties = json_object();
	json_array_foreach((json_t *)questions, i, asked)
		acp_add_question(properties, i, asked);
	acp_elicit_form(question, json_array_size(questions) == 1 ? acp_text(first, "question") :
	                          "The model has questions.", properties, json_array(),
	                acp_questions_replied);
}

/* ---- MCP servers --------------------------------------------------------------------- */

/* A field of a server's form as the protocol's schema has it; NULL: it must not be asked so. */
static json_t *acp_field_property(const json_t *field)
{
	static const char *const limits[] = { "default", "format", "minLength", "maxLength",
		                              "minimum", "maximum", "minItems", "maxItems" };
	const char *type = acp_text(field, "type");
	const json_t *options = json_object_get(field, "options");
	const bool several = type && !strcmp(type, "choices");
	json_t *property;

	if (!type || form_requires_secret(field))
		return NULL;
	property = options ? acp_choice(options, "value", "label", several) :
	                     json_pack("{s:s}", "type", type);
	for (size_t i = 0; i < ARRAY_LEN(limits); i++)
		if (json_object_get(field, limits[i]))
			json_object_set(property, limits[i], json_object_get(field, limits[i]));
	return acp_titled(property, acp_text(field, "title"), acp_text(field, "description"));
}

/* As acp_replied: the content is checked against the form by the host. */
static void acp_server_replied(void *data, const json_t *result, const json_t *error)
{
	struct acp_question *question = data;
	const char *action = acp_text(result, "action");
	json_t *content = json_object_get(result, "content"), *answer;

	(void)error;
	if (!action || (strcmp(action, "accept") != 0 && strcmp(action, "decline") != 0)) {
		acp_question_decline(question);
		return;
	}
	answer = json_pack("{s:s}", "action", action);
	if (json_is_object(content))
		json_object_set(answer, "content", content);
	acp_question_answer(question, answer);
}

static bool acp_elicit_fields(struct acp_question *question, const char *message)
{
	const json_t *fields = json_object_get(question->message, "fields"), *field;
	json_t *properties = json_object(), *required = json_array();
	size_t i;

	json_array_foreach((json_t *)fields, i, field) {
		json_t *property = acp_field_property(field);

		if (!property) {
			json_decref(properties);
			json_decref(required);
			return false;
		}
		json_object_set_new(properties, acp_text(field, "name"), property);
		if (json_is_true(json_object_get(field, "required")))
			json_array_append(required, json_object_get(field, "name"));
	}
	acp_elicit_form(question, message, properties, required, acp_server_replied);
	return true;
}

static void acp_elicit_address(struct acp_question *question, const char *message)
{
	struct acp_session *session = question->session;

	question->id = acp_request_client(session->acp, "elicitation/create", json_pack(
		"{s:s, s:s, s:s, s:O, s:O}", "sessionId", session->id, "mode", "url", "message",
		message, "elicitationId", json_object_get(question->message, "correlationId"),
		"url", json_object_get(question->message, "url")), acp_server_replied, question);
}

/* As acp_replied: whether the model may answer a server. */
static void acp_sampling_replied(void *data, const json_t *result, const json_t *error)
{
	const char *chosen = acp_option_chosen(result);

	(void)error;
	if (chosen && !strcmp(chosen, "once"))
		acp_question_answer(data, json_pack("{s:s}", "action", "accept"));
	else if (chosen && !strcmp(chosen, "session"))
		acp_question_answer(data, json_pack("{s:s, s:b}", "action", "accept",
		                                    "session", 1));
	else
		acp_question_decline(data);
}

static void acp_elicit_sampling(struct acp_question *question, const char *server)
{
	const struct span text = json_span(json_object_get(question->message, "message"));
	_cleanup_free_ char *title = mem_printf("The MCP server %s asks the model", server);

	acp_elicit_options(question, title, acp_call_text(text), json_pack(
		"[{s:s, s:s, s:s}, {s:s, s:s, s:s}, {s:s, s:s, s:s}]",
		"optionId", "once", "name", "Allow once", "kind", "allow_once",
		"optionId", "session", "name", "Allow this server for this session", "kind",
		"allow_always", "optionId", "cancel", "name", "No", "kind", "reject_once"),
	        acp_sampling_replied);
}

void acp_elicit_server(struct acp_question *question)
{
	const struct acp_client *client = &question->session->acp->client;
	const char *mode = acp_text(question->message, "mode") ?: "";
	const char *server = acp_text(question->message, "serverName") ?: "";
	const char *text = acp_text(question->message, "message") ?: "";
	_cleanup_free_ char *message = mem_printf("%s: %s", server, text);

	if (!strcmp(mode, "sampling"))
		acp_elicit_sampling(question, server);
	else if (!strcmp(mode, "url") && client->elicits_url)
		acp_elicit_address(question, message);
	else if (strcmp(mode, "form") != 0 || !client->elicits_form ||
	         !acp_elicit_fields(question, message))
		acp_question_decline(question);
}

/* ---- a no with words ------------------------------------------------------------------ */

/* As acp_replied: without words it is a no, too. */
static void acp_words_replied(void *data, const json_t *result, const json_t *error)
{
	const json_t *text = json_object_get(json_object_get(result, "content"), "message");

	(void)error;
	acp_question_answer(data, json_string_length(text) ?
	                          json_pack("{s:s, s:O}", "outcome", "cancel", "message", text) :
	                          json_pack("{s:s}", "outcome", "cancel"));
}

void acp_elicit_words(struct acp_question *question)
{
	acp_elicit_form(question, "What would you like to do instead?", json_pack(
		"{s:{s:s, s:s}}", "message", "type", "string", "title", "Instead"), json_array(),
	        acp_words_replied);
}
