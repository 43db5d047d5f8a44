/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/call/questions.h"

#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "data/tools.h"
#include "policy/approvals.h"

enum { WORDS_MAX = 64 << 10 };

/* ---- what is asked about ----------------------------------------------------------- */

/* [{file_path, before, after}]: null where there is no file. */
static json_t *planned_states(const json_t *plan)
{
	const json_t *changes = json_object_get(plan, "changes");
	json_t *states = json_array();
	const size_t count = changes ? json_array_size(changes) : plan != NULL;

	for (size_t i = 0; i < count; i++) {
		const json_t *one = changes ? json_array_get(changes, i) : plan;
		const json_t *now = json_object_get(one, "latest_file_state");
		const json_t *then = json_object_get(one, "planned_state");
		json_t *before = json_object_get(now, "sha256");
		json_t *after = json_object_get(then, "sha256");

		json_array_append_new(states, json_pack(
			"{s:O?, s:o, s:o}", "file_path", json_object_get(now, "file_path"),
			"before", before ? json_incref(before) : json_null(),
			"after", after ? json_incref(after) : json_null()));
	}
	return states;
}

static struct sha256 hash_of(const json_t *value)
{
	_cleanup_free_ char *text = json_dumps(value, JSON_SORT_KEYS | JSON_COMPACT);

	return sha256_of(span_str(text ? text : ""));
}

/* All that runs: the arguments, where, with which permissions, and of an edit the bytes. */
static json_t *shown_hash(const struct call *call, const json_t *message, const json_t *states)
{
	const json_t *details = json_object_get(message, "details");
	json_auto_t *all = json_pack(
		"{s:O, s:O, s:s*, s:O, s:O*}", "tool", json_object_get(message, "toolName"),
		"arguments", json_object_get(message, "arguments"), "folder", call->agent->root,
		"states", states, "permissions", json_object_get(details, "additionalPermissions"));
	const struct sha256 sum = hash_of(all);

	return json_sha256(&sum);
}

/* Texts as JSON: no line of it can be another. */
static void put_json(struct buf *out, const json_t *value)
{
	if (json_is_null(value))
		buf_char(out, '-');
	else
		json_print(out, value, 0);
}

/* What a reviewer signs: lines of plain text. */
static json_t *statement_of(const json_t *message, const json_t *states)
{
	const char *tool = json_string_value(json_object_get(message, "toolName"));
	const json_t *command = tool_command_line(tool ? tool_info_of(tool) : NULL,
	                                          json_object_get(message, "arguments"));
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	size_t i;
	json_t *state;

	buf_printf(&text, "hasp approval 1\nquestion %s\ntool %s\nshown %s\n",
	           json_string_value(json_object_get(message, "correlationId")),
	           tool, json_string_value(json_object_get(message, "shown")));
	json_array_foreach((json_t *)states, i, state) {
		buf_str(&text, "file ");
		put_json(&text, json_object_get(state, "file_path"));
		buf_char(&text, ' ');
		put_json(&text, json_object_get(state, "before"));
		buf_char(&text, ' ');
		put_json(&text, json_object_get(state, "after"));
		buf_char(&text, '\n');
	}
	if (json_is_string(command)) {
		buf_str(&text, "command ");
		put_json(&text, command);
		buf_char(&text, '\n');
	}
	return json_text(buf_view(&text));
}

void votes_init(struct votes *votes, struct call *call, json_t *message, const json_t *plan)
{
	json_auto_t *states = planned_states(plan);

	*votes = (struct votes){
		.call = call, .message = message, .given = json_array(), .against = json_array(),
		.comments = json_array(),
		.rules = call->has_verdict ? call->verdict.approvals : NULL,
	};
	if (!json_object_get(message, "correlationId"))
		bus_identify(message);
	json_object_set_new(message, "shown", shown_hash(call, message, states));
	if (!votes->rules)
		return;
	json_object_set_new(message, "approvals", json_pack(
		"{s:o, s:O, s:o}", "needed", json_size(approvals_needed(votes->rules)), "rules",
		votes->rules, "statement", statement_of(message, states)));
	if (call->proposer)
		json_array_append(votes->given, call->proposer);
}

void votes_release(struct votes *votes)
{
	json_decref(votes->given);
	json_decref(votes->against);
	json_decref(votes->comments);
	free(votes->by);
}

/* ---- what is reported --------------------------------------------------------------- */

static json_t *approved_by(const struct votes *votes)
{
	json_t *names = json_array(), *vote;
	size_t i;

	json_array_foreach(votes->given, i, vote)
		json_array_append(names, json_object_get(vote, "by"));
	return names;
}

/* `vote`: {person, by, from?, signature?}. */
static void report_vote(const struct votes *votes, const char *kind, const json_t *vote)
{
	_cleanup_buf_ struct buf missing = BUF_INIT(WORDS_MAX);
	json_auto_t *message = json_pack(
		"{s:O, s:O, s:O*, s:s, s:o, s:o, s:o, s:O, s:b, s:O*}", "correlationId",
		json_object_get(votes->message, "correlationId"), "by", json_object_get(vote, "by"),
		"from", json_object_get(vote, "from"), "vote", kind, "approvals",
		json_size(json_array_size(votes->given)), "needed",
		json_size(approvals_needed(votes->rules)), "approvedBy", approved_by(votes),
		"shown", json_object_get(votes->message, "shown"), "owner",
		!json_object_get(json_object_get(vote, "person"), "name"), "signature",
		json_object_get(vote, "signature"));

	approvals_put_missing(votes->rules, votes->given, &missing);
	if (missing.len)
		json_object_set_new(message, "missing", json_text(buf_view(&missing)));
	bus_publish(votes->call->agent->options.bus, BUS_QUESTION_VOTE, message);
}

static void drop_person(json_t *persons, const json_t *person)
{
	for (size_t i = json_array_size(persons); i-- > 0;)
		if (approvals_same_person(json_array_get(persons, i), person))
			json_array_remove(persons, i);
}

/* Takes out the person's approval; false: there is none. */
static bool take_back(struct votes *votes, const json_t *person)
{
	size_t i;
	json_t *vote;

	json_array_foreach(votes->given, i, vote)
		if (approvals_same_person(json_object_get(vote, "person"), person)) {
			json_array_remove(votes->given, i);
			return true;
		}
	return false;
}

/* All approvals but the person's (NULL: all). */
static void lapse_others(struct votes *votes, const json_t *person)
{
	json_auto_t *given = json_copy(votes->given);
	size_t i;
	json_t *vote;

	json_array_foreach(given, i, vote) {
		const json_t *of = json_object_get(vote, "person");

		if (!(person && approvals_same_person(of, person)) && take_back(votes, of))
			report_vote(votes, "lapsed", vote);
	}
}

/* ---- what it comes to ------------------------------------------------------------------- */

/* What the asker gets, of an answer (or NULL) with all comments and names. */
static json_t *final_answer(const struct votes *votes, const json_t *answer, const char *outcome)
{
	static const char *const own[] = { "byPolicy", "approvedBy", "vetoedBy", "unmet" };
	json_t *final = answer ? json_copy((json_t *)answer) : json_object();

	for (size_t i = 0; i < ARRAY_LEN(own); i++) /* a front does not say these */
		json_object_del(final, own[i]);
	json_object_set(final, "correlationId", json_object_get(votes->message, "correlationId"));
	json_object_set_new(final, "outcome", json_string(outcome));
	if (votes->rules)
		json_object_set_new(final, "approvedBy", approved_by(votes));
	if (json_array_size(votes->comments))
		json_object_set(final, "comments", votes->comments);
	else
		json_object_del(final, "comments");
	return final;
}

static char *unmet_words(const json_t *rules)
{
	_cleanup_buf_ struct buf text = BUF_INIT(WORDS_MAX);

	approvals_put_rules(rules, &text);
	return mem_printf("This call needs %s, but too few people who count can answer in this "
	                  "session. The user can invite reviewers and ask again. Nothing was done.",
	                  text.data);
}

/* Decided, by what has been voted; or open. */
static enum bus_ruling look_again(const struct votes *votes, const json_t *answer, json_t **ret)
{
	json_auto_t *people = NULL;
	_cleanup_free_ char *words = NULL;

	if (approvals_met(votes->rules, votes->given)) {
		*ret = final_answer(votes, answer, "proceed_once");
		return BUS_DECIDED;
	}
	people = bus_people(votes->call->agent->options.bus);
	if (approvals_possible(votes->rules, votes->given, people, votes->against))
		return BUS_OPEN;
	words = unmet_words(votes->rules);
	*ret = final_answer(votes, NULL, "cancel");
	json_object_set_new(*ret, "unmet", json_text(span_str(words)));
	return BUS_DECIDED;
}

char *votes_unmet(const struct call *call)
{
	const json_t *rules = call->has_verdict ? call->verdict.approvals : NULL;
	json_auto_t *people = rules ? bus_people(call->agent->options.bus) : NULL;
	json_auto_t *given = json_array();

	if (call->proposer)
		json_array_append(given, call->proposer);
	return !rules || approvals_possible(rules, given, people, NULL) ? NULL :
	                                                                  unmet_words(rules);
}

/* ---- an answer ---------------------------------------------------------------------------- */

static enum bus_ruling refuse_vote(struct err *err, enum err_code code, const char *sentence,
                                   const json_t *rules)
{
	_cleanup_buf_ struct buf words = BUF_INIT(WORDS_MAX);

	if (rules)
		approvals_put_rules(rules, &words);
	err_set(err, code, "%s%s%s", sentence, rules ? words.data : "", rules ? "." : "");
	return BUS_REFUSED;
}

static enum bus_ruling vote_no(struct votes *votes, const json_t *vote, const json_t *answer,
                               json_t **ret)
{
	json_t *person = json_object_get(vote, "person");

	take_back(votes, person);
	if (!approvals_may_veto(votes->rules, person)) {
		drop_person(votes->against, person);
		json_array_append(votes->against, person);
		report_vote(votes, "against", vote);
		return look_again(votes, NULL, ret);
	}
	report_vote(votes, "veto", vote);
	*ret = final_answer(votes, answer, "cancel");
	if (json_object_get(person, "name"))
		json_object_set(*ret, "vetoedBy", json_object_get(vote, "by"));
	return BUS_DECIDED;
}

/* Other bytes than those that were approved: asked about again. */
static enum bus_ruling vote_change(struct votes *votes, json_t *vote, const json_t *answer,
                                   json_t **ret)
{
	lapse_others(votes, json_object_get(vote, "person"));
	json_decref(votes->call->proposer);
	votes->call->proposer = json_incref(vote);
	json_decref(votes->call->quorum);
	votes->call->quorum = json_copy((json_t *)votes->rules);
	*ret = final_answer(votes, answer, "modify_with_editor");
	return BUS_DECIDED;
}

static enum bus_ruling vote_yes(struct votes *votes, json_t *vote, const json_t *answer,
                                json_t **ret)
{
	const json_t *person = json_object_get(vote, "person");

	take_back(votes, person);
	drop_person(votes->against, person);
	json_array_append(votes->given, vote);
	report_vote(votes, "approve", vote);
	return look_again(votes, answer, ret);
}

static enum bus_ruling vote_withdraw(struct votes *votes, const json_t *vote, struct err *err)
{
	if (!take_back(votes, json_object_get(vote, "person")))
		return refuse_vote(err, ERR_INVALID_ARGUMENT,
		                   "There is no approval of yours to withdraw.", NULL);
	report_vote(votes, "lapsed", vote);
	return BUS_OPEN;
}

static json_t *vote_new(const json_t *answer, const struct bus_voter *voter)
{
	json_t *person = voter && voter->person ? json_incref((json_t *)voter->person) :
	                                          json_object();
	json_t *name = json_object_get(person, "name");
	const char *front = voter ? voter->front : "owner";

	return json_pack("{s:o, s:s, s:s*, s:O*}", "person", person, "by",
	                 name ? json_string_value(name) : front, "from", name ? front : NULL,
	                 "signature", json_object_get(answer, "signature"));
}

/* The question is published, or people have left. */
static enum bus_ruling votes_look(struct votes *votes, json_t **ret)
{
	size_t i;
	json_t *vote;

	if (!votes->rules)
		return BUS_OPEN;
	if (!votes->opened)
		json_array_foreach(votes->given, i, vote)
			report_vote(votes, "approve", vote);
	votes->opened = true;
	return look_again(votes, NULL, ret);
}

static enum bus_ruling votes_cast(struct votes *votes, const json_t *answer,
                                  const struct bus_voter *voter, json_t **ret, struct err *err)
{
	const struct span outcome = json_span(json_object_get(answer, "outcome"));
	const json_t *details = json_object_get(votes->message, "details");
	json_auto_t *vote = vote_new(answer, voter);
	const json_t *person = json_object_get(vote, "person");
	const bool counts = approvals_count(votes->rules, person);

	if (span_eq(outcome, SPAN("withdraw")))
		return vote_withdraw(votes, vote, err);
	if (!json_lists(json_object_get(votes->message, "outcomes"), outcome))
		return refuse_vote(err, ERR_INVALID_ARGUMENT,
		                   "Only one call can be approved here, or declined: it needs ",
		                   votes->rules);
	if (span_eq(outcome, SPAN("cancel")) && (counts || !voter || !voter->person))
		return vote_no(votes, vote, answer, ret);
	if (!counts)
		return refuse_vote(err, ERR_PERMISSION_DENIED,
		                   "Your answer does not count here: this call needs ",
		                   votes->rules);
	if (span_eq(outcome, SPAN("modify_with_editor")) && review_differs(details, answer))
		return vote_change(votes, vote, answer, ret);
	return vote_yes(votes, vote, answer, ret);
}

/* As bus_judge. */
static enum bus_ruling votes_rule(void *data, const json_t *answer, const struct bus_voter *voter,
                                  json_t **ret, struct err *err)
{
	struct votes *votes = data;
	const json_t *shown = json_object_get(answer, "shown");
	const json_t *given = json_object_get(answer, "comments");
	const char *by = voter ? json_string_value(json_object_get(voter->person, "name")) : NULL;
	enum bus_ruling ruling = BUS_DECIDED;
	json_auto_t *comments = NULL;

	if (!answer)
		return votes_look(votes, ret);
	if (shown && !json_equal(shown, json_object_get(votes->message, "shown")))
		return refuse_vote(err, ERR_INVALID_ARGUMENT,
		                   "This answer is about something else than what this "
		                   "question shows.", NULL);
	comments = given ? comments_read(votes->call, votes->message, given, by, err) :
	                   json_array();
	if (!comments)
		return BUS_REFUSED;
	if (json_array_size(votes->comments) + json_array_size(comments) > LIMIT_COMMENTS)
		return refuse_vote(err, ERR_LIMIT_REACHED,
		                   "This question has as many comments as it can have.", NULL);
	json_array_extend(votes->comments, comments);
	if (votes->rules && (voter || !json_is_true(json_object_get(answer, "byPolicy"))))
		ruling = votes_cast(votes, answer, voter, ret, err);
	else if (voter || given)
		*ret = final_answer(votes, answer,
		                    json_string_value(json_object_get(answer, "outcome")));
	if (ruling == BUS_DECIDED && voter) {
		free(votes->by);
		votes->by = mem_strdup(by ? by : voter->front);
	}
	if (ruling == BUS_REFUSED)
		for (size_t i = json_array_size(comments); i-- > 0;)
			json_array_remove(votes->comments, json_array_size(votes->comments) - 1);
	return ruling;
}

/* What votes_lapse needs later. */
static void note_approved(struct votes *votes)
{
	json_decref(votes->call->approved);
	votes->call->approved = json_pack(
		"{s:O, s:O, s:O, s:O}", "correlationId",
		json_object_get(votes->message, "correlationId"), "shown",
		json_object_get(votes->message, "shown"), "rules", votes->rules, "given",
		votes->given);
}

enum bus_reply votes_ask(struct votes *votes, json_t **ret)
{
	const struct bus_judge judge = { votes_rule, votes };
	struct agent *agent = votes->call->agent;
	const uint64_t began = clock_monotonic_ms();
	const enum bus_reply reply =
		bus_ask_judged(agent->options.bus, BUS_TOOL_CONFIRMATION_REQUEST, votes->message,
	                       &judge, agent->options.cancel, ret);
	const uint64_t ms = clock_monotonic_ms() - began;

	votes->call->waited_ms += ms;
	call_asked_note(votes->call, votes->message, reply == BUS_ANSWERED ? *ret : NULL,
	                votes->by, ms);
	if (reply == BUS_ANSWERED && votes->rules && approvals_met(votes->rules, votes->given))
		note_approved(votes);
	return reply;
}

void votes_lapse(struct call *call)
{
	json_t *approved = call->approved;
	struct votes votes = {
		.call = call, .message = approved, .rules = json_object_get(approved, "rules"),
		.given = json_object_get(approved, "given"),
	};

	if (approved)
		lapse_others(&votes, NULL);
	json_decref(approved);
	call->approved = NULL;
}
