/* SPDX-License-Identifier: Apache-2.0 */
/* Questions of a session that go to the caller: how they are asked, and which answers count.
 *
 * The message that asks has a text, and a data part {"hasp": {"question": {...}}} with what
 * docs/bus.md shows.  An answer is a message of the same task with a data part (with "outcome",
 * "answers" or "action", as the question's answer on the bus has it) or a text.  What is no answer
 * is asked again; nothing but a plain yes is one. */
#include <stdlib.h>
#include <string.h>

#include "a2a/serve/tasks.h"
#include "base/mem.h"
#include "base/text.h"
#include "bus/bus.h"
#include "data/form.h"
#include "data/json.h"

static const char *text_of(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

static bool member_is_word(const json_t *object, const char *name, const char *word)
{
	const char *text = text_of(object, name);

	return text && !strcmp(text, word);
}

/* ---- words ----------------------------------------------------------------------- */

static const char *const words_yes[] = { "proceed_once", "yes", "y", "approve", "allow", "accept" };
static const char *const words_no[] = { "cancel", "no", "n", "deny", "reject", "decline" };

static bool words_list(const char *const *words, size_t count, struct span text)
{
	for (size_t i = 0; i < count; i++)
		if (text.len == strlen(words[i]) && !strncasecmp(words[i], text.data, text.len))
			return true;
	return false;
}

/* What the caller's message says, first of data, then in words. */
struct said {
	const json_t *data; /* the first data part that is an object; or NULL */
	struct span text;   /* the first text part, trimmed */
	bool yes, no;       /* the text is such a word */
};

static struct said message_said(const json_t *message)
{
	struct said said = { 0 };
	json_t *part, *data;
	size_t i;

	json_array_foreach(json_object_get(message, "parts"), i, part) {
		data = json_object_get(part, "data");
		if (!said.data && json_is_object(data))
			said.data = data;
		if (!said.text.len && json_object_get(part, "text"))
			said.text = span_trim(json_span(json_object_get(part, "text")));
	}
	said.yes = words_list(words_yes, ARRAY_LEN(words_yes), said.text);
	said.no = words_list(words_no, ARRAY_LEN(words_no), said.text);
	return said;
}

/* Data about another question says nothing of this one. */
static bool data_fits(const json_t *data, const json_t *asked)
{
	static const char *const names[] = { "correlationId", "callId", "shown" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (json_object_get(data, names[i]) &&
		    !json_equal(json_object_get(data, names[i]), json_object_get(asked, names[i])))
			return false;
	return true;
}

/* ---- confirmations --------------------------------------------------------------- */

/* "Always" is the user's to say. */
static json_t *confirmation_outcomes(void)
{
	return json_pack("[s, s]", "proceed_once", "cancel");
}

static char *confirmation_text(const json_t *asked)
{
	const json_t *details = json_object_get(asked, "details");
	const char *title = text_of(details, "title"), *type = text_of(details, "type");
	const char *about = type && !strcmp(type, "edit") ? text_of(details, "fileDiff") :
	                    type && !strcmp(type, "exec") ? text_of(details, "command") :
	                    text_of(details, "prompt");

	return mem_printf("%s%s%s\n\nAnswer \"proceed_once\" or \"cancel\".",
	                  title ? title : "This call requires approval.", about ? "\n\n" : "",
	                  about ? about : "");
}

/* What is left out, the diff says. */
static json_t *confirmation_data(const json_t *asked)
{
	json_t *data = json_deep_copy(asked), *details = json_object_get(data, "details"), *file;
	size_t i;

	json_object_del(details, "originalContent");
	json_object_del(details, "newContent");
	json_array_foreach(json_object_get(details, "files"), i, file) {
		json_object_del(file, "originalContent");
		json_object_del(file, "newContent");
	}
	json_object_set_new(data, "outcomes", confirmation_outcomes());
	return data;
}

/* Gemini CLI's clients may say "always": it counts for this call alone. */
static bool outcome_is_yes(const char *outcome)
{
	return !strcmp(outcome, "proceed_once") ||
	       span_starts(span_str(outcome), SPAN("proceed_always")) ||
	       !strcmp(outcome, "modify_with_editor");
}

/* A yes to another content than the one that was shown; NULL: to that one. */
static const json_t *confirmation_content(const json_t *asked, const json_t *data)
{
	const json_t *content = json_object_get(data, "newContent");

	return member_is_word(json_object_get(asked, "details"), "type", "edit") &&
	       json_is_string(content) ? content : NULL;
}

static json_t *confirmation_answer(const json_t *asked, const struct said *said, char **ret_why)
{
	const char *outcome = text_of(said->data, "outcome");
	const json_t *content = confirmation_content(asked, said->data);
	const bool yes = outcome ? outcome_is_yes(outcome) &&
	                           (content || strcmp(outcome, "modify_with_editor") != 0) :
	                           !said->data && said->yes;
	const bool no = outcome ? !strcmp(outcome, "cancel") : !said->data && said->no;
	const char *words = text_of(said->data, "message");
	json_t *answer;

	if ((!yes && !no) || (said->data && !data_fits(said->data, asked))) {
		*ret_why = mem_strdup(said->data && outcome && !data_fits(said->data, asked) ?
			"That answers another question." :
			"That is not an answer: send the outcome \"proceed_once\" or \"cancel\".");
		return NULL;
	}
	answer = json_pack("{s:s, s:s*, s:O*}", "outcome",
	                   yes && content ? "modify_with_editor" : yes ? "proceed_once" : "cancel",
	                   "message", no ? words : NULL, "newContent", yes ? content : NULL);
	if (json_object_get(asked, "shown"))
		json_object_set(answer, "shown", json_object_get(asked, "shown"));
	return answer;
}

/* ---- questions of the model ------------------------------------------------------ */

static char *questions_text(const json_t *asked)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	json_t *question, *option;
	size_t i, j;

	json_array_foreach(json_object_get(asked, "questions"), i, question) {
		buf_printf(&text, "%s%s", i ? "\n\n" : "", text_of(question, "question") ?: "");
		json_array_foreach(json_object_get(question, "options"), j, option)
			buf_printf(&text, "\n- %s", text_of(option, "label") ?: "");
	}
	return mem_dup(text.data ? text.data : "", text.len);
}

/* Texts, and lists of texts, by the numbers of questions. */
static bool answers_fit(const json_t *answers, size_t count)
{
	const char *number;
	json_t *value, *one;
	size_t i;

	json_object_foreach((json_t *)answers, number, value) {
		if (strlen(number) > 3 || strspn(number, "0123456789") != strlen(number) ||
		    strtoul(number, NULL, 10) >= count ||
		    (!json_is_string(value) && !json_is_array(value)))
			return false;
		json_array_foreach(value, i, one)
			if (!json_is_string(one))
				return false;
	}
	return json_object_size(answers) > 0;
}

static json_t *questions_answer(const json_t *asked, const struct said *said, char **ret_why)
{
	const size_t count = json_array_size(json_object_get(asked, "questions"));
	json_t *answers = json_object_get(said->data, "answers");

	if (json_is_true(json_object_get(said->data, "cancelled")))
		return json_pack("{s:b}", "cancelled", 1);
	if (json_is_object(answers) && data_fits(said->data, asked) && answers_fit(answers, count))
		return json_pack("{s:O}", "answers", answers);
	if (!said->data && said->text.len && count == 1)
		return json_pack("{s:{s:o}}", "answers", "0", json_text(said->text));
	*ret_why = mem_printf("That is not an answer: send %s{\"answers\": {\"0\": ...}} as data.",
	                      count == 1 ? "a text, or " : "");
	return NULL;
}

/* ---- MCP servers ----------------------------------------------------------------- */

static char *elicitation_text(const json_t *asked)
{
	const char *server = text_of(asked, "serverName"), *message = text_of(asked, "message");
	const char *url = text_of(asked, "url");

	return mem_printf("The MCP server %s asks: %s%s%s", server ? server : "", message ?: "",
	                  url ? "\n\n" : "", url ? url : "");
}

/* The one field that a text fills; NULL: there are others. */
static const json_t *form_only_text(const json_t *asked)
{
	const json_t *fields = json_object_get(asked, "fields");
	const json_t *field = json_array_get(fields, 0);

	return json_array_size(fields) == 1 && member_is_word(field, "type", "string") ? field :
	                                                                                 NULL;
}

static json_t *elicitation_words(const json_t *asked, const struct said *said)
{
	const json_t *field = form_only_text(asked);

	if (said->no)
		return json_pack("{s:s}", "action", "decline");
	if (member_is_word(asked, "mode", "url") && span_starts(said->text, SPAN("http")))
		return json_pack("{s:s, s:o}", "action", "accept", "address",
		                 json_text(said->text));
	if (said->yes && !member_is_word(asked, "mode", "form"))
		return json_pack("{s:s}", "action", "accept");
	if (field && said->text.len)
		return json_pack("{s:s, s:{s:o}}", "action", "accept", "content",
		                 text_of(field, "name"), json_text(said->text));
	return NULL;
}

static json_t *elicitation_answer(const json_t *asked, const struct said *said, char **ret_why)
{
	static const char *const actions[] = { "accept", "decline", "cancel" };
	static const char *const members[] = { "content", "address" };
	const char *action = text_of(said->data, "action");
	json_t *answer = said->data ? NULL : elicitation_words(asked, said);

	for (size_t i = 0; action && i < ARRAY_LEN(actions); i++)
		if (!strcmp(action, actions[i]) && data_fits(said->data, asked))
			answer = json_pack("{s:s}", "action", action);
	for (size_t i = 0; answer && said->data && i < ARRAY_LEN(members); i++)
		if (json_object_get(said->data, members[i]))
			json_object_set(answer, members[i],
			                json_object_get(said->data, members[i]));
	if (!answer)
		*ret_why = mem_strdup("That is not an answer: send {\"action\": \"accept\", "
		                      "\"content\": ...} or {\"action\": \"decline\"} as data.");
	return answer;
}

/* ---- all of them ----------------------------------------------------------------- */

/* A row for each topic that asks. */
static const struct question_kind {
	enum bus_topic topic;
	char *(*text)(const json_t *asked);
	json_t *(*data)(const json_t *asked); /* NULL: all of it */
	json_t *(*answer)(const json_t *asked, const struct said *said, char **ret_why);
	const char *no_name, *no_word;        /* no_word NULL: true */
} kinds[] = {
	{ BUS_TOOL_CONFIRMATION_REQUEST, confirmation_text, confirmation_data, confirmation_answer,
	  "outcome", "cancel" },
	{ BUS_ASK_USER_REQUEST, questions_text, NULL, questions_answer, "cancelled", NULL },
	{ BUS_ELICITATION_REQUEST, elicitation_text, NULL, elicitation_answer, "action", "cancel" },
};

static const struct question_kind *kind_of(int topic)
{
	size_t i = 0;

	while (i + 1 < ARRAY_LEN(kinds) && (int)kinds[i].topic != topic)
		i++;
	return &kinds[i];
}

json_t *a2a_question_parts(int topic, const json_t *message)
{
	const struct question_kind *kind = kind_of(topic);
	_cleanup_free_ char *text = kind->text(message);
	json_t *data = kind->data ? kind->data(message) : json_deep_copy(message);

	json_object_set_new(data, "topic", json_string(bus_topic_name(kind->topic)));
	return json_pack("[{s:o}, {s:{s:{s:o}}}]", "text", json_utf8(span_str(text)), "data",
	                 "hasp", "question", data);
}

enum a2a_task_state a2a_question_state(int topic, const json_t *message)
{
	return topic == BUS_ELICITATION_REQUEST && json_is_true(json_object_get(message, "login")) ?
	               A2A_TASK_AUTH_REQUIRED : A2A_TASK_INPUT_REQUIRED;
}

bool a2a_question_is_for_callers(int topic, const json_t *message)
{
	const json_t *field;
	size_t i;

	if (topic != BUS_ELICITATION_REQUEST)
		return true;
	json_array_foreach(json_object_get(message, "fields"), i, field)
		if (form_requires_secret(field))
			return false;
	return true;
}

json_t *a2a_question_answer(int topic, const json_t *asked, const json_t *message, char **ret_why)
{
	const struct said said = message_said(message);

	return kind_of(topic)->answer(asked, &said, ret_why);
}

json_t *a2a_question_no(int topic)
{
	const struct question_kind *kind = kind_of(topic);

	return kind->no_word ? json_pack("{s:s}", kind->no_name, kind->no_word) :
	                       json_pack("{s:b}", kind->no_name, 1);
}
