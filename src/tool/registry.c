/* SPDX-License-Identifier: Apache-2.0 */
/* The table of tools, in the order shown to a model. */
#include <string.h>

#include "base/mem.h"
#include "tool/builtin/builtin.h"
#include "tool/schemas.h"

static const struct tool *const everywhere[] = {
	&tool_read_file,   &tool_read_many_files, &tool_safe_patch,     &tool_write_file,
	&tool_update_file, &tool_apply_changes,   &tool_search_files, &tool_glob,
	&tool_list_directory,
	&tool_run_shell_command,
	&tool_list_background_processes,
	&tool_read_background_output,
	&tool_write_background_input,
	&tool_kill_background_process,
};

/* They have a meaning in a conversation alone: set.h, tool_set_add_conversation. */
static const struct tool *const conversation[] = {
	&tool_web_fetch,   &tool_google_web_search, &tool_save_memory,    &tool_write_todos,
	&tool_ask_user,    &tool_enter_plan_mode,   &tool_exit_plan_mode,
	&tool_request_permission,
};

size_t tool_count(void)
{
	return ARRAY_LEN(everywhere);
}

const struct tool *tool_at(size_t i)
{
	return everywhere[i];
}

size_t builtin_count(void)
{
	return ARRAY_LEN(everywhere) + ARRAY_LEN(conversation);
}

const struct tool *builtin_at(size_t i)
{
	return i < tool_count() ? everywhere[i] : conversation[i - tool_count()];
}

static bool is_called(const struct tool *tool, const char *name)
{
	if (strcmp(tool->name, name) == 0)
		return true;
	for (const char *const *alias = tool->aliases; alias && *alias; alias++)
		if (strcmp(*alias, name) == 0)
			return true;
	return false;
}

const struct tool *tool_find(const char *name)
{
	for (size_t i = 0; i < tool_count(); i++)
		if (is_called(everywhere[i], name))
			return everywhere[i];
	return NULL;
}

const char *tool_kind_name(enum tool_kind kind)
{
	static const char *const names[] = {
		[TOOL_KIND_READ] = "read",     [TOOL_KIND_EDIT] = "edit",
		[TOOL_KIND_DELETE] = "delete", [TOOL_KIND_MOVE] = "move",
		[TOOL_KIND_SEARCH] = "search", [TOOL_KIND_EXECUTE] = "execute",
		[TOOL_KIND_THINK] = "think",   [TOOL_KIND_FETCH] = "fetch",
		[TOOL_KIND_COMMUNICATE] = "communicate",
		[TOOL_KIND_PLAN] = "plan",     [TOOL_KIND_AGENT] = "agent",
		[TOOL_KIND_OTHER] = "other",
	};

	return (unsigned)kind < ARRAY_LEN(names) ? names[kind] : "other";
}

bool tool_kind_reads(enum tool_kind kind)
{
	return kind == TOOL_KIND_READ || kind == TOOL_KIND_SEARCH || kind == TOOL_KIND_THINK ||
	       kind == TOOL_KIND_FETCH;
}

bool tool_kind_changes(enum tool_kind kind)
{
	return kind == TOOL_KIND_EDIT || kind == TOOL_KIND_DELETE || kind == TOOL_KIND_MOVE ||
	       kind == TOOL_KIND_EXECUTE;
}
