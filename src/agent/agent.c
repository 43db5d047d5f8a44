/* SPDX-License-Identifier: Apache-2.0 */
/* The loop: prompt, turns, calls, until there is an answer. */
#include <string.h>

#include "agent/call/calls.h"
#include "agent/context/context.h"
#include "agent/private.h"
#include "agent/session/record.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "model/content.h"

enum { TURNS_PER_PROMPT = 100 };

const char *agent_end_name(enum agent_end end)
{
	static const char *const names[] = {
		[AGENT_ANSWERED] = "answered",         [AGENT_CANCELLED] = "cancelled",
		[AGENT_TURN_LIMIT] = "turn_limit",     [AGENT_LOOP] = "loop",
		[AGENT_HOOK_STOPPED] = "hook_stopped", [AGENT_FAILED] = "failed",
		[AGENT_FATAL_TOOL] = "fatal_tool",
	};

	return names[end];
}

void agent_outcome_release(struct agent_outcome *outcome)
{
	free(outcome->text);
	free(outcome->reason);
	free(outcome->missing);
	free(outcome->unsent);
	*outcome = (struct agent_outcome){ 0 };
}

/* One prompt on its way. */
struct prompt_run {
	struct agent *agent;
	struct agent_outcome *outcome;
	struct err *err;
	json_t *prompt;       /* owned; the message as it was sent */
	const char *asked;    /* borrowed; its text, without additions by hooks */
	unsigned turns;
	bool made_smaller;    /* once, because the provider said that it is too large */
	bool over;
};

/* The prompt ends so. `reason` may be NULL. */
static void prompt_end(struct prompt_run *run, enum agent_end how, const char *reason)
{
	char *own = mem_strdup(reason); /* it may be the outcome's */

	run->over = true;
	run->outcome->end = how;
	free(run->outcome->reason);
	run->outcome->reason = own;
}

static void prompt_fail(struct prompt_run *run, enum agent_end how)
{
	prompt_end(run, run->err->code == ERR_CANCELLED ? AGENT_CANCELLED : how, run->err->message);
}

static void say_to_model(struct prompt_run *run, const char *text)
{
	json_t *message = content_user_text(span_str(text));

	if (run->agent->options.record)
		record_user(run->agent->options.record, message, SAID_NOTE);
	agent_append(run->agent, message);
}

/* ---- before a prompt --------------------------------------------------------------- */

static char *prompt_text_of(const json_t *content)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MESSAGE_BYTES);

	content_text(content, &text);
	return buf_steal(&text);
}

static void publish_prompt(struct agent *agent, const char *text, bool steer)
{
	json_auto_t *message = json_object();

	json_object_set_new(message, "text", json_text(span_str(text)));
	if (steer)
		json_object_set_new(message, "steer", json_true());
	agent_publish(agent, BUS_PROMPT, message);
}

static void add_hook_context(json_t *content, const char *context)
{
	_cleanup_free_ char *text = NULL;
	json_t *part;

	if (!context || !*context)
		return;
	text = mem_printf("<hook_context>%s</hook_context>", context);
	part = part_text(span_str(text));
	content_add(content, json_show_unseen(part, NULL));
	json_decref(part);
}

/* False: a hook does not let it in. */
static bool before_agent(struct prompt_run *run, const char *text)
{
	json_auto_t *input = NULL;
	struct hook_outcome outcome;

	if (!agent_has_hooks(run->agent, HOOK_BEFORE_AGENT, NULL))
		return true;
	input = json_object();
	json_object_set_new(input, "prompt", json_text(span_str(text)));
	if (!agent_fire(run->agent, HOOK_BEFORE_AGENT, NULL, input, &outcome))
		return true;
	add_hook_context(run->prompt, outcome.additional_context);
	if (outcome.stop || outcome.denied || outcome.error)
		prompt_end(run, AGENT_HOOK_STOPPED, outcome.error ? outcome.error : outcome.reason);
	hook_outcome_release(&outcome);
	return !run->over;
}

/* The model knows what it began, and not that it was stopped. */
static void note_interruption(struct prompt_run *run)
{
	static const char note[] =
		"<session_context>\nThe user interrupted the work before this message. What was "
		"not finished by then is not done; do not go on with it unless it is asked for.\n"
		"</session_context>";

	if (run->agent->interrupted)
		content_add(run->prompt, part_text(SPAN(note)));
	run->agent->interrupted = false;
}

/* A copy whose parts can be added to. */
static json_t *own_message(const json_t *content)
{
	json_t *message = json_copy((json_t *)content);
	json_t *parts = json_copy(json_object_get(content, "parts"));

	json_object_set_new(message, "parts", parts ? parts : json_array());
	return message;
}

/* ---- messages that join ------------------------------------------------------------ */

enum { STEERS_MAX = 100 };

void agent_expect(struct agent *agent)
{
	pthread_mutex_lock(&agent->lock);
	agent->steers = agent->steers ? agent->steers : json_array();
	pthread_mutex_unlock(&agent->lock);
}

bool agent_steer(struct agent *agent, struct span text)
{
	bool taken;

	pthread_mutex_lock(&agent->lock);
	taken = agent->steers && json_array_size(agent->steers) < STEERS_MAX &&
	        json_array_append_new(agent->steers, json_text(text)) == 0;
	pthread_mutex_unlock(&agent->lock);
	return taken;
}

/* The oldest that waits; a new reference; NULL: none does. */
static json_t *steer_next(struct agent *agent)
{
	json_t *text;

	pthread_mutex_lock(&agent->lock);
	text = json_incref(json_array_get(agent->steers, 0));
	json_array_remove(agent->steers, 0);
	pthread_mutex_unlock(&agent->lock);
	return text;
}

static void steer_return(struct prompt_run *run, const json_t *text)
{
	char *before = run->outcome->unsent;

	run->outcome->unsent = before ? mem_printf("%s\n\n%s", before, json_string_value(text)) :
	                                mem_strdup(json_string_value(text));
	free(before);
}

/* No more are taken; what waits goes back. */
static void steers_close(struct prompt_run *run)
{
	json_auto_t *left = NULL;
	json_t *text;
	size_t i;

	pthread_mutex_lock(&run->agent->lock);
	left = mem_steal(&run->agent->steers);
	pthread_mutex_unlock(&run->agent->lock);
	json_array_foreach(left, i, text)
		steer_return(run, text);
}

/* What a hook adds is added to `content`. False: it does not let it in, and that was said. */
static bool steer_may_join(struct prompt_run *run, json_t *content, const json_t *text)
{
	struct agent *agent = run->agent;
	json_auto_t *input = NULL;
	struct hook_outcome said;
	const char *why;
	bool may;

	if (!agent_has_hooks(agent, HOOK_BEFORE_AGENT, NULL))
		return true;
	input = json_pack("{s:O}", "prompt", text);
	if (!agent_fire(agent, HOOK_BEFORE_AGENT, NULL, input, &said))
		return true;
	add_hook_context(content, said.additional_context);
	may = !said.stop && !said.denied && !said.error;
	why = said.error ? said.error : said.reason;
	if (!may)
		agent_notice(agent, SEVERITY_WARNING,
		             why ? why : "A hook did not let the message in.");
	hook_outcome_release(&said);
	return may;
}

static json_t *steer_content(struct agent *agent, const json_t *text)
{
	const struct agent_options *options = &agent->options;
	json_auto_t *content = options->steer_message ?
		options->steer_message(options->steer_data, json_span(text)) :
		content_user_text(json_span(text));

	return own_message(content);
}

/* Adds all waiting messages to `message`, which is not sent yet. Returns whether there were any. */
static bool steers_join(struct prompt_run *run, json_t *message)
{
	struct agent *agent = run->agent;
	bool any = false;
	json_t *text;

	while (!cancelled(agent->options.cancel) && !agent->stop && (text = steer_next(agent))) {
		json_auto_t *content = steer_content(agent, text);
		size_t i;
		json_t *part;

		if (steer_may_join(run, content, text)) {
			publish_prompt(agent, json_string_value(text), true);
			json_array_foreach(json_object_get(content, "parts"), i, part)
				content_add(message, json_incref(part));
			any = true;
		} else {
			steer_return(run, text);
		}
		json_decref(text);
	}
	return any;
}

/* The model would have stopped: send the waiting messages as the next one. */
static void go_on_with_steers(struct prompt_run *run)
{
	json_t *message = content_new("user");

	if (steers_join(run, message)) {
		run->over = false;
		agent_note_changes(run->agent, message);
		if (run->agent->options.record)
			record_user(run->agent->options.record, message, SAID_STEER);
		agent_append(run->agent, json_incref(message));
	}
	json_decref(message);
}

/* ---- before a turn ----------------------------------------------------------------- */

/* Once for each threshold: a conversation that cannot be made smaller is sent as it is. */
static void compact_if_due(struct prompt_run *run)
{
	struct agent *agent = run->agent;
	struct err err = ERR_INIT;

	if (agent->trim_superseded)
		mask_superseded_new_messages(agent->superseded, agent->history);
	if (!compact_is_due(agent) || compact(agent, COMPACT_NEAR, &err))
		return;
	if (err.code == ERR_CANCELLED)
		prompt_end(run, AGENT_CANCELLED, NULL);
	else if (!agent->full_warned)
		agent_notice(agent, SEVERITY_WARNING, err.message);
}

static bool prompt_may_continue(struct prompt_run *run)
{
	struct agent *agent = run->agent;
	_cleanup_free_ char *reason = NULL;

	if (cancelled(agent->options.cancel)) {
		prompt_end(run, AGENT_CANCELLED, NULL);
	} else if (agent->stop) {
		pthread_mutex_lock(&agent->lock);
		reason = mem_strdup(agent->stop_reason);
		pthread_mutex_unlock(&agent->lock);
		prompt_end(run, AGENT_HOOK_STOPPED, reason);
	} else if (agent->options.max_turns && agent->turns >= agent->options.max_turns) {
		prompt_end(run, AGENT_TURN_LIMIT, "The session has reached its limit of turns.");
	} else if (run->turns >= TURNS_PER_PROMPT) {
		prompt_end(run, AGENT_TURN_LIMIT, "100 turns were not enough for this prompt.");
	}
	return !run->over;
}

/* ---- a reply ----------------------------------------------------------------------- */

static void publish_turn_end(struct agent *agent, const struct model_reply *reply)
{
	const struct model_usage *usage = &reply->usage;
	json_auto_t *message = json_pack(
		"{s:s, s:{s:I, s:I, s:I, s:I, s:I}}",
		"reason", model_finish_name(reply->finish), "usage",
		"input", (json_int_t)usage->input, "output", (json_int_t)usage->output,
		"cached", (json_int_t)usage->cached,
		"thoughts", (json_int_t)usage->thoughts,
		"total", (json_int_t)usage->total);

	if (reply->quota.known)
		json_object_set_new(message, "quotaLeft", json_integer(reply->quota.left));
	agent_publish(agent, BUS_TURN_END, message);
}

static void keep_reply(struct prompt_run *run, const struct model_reply *reply)
{
	struct agent *agent = run->agent;

	calls_name(agent, reply->content);
	record_model_ms(agent->options.record, reply->ms);
	record_model(agent->options.record, reply->content, &reply->usage, reply->model);
	agent_append(agent, json_incref(reply->content));
	if (reply->usage.input) {
		agent->counted_tokens = reply->usage.input + reply->usage.output;
		agent->counted_messages = json_array_size(agent->history);
	}
}

/* Warn a looping model once; return false if it was already warned. */
static bool warn_loop(struct prompt_run *run, const char *why, json_t *message)
{
	static const char advice[] =
		"%s You seem to go in circles. Stop, and think again about what the task needs: do "
		"not repeat this; try another way, or say what stands in your way.";
	struct agent *agent = run->agent;
	_cleanup_free_ char *text = mem_printf(advice, why);
	json_auto_t *found = json_pack("{s:s, s:i}", "kind", message ? "calls" : "text", "count",
	                               agent->loop_warned ? 2 : 1);

	agent_publish(agent, BUS_LOOP_DETECTED, found);
	if (agent->loop_warned) {
		prompt_end(run, AGENT_LOOP, why);
		return false;
	}
	agent->loop_warned = true;
	agent_notice(agent, SEVERITY_WARNING, why);
	if (message)
		content_add(message, part_text(span_str(text)));
	else
		say_to_model(run, text);
	loop_check_begin(agent->loop);
	return true;
}

static void run_calls(struct prompt_run *run, const json_t *content)
{
	struct agent *agent = run->agent;
	struct calls_outcome done;
	const char *repeated;
	_cleanup_free_ char *why = NULL;
	bool steered;

	calls_run(agent, content, CALL_OF_MODEL, &done);
	if (agent->options.record)
		record_calls_end(agent->options.record);
	repeated = agent->detect_loops ? loop_check_hit(agent->loop) : NULL;
	why = mem_strdup(repeated);
	steered = !done.fatal && steers_join(run, done.message);
	if (done.cancelled || cancelled(agent->options.cancel))
		prompt_end(run, AGENT_CANCELLED, NULL);
	else if (done.refused && !steered)
		prompt_end(run, AGENT_CANCELLED, "The user declined the call.");
	else if (done.fatal && !agent->options.interactive) {
		err_set(run->err, ERR_DISK_FULL, "%s", done.fatal);
		prompt_end(run, AGENT_FATAL_TOOL, done.fatal);
	} else if (why)
		warn_loop(run, why, done.message);
	if (agent_mode(agent) != agent->known_mode)
		agent_note_changes(agent, done.message);
	if (agent->options.record)
		/* Sent together with the results. */
		record_user(agent->options.record, done.message, steered ? SAID_STEER : SAID_NOTE);
	agent_append(agent, done.message);
	free(done.fatal);
}

/* Drops the conversation: the next message starts another. */
static void clear_conversation(struct agent *agent)
{
	agent_renew_surroundings(agent, NULL);
	agent_record_beginning(agent);
	agent_replace(agent, json_array());
	free(agent->first_prompt);
	agent->first_prompt = NULL;
}

/* Gemini CLI's words: programs that read stream-json know them. */
static void report_blocked(struct prompt_run *run, const struct hook_outcome *outcome)
{
	const char *why = outcome->system_message ? outcome->system_message : outcome->reason;
	_cleanup_free_ char *text = mem_printf("Agent execution blocked: %s",
	                                       why ? why : "a hook is not satisfied.");

	agent_notice(run->agent, SEVERITY_WARNING, text);
}

static unsigned continuations_max(const struct agent *agent)
{
	enum { USUAL = 25, MOST = 10000 };
	const struct settings *settings = agent->options.settings;
	const int64_t max = settings ? settings_integer(settings, "hasp.hooks.maxContinuations",
	                                                USUAL) : USUAL;

	return max < 0 ? 0 : max > MOST ? MOST : (unsigned)max;
}

/* Each continuation is a request that is paid for. */
static void report_endless(struct prompt_run *run, const struct hook_outcome *outcome)
{
	_cleanup_free_ char *text = mem_printf(
		"The hook \"%.200s\" would have the model go on again, and %u times is the limit "
		"(hasp.hooks.maxContinuations). The answer stands as it is.",
		outcome->by ? outcome->by : "AfterAgent", continuations_max(run->agent));

	agent_notice(run->agent, SEVERITY_WARNING, text);
}

/* An AfterAgent hook may continue the prompt, with its reason as the next message. */
static void after_agent(struct prompt_run *run, unsigned continued)
{
	struct agent *agent = run->agent;
	json_auto_t *input = NULL;
	struct hook_outcome outcome;

	if (!agent_has_hooks(agent, HOOK_AFTER_AGENT, NULL))
		return;
	input = json_object();
	json_object_set_new(input, "prompt", json_text(span_str(run->asked)));
	json_object_set_new(input, "prompt_response", json_text(span_str(run->outcome->text)));
	json_object_set_new(input, "stop_hook_active", json_boolean(continued > 0));
	if (!agent_fire(agent, HOOK_AFTER_AGENT, NULL, input, &outcome))
		return;
	if (outcome.clear_context)
		clear_conversation(agent);
	if (outcome.stop)
		prompt_end(run, AGENT_HOOK_STOPPED, outcome.reason);
	else if (outcome.denied && continued >= continuations_max(agent)) {
		report_endless(run, &outcome);
	} else if (outcome.denied) {
		report_blocked(run, &outcome);
		run->over = false;
		say_to_model(run, outcome.reason ?
		             outcome.reason : "Go on: a hook is not satisfied.");
	}
	hook_outcome_release(&outcome);
}

static void end_with_answer(struct prompt_run *run, const struct model_reply *reply)
{
	static const char cut[] = "The answer is cut: the model reached its limit of output.";
	const char *repeated = run->agent->detect_loops ? loop_check_hit(run->agent->loop) : NULL;
	_cleanup_free_ char *why = mem_strdup(repeated);
	_cleanup_free_ char *unfinished = NULL;

	if (why) {
		warn_loop(run, why, NULL);
	} else if (reply->withheld) { /* none of its calls may run (model/sink.h) */
		err_set(run->err, ERR_MODEL_ERROR, "%s", reply->withheld);
		prompt_fail(run, AGENT_FAILED);
	} else if (!run->outcome->text[strspn(run->outcome->text, " \t\r\n")]) {
		/* model_stream has asked again as often as it makes sense; what a hook left of a
		 * reply may be nothing. */
		err_set(run->err, ERR_MODEL_ERROR, "The model's answer is empty.");
		prompt_fail(run, AGENT_FAILED);
	} else {
		unfinished = reply->finish == MODEL_FINISH_LENGTH ? mem_strdup(cut) :
		             reply->finish == MODEL_FINISH_OTHER ?
			mem_printf("The answer may not be whole: it ended with \"%.100s\".",
			           reply->finish_text ? reply->finish_text : "no reason") : NULL;
		if (unfinished)
			agent_notice(run->agent, SEVERITY_WARNING, unfinished);
		prompt_end(run, AGENT_ANSWERED, unfinished);
	}
}

static void handle_reply(struct prompt_run *run, const struct model_reply *reply)
{
	free(run->outcome->text);
	run->outcome->text = prompt_text_of(reply->content);
	keep_reply(run, reply);
	publish_turn_end(run->agent, reply);
	if (content_call_count(reply->content) && !run->agent->concluding) {
		if (reply->withheld)
			agent_notice(run->agent, SEVERITY_WARNING, reply->withheld);
		run_calls(run, reply->content);
	} else if (reply->finish == MODEL_FINISH_SAFETY && !reply->withheld) {
		err_set(run->err, ERR_MODEL_ERROR, "The provider ended the answer (%s).",
		        reply->finish_text ? reply->finish_text : "safety");
		prompt_fail(run, AGENT_FAILED);
	} else {
		end_with_answer(run, reply);
	}
}

/* ---- turns ------------------------------------------------------------------------- */

/* The provider rejected the request as too large: once, compact it and send it again. */
static bool made_smaller(struct prompt_run *run)
{
	const struct err said = *run->err;
	struct err err = ERR_INIT;

	if (run->err->code != ERR_CONTEXT_TOO_LARGE || run->made_smaller)
		return false;
	run->made_smaller = true;
	if (compact(run->agent, COMPACT_OVER, &err)) {
		*run->err = (struct err)ERR_INIT;
		return true;
	}
	err_set(run->err, err.code, "%.480s The provider's words: %.480s", err.message,
	        said.message);
	return false;
}

/* Keep only the text of a cancelled reply: no provider accepts incomplete calls, or thinking
 * without its signature. */
static void keep_said(struct prompt_run *run, const char *said)
{
	struct agent *agent = run->agent;
	json_t *content;

	free(run->outcome->text);
	run->outcome->text = mem_strdup(said ? said : "");
	if (!said)
		return;
	content = content_new("model");
	content_add(content, part_text(span_str(said)));
	if (agent->options.record)
		record_model(agent->options.record, content, NULL, model_id(agent->options.model));
	agent_append(agent, content);
}

static void one_turn(struct prompt_run *run)
{
	struct model_reply reply;
	_cleanup_free_ char *words = NULL;

	compact_if_due(run);
	if (run->over)
		return;
	run->turns++;
	run->agent->turns++;
	switch (turn_run(run->agent, &reply, &words, run->err)) {
	case TURN_REPLIED:
		run->made_smaller = false;
		handle_reply(run, &reply);
		model_reply_release(&reply);
		break;
	case TURN_BLOCKED:
		prompt_end(run, AGENT_HOOK_STOPPED, words ? words :
		           "A hook stopped the request.");
		break;
	case TURN_CANCELLED:
		keep_said(run, words);
		prompt_fail(run, AGENT_CANCELLED);
		break;
	case TURN_FAILED:
		if (!made_smaller(run))
			prompt_fail(run, AGENT_FAILED);
		break;
	}
}

static void run_turns(struct prompt_run *run)
{
	unsigned continued = 0;

	while (!run->over && prompt_may_continue(run)) {
		one_turn(run);
		if (run->over && run->outcome->end == AGENT_ANSWERED)
			go_on_with_steers(run);
		if (run->over && run->outcome->end == AGENT_ANSWERED) {
			after_agent(run, continued++);
		}
	}
}

static void begin_prompt(struct agent *agent)
{
	agent->loop_warned = false;
	loop_check_begin(agent->loop);
	missing_begin(agent);
	pthread_mutex_lock(&agent->lock);
	free(agent->stop_reason);
	agent->stop_reason = NULL;
	agent->stop = false;
	agent->steers = agent->steers ? agent->steers : json_array();
	pthread_mutex_unlock(&agent->lock);
}

/* A conversation that goes on begins with what was sent, if it can: if the file has that, and
 * the tools are the same. */
static void go_on(struct agent *agent)
{
	const json_t *sent = agent->options.sent;
	json_auto_t *tools = agent_tools_hash(agent);
	json_auto_t *contents = NULL;
	struct model_request last = { .system = span_str(agent->system),
		                            .tools = agent_tools(agent) };

	if (!sent || !json_equal(json_object_get(sent, "tools"), tools)) {
		agent_renew_surroundings(agent, NULL);
		agent_drop_thoughts(agent);
		return;
	}
	if (agent->trim_superseded)
		mask_superseded_new_messages(agent->superseded, agent->history);
	contents = model_sendable(agent->options.model, agent->history);
	last.contents = contents;
	context_sent_take(agent->sent, &last);
}

/* What was sent stays as it was: the next request begins with a part of the last one. */
void agent_return(struct agent *agent, const json_t *conversation, const json_t *sent)
{
	struct model_request last = { .system = span_str(agent->system),
		                      .tools = agent_tools(agent) };
	json_auto_t *contents = NULL;

	agent_take_history(agent, conversation);
	if (sent && agent->known) {
		json_decref(agent->known);
		agent->known = surroundings_by_name(sent);
		surroundings_update(agent->known, json_object_get(sent, "told"));
	}
	free(agent->first_prompt);
	agent->first_prompt = context_first_prompt_of(conversation);
	agent->interrupted = false;
	agent->moved = false;
	if (agent->trim_superseded)
		mask_superseded_new_messages(agent->superseded, agent->history);
	contents = model_sendable(agent->options.model, agent->history);
	last.contents = contents;
	context_sent_take(agent->sent, &last);
}

void agent_tools_added(struct agent *agent)
{
	json_decref(agent->declared);
	agent->declared = NULL;
}

bool agent_has_moved(const struct agent *agent)
{
	return agent->moved;
}

bool agent_prompt(struct agent *agent, const json_t *content, struct agent_outcome *outcome,
                  struct err *err)
{
	struct prompt_run run = { .agent = agent, .outcome = outcome, .err = err };
	_cleanup_free_ char *text = prompt_text_of(content);

	*outcome = (struct agent_outcome){ .end = AGENT_ANSWERED, .text = mem_strdup("") };
	begin_prompt(agent);
	publish_prompt(agent, text, false);
	run.prompt = own_message(content);
	run.asked = text;
	if (before_agent(&run, text)) {
		if (!agent->started && json_array_size(agent->options.history))
			go_on(agent);
		else if (!agent->started)
			/* Nothing was sent: servers may have come up since the agent was made. */
			agent_renew_surroundings(agent, NULL);
		if (!agent->started)
			agent_record_beginning(agent);
		agent->started = agent->moved = true;
		note_interruption(&run);
		agent_note_changes(agent, run.prompt);
		if (agent->options.record)
			record_user(agent->options.record, run.prompt, SAID_PROMPT);
		agent_append(agent, json_incref(run.prompt));
		if (!agent->first_prompt)
			agent->first_prompt = context_first_prompt_in(content);
		run_turns(&run);
	}
	steers_close(&run);
	agent->interrupted = cancelled(agent->options.cancel);
	outcome->turns = run.turns;
	if (outcome->end == AGENT_ANSWERED)
		outcome->missing = missing_sentence(agent);
	json_decref(run.prompt);
	return outcome->end != AGENT_FAILED && outcome->end != AGENT_FATAL_TOOL;
}

bool agent_conclude(struct agent *agent, const char *text, struct agent_outcome *outcome,
                    struct err *err)
{
	json_auto_t *content = content_user_text(span_str(text));

	agent->concluding = true;
	agent->interrupted = false; /* the text says what has happened */
	agent->options.max_turns = agent->turns + 1;
	return agent_prompt(agent, content, outcome, err);
}

bool agent_compress(struct agent *agent, struct err *err)
{
	return compact(agent, COMPACT_ASKED, err);
}

static json_t *agent_call_as(struct agent *agent, enum call_origin origin, const char *name,
                             json_t *arguments)
{
	json_auto_t *content = content_new("model");
	struct calls_outcome done;
	json_t *result;

	content_add(content, part_call(NULL, name, arguments));
	calls_name(agent, content);
	calls_run(agent, content, origin, &done);
	result = json_incref(json_object_get(
		part_get_response(json_array_get(json_object_get(done.message, "parts"), 0)),
		"response"));
	json_decref(done.message);
	free(done.fatal);
	return result;
}

json_t *agent_call(struct agent *agent, const char *name, json_t *arguments)
{
	return agent_call_as(agent, CALL_OF_USER, name, arguments);
}

json_t *agent_call_ordered(struct agent *agent, const char *name, json_t *arguments)
{
	return agent_call_as(agent, CALL_OF_ORDER, name, arguments);
}

json_t *agent_call_for_text(struct agent *agent, const char *name, json_t *arguments)
{
	return agent_call_as(agent, CALL_OF_TEXT, name, arguments);
}
