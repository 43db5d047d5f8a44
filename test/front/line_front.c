/* SPDX-License-Identifier: Apache-2.0 */
#include "line_front.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/text.h"
#include "data/json.h"
#include "policy/policy.h"

struct line_front {
	struct front_runner *runner;
	struct front *front;
	FILE *in, *out;
	int bell;
	bool whole, answered; /* questions, and who answered, are shown as JSON, too */
	bool over;
};

static void line_wake(void *data, bool is_piece)
{
	const struct line_front *line = data;

	(void)is_piece;
	(void)eventfd_write(line->bell, 1);
}

/* ---- events -------------------------------------------------------------------- */

static const char *member(const json_t *message, const char *name)
{
	const char *text = json_string_value(json_object_get(message, name));

	return text ? text : "";
}

/* Each line of a text after its mark. */
static void put_lines(struct line_front *line, const char *text)
{
	struct span rest = span_str(text), one;

	while (line_next(&rest, &one))
		fprintf(line->out, "| %.*s\n", (int)span_trim(one).len, span_trim(one).data);
}

static void put_question(struct line_front *line, const struct front_event *event)
{
	const json_t *details = json_object_get(event->message, "details");

	fprintf(line->out, "%llu ask %s %s\n", (unsigned long long)event->number,
	        member(event->message, "correlationId"), member(details, "title"));
	put_lines(line, member(details, "fileDiff"));
	if (line->whole) {
		char *text = json_dumps(event->message, JSON_COMPACT);

		fprintf(line->out, "whole %s\n", text);
		free(text);
	}
}

/* "vote KIND BY APPROVALS/NEEDED MISSING". */
static void put_vote(struct line_front *line, const struct front_event *event)
{
	const json_t *message = event->message;

	fprintf(line->out, "%llu vote %s %s %lld/%lld %s\n", (unsigned long long)event->number,
	        member(message, "vote"), member(message, "by"),
	        (long long)json_integer_value(json_object_get(message, "approvals")),
	        (long long)json_integer_value(json_object_get(message, "needed")),
	        member(message, "missing"));
}

static void put_bus(struct line_front *line, const struct front_event *event)
{
	static const struct {
		enum bus_topic topic;
		const char *first, *second; /* members that are shown */
	} shown[] = {
		{ BUS_PROMPT, "text", "" },
		{ BUS_CONTENT, "text", "" },
		{ BUS_TOOL_CALL, "toolName", "title" },
		{ BUS_TOOL_RESULT, "toolName", "status" },
		{ BUS_TOOL_CONFIRMATION_RESPONSE, "correlationId", "outcome" },
		{ BUS_QUESTION_ANSWERED, "outcome", "by" },
		{ BUS_TOOL_POLICY_REJECTION, "toolName", "message" },
		{ BUS_COMMENT, "by", "text" },
		{ BUS_APPROVAL_MODE, "mode", "" },
		{ BUS_NOTICE, "severity", "message" },
	};

	if (bus_topic_answer(event->topic) != BUS_NONE) {
		put_question(line, event);
		return;
	}
	if (event->topic == BUS_QUESTION_ANSWERED && line->answered) {
		char *text = json_dumps(event->message, JSON_COMPACT);

		fprintf(line->out, "answered %s\n", text);
		free(text);
	}
	if (event->topic == BUS_QUESTION_VOTE) {
		put_vote(line, event);
		return;
	}
	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++)
		if (shown[i].topic == event->topic)
			fprintf(line->out, "%llu %s %s %s\n", (unsigned long long)event->number,
			        bus_topic_name(event->topic),
			        member(event->message, shown[i].first),
			        member(event->message, shown[i].second));
}

static void put_event(struct line_front *line, const struct front_event *event)
{
	static const char *const kinds[] = {
		[FRONT_NOTICE] = "notice", [FRONT_FOUND] = "found", [FRONT_STARTED] = "begun",
		[FRONT_OPENED] = "opened", [FRONT_CLOSED] = "closed", [FRONT_PAUSED] = "paused",
		[FRONT_ENDED] = "ended",
		[FRONT_DONE] = "done", [FRONT_MISSED] = "missed", [FRONT_OVER] = "over",
	};

	if (event->kind == FRONT_BUS) {
		put_bus(line, event);
		return;
	}
	fprintf(line->out, "%llu %s", (unsigned long long)event->number, kinds[event->kind]);
	if (event->kind == FRONT_ENDED)
		fprintf(line->out, " %s", agent_end_name(event->end));
	if (event->kind == FRONT_MISSED)
		fprintf(line->out, " %lld", (long long)json_integer_value(
			json_object_get(event->message, "to")));
	fprintf(line->out, " %s%s%s\n", event->by ? event->by : "", event->err ? " " : "",
	        event->err ? event->err->message : "");
	line->over = line->over || event->kind == FRONT_OVER;
}

static void put_events(struct line_front *line)
{
	struct front_event *event = front_take(line->front), *next;

	for (; event; event = next) {
		next = event->next;
		put_event(line, event);
		front_event_free(event);
	}
	fflush(line->out);
}

/* ---- orders ---------------------------------------------------------------------- */

static bool order_prompt(struct line_front *line, char *text, struct err *err)
{
	return front_prompt(line->front, SPAN(""), span_str(text), err);
}

static bool order_steer(struct line_front *line, char *text, struct err *err)
{
	return front_steer(line->front, span_str(text), err);
}

static bool order_interrupt(struct line_front *line, char *text, struct err *err)
{
	(void)text;
	return front_interrupt(line->front, err);
}

static bool order_mode(struct line_front *line, char *text, struct err *err)
{
	enum approval_mode mode;

	return (policy_mode_parse(text, &mode) ||
	        err_set(err, ERR_INVALID_ARGUMENT, "No mode.")) &&
	       front_set_mode(line->front, mode, err);
}

static bool order_comment(struct line_front *line, char *text, struct err *err)
{
	return front_comment(line->front, span_str(text), err);
}

static bool order_answer(struct line_front *line, char *text, struct err *err)
{
	const char *outcome = strchr(text, ' ');
	json_auto_t *answer = json_object();

	if (!outcome)
		return err_set(err, ERR_INVALID_ARGUMENT, "answer ID OUTCOME");
	json_object_set_new(answer, "correlationId",
	                    json_stringn(text, (size_t)(outcome - text)));
	json_object_set_new(answer, "outcome", json_string(outcome + 1));
	return front_answer(line->front, BUS_TOOL_CONFIRMATION_RESPONSE, answer, err);
}

/* Any answer, as JSON. */
static bool order_vote(struct line_front *line, char *text, struct err *err)
{
	json_auto_t *answer = json_loads(text, 0, NULL);

	return (answer || err_set(err, ERR_INVALID_ARGUMENT, "vote JSON")) &&
	       front_answer(line->front, BUS_TOOL_CONFIRMATION_RESPONSE, answer, err);
}

static bool order_invite(struct line_front *line, char *text, struct err *err)
{
	(void)err;
	front_invite(line->runner, &(struct front_person){ .name = text });
	return true;
}

static bool order_uninvite(struct line_front *line, char *text, struct err *err)
{
	(void)err;
	front_uninvite(line->runner, text);
	return true;
}

static bool order_whole(struct line_front *line, char *text, struct err *err)
{
	(void)text;
	(void)err;
	line->whole = true;
	return true;
}

static bool order_answered(struct line_front *line, char *text, struct err *err)
{
	(void)text;
	(void)err;
	line->answered = true;
	return true;
}

static void carry_out(struct line_front *line, char *text)
{
	static const struct {
		const char *word;
		bool (*run)(struct line_front *line, char *text, struct err *err);
	} orders[] = {
		{ "prompt", order_prompt }, { "steer", order_steer }, { "mode", order_mode },
		{ "interrupt", order_interrupt }, { "comment", order_comment },
		{ "answer", order_answer }, { "vote", order_vote }, { "whole", order_whole },
		{ "answered", order_answered },
		{ "invite", order_invite }, { "uninvite", order_uninvite },
	};
	struct err err = ERR_INIT;
	char *rest = text + strcspn(text, " ");

	if (*rest)
		*rest++ = '\0';
	line->over = line->over || strcmp(text, "leave") == 0;
	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++)
		if (strcmp(orders[i].word, text) == 0 && !orders[i].run(line, rest, &err))
			fprintf(line->out, "error %s\n", err.message);
	fflush(line->out);
}

/* ---- a connection ------------------------------------------------------------------ */

static unsigned roles_read(const char *letters)
{
	return (strchr(letters, 'c') ? FRONT_COMMENT : 0) |
	       (strchr(letters, 'a') ? FRONT_APPROVE : 0) |
	       (strchr(letters, 'd') ? FRONT_DRIVE : 0);
}

/* stdio's buffer holds no second line: the peer waits for what each does. */
static void line_loop(struct line_front *line)
{
	static _Thread_local char text[65536];
	eventfd_t count;

	while (!line->over) {
		struct pollfd fds[] = { { .fd = fileno(line->in), .events = POLLIN },
			                { .fd = line->bell, .events = POLLIN } };

		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents && eventfd_read(line->bell, &count) == 0)
			put_events(line);
		if (!fds[0].revents)
			continue;
		if (!fgets(text, sizeof(text), line->in))
			break;
		text[strcspn(text, "\n")] = '\0';
		carry_out(line, text);
	}
}

void line_front_serve(struct front_runner *runner, int fd)
{
	struct line_front line = { .runner = runner, .bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
	struct front_options options = { .wake = line_wake, .data = &line };
	struct front_person person = { 0 };
	char name[64], letters[16];
	unsigned long long after;

	line.in = fdopen(fd, "r");
	line.out = fdopen(dup(fd), "w");
	setvbuf(line.in, NULL, _IONBF, 0);
	if (fscanf(line.in, "%63s %15s %llu", name, letters, &after) == 3) {
		(void)fgetc(line.in);
		options.name = name;
		options.roles = roles_read(letters);
		options.after = after;
		person.name = name;
		if (strchr(letters, 'r'))
			options.reviewer = &person;
		line.front = front_attach(runner, &options);
		if (line.front)
			line_loop(&line);
		front_detach(line.front);
	}
	fclose(line.in);
	fclose(line.out);
	close(line.bell);
}
