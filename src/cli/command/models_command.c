/* SPDX-License-Identifier: Apache-2.0 */
/* `hasp models`: the models that there are to choose from; and what of one works, with three small
 * requests. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cli/command/commands.h"
#include "cli/command/private.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/output.h"
#include "cli/view/view.h"
#include "config/settings.h"
#include "data/json.h"
#include "model/choose.h"
#include "model/content.h"
#include "model/prices.h"

/* Long enough for models that think before a word. */
enum { ANSWER_TOKENS = 4000 };

struct check {
	struct settings *settings;
	struct model_choice choice;
	struct model *model;
	json_t *results;   /* owned */
	json_t *notices;   /* of the request that is under way: strings; owned */
	enum err_code hopeless; /* no further request would be better; ERR_NONE: go on */
	bool failed;
};

/* ---- the requests ---- */

static json_t *echo_tool(void)
{
	return json_pack("[{s:s, s:s, s:{s:s, s:{s:{s:s}}, s:[s]}}]", "name", "report_number",
	                 "description", "Reports a number to the user.", "parameters", "type",
	                 "object", "properties", "number", "type", "integer", "required", "number");
}

static bool reply_has_thought(const struct model_reply *reply)
{
	const json_t *part;
	size_t i;

	json_array_foreach(json_object_get(reply->content, "parts"), i, part)
		if (part_is_thought(part))
			return true;
	return reply->usage.thoughts > 0;
}

/* NULL: it is what was asked for; else what is missing. */
static const char *judge_text(const struct model_reply *reply)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);

	content_text(reply->content, &text);
	return text.len ? NULL : "The reply has no text.";
}

static const char *judge_tool(const struct model_reply *reply)
{
	return content_call_count(reply->content) ? NULL :
	                                            "The model answered without calling the tool.";
}

static const char *judge_thinking(const struct model_reply *reply)
{
	return reply_has_thought(reply) ? NULL :
	       "The model answered, and showed and counted no thoughts.";
}

static const struct request_row {
	const char *name, *prompt;
	bool tool;
	enum model_thinking thinking;
	const char *(*judge)(const struct model_reply *reply);
} rows[] = {
	{ "text", "Answer with the one word: yes", false, MODEL_THINK_DEFAULT, judge_text },
	{ "tool", "Call the tool report_number with the number 7.", true, MODEL_THINK_DEFAULT,
	  judge_tool },
	{ "thinking", "What is 17 times 23? Think, then answer with the number alone.", false,
	  MODEL_THINK_LOW, judge_thinking },
};

static void note_model_event(void *data, const struct model_event *event)
{
	struct check *check = data;

	if (event->kind == MODEL_RESTART || event->kind == MODEL_LEFT_OUT)
		json_array_append_new(check->notices, json_text(event->text));
}

/* ---- the results ---- */

static void add_result(struct check *check, const char *name, const char *status,
                       const char *message, const struct model_reply *reply)
{
	json_t *result = json_pack("{s:s, s:s}", "check", name, "status", status);

	if (message)
		json_object_set_new(result, "message", json_cstr(message));
	if (reply)
		json_object_set_new(result, "milliseconds", json_integer((json_int_t)reply->ms));
	if (json_array_size(check->notices))
		json_object_set_new(result, "notices", json_copy(check->notices));
	json_array_append_new(check->results, result);
	check->failed |= strcmp(status, "works") != 0;
}

static void check_request(struct check *check, const struct request_row *row)
{
	json_auto_t *contents = json_pack("[o]", content_user_text(span_str(row->prompt)));
	json_auto_t *tools = row->tool ? echo_tool() : NULL;
	struct model_reply reply = { 0 };
	struct err err = ERR_INIT;
	const char *missing;
	struct model_request request = {
		.contents = contents,
		.tools = tools,
		.temperature = -1,
		.top_p = -1,
		.max_output_tokens = ANSWER_TOKENS,
		.thinking = row->thinking,
		.purpose = "check",
	};

	json_array_clear(check->notices);
	if (check->hopeless != ERR_NONE) {
		add_result(check, row->name, "not tried", NULL, NULL);
		return;
	}
	if (!model_stream(check->model, &request, note_model_event, check, &reply, &err)) {
		add_result(check, row->name, "fails", err.message, NULL);
		if (err.code == ERR_AUTHENTICATION_FAILED || err.code == ERR_NETWORK_ERROR ||
		    err.code == ERR_QUOTA_EXCEEDED)
			check->hopeless = err.code;
		return;
	}
	missing = row->judge(&reply);
	add_result(check, row->name, missing ? "missing" : "works", missing, &reply);
	model_reply_release(&reply);
}

/* ---- what is printed ---- */

/* An address without the name and password that it may hold. */
static json_t *shown_address(const char *url)
{
	const char *host = url ? strstr(url, "://") : NULL;
	size_t len = host ? strcspn(host += 3, "/?#") : 0;
	const char *at = len ? memrchr(host, '@', len) : NULL;
	_cleanup_free_ char *shown = NULL;

	if (!at)
		return json_cstr(url);
	shown = mem_printf("%.*s%s", (int)(host - url), url, at + 1);
	return json_cstr(shown);
}

static json_t *document_of(struct check *check)
{
	const struct model_options *options = &check->choice.options;

	return json_pack("{s:s, s:o, s:o, s:O, s:b}", "model", model_id(check->model), "address",
	                 shown_address(options->base_url), "contextTokens",
	                 json_size(model_context_tokens(check->model)), "checks", check->results,
	                 "success", !check->failed);
}

static void put_result(struct buf *out, const json_t *result)
{
	const char *message = json_string_value(json_object_get(result, "message"));
	const json_t *ms = json_object_get(result, "milliseconds"), *notice;
	size_t i;

	buf_printf(out, "%-10s%-10s", json_string_value(json_object_get(result, "check")),
	           json_string_value(json_object_get(result, "status")));
	if (ms)
		buf_printf(out, "%.1f s", (double)json_integer_value(ms) / 1000);
	if (message) {
		buf_str(out, ms ? "  " : "");
		render_safe(out, span_str(message));
	}
	buf_char(out, '\n');
	json_array_foreach(json_object_get(result, "notices"), i, notice) {
		buf_printf(out, "%20s", "");
		render_safe(out, json_span(notice));
		buf_char(out, '\n');
	}
}

static bool print_results(const struct invocation *invocation, struct check *check,
                          struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	json_auto_t *document = document_of(check);
	const json_t *result;
	size_t i;

	if (invocation_has(invocation, FLAG_JSON))
		return output_json(document, /* indent= */ false, err);
	render_safe(&text, span_str(model_id(check->model)));
	buf_printf(&text, ", %llu tokens of context\n",
	           (unsigned long long)model_context_tokens(check->model));
	json_array_foreach(check->results, i, result)
		put_result(&text, result);
	return output_text(buf_view(&text), err);
}

/* ---- the list ---- */

enum { MODELS_NAME_LEAST = 24, MODELS_NAME_MOST = 48 };

static size_t widest_name(const json_t *models)
{
	size_t most = MODELS_NAME_LEAST, i;
	const json_t *model;

	json_array_foreach(models, i, model) {
		size_t len = json_string_length(json_object_get(model, "model"));

		most = len > most ? len : most;
	}
	return most < MODELS_NAME_MOST ? most : MODELS_NAME_MOST;
}

/* "2.00", "0.075"; "-": unknown. */
static void put_price(struct buf *out, const json_t *price, const char *member)
{
	const json_t *value = json_object_get(price, member);
	const double number = json_number_value(value);
	char text[32] = "-";

	if (value)
		snprintf(text, sizeof(text), number * 100 == (double)(int64_t)(number * 100) ?
		                                     "%.2f" : "%.3f", number);
	buf_printf(out, "  %7s", text);
}

static void put_context(struct buf *out, const json_t *context)
{
	const long long tokens = json_integer_value(context);

	if (tokens)
		buf_printf(out, "  %8lldk", (tokens + 500) / 1000);
	else
		buf_printf(out, "  %9s", "-");
}

static void put_remarks(struct buf *out, const json_t *model, const char *in_use,
                        const json_t *provider)
{
	const json_t *retires = json_object_get(model, "retires");
	const json_t *up_to = json_object_get(json_object_get(model, "price"), "up_to");
	const char *on = json_string_value(json_object_get(retires, "on"));

	if (in_use && !strcmp(in_use, json_string_value(json_object_get(model, "model"))))
		buf_str(out, "  in use");
	if (!json_is_true(json_object_get(model, "reachable")))
		buf_printf(out, "  needs %s", json_string_value(json_array_get(
				json_object_get(provider, "variables"), 0)));
	if (retires)
		buf_printf(out, "  %s%s: use %s", on ? "ends on " : "is being retired",
		           on ? on : "",
		           json_string_value(json_object_get(retires, "instead")));
	if (up_to)
		buf_printf(out, "  prompts above %lldk cost more",
		           json_integer_value(up_to) / 1000);
	buf_char(out, '\n');
}

static const json_t *offers_provider(const json_t *offers, const json_t *model)
{
	const json_t *name = json_object_get(model, "provider"), *row;
	size_t i;

	json_array_foreach(json_object_get(offers, "providers"), i, row)
		if (json_equal(json_object_get(row, "provider"), name))
			return row;
	return NULL;
}

/* Providers that have no key, in one line; others that gave no list, one line each. */
static void put_providers(struct buf *out, const json_t *providers)
{
	_cleanup_buf_ struct buf keyless = BUF_INIT(4096);
	const json_t *row;
	size_t i;

	json_array_foreach(providers, i, row) {
		const char *name = json_string_value(json_object_get(row, "provider"));
		const char *state = json_string_value(json_object_get(row, "state"));

		if (strcmp(state, "no key") == 0)
			buf_printf(&keyless, "%s%s", keyless.len ? ", " : "", name);
		else if (strcmp(state, "listed") != 0)
			render_printf(out, "%s: %s\n", name,
			              json_string_value(json_object_get(row, "message")));
	}
	if (keyless.len)
		render_printf(out, "No API key: %s. To add one, run hasp and type /auth.\n",
		              keyless.data);
}

static void put_list(struct buf *out, const json_t *offers, const char *in_use)
{
	const json_t *models = json_object_get(offers, "models"), *model;
	const int width = (int)widest_name(models);
	size_t i;

	buf_printf(out, "%-*s  %9s  %7s  %7s  %7s\n", width, "MODEL", "CONTEXT", "INPUT", "CACHED",
	           "OUTPUT");
	json_array_foreach(models, i, model) {
		const json_t *price = json_object_get(model, "price");

		render_printf(out, "%s", json_string_value(json_object_get(model, "model")));
		for (size_t k = json_string_length(json_object_get(model, "model"));
		     k < (size_t)width; k++)
			buf_char(out, ' ');
		put_context(out, json_object_get(model, "contextTokens"));
		put_price(out, price, "input");
		put_price(out, price, "cached");
		put_price(out, price, "output");
		put_remarks(out, model, in_use, offers_provider(offers, model));
	}
	buf_printf(out, "\nPrices: US dollars a million tokens, list prices known on %s unless "
	           "hasp.prices has others; -: unknown.\n", prices_date);
	put_providers(out, json_object_get(offers, "providers"));
}

/* Of what is chosen without a flag: "provider/name". The caller frees; NULL: nothing can be. */
static char *model_in_use(const struct settings *settings)
{
	struct model_choice choice;
	struct err none = ERR_INIT;
	char *id = NULL;

	if (!model_choose(settings, NULL, &choice, &none))
		return NULL;
	if (choice.options.label && choice.options.name)
		id = mem_printf("%s/%s", choice.options.label, choice.options.name);
	model_choice_release(&choice);
	return id;
}

static int list_models(const struct invocation *invocation)
{
	const struct offers_options options = { .provider = invocation_positional(invocation, 1) };
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	_cleanup_free_ char *project = NULL, *in_use = NULL;
	struct settings *settings = NULL;
	json_auto_t *offers = NULL;
	struct err err = ERR_INIT;
	bool ok = command_open_project(invocation, &project, &settings, &err);

	if (ok)
		offers = model_offers(settings, &options);
	if (ok && !json_array_size(json_object_get(offers, "providers")))
		ok = err_set(&err, ERR_INVALID_ARGUMENT,
		             "Unknown provider: \"%.64s\". \"hasp models\" lists those that "
		             "there are.", options.provider ? options.provider : "");
	if (ok && invocation_has(invocation, FLAG_JSON)) {
		ok = output_json(offers, output_is_terminal(), &err);
	} else if (ok) {
		in_use = model_in_use(settings);
		put_list(&text, offers, in_use);
		ok = output_text(buf_view(&text), &err);
	}
	settings_free(settings);
	return ok ? CLI_OK : output_fail(&err, CLI_FAILED);
}

/* ---- the command ---- */

static bool open_check(const struct invocation *invocation, struct check *check, struct err *err)
{
	const char *root = invocation_value(invocation, FLAG_ROOT);
	_cleanup_free_ char *project = realpath(root ? root : ".", NULL);
	struct settings_options options = {
		.project = project,
		.skip_trust = invocation_has(invocation, FLAG_SKIP_TRUST),
	};
	const json_t *warning;
	size_t i;

	if (!project)
		return err_set(err, ERR_FILE_NOT_FOUND, "%s does not exist, or is not a "
			"folder.", root ?
		               root : ".");
	if (!settings_load(&options, &check->settings, err) ||
	    !model_choose(check->settings, invocation_positional(invocation, 1), &check->choice,
	                  err))
		return false;
	json_array_foreach(check->choice.warnings, i, warning)
		output_complain(json_string_value(warning));
	/* The check is of this model, now: no waiting, and no fallback answers for it. */
	check->choice.options.fallbacks = NULL;
	check->choice.options.max_attempts = 1;
	check->choice.options.no_network_retries = true;
	return model_open(&check->choice.options, &check->model, err);
}

static int models_check(const struct invocation *invocation)
{
	struct check check = { .results = json_array(), .notices = json_array() };
	struct err err = ERR_INIT;
	int code;

	if (!open_check(invocation, &check, &err)) {
		output_complain(err.message);
		code = err.code == ERR_AUTHENTICATION_FAILED ? (int)AGENT_EXIT_AUTH : CLI_FAILED;
	} else {
		for (size_t i = 0; i < ARRAY_LEN(rows); i++)
			check_request(&check, &rows[i]);
		if (check.hopeless == ERR_NONE)
			model_learn_limits(check.model, /* cancel= */ NULL);
		code = check.hopeless == ERR_AUTHENTICATION_FAILED ? AGENT_EXIT_AUTH :
		       check.failed ? CLI_FAILED : CLI_OK;
		if (!print_results(invocation, &check, &err)) {
			output_complain(err.message);
			code = CLI_FAILED;
		}
	}
	model_free(check.model);
	model_choice_release(&check.choice);
	settings_free(check.settings);
	json_decref(check.results);
	json_decref(check.notices);
	return code;
}

int command_run_models(const struct invocation *invocation)
{
	const char *action = invocation_positional(invocation, 0);
	struct err err = ERR_INIT;

	if (invocation->positional_count > 2) {
		err_set(&err, ERR_INVALID_ARGUMENT, "hasp models %s takes one argument.", action);
		return output_fail(&err, CLI_USAGE);
	}
	return action && strcmp(action, "check") == 0 ? models_check(invocation) :
	                                                list_models(invocation);
}
