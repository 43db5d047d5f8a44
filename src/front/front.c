/* SPDX-License-Identifier: Apache-2.0 */
/* Fronts: attached, left, and what they may order. */
#include <stdlib.h>
#include <string.h>

#include "agent/setup/prepare.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/settings.h"
#include "data/json.h"
#include "front/private.h"

/* ---- people ------------------------------------------------------------------------ */

/* A group that the setting has has the members that it lists, and no others. */
static void add_given_groups(json_t *groups, const json_t *set, const json_t *given)
{
	size_t i;
	json_t *group;

	json_array_foreach((json_t *)given, i, group)
		if (json_is_string(group) && !json_object_get(set, json_string_value(group)))
			json_array_append(groups, group);
}

/* {name, groups}: those of the setting that list the name, and those given that no setting has. */
static json_t *person_known(const struct front_runner *runner, const struct front_person *person)
{
	const struct settings *settings = session_settings(runner->session);
	const json_t *set = settings ? settings_get(settings, "hasp.reviewers.groups") : NULL;
	json_t *groups = json_array(), *members;
	const char *group;

	json_object_foreach((json_t *)set, group, members)
		if (json_lists(members, span_str(person->name)))
			json_array_append_new(groups, json_string(group));
	add_given_groups(groups, set, person->groups);
	return json_pack("{s:s, s:o}", "name", person->name, "groups", groups);
}

/* Those who may answer have become fewer. */
static void people_changed(struct front_runner *runner)
{
	struct host *host = front_use_host(runner);

	if (!host)
		return;
	bus_rejudge(host_bus(host));
	front_release_host(runner);
}

void front_invite(struct front_runner *runner, const struct front_person *person)
{
	json_t *known = person_known(runner, person);

	pthread_mutex_lock(&runner->hub.lock);
	json_object_set_new(runner->hub.invited, person->name, known);
	pthread_mutex_unlock(&runner->hub.lock);
}

/* Their approvals of open questions. */
static void votes_withdraw(struct front_runner *runner, struct host *host, const char *name)
{
	json_auto_t *person = json_pack("{s:s, s:[]}", "name", name, "groups");
	json_auto_t *ids = front_hub_voted(&runner->hub);
	const struct bus_voter voter = { .front = name, .person = person };
	struct err ignored = ERR_INIT;
	size_t i;
	json_t *id;

	json_array_foreach(ids, i, id) {
		json_auto_t *answer = json_pack("{s:O, s:s}", "correlationId", id, "outcome",
		                                "withdraw");

		bus_answer_as(host_bus(host), BUS_TOOL_CONFIRMATION_RESPONSE, answer, &voter,
		              &ignored);
	}
}

void front_uninvite(struct front_runner *runner, const char *name)
{
	struct host *host = front_use_host(runner);

	pthread_mutex_lock(&runner->hub.lock);
	json_object_del(runner->hub.invited, name);
	pthread_mutex_unlock(&runner->hub.lock);
	if (!host)
		return;
	votes_withdraw(runner, host, name);
	bus_rejudge(host_bus(host));
	front_release_host(runner);
}

/* ---- attached ---------------------------------------------------------------------- */

struct front *front_attach(struct front_runner *runner, const struct front_options *options)
{
	struct front *front = mem_alloc(1, sizeof(*front));
	bool attached;

	front->runner = runner;
	front->options = *options;
	if (options->reviewer)
		front->person = person_known(runner, options->reviewer);
	front->options.reviewer = NULL;
	pthread_mutex_lock(&runner->attaching);
	attached = front_hub_attach(&runner->hub, front);
	front->options.name = front->name;
	if (attached && runner->bus)
		front_promise(front, runner->bus);
	pthread_mutex_unlock(&runner->attaching);
	if (attached)
		return front;
	json_decref(front->person);
	free(front);
	return NULL;
}

/* Under the lock: its prompts are still carried out, its tasks are not. */
static void front_leave_orders(struct front_runner *runner, const struct front *front)
{
	struct front_order **link = &runner->first, *last = NULL;

	while (*link) {
		struct front_order *order = *link;

		if (order->giver == front && order->kind == FRONT_ORDER_TASK) {
			*link = order->next;
			runner->waiting--;
			free(order->by);
			free(order);
			continue;
		}
		if (order->giver == front)
			order->giver = NULL;
		last = order;
		link = &order->next;
	}
	runner->last = last;
}

void front_detach(struct front *front)
{
	struct front_runner *runner;

	if (!front)
		return;
	runner = front->runner;
	pthread_mutex_lock(&runner->lock);
	front_leave_orders(runner, front);
	while (runner->current && runner->current->giver == front &&
	       runner->current->kind == FRONT_ORDER_TASK)
		pthread_cond_wait(&runner->done, &runner->lock);
	if (runner->current && runner->current->giver == front)
		runner->current->giver = NULL;
	pthread_mutex_unlock(&runner->lock);
	pthread_mutex_lock(&runner->attaching);
	front_hub_detach(&runner->hub, front);
	if (runner->bus)
		front_unpromise(front, runner->bus);
	pthread_mutex_unlock(&runner->attaching);
	if (front->person)
		people_changed(runner);
	json_decref(front->person);
	free(front->name);
	free(front);
}

const char *front_name(const struct front *front)
{
	return front->name;
}

/* The vote of a person; `who`: their name here. */
static void vote_words(struct buf *text, const char *who, const json_t *message)
{
	static const struct {
		const char *vote, *words;
	} words[] = { { "approve", "approved" }, { "veto", "said no" },
		      { "against", "said no, and can be outvoted" },
		      { "lapsed", "no longer approves what is asked about" } };
	const char *missing = json_string_value(json_object_get(message, "missing"));
	const struct span vote = json_span(json_object_get(message, "vote"));
	size_t i;
	json_t *name;

	for (i = 0; i < ARRAY_LEN(words); i++)
		if (span_eq(vote, span_str(words[i].vote)))
			buf_printf(text, "%s %s", who, words[i].words);
	buf_printf(text, ": %lld of %lld approvals",
	           (long long)json_integer_value(json_object_get(message, "approvals")),
	           (long long)json_integer_value(json_object_get(message, "needed")));
	json_array_foreach(json_object_get(message, "approvedBy"), i, name)
		buf_printf(text, "%s%s", i ? ", " : " (", json_string_value(name));
	buf_str(text, i ? ")" : "");
	if (missing && !span_eq(vote, SPAN("veto")))
		buf_printf(text, "; needs %s", missing);
}

char *front_said(const struct front *front, enum bus_topic topic, const json_t *message)
{
	const char *by = json_string_value(json_object_get(message, "by"));
	const bool is_own = by && !strcmp(by, front->name);
	_cleanup_buf_ struct buf text = BUF_INIT(64 << 10);

	if (!by || (is_own && topic == BUS_QUESTION_ANSWERED))
		return NULL;
	if (topic == BUS_QUESTION_VOTE)
		vote_words(&text, is_own ? "You" : by, message);
	else if (topic == BUS_QUESTION_ANSWERED)
		buf_printf(&text, "Answered by %s: %s", by,
		           json_string_value(json_object_get(message, "outcome")));
	else
		buf_printf(&text, "%s: %s", by,
		           json_string_value(json_object_get(message, "text")));
	return buf_steal(&text);
}

struct front_event *front_take(struct front *front)
{
	return front_hub_take(&front->runner->hub, front);
}

const struct cancel *front_cancel(const struct front *front)
{
	return &front->runner->cancel;
}

/* ---- answers, comments --------------------------------------------------------------- */

static bool is_closed(struct err *err)
{
	return err_set(err, ERR_INVALID_ARGUMENT, "The session is not open.");
}

bool front_answer(struct front *front, enum bus_topic topic, const json_t *answer,
                  struct err *err)
{
	const struct bus_voter voter = { .front = front->name, .person = front->person };
	struct host *host;
	bool taken = true;

	if (!front_may(front, bus_topic_is_order(topic) ? FRONT_DRIVE : FRONT_APPROVE, err) ||
	    !bus_check(topic, answer, err))
		return false;
	host = front_use_host(front->runner);
	if (!host)
		return is_closed(err);
	if (bus_topic_is_order(topic))
		bus_publish(host_bus(host), topic, answer);
	else
		taken = bus_answer_as(host_bus(host), topic, answer, &voter, err);
	front_release_host(front->runner);
	return taken;
}

bool front_comment(struct front *front, struct span text, struct err *err)
{
	if (!front_may(front, FRONT_COMMENT, err))
		return false;
	front_runner_publish(front->runner, BUS_COMMENT,
	                     json_pack("{s:o, s:s}", "text", json_text(text), "by", front->name));
	return true;
}

/* ---- orders ---------------------------------------------------------------------------- */

bool front_prompt(struct front *front, struct span piped, struct span prompt, struct err *err)
{
	const struct front_order order = {
		.kind = FRONT_ORDER_PROMPT, .giver = front,
		.piped = mem_dup(piped.data, piped.len), .piped_len = piped.len,
		.prompt = mem_dup(prompt.data, prompt.len), .prompt_len = prompt.len,
	};

	return front_runner_order(front->runner, &order, err);
}

bool front_give(struct front *front, struct front_task *task, struct err *err)
{
	return front_runner_order(front->runner,
	                          &(struct front_order){ .kind = FRONT_ORDER_TASK,
	                                                 .giver = front, .task = task },
	                          err);
}

bool front_pause(struct front *front, struct err *err)
{
	return front_runner_order(front->runner,
	                          &(struct front_order){ .kind = FRONT_ORDER_PAUSE,
	                                                 .giver = front },
	                          err);
}

bool front_steer(struct front *front, struct span text, struct err *err)
{
	struct front_runner *runner = front->runner;
	bool taken;

	if (!front_may(front, FRONT_DRIVE, err))
		return false;
	pthread_mutex_lock(&runner->lock);
	taken = runner->is_open && host_steer(session_host(runner->session), text);
	pthread_mutex_unlock(&runner->lock);
	return taken || err_set(err, ERR_INVALID_ARGUMENT, "No prompt is under way.");
}

json_t *front_runner_modes(struct front_runner *runner)
{
	/* While the host is used, the settings are not read again. */
	struct host *host = front_use_host(runner);
	json_t *modes = json_array();

	for (enum approval_mode mode = 0; host && mode < MODE_COUNT; mode++) {
		struct err ignored = ERR_INIT;

		if (prepare_mode_check(session_settings(runner->session), mode, &ignored))
			json_array_append_new(modes, json_string(prepare_mode_word(mode)));
	}
	if (host)
		front_release_host(runner);
	return modes;
}

bool front_set_mode(struct front *front, enum approval_mode mode, struct err *err)
{
	struct front_runner *runner = front->runner;
	struct host *host;
	bool permitted;

	if (!front_may(front, FRONT_DRIVE, err))
		return false;
	/* While the host is used, the settings are not read again. */
	host = front_use_host(runner);
	if (!host)
		return is_closed(err);
	permitted = prepare_mode_check(session_settings(runner->session), mode, err);
	if (permitted)
		host_set_mode(host, mode);
	front_release_host(runner);
	return permitted;
}

bool front_interrupt(struct front *front, struct err *err)
{
	struct front_runner *runner = front->runner;

	if (!front_may(front, FRONT_DRIVE, err))
		return false;
	pthread_mutex_lock(&runner->lock);
	if (runner->current) {
		runner->interrupted = true;
		cancel_set(&runner->cancel);
		if (runner->is_open)
			host_interrupt(session_host(runner->session));
	} else if (runner->first) {
		runner->first->cancelled = true;
	}
	pthread_mutex_unlock(&runner->lock);
	return true;
}
