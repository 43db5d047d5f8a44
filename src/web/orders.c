/* SPDX-License-Identifier: Apache-2.0 */
/* What a page orders: prompts and slash commands, answers, comments, the mode.  All goes through
 * the person's front, which says whether they may. */
#include <stdlib.h>
#include <string.h>

#include "agent/setup/prepare.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "front/command/command.h"
#include "web/private.h"

static void answer_empty(struct web_exchange *exchange)
{
	web_answer(exchange->http, 200, json_object());
}

/* The person's front; NULL: the request was refused. */
static struct front *front_of(struct web_exchange *exchange)
{
	struct err err = ERR_INIT;
	struct web_seat *seat = web_seat_of(exchange->session, exchange->person, &err);

	if (!seat)
		web_refuse(exchange->http, &err);
	return seat ? seat->front : NULL;
}

static void answer_ok(struct web_exchange *exchange, bool ok, const struct err *err)
{
	if (ok)
		answer_empty(exchange);
	else
		web_refuse(exchange->http, err);
}

/* ---- slash commands --------------------------------------------------------------- */

struct slash {
	struct web_task task;         /* the first member */
	char *line;
	struct command_result result;
};

/* As web_task.run. */
static void web_slash_run(struct web_task *task, struct front_session *session)
{
	struct slash *slash = (struct slash *)task;
	const struct span line = span_trim(span_str(slash->line));
	const struct command_info *command = command_of(line);
	const struct command_context context = web_command_context(session);

	if (!web_command_is_left_out(command)) {
		command_run(&context, line, &slash->result);
		return;
	}
	row_printf(rows_add(&slash->result.rows), STYLE(ROLE_TEXT),
	           "/%s works in hasp's own terminal only.", command->name);
}

static json_t *choices_json(const struct command_result *result)
{
	json_t *list = json_array();

	for (size_t i = 0; i < result->choice_count; i++) {
		const struct command_choice *choice = &result->choices[i];

		json_array_append_new(list, json_pack(
			"{s:o, s:o, s:o, s:b}", "label", json_text(span_str(choice->label)), "note",
			json_text(span_str(choice->note ? choice->note : "")), "line",
			json_text(span_str(choice->line)), "chosen", choice->chosen));
	}
	return list;
}

static json_t *slash_json(const struct command_result *result)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	json_t *answer;

	for (size_t i = 0; i < result->rows.count; i++) {
		buf_str(&text, i ? "\n" : "");
		row_plain(&result->rows.at[i], &text);
	}
	answer = json_pack("{s:s, s:b, s:o}", "kind", "command", "ok", result->ok, "text",
	                   json_text(buf_view(&text)));
	if (result->ok && result->then == COMMAND_SEND)
		json_object_set_new(answer, "then", json_string("prompt"));
	if (result->ok && result->then == COMMAND_COMPOSE) {
		json_object_set_new(answer, "then", json_string("compose"));
		json_object_set_new(answer, "compose",
		                    json_text(span_str(result->text ? result->text : "")));
	}
	if (result->ok && result->then == COMMAND_CHOOSE) {
		json_object_set_new(answer, "then", json_string("choose"));
		json_object_set_new(answer, "question", json_cstr(result->question));
		json_object_set_new(answer, "choices", choices_json(result));
	}
	return answer;
}

/* What a command made of itself is a prompt. */
static bool slash_send(struct slash *slash, struct err *err)
{
	const struct command_result *result = &slash->result;
	const struct span text = span_str(result->text);

	if (!result->ok || result->then != COMMAND_SEND || !slash->task.session ||
	    slash->task.seat->is_left)
		return true;
	return front_prompt(slash->task.seat->front, result->plain ? text : SPAN(""),
	                    result->plain ? SPAN("") : text, err);
}

static void slash_free(struct slash *slash)
{
	command_result_release(&slash->result);
	free(slash->line);
	free(slash);
}

/* As web_task.done. */
static void web_slash_done(struct web_task *task, bool has_run)
{
	struct slash *slash = (struct slash *)task;
	struct err err = ERR_INIT;
	bool ok = has_run && slash_send(slash, &err);

	if (!has_run)
		err_set(&err, ERR_BUSY, "The session is being closed.");
	if (task->request && ok)
		web_answer(task->request, 200, slash_json(&slash->result));
	else if (task->request)
		web_refuse(task->request, &err);
	slash_free(slash);
}

/* ---- prompts ---------------------------------------------------------------------- */

static void give_prompt(struct web_exchange *exchange, struct span text)
{
	struct front *front = front_of(exchange);
	struct err err = ERR_INIT;

	if (!front)
		return;
	if (front_prompt(front, SPAN(""), text, &err))
		web_answer(exchange->http, 202, json_pack("{s:s}", "kind", "prompt"));
	else
		web_refuse(exchange->http, &err);
}

void web_do_prompt(struct web_exchange *exchange)
{
	const char *text = web_text_of(exchange, "text");
	const struct span said = span_trim(span_str(text));
	struct slash *slash;

	if (!text)
		return;
	if (!command_is(said)) {
		/* "//NAME" is "/NAME" for the model. */
		give_prompt(exchange, span_starts(said, SPAN("//")) &&
		                      command_is(span_skip(said, 1)) ? span_skip(said, 1) :
		                                                       span_str(text));
		return;
	}
	slash = mem_alloc(1, sizeof(*slash));
	slash->line = mem_dup(said.data, said.len);
	slash->task.run = web_slash_run;
	slash->task.done = web_slash_done;
	web_task_give(exchange, &slash->task);
}

void web_do_steer(struct web_exchange *exchange)
{
	const char *text = web_text_of(exchange, "text");
	struct front *front = text ? front_of(exchange) : NULL;
	struct err err = ERR_INIT;

	if (!front)
		return;
	if (front_steer(front, span_str(text), &err))
		answer_empty(exchange);
	else
		web_refuse_with(exchange->http, err.code == ERR_PERMISSION_DENIED ? 403 : 409,
		                err_name(err.code), err.message);
}

void web_do_interrupt(struct web_exchange *exchange)
{
	struct front *front = front_of(exchange);
	struct err err = ERR_INIT;

	if (front)
		answer_ok(exchange, front_interrupt(front, &err), &err);
}

void web_do_mode(struct web_exchange *exchange)
{
	const char *word = web_text_of(exchange, "mode");
	struct front *front = word ? front_of(exchange) : NULL;
	struct err err = ERR_INIT;
	enum approval_mode mode;

	if (!front)
		return;
	if (policy_mode_parse(word, &mode))
		answer_ok(exchange, front_set_mode(front, mode, &err), &err);
	else
		web_refuse_with(exchange->http, 400, "invalid_argument", "There is no such mode.");
}

void web_do_comment(struct web_exchange *exchange)
{
	const char *text = web_text_of(exchange, "text");
	struct front *front = text ? front_of(exchange) : NULL;
	struct err err = ERR_INIT;

	if (front)
		answer_ok(exchange, front_comment(front, span_str(text), &err), &err);
}

/* ---- answers ---------------------------------------------------------------------- */

/* Topics that pages may publish: answers to questions, nothing else. */
static bool topic_parse(const char *word, enum bus_topic *ret)
{
	for (enum bus_topic topic = BUS_NONE + 1; topic < BUS_TOPIC_COUNT; topic++) {
		const enum bus_topic answer = bus_topic_answer(topic);

		if (answer != BUS_NONE && !strcmp(bus_topic_name(answer), word)) {
			*ret = answer;
			return true;
		}
	}
	return false;
}

/* "Always" is an order for what comes: it takes a person who may drive. */
static bool check_outcome(const struct web_exchange *exchange, const json_t *answer,
                          struct err *err)
{
	const struct span outcome = json_span(json_object_get(answer, "outcome"));

	if (exchange->person->roles & FRONT_DRIVE ||
	    !(span_starts(outcome, SPAN("proceed_always")) || json_object_get(answer, "mode")))
		return true;
	return err_set(err, ERR_PERMISSION_DENIED,
	               "A link to approve covers this one call: \"always\" needs the role "
	               "\"drive\".");
}

void web_do_answer(struct web_exchange *exchange)
{
	const char *word = web_text_of(exchange, "topic");
	const json_t *answer = json_object_get(exchange->body, "answer");
	struct front *front;
	struct err err = ERR_INIT;
	enum bus_topic topic;

	if (!word)
		return;
	if (!topic_parse(word, &topic)) {
		web_refuse_with(exchange->http, 400, "invalid_argument",
		                "The topic is no answer to a question.");
	} else if (!bus_check(topic, answer, &err) || !check_outcome(exchange, answer, &err)) {
		web_refuse(exchange->http, &err);
	} else if ((front = front_of(exchange))) {
		if (front_answer(front, topic, answer, &err))
			answer_empty(exchange);
		else if (err.code == ERR_INVALID_ARGUMENT)
			web_refuse_with(exchange->http, 409, "state_mismatch", err.message);
		else
			web_refuse(exchange->http, &err);
	}
}
