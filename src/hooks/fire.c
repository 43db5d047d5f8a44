/* SPDX-License-Identifier: Apache-2.0 */
/* Running an event's hooks: functions first, then commands; side by side, or one after the other
 * when a group that matches says so, each then seeing what those before it changed. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "data/json.h"
#include "hooks/hook.h"

enum { INPUT_BYTES_MAX = 64 << 20 };

struct one_run {
	struct hooks *hooks;
	const struct hook *hook;
	enum hook_event event;
	struct span input;
	struct buf own_input; /* of a hook that is given it in another form */
	const json_t *claude; /* what hooks for Claude Code get besides */
	const struct cancel *cancel;
	struct hook_outcome outcome;
	unsigned ms;
	int exit_code; /* of a command; -1: it has not run */
	struct hook_process process; /* likewise; until report_ran */
	pthread_t thread;
	bool threaded;
};

/* The hooks that match, each command once, in the order of their sources. */
struct chosen {
	const struct hook **hooks;
	size_t count;
	bool sequential;
};

static bool is_chosen(const struct chosen *chosen, const struct hook *hook)
{
	for (size_t i = 0; i < chosen->count; i++)
		if (!hook->function && chosen->hooks[i]->command &&
		    strcmp(chosen->hooks[i]->command, hook->command) == 0 &&
		    strcmp(chosen->hooks[i]->name, hook->name) == 0)
			return true;
	return false;
}

static void choose_group(const struct hooks *hooks, const struct hook_group *group,
                         enum hook_source source, const json_t *input, struct chosen *chosen)
{
	for (size_t i = 0; i < group->count; i++) {
		const struct hook *hook = &group->hooks[i];

		if (hook->source != source || !hook_counts(hooks, hook) ||
		    is_chosen(chosen, hook) || !condition_fits(hooks, hook, group->event, input))
			continue;
		chosen->hooks[chosen->count++] = hook;
		chosen->sequential |= group->sequential;
	}
}

static void choose_hooks(const struct hooks *hooks, enum hook_event event, const char *matched,
                         const json_t *input, struct chosen *chosen)
{
	chosen->hooks = mem_alloc(hooks->hook_count + 1, sizeof(*chosen->hooks));
	for (int source = 0; source <= HOOK_SOURCE_EXTENSION; source++)
		for (size_t i = 0; i < hooks->count; i++)
			if (hooks->groups[i].event == event &&
			    hook_group_matches(&hooks->groups[i], matched))
				choose_group(hooks, &hooks->groups[i], (enum hook_source)source,
				             input, chosen);
}

static json_t *whole_input(struct hooks *hooks, enum hook_event event, const json_t *input)
{
	json_t *whole = json_object();
	char now[CLOCK_TIMESTAMP_SIZE];

	clock_timestamp(now);
	json_object_set_new(whole, "session_id", json_text(span_str(hooks->session_id)));
	pthread_mutex_lock(&hooks->lock);
	json_object_set_new(whole, "transcript_path", json_name(hooks->transcript_path));
	pthread_mutex_unlock(&hooks->lock);
	json_object_set_new(whole, "cwd", json_name(hooks->cwd ? hooks->cwd : ""));
	json_object_set_new(whole, "hook_event_name", json_string(hook_event_name(event)));
	json_object_set_new(whole, "timestamp", json_string(now));
	if (hooks->caller)
		json_object_set_new(whole, "caller", json_text(span_str(hooks->caller)));
	if (input)
		json_object_update(whole, (json_t *)input);
	json_object_del(whole, "claude");
	return whole;
}

/* What a hook refuses whose word cannot be had. */
static void refuse_unheard(struct one_run *run, const char *why)
{
	struct hook_outcome *outcome = &run->outcome;

	hook_outcome_release(outcome);
	if (run->event == HOOK_BEFORE_TOOL_SELECTION) {
		outcome->tool_config = json_pack("{s:s}", "mode", "NONE");
		return;
	}
	outcome->denied = true;
	outcome->reason = mem_printf("The hook \"%.200s\" %s, so it could not allow this.",
	                             hook_label(run->hook), why);
}

/* What a hook that failed cannot do either: allow, and change what happens. */
static void drop_changes(struct hook_outcome *outcome)
{
	struct hook_outcome left = { .denied = outcome->denied, .ask = outcome->ask,
		                     .stop = outcome->stop,
		                     .suppress_output = outcome->suppress_output,
		                     .reason = mem_steal(&outcome->reason),
		                     .system_message = mem_steal(&outcome->system_message) };

	hook_outcome_release(outcome);
	*outcome = left;
}

/* Whether this session has not reported yet that the hook fails at this event: at the next call the
 * same sentence is only noise. */
static bool failure_is_new(struct one_run *run)
{
	_cleanup_free_ char *key = mem_printf("%s:%s:%s", hook_event_name(run->event),
	                                      run->hook->name, run->hook->command);
	json_t *warned = run->hooks->warned;
	bool is_new;

	pthread_mutex_lock(&run->hooks->lock);
	is_new = !json_object_get(warned, key);
	json_object_set_new_nocheck(warned, key, json_true());
	pthread_mutex_unlock(&run->hooks->lock);
	return is_new;
}

static void hook_report_failure(struct one_run *run, const char *setting, bool refused,
                                const char *why)
{
	const bool denied = run->outcome.denied;
	_cleanup_free_ char *end = NULL;

	if ((!refused && !denied && run->outcome.system_message) ||
	    (setting && !failure_is_new(run)))
		return;
	if (refused && setting)
		end = mem_printf(" This counts as a refusal; \"%s\": \"allow\" next to its "
		                 "command, or the setting hasp.hooks.%s, allows it instead.",
		                 setting, setting);
	else
		end = mem_strdup(refused ? " This counts as a refusal." :
		                 denied  ? "" :
		                           " The run continues without it.");
	hooks_notice(run->hooks, SEVERITY_WARNING, "The hook \"%.200s\" of %s %s.%s",
	             hook_label(run->hook), hook_event_name(run->event), why, end);
}

/* `why`: what happened to it, as a predicate. `setting`: which of the two decides what follows;
 * NULL: none, its program is not the one that was trusted. */
static void hook_failed(struct one_run *run, const char *setting, enum hook_pass own,
                        enum hook_pass usual, const char *why)
{
	const enum hook_pass pass = own ? own : usual;
	const bool could = hook_event_refuses(run->event, run->hook->claude);
	const bool refused = could && pass != HOOK_PASS_ALLOW && !run->outcome.denied;

	hook_report_failure(run, setting, refused, why);
	drop_changes(&run->outcome);
	if (refused)
		refuse_unheard(run, why);
}

static void hook_erred(struct one_run *run, const char *why)
{
	hook_failed(run, "onError", run->hook->on_error, run->hooks->on_error, why);
}

static void judge_run(struct one_run *run, const struct hook_process *process)
{
	_cleanup_free_ char *why = NULL;

	if (process->cancelled)
		return;
	if (process->timed_out) {
		why = mem_printf("took longer than %u ms and was ended", run->hook->timeout_ms);
		hook_failed(run, "onTimeout", run->hook->on_timeout, run->hooks->on_timeout, why);
		return;
	}
	hook_answer_read(process, run->hook->claude, run->event, &run->outcome);
	why = mem_steal(&run->outcome.unclear);
	if (why)
		hook_erred(run, why);
}

static void run_hook_command(struct one_run *run)
{
	const uint64_t began = clock_monotonic_ms();
	struct hook_process *process = &run->process;
	_cleanup_free_ char *why = NULL;
	struct err problem = ERR_INIT;

	run->exit_code = -1;
	if (!run->input.len) {
		hook_erred(run, "cannot be given its input, which is too long or too deep");
		return;
	}
	if (!hook_process_run(run->hooks, run->hook, run->input, run->cancel, process, &problem)) {
		const bool refused = process->refused;

		hook_process_release(process);
		*process = (struct hook_process){ 0 };
		why = mem_printf("%s: %s", refused ? "did not run" : "cannot be run",
		                 problem.message);
		hook_failed(run, refused ? NULL : "onError",
		            refused ? HOOK_PASS_DENY : run->hook->on_error, run->hooks->on_error,
		            why);
		return;
	}
	run->ms = (unsigned)(clock_monotonic_ms() - began);
	run->exit_code = process->exit_code;
	judge_run(run, process);
}

/* On the thread that fires: listeners may be busy on it. `input`: what the command was given. */
static void report_ran(struct one_run *run, const json_t *input)
{
	const struct hook_run ran = {
		.event = run->event, .name = hook_label(run->hook), .ms = run->ms,
		.exit_code = run->exit_code, .input = input,
		.out = buf_view(&run->process.out), .err = buf_view(&run->process.err),
	};

	if (run->hook->function)
		return;
	if (run->hooks->ran)
		run->hooks->ran(run->hooks->data, &ran);
	hook_process_release(&run->process);
	buf_release(&run->own_input);
}

static void *run_hook_on_thread(void *data)
{
	run_hook_command(data);
	return NULL;
}

static void run_function(struct one_run *run, const json_t *input)
{
	struct hook_answer answer = { .proceed = true };

	run->hook->function(run->hook->data, run->event, input, &answer);
	hook_answer_of_function(&answer, run->event, &run->outcome);
}

/* Nothing, if it is deeper or longer than a hook can read. */
static void print_input(const json_t *input, struct buf *out)
{
	if (!json_print(out, input, 0))
		buf_clear(out);
}

/* `usual`: the input as most hooks are given it. */
static void give_input(struct one_run *run, const json_t *input, struct span usual)
{
	json_auto_t *theirs = NULL;

	run->input = usual;
	if (!run->hook->claude)
		return;
	run->own_input = (struct buf)BUF_INIT(INPUT_BYTES_MAX);
	theirs = claude_input(run->event, input, run->claude);
	print_input(theirs, &run->own_input);
	run->input = buf_view(&run->own_input);
}

/* Starts a background hook and returns true; false: the caller must run it and wait. */
static bool run_apart(struct one_run *run)
{
	if (!run->hook->async)
		return false;
	if (run->input.len)
		background_start(run->hooks, run->hook, run->input);
	buf_release(&run->own_input);
	return true;
}

/* What the next hook of a sequence sees. */
static void chain(json_t *input, enum hook_event event, const struct hook_outcome *said)
{
	json_t *request;

	if (event == HOOK_BEFORE_TOOL && said->tool_input)
		json_object_set(input, "tool_input", said->tool_input);
	if (event == HOOK_BEFORE_MODEL && said->llm_request) {
		request = json_copy(json_object_get(input, "llm_request"));
		if (!request)
			request = json_object();
		json_object_update(request, said->llm_request);
		json_object_set_new(input, "llm_request", request);
	}
	if (event == HOOK_BEFORE_AGENT && said->additional_context) {
		_cleanup_free_ char *prompt = mem_printf(
			"%s\n\n%s",
			json_string_value(json_object_get(input, "prompt")) ?
				json_string_value(json_object_get(input, "prompt")) : "",
			said->additional_context);

		json_object_set_new(input, "prompt", json_text(span_str(prompt)));
	}
}

/* The hook's outcome, with its name where it keeps something from happening. */
static void take_outcome(struct one_run *run, struct hook_outcome *ret)
{
	struct hook_outcome *one = &run->outcome;

	if (one->denied || one->stop || one->error || one->ask)
		one->by = mem_strdup(hook_label(run->hook));
	hook_outcome_merge(ret, one);
}

/* What a hook made of a call's arguments gets the event's names for them. */
static void name_arguments(struct one_run *run, const json_t *input)
{
	if (run->hook->claude && run->outcome.tool_input)
		claude_arguments_taken(input, run->outcome.tool_input);
}

static void run_in_order(struct one_run *runs, size_t count, json_t *input,
                         struct hook_outcome *ret)
{
	for (size_t i = 0; i < count && !cancelled(runs[i].cancel); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(INPUT_BYTES_MAX);

		if (runs[i].hook->function) {
			run_function(&runs[i], input);
		} else {
			print_input(input, &text);
			give_input(&runs[i], input, buf_view(&text));
			if (run_apart(&runs[i]))
				continue;
			run_hook_command(&runs[i]);
		}
		name_arguments(&runs[i], input);
		report_ran(&runs[i], input);
		chain(input, runs[i].event, &runs[i].outcome);
		take_outcome(&runs[i], ret);
	}
}

static void run_side_by_side(struct one_run *runs, size_t count, const json_t *input,
                             struct hook_outcome *ret)
{
	_cleanup_buf_ struct buf text = BUF_INIT(INPUT_BYTES_MAX);

	for (size_t i = 0; i < count; i++) {
		if (runs[i].hook->function) {
			run_function(&runs[i], input);
			continue;
		}
		if (!text.len)
			print_input(input, &text);
		give_input(&runs[i], input, buf_view(&text));
		if (run_apart(&runs[i]))
			continue;
		if (count > 1)
			runs[i].threaded = pthread_create(&runs[i].thread, NULL, run_hook_on_thread,
			                                  &runs[i]) == 0;
		if (!runs[i].threaded)
			run_hook_command(&runs[i]);
	}
	for (size_t i = 0; i < count; i++) {
		if (runs[i].hook->async)
			continue;
		if (runs[i].threaded)
			pthread_join(runs[i].thread, NULL);
		name_arguments(&runs[i], input);
		report_ran(&runs[i], input);
		take_outcome(&runs[i], ret);
	}
}

void hooks_fire(struct hooks *hooks, enum hook_event event, const char *matched,
                const json_t *input, const struct cancel *cancel, struct hook_outcome *ret)
{
	struct chosen chosen = { 0 };
	_cleanup_free_ struct one_run *runs = NULL;
	json_auto_t *whole = NULL;

	*ret = (struct hook_outcome){ 0 };
	if (!hooks)
		return;
	choose_hooks(hooks, event, matched, input, &chosen);
	if (!chosen.count) {
		free(chosen.hooks);
		return;
	}
	whole = whole_input(hooks, event, input);
	runs = mem_alloc(chosen.count, sizeof(*runs));
	for (size_t i = 0; i < chosen.count; i++)
		runs[i] = (struct one_run){ .hooks = hooks, .hook = chosen.hooks[i], .event = event,
			                    .cancel = cancel,
			                    .claude = json_object_get(input, "claude") };
	if (chosen.sequential)
		run_in_order(runs, chosen.count, whole, ret);
	else
		run_side_by_side(runs, chosen.count, whole, ret);
	free(chosen.hooks);
}
