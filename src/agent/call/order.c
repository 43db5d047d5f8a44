/* SPDX-License-Identifier: Apache-2.0 */
/* The order of a reply's calls: which of them wait for which (call.h). */
#include "agent/call/calls.h"

#include <string.h>

#include "agent/call/call.h"
#include "agent/context/context.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/path.h"
#include "tool/answer.h"
#include "tool/spelling.h"
#include "tool/tool.h"

/* ---- what a call does -------------------------------------------------------------- */

static enum order_effect effect_of(const struct tool *tool)
{
	static const enum order_effect effects[] = {
		[TOOL_KIND_READ] = ORDER_READS,       [TOOL_KIND_SEARCH] = ORDER_READS,
		[TOOL_KIND_EDIT] = ORDER_EDITS,       [TOOL_KIND_DELETE] = ORDER_EDITS,
		[TOOL_KIND_MOVE] = ORDER_EDITS,       [TOOL_KIND_EXECUTE] = ORDER_ANY,
		[TOOL_KIND_AGENT] = ORDER_ANY,        [TOOL_KIND_OTHER] = ORDER_ANY,
		[TOOL_KIND_PLAN] = ORDER_ALONE,       [TOOL_KIND_THINK] = ORDER_ALONE,
		[TOOL_KIND_FETCH] = ORDER_NOTHING,    [TOOL_KIND_COMMUNICATE] = ORDER_NOTHING,
	};

	return tool ? effects[tool_kind_of(tool)] : ORDER_NOTHING;
}

/* A folder that is looked through, and files that a list names, are not one file: those touch all,
 * as do tools of which nothing is known. */
static void add_paths(struct order_call *call, const struct tool_info *info, const json_t *args,
                      const char *root)
{
	struct tool_place place = { 0 };
	size_t cap = 0;

	if (!info || (!info->edit && info->files != TOOL_FILES_READ))
		return;
	while (tool_place_next(info, args, &place)) {
		call->paths =
			mem_grow(call->paths, &cap, call->path_count + 1, sizeof(*call->paths));
		call->paths[call->path_count++] = path_join(root, json_string_value(place.path));
	}
}

void call_order_describe(struct order_call *ret, const struct tool *tool, const char *name,
                         const json_t *args, const char *root)
{
	_cleanup_buf_ struct buf problems = BUF_INIT(CALL_PROBLEMS_MAX);
	json_auto_t *canonical = NULL;

	*ret = (struct order_call){ .effect = effect_of(tool) };
	if (tool && tool->info && tool->info->in_turn)
		ret->turn = tool->info;
	if (json_is_true(json_object_get(args, "wait_for_previous"))) {
		ret->effect = ORDER_ALONE;
		return;
	}
	if (!json_is_object(args) || (ret->effect != ORDER_READS && ret->effect != ORDER_EDITS))
		return;
	canonical = alias_resolve(tool, name, args, NULL, &problems);
	add_paths(ret, tool->info, canonical, root);
}

void call_order_release(struct order_call *call)
{
	for (size_t i = 0; i < call->path_count; i++)
		free(call->paths[i]);
	free(call->paths);
	*call = (struct order_call){ 0 };
}

/* ---- who waits --------------------------------------------------------------------- */

static bool share_a_path(const struct order_call *a, const struct order_call *b)
{
	if (!a->path_count || !b->path_count)
		return true;
	for (size_t i = 0; i < a->path_count; i++)
		for (size_t k = 0; k < b->path_count; k++)
			if (!strcmp(a->paths[i], b->paths[k]))
				return true;
	return false;
}

static bool order_must_wait(const struct order_call *before, const struct order_call *call)
{
	enum order_effect a = before->effect, b = call->effect;

	if (a == ORDER_ALONE || b == ORDER_ALONE || (call->turn && call->turn == before->turn))
		return true;
	if (a != ORDER_EDITS && b != ORDER_EDITS)
		return false;
	if (a == ORDER_NOTHING || b == ORDER_NOTHING)
		return false;
	return a == ORDER_ANY || b == ORDER_ANY || share_a_path(before, call);
}

bool call_order_may_begin(const struct order_call *calls, size_t index, const bool *ended)
{
	for (size_t i = 0; i < index; i++)
		if (!ended[i] && order_must_wait(&calls[i], &calls[index]))
			return false;
	return true;
}
