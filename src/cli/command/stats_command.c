/* SPDX-License-Identifier: Apache-2.0 */
/* `hasp stats`: what the work of recorded sessions came to (docs/stats.md), as tables for people,
 * JSON, or a page (cli/view/view.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/session/figures.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/command/commands.h"
#include "cli/command/private.h"
#include "cli/command/web_page.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/view.h"
#include "cli/view/output.h"
#include "config/settings.h"
#include "data/json.h"

/* ---- the command ------------------------------------------------------------- */

/* "7d", "12h" or "2w" ago, or a day, as the beginning of a time in the files. */
static bool since_read(const char *word, char out[32], struct err *err)
{
	static const struct {
		char unit;
		long seconds;
	} units[] = { { 'h', 3600 }, { 'd', 86400 }, { 'w', 604800 } };
	struct tm parts = { 0 };
	char *end;
	const long count = strtol(word, &end, 10);
	const char *rest;
	time_t when;

	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (end > word && count >= 0 && count < 100000 && end[0] == units[i].unit &&
		    !end[1]) {
			when = time(NULL) - count * units[i].seconds;
			gmtime_r(&when, &parts);
			strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &parts);
			return true;
		}
	rest = strlen(word) == 10 ? strptime(word, "%Y-%m-%d", &parts) : NULL;
	if (!rest || *rest)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "--since is a day like 2026-11-20, or a time like 12h, 7d or 2w.");
	strftime(out, 32, "%Y-%m-%d", &parts);
	return true;
}

static bool stats_show(const struct invocation *invocation, const json_t *figures,
                       struct err *err)
{
	const char *page = invocation_value(invocation, FLAG_HTML);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);

	if (page) {
		figures_page_print(&out, figures);
		return (!out.overflowed || err_set(err, ERR_TOO_LARGE, "The page is too large.")) &&
		       file_replace(page, buf_view(&out), 0600, err);
	}
	if (invocation_has(invocation, FLAG_JSON))
		return output_json(figures, true, err);
	figures_print(&out, figures, output_uses_colour(NULL));
	return output_text(buf_view(&out), err);
}

/* What `hasp stats --json` prints.  `options`: without home and prices; `folder`: of the project;
 * NULL: the current one. */
static bool stats_count(struct figures_options *options, const char *folder, json_t **ret,
                        struct err *err)
{
	_cleanup_free_ char *project = realpath(folder ? folder : ".", NULL);
	struct settings *settings = NULL;
	json_t *figures;

	if (!project)
		return err_set(err, ERR_FILE_NOT_FOUND, "%s does not exist, or is not a folder.",
		               folder ? folder : ".");
	if (!home_open(project, &options->home, err))
		return false;
	if (!settings_load_own(&settings, err)) {
		home_free(options->home);
		return false;
	}
	options->prices = settings ? settings_get(settings, "hasp.prices") : NULL;
	figures = figures_read(options);
	json_object_set_new(figures, "version", json_integer(1));
	json_object_set_new(figures, "project", options->all ? json_null() : json_name(project));
	json_object_set_new(figures, "since", json_cstr(options->since));
	json_object_set_new(figures, "model",
	                    options->model ? json_text(span_str(options->model)) : json_null());
	home_free(options->home);
	settings_free(settings);
	*ret = figures;
	return true;
}

bool command_stats_figures(const struct web_figures *wanted, json_t **ret, struct err *err)
{
	struct figures_options options = { .all = !wanted->folder, .model = wanted->model };
	json_auto_t *figures = NULL;
	struct err ignored = ERR_INIT;
	char moment[32];

	if (wanted->since && !since_read(wanted->since, moment, &ignored))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "\"since\" is a day like 2026-11-20, or a time like 12h, 7d or 2w.");
	options.since = wanted->since ? moment : NULL;
	if (!stats_count(&options, wanted->folder ? wanted->folder : "/", &figures, err))
		return false;
	*ret = figures_tables(figures);
	return true;
}

int command_run_stats(const struct invocation *invocation)
{
	const char *since = invocation_value(invocation, FLAG_SINCE);
	struct figures_options options = { .all = invocation_has(invocation, FLAG_ALL),
		                           .model = invocation_value(invocation, FLAG_MODEL) };
	json_auto_t *figures = NULL;
	struct err err = ERR_INIT;
	char moment[32];

	if (since && !since_read(since, moment, &err))
		return output_fail(&err, CLI_USAGE);
	if (options.all && invocation_has(invocation, FLAG_PROJECT)) {
		output_complain("--all and --project exclude each other.");
		return CLI_USAGE;
	}
	options.since = since ? moment : NULL;
	return stats_count(&options, invocation_value(invocation, FLAG_PROJECT), &figures, &err) &&
	       stats_show(invocation, figures, &err) ? CLI_OK : output_fail(&err, CLI_FAILED);
}
