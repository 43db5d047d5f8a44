/* SPDX-License-Identifier: Apache-2.0 */
/* What the status line shows, and the line. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/setup/prepare.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "data/json.h"
#include "model/model.h"
#include "model/prices.h"
#include "tui/show/status.h"

enum {
	FOLDER_SHOWN = 28,    /* bytes of the folder's path */
	KEYS_HINT_WIDTH = 12, /* columns of "? for keys" and the blanks before it */
};

/* What goes first where the line is too wide: steps, each with those before it. */
enum {
	TIGHT_SHORT = 1,  /* the folder's name alone, tokens without those from the cache */
	TIGHT_NO_SANDBOX, /* unless there is none */
	TIGHT_NO_FOLDER,
	TIGHT_NO_BRANCH,
	TIGHT_NO_MODEL,
	TIGHT_NO_TOKENS,
	STATUS_TIGHTEST = TIGHT_NO_TOKENS,
	STAYS,
};

/* ---- what is known ------------------------------------------------------------ */

void status_init(struct status *status, enum approval_mode mode)
{
	*status = (struct status){ .mode = mode, .quota = -1 };
}

void status_release(struct status *status)
{
	free(status->branch);
	free(status->model);
	free(status->effort);
	free(status->level);
	free(status->key_from);
}

void status_restart(struct status *status)
{
	status->context = status->input = status->output = status->cached = 0;
	status->cost = 0;
	status->added = status->removed = 0;
}

bool status_count_lines(const json_t *result, uint64_t *added, uint64_t *removed)
{
	json_int_t more = json_integer_value(json_object_get(result, "lines_added"));
	json_int_t fewer = json_integer_value(json_object_get(result, "lines_removed"));
	size_t i;
	json_t *change;

	if (!json_is_true(json_object_get(result, "success")) ||
	    json_is_true(json_object_get(result, "dry_run")))
		return false;
	json_array_foreach(json_object_get(result, "changes"), i, change) {
		more += json_integer_value(json_object_get(change, "lines_added"));
		fewer += json_integer_value(json_object_get(change, "lines_removed"));
	}
	*added += more > 0 ? (uint64_t)more : 0;
	*removed += fewer > 0 ? (uint64_t)fewer : 0;
	return true;
}

void status_add_lines(struct status *status, const json_t *result)
{
	status_count_lines(result, &status->added, &status->removed);
}

void status_add_usage(struct status *status, const json_t *usage)
{
	status->input += (uint64_t)json_integer_value(json_object_get(usage, "input"));
	status->output += (uint64_t)json_integer_value(json_object_get(usage, "output"));
	status->cached += (uint64_t)json_integer_value(json_object_get(usage, "cached"));
}

/* ---- the line ---------------------------------------------------------------- */

static void status_item(struct row *row, struct span text, struct style style)
{
	if (!text.len)
		return;
	if (row->width)
		row_text(row, SPAN("  "), STYLE(ROLE_DIM));
	row_text(row, text, style);
}

static void status_folder(const struct status_view *view, struct row *row)
{
	const struct home *home = settings_home(view->settings);
	const char *user = home ? home_user(home) : NULL;
	const char *folder = view->project;
	const size_t most = view->tight < TIGHT_SHORT ? FOLDER_SHOWN : 0;
	_cleanup_free_ char *text = NULL;
	const char *at, *slash;

	if (user && path_is_under(folder, user))
		text = mem_printf("~%s", folder + strlen(user));
	else
		text = mem_strdup(folder);
	/* Its end says more than its beginning. */
	for (at = text; (slash = strchr(at + 1, '/')) && strlen(at) > most; at = slash)
		;
	status_item(row, at == text ? SPAN("") : SPAN("\xe2\x80\xa6"), STYLE(ROLE_DIM));
	if (at == text)
		status_item(row, span_str(at), STYLE(ROLE_DIM));
	else
		row_text(row, span_str(at), STYLE(ROLE_DIM));
}

static void status_branch(const struct status_view *view, struct row *row)
{
	const struct status *status = view->status;
	_cleanup_free_ char *text = NULL;

	if (!status->branch)
		return;
	text = mem_printf("(%s)", status->branch);
	status_item(row, span_str(text), STYLE(ROLE_DIM));
}

static void status_sandbox(const struct status_view *view, struct row *row)
{
	const struct status *status = view->status;
	const char *level = status->level;
	const bool none = level && strcmp(level, "paths") == 0;
	_cleanup_free_ char *text = NULL;

	if (!level || (!none && view->tight >= TIGHT_NO_SANDBOX))
		return;
	text = none ? mem_strdup("not confined") : mem_printf("sandbox: %s", level);
	status_item(row, span_str(text), STYLE(none ? ROLE_WARNING : ROLE_DIM));
}

static void status_model(const struct status_view *view, struct row *row)
{
	const struct status *status = view->status;
	_cleanup_free_ char *text = NULL;

	if (!status->model)
		return;
	text = status->effort && strcmp(status->effort, "default") != 0 ?
	               mem_printf("%s %s", model_plain_id(status->model), status->effort) :
	               mem_strdup(model_plain_id(status->model));
	status_item(row, span_str(text), STYLE(ROLE_DIM));
}

static void status_context(const struct status_view *view, struct row *row)
{
	const struct status *status = view->status;
	_cleanup_free_ char *text = NULL;
	uint64_t left;

	if (!status->window || !status->context)
		return;
	left = status->context < status->window ?
	               100 - status->context * 100 / status->window : 0;
	text = mem_printf("%u%% context left", (unsigned)left);
	status_item(row, span_str(text), STYLE(left < 20 ? ROLE_WARNING : ROLE_DIM));
}

void status_print_count(uint64_t tokens, char out[static STATUS_COUNT_SIZE])
{
	if (tokens < 10000)
		snprintf(out, STATUS_COUNT_SIZE, "%u", (unsigned)tokens);
	else if (tokens < 1000000)
		snprintf(out, STATUS_COUNT_SIZE, "%uk", (unsigned)(tokens / 1000));
	else
		snprintf(out, STATUS_COUNT_SIZE, "%.1fM", (double)tokens / 1e6);
}

static void status_tokens(const struct status_view *view, struct row *row)
{
	const struct status *status = view->status;
	char input[STATUS_COUNT_SIZE], output[STATUS_COUNT_SIZE];
	_cleanup_free_ char *text = NULL;

	if (!status->input && !status->output)
		return;
	status_print_count(status->input, input);
	status_print_count(status->output, output);
	text = status->input && view->tight < TIGHT_SHORT ?
	               mem_printf("%s in, %s out, %u%% cached", input, output,
	                          (unsigned)(status->cached * 100 / status->input)) :
	               mem_printf("%s in, %s out", input, output);
	status_item(row, span_str(text), STYLE(ROLE_DIM));
	if (status->cost) {
		char cost[32];

		prices_print(status->cost, cost, sizeof(cost));
		status_item(row, span_str(cost), STYLE(ROLE_DIM));
	}
}

static void status_session(const struct status_view *view, struct row *row)
{
	if (view->session)
		status_item(row, span_head(span_str(view->session), 8), STYLE(ROLE_DIM));
}

static void status_quota(const struct status_view *view, struct row *row)
{
	const struct status *status = view->status;
	const int left = status->quota;
	_cleanup_free_ char *text = left < 0 ? NULL : mem_printf("%d%% of the limit left", left);

	if (text)
		status_item(row, span_str(text), STYLE(left < 20 ? ROLE_WARNING : ROLE_DIM));
}

/* hasp's own process, without its workers and commands. */
static void status_memory(const struct status_view *view, struct row *row)
{
	_cleanup_fd_ int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	char text[128];
	unsigned long long pages;
	_cleanup_free_ char *shown = NULL;

	(void)view;
	if (!fd_read_text(fd, text, sizeof(text)) || sscanf(text, "%*u %llu", &pages) != 1)
		return;
	shown = mem_printf("%.1f MB", (double)pages * (double)sysconf(_SC_PAGESIZE) / 1e6);
	status_item(row, span_str(shown), STYLE(ROLE_DIM));
}

static void status_host(const struct status_view *view, struct row *row)
{
	char name[HOST_NAME_MAX + 1] = "";

	(void)view;
	if (gethostname(name, sizeof(name) - 1) == 0)
		status_item(row, span_str(name), STYLE(ROLE_DIM));
}

static void status_auth(const struct status_view *view, struct row *row)
{
	const struct status *status = view->status;
	if (status->model)
		status_item(row, status->key_from ? span_str(status->key_from) :
		                                        SPAN("no key"), STYLE(ROLE_DIM));
}

static void status_changes(const struct status_view *view, struct row *row)
{
	const struct status *status = view->status;
	_cleanup_free_ char *added = NULL, *removed = NULL;

	if (!status->added && !status->removed)
		return;
	added = mem_printf("+%llu", (unsigned long long)status->added);
	removed = mem_printf(" -%llu", (unsigned long long)status->removed);
	status_item(row, span_str(added), STYLE(ROLE_SUCCESS));
	row_text(row, span_str(removed), STYLE(ROLE_ERROR));
}

/* Gemini CLI's names of items. */
static const struct {
	const char *name;
	void (*put)(const struct status_view *view, struct row *row);
	const char *hidden_by; /* a setting, where ui.footer.items says nothing; or NULL */
	bool usual;
	uint8_t leaves;        /* at this step (TIGHT_) */
} items[] = {
	{ "workspace", status_folder, "ui.footer.hideCWD", true, TIGHT_NO_FOLDER },
	{ "git-branch", status_branch, NULL, true, TIGHT_NO_BRANCH },
	{ "sandbox", status_sandbox, "ui.footer.hideSandboxStatus", true, STAYS },
	{ "model-name", status_model, "ui.footer.hideModelInfo", true, TIGHT_NO_MODEL },
	{ "context-used", status_context, NULL, true, STAYS },
	{ "token-count", status_tokens, NULL, true, TIGHT_NO_TOKENS },
	{ "session-id", status_session, NULL, false, TIGHT_NO_FOLDER },
	{ "quota", status_quota, NULL, false, STAYS },
	{ "memory-usage", status_memory, NULL, false, TIGHT_NO_SANDBOX },
	{ "hostname", status_host, NULL, false, TIGHT_NO_SANDBOX },
	{ "auth", status_auth, NULL, false, TIGHT_NO_SANDBOX },
	{ "code-changes", status_changes, NULL, false, TIGHT_NO_TOKENS },
};

const char *status_mode_word(enum approval_mode mode)
{
	static const char *const words[] = { [MODE_PLAN] = "plan mode",
		                             [MODE_AUTO_EDIT] = "edits accepted",
		                             [MODE_YOLO] = "YOLO" };

	return words[mode] ? words[mode] : "default";
}

static void status_mode(const struct status_view *view, struct row *row)
{
	const struct status *status = view->status;
	const char *word = status_mode_word(status->mode);

	if (status->mode != MODE_DEFAULT)
		status_item(row, span_str(word),
		            STYLE_BOLD(status->mode == MODE_YOLO ? ROLE_ERROR : ROLE_ACCENT));
}

/* Those that ui.footer.items names; without it the usual ones, or what the user's command says. */
static void status_items(const struct status_view *view, struct row *row)
{
	const json_t *wanted = settings_get(view->settings, "ui.footer.items");
	const struct row *line = view->line;
	size_t i, k;
	json_t *name;

	json_array_foreach(wanted, k, name)
		for (i = 0; i < ARRAY_LEN(items); i++)
			if (json_is_string(name) &&
			    strcmp(json_string_value(name), items[i].name) == 0 &&
			    view->tight < items[i].leaves)
				items[i].put(view, row);
	for (i = 0; !json_is_array(wanted) && !line && i < ARRAY_LEN(items); i++)
		if (items[i].usual && view->tight < items[i].leaves && (!items[i].hidden_by ||
		                       !settings_bool(view->settings, items[i].hidden_by, false)))
			items[i].put(view, row);
	if (line && line->width) {
		if (row->width)
			row_text(row, SPAN("  "), STYLE(ROLE_DIM));
		row_append(row, line);
	}
}

static void status_tight_row(const struct status_view *view, struct row *row)
{
	if (view->editing)
		status_item(row, span_str(view->editing), STYLE_BOLD(ROLE_ACCENT));
	status_mode(view, row);
	status_items(view, row);
}

void status_row(const struct status_view *view, unsigned width, struct row *row)
{
	struct status_view tight = *view;
	const bool hints = view->idle && settings_bool(view->settings, "ui.showShortcutsHint",
	                                               true);

	/* The hint is worth the folder's path, and no more. */
	for (tight.tight = 0;; tight.tight++) {
		unsigned hint = hints && tight.tight < TIGHT_SHORT ? KEYS_HINT_WIDTH : 0;

		status_tight_row(&tight, row);
		if (row->width + hint <= width || tight.tight == STATUS_TIGHTEST)
			break;
		row_release(row);
	}
	if (hints && row->width + KEYS_HINT_WIDTH <= width)
		status_item(row, SPAN("? for keys"), STYLE(ROLE_DIM));
	row_clip(row, width);
}
