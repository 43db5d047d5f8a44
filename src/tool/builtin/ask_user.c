/* SPDX-License-Identifier: Apache-2.0 */
/* ask_user: questions to whoever sits there, over the bus. */
#include <stdio.h>
#include <string.h>

#include "bus/bus.h"
#include "tool/builtin/arguments.h"
#include "tool/builtin/builtin.h"
#include "tool/services.h"

enum { TEXT_MAX = 4000, HEADER_MAX = 64, OPTIONS_LEAST = 2, OPTIONS_MOST = 4 };

static const char description[] =
	"Asks the user up to four questions and waits for the answers. For decisions that are "
	"the user's, when a wrong guess would cost much; not for what you can find out, and "
	"not for leave to use a tool. type choice: options to choose from (the user may also "
	"write something else); text: a free answer; yesno. Returns answers by the number of "
	"the question, from \"0\".";

/* clang-format off */
static const char arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["questions"], "additionalProperties": false,
	"properties": {
		"questions": {"type": "array", "minItems": 1, "maxItems": 4, "items": {
			"type": "object", "required": ["question", "header", "type"],
			"additionalProperties": false, "properties": {
			"question": {"type": "string", "minLength": 1, "description":
				"The whole question."},
			"header": {"type": "string", "minLength": 1, "description":
				"What it is about, in a word or two."},
			"type": {"type": "string", "enum": ["choice", "text", "yesno"]},
			"options": {"type": "array", "minItems": 2, "maxItems": 4, "items": {
				"type": "object", "required": ["label", "description"],
				"additionalProperties": false, "properties": {
				"label": {"type": "string", "minLength": 1},
				"description": {"type": "string", "description":
					"What it would mean."}}},
				"description": "Of a choice: required."},
			"multiSelect": {"type": "boolean", "description":
				"Of a choice: several may be chosen. Default false."},
			"placeholder": {"type": "string", "description":
				"Shown in the empty field of a text."}}}}
	}
} );

static const char result_schema[] = SCHEMA(
{"type": "object", "oneOf": [
	{"type": "object", "required": ["answers"], "additionalProperties": false,
	 "properties": {"answers": {"type": "object"}}}, )
	RESULT_FAILURE SCHEMA(]} );
/* clang-format on */

static bool fits(const json_t *object, const char *member, size_t max, size_t number,
                 struct err *err)
{
	if (argument_span(object, member).len <= max)
		return true;
	return err_set(err, ERR_INVALID_ARGUMENT, "The %s of question %zu is longer than %zu bytes.",
	               member, number, max);
}

static bool check_question(const json_t *question, size_t number, struct err *err)
{
	const json_t *options = json_object_get(question, "options");
	bool choice = strcmp(argument_str(question, "type"), "choice") == 0;
	size_t i;
	json_t *option;

	if (choice && !options)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Question %zu is a choice and has no options; it needs %d to %d.",
		               number, OPTIONS_LEAST, OPTIONS_MOST);
	if (!fits(question, "question", TEXT_MAX, number, err) ||
	    !fits(question, "header", HEADER_MAX, number, err) ||
	    !fits(question, "placeholder", TEXT_MAX, number, err))
		return false;
	json_array_foreach((json_t *)options, i, option)
		if (!fits(option, "label", TEXT_MAX, number, err) ||
		    !fits(option, "description", TEXT_MAX, number, err))
			return false;
	return true;
}

static bool check(const json_t *questions, struct err *err)
{
	size_t i;
	json_t *question;

	json_array_foreach((json_t *)questions, i, question)
		if (!check_question(question, i + 1, err))
			return false;
	return true;
}

static bool nobody(struct err *err)
{
	return err_set(err, ERR_DENIED_BY_USER,
	               "Nobody can be asked here. Decide yourself, and say what you decided.");
}

/* The answers to questions that were asked, and no others; NULL with *err. */
static json_t *answers_of(const json_t *questions, const json_t *answer, struct err *err)
{
	const json_t *given = json_object_get(answer, "answers");
	json_t *answers;

	if (json_is_true(json_object_get(answer, "cancelled")) || !json_object_size(given)) {
		err_set(err, ERR_DENIED_BY_USER, "The user did not answer the questions.");
		return NULL;
	}
	answers = json_object();
	for (size_t i = 0; i < json_array_size(questions); i++) {
		char number[24];

		snprintf(number, sizeof(number), "%zu", i);
		if (json_object_get(given, number))
			json_object_set(answers, number, json_object_get(given, number));
	}
	return answers;
}

static json_t *ask(struct tool_services *services, json_t *questions, struct err *err)
{
	json_auto_t *message = json_object(), *answer = NULL;

	if (!services || !services->interactive) {
		nobody(err);
		return NULL;
	}
	json_object_set(message, "questions", questions);
	switch (bus_ask(services->bus, BUS_ASK_USER_REQUEST, message, 0, services->cancel, &answer)) {
	case BUS_ANSWERED:
		return answers_of(questions, answer, err);
	case BUS_CANCELLED:
		err_set(err, ERR_CANCELLED, "The call was cancelled before somebody answered.");
		return NULL;
	case BUS_NOBODY:
	case BUS_TIMED_OUT:
		nobody(err);
	}
	return NULL;
}

static json_t *run(struct session *session, const json_t *arguments)
{
	json_t *questions = json_object_get(arguments, "questions"), *answers = NULL, *result;
	struct err err = ERR_INIT;

	if (check(questions, &err))
		answers = ask(session->services, questions, &err);
	if (!answers)
		return tool_failure(&err);
	result = json_object();
	json_object_set_new(result, "answers", answers);
	return result;
}

const struct tool tool_ask_user = {
	.name = "ask_user",
	.title = "Ask the user",
	.kind = TOOL_KIND_COMMUNICATE,
	.description = description,
	.arguments_schema = arguments_schema,
	.result_schema = result_schema,
	.run = run,
	.asks = true,
};
