/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command/sandbox_explain.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cli/command/child_env.h"
#include "cli/options/commands.h"
#include "cli/view/output.h"
#include "data/json.h"
#include "sandbox/plan/probe.h"
#include "sandbox/report/explain.h"
#include "sandbox/report/seatbelt.h"
#include "sandbox/report/twins.h"

extern char **environ;

/* ---- as JSON ------------------------------------------------------------------ */

enum { DEPTH_MAX = 16 };

/* What a reporter says becomes a document; the innermost container is the last. */
struct told {
	json_t *open[DEPTH_MAX]; /* borrowed but the first */
	size_t depth;
};

static void put(struct told *told, const char *key, json_t *value)
{
	json_t *inner = told->open[told->depth - 1];

	if (json_is_array(inner))
		json_array_append_new(inner, value);
	else
		json_object_set_new(inner, key, value);
}

static void told_begin(void *data, const char *key, bool list)
{
	struct told *told = data;
	json_t *inner = list ? json_array() : json_object();

	put(told, key, inner);
	if (told->depth < DEPTH_MAX)
		told->open[told->depth++] = inner;
}

static void told_end(void *data)
{
	((struct told *)data)->depth--;
}

static void told_text(void *data, const char *key, const char *value)
{
	put(data, key, json_cstr(value));
}

static void told_number(void *data, const char *key, uint64_t value)
{
	put(data, key, json_size(value));
}

static void told_flag(void *data, const char *key, bool value)
{
	put(data, key, json_boolean(value));
}

static struct reporter json_reporter(struct told *told)
{
	*told = (struct told){ .open = { json_object() }, .depth = 1 };
	return (struct reporter){
		.data = told,
		.begin = told_begin,
		.end = told_end,
		.text = told_text,
		.number = told_number,
		.flag = told_flag,
	};
}

/* Prints and releases the document: on one line, on a terminal indented. */
static int print_document(json_t *document)
{
	struct err err = ERR_INIT;
	bool ok = output_json(document, output_is_terminal(), &err);

	json_decref(document);
	if (ok)
		return CLI_OK;
	output_complain(err.message);
	return CLI_FAILED;
}

static int print_text(const struct buf *text)
{
	struct err err = ERR_INIT;

	if (output_text(buf_view(text), &err))
		return CLI_OK;
	output_complain(err.message);
	return CLI_FAILED;
}

/* ---- the plan ------------------------------------------------------------------- */

/* The plan that a command would get; its folder for temporary files is made only for a run. */
static bool make_plan(const struct confinement *confinement, struct sandbox_plan **ret,
                      struct err *err)
{
	const struct worker_options *from = &confinement->options;
	const struct sandbox_options options = {
		.roots = from->roots,
		.root_count = from->root_count,
		.write = from->write,
		.write_count = from->write_count,
		.read = from->read,
		.read_count = from->read_count,
		.deny = from->deny,
		.deny_count = from->deny_count,
		.network = from->network,
		.use = SANDBOX_USE_COMMAND,
		.limits = sandbox_limits_default(),
		.level_given = from->level_given,
		.level = from->level,
	};

	return sandbox_plan_make(&options, sandbox_probe(), ret, err);
}

/* Names of variables, not values. */
static json_t *names_of_withheld(const struct child_env *env)
{
	json_t *names = json_array();

	for (size_t i = 0; i < env->withheld_count; i++) {
		struct span variable = span_str(env->withheld[i]);

		for (size_t len = 0; len < variable.len; len++)
			if (variable.data[len] == '=')
				variable.len = len;
		json_array_append_new(names, json_text(variable));
	}
	return names;
}

static json_t *environment_json(const struct invocation *invocation,
                                const struct sandbox_plan *plan)
{
	const char *which = invocation_value(invocation, FLAG_ENV);
	const struct environment_options look = { .level = plan->level };
	_cleanup_child_env_ struct child_env env;

	child_env_make(which, (const char *const *)environ, &look, &env);
	return json_pack("{s:s, s:o}", "which", which ? which : "safe", "withheld",
	                 names_of_withheld(&env));
}

/* Hard links out of the workspace. */
static void find_twins(const struct confinement *confinement, struct twins *ret)
{
	twins_find(confinement->options.roots, confinement->options.root_count, ret);
}

static int show_plan_json(const struct invocation *invocation,
                          const struct confinement *confinement, const struct sandbox_plan *plan)
{
	__attribute__((cleanup(twins_release))) struct twins twins;
	struct told told;
	const struct reporter reporter = json_reporter(&told);

	find_twins(confinement, &twins);
	explain_plan(plan, sandbox_probe(), &reporter);
	twins_print(&twins, &reporter);
	json_object_set_new(told.open[0], "environment", environment_json(invocation, plan));
	return print_document(told.open[0]);
}

static void add_environment(const struct invocation *invocation, const struct sandbox_plan *plan,
                            struct buf *out)
{
	json_auto_t *environment = environment_json(invocation, plan);
	json_t *name;
	size_t i;

	buf_printf(out, "\nenvironment: %s\n",
	           json_string_value(json_object_get(environment, "which")));
	json_array_foreach(json_object_get(environment, "withheld"), i, name) {
		buf_str(out, i ? ", " : "  withheld: ");
		explain_escape(out, json_string_value(name));
	}
	if (json_array_size(json_object_get(environment, "withheld")))
		buf_char(out, '\n');
}

int sandbox_show_plan(const struct invocation *invocation, const struct confinement *confinement)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	struct sandbox_plan *plan = NULL;
	struct err err = ERR_INIT;
	int code;

	if (!make_plan(confinement, &plan, &err)) {
		output_complain(err.message);
		return CLI_USAGE;
	}
	if (invocation_has(invocation, FLAG_SEATBELT)) {
		seatbelt_profile(plan, getenv("HOME"), &text);
		code = print_text(&text);
	} else if (invocation_has(invocation, FLAG_JSON)) {
		code = show_plan_json(invocation, confinement, plan);
	} else {
		__attribute__((cleanup(twins_release))) struct twins twins;

		find_twins(confinement, &twins);
		explain_plan_text(plan, sandbox_probe(), &text);
		twins_text(&twins, &text);
		add_environment(invocation, plan, &text);
		code = print_text(&text);
	}
	sandbox_plan_free(plan);
	return code;
}

/* ---- the machine ------------------------------------------------------------------ */

int sandbox_show_status(const struct invocation *invocation, const struct confinement *confinement)
{
	const struct sandbox_options options = { .level_given = confinement->options.level_given,
		                                 .level = confinement->options.level };
	__attribute__((cleanup(twins_release))) struct twins twins = { 0 };
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	enum sandbox_level level;
	struct err err = ERR_INIT;
	struct told told;

	if (!sandbox_level_choose(&options, sandbox_probe(), &level, &err)) {
		output_complain(err.message);
		return CLI_USAGE;
	}
	find_twins(confinement, &twins);
	if (invocation_has(invocation, FLAG_JSON)) {
		const struct reporter reporter = json_reporter(&told);

		explain_status(sandbox_probe(), level, &reporter);
		twins_print(&twins, &reporter);
		return print_document(told.open[0]);
	}
	explain_status_text(sandbox_probe(), level, &text);
	twins_text(&twins, &text);
	return print_text(&text);
}
