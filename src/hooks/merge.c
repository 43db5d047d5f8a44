/* SPDX-License-Identifier: Apache-2.0 */
/* What several hooks said about one event: a denial wins, reasons and contexts are joined, the model's
 * request and answer are replaced member by member in the hooks' order, and of tools' modes NONE is
 * stronger than ANY, ANY than AUTO. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "hooks/hook.h"

static void join(char **all, char **one)
{
	char *joined;

	if (!*one)
		return;
	if (!*all) {
		*all = mem_steal(one);
		return;
	}
	joined = mem_printf("%s\n%s", *all, *one);
	free(*all);
	free(mem_steal(one));
	*all = joined;
}

static void take(char **all, char **one)
{
	if (!*one)
		return;
	free(*all);
	*all = mem_steal(one);
}

static void replace(json_t **all, json_t **one)
{
	if (!*one)
		return;
	json_decref(*all);
	*all = *one;
	*one = NULL;
}

static void replace_members(json_t **all, json_t **one)
{
	json_t *merged;

	if (!*one)
		return;
	if (!*all) {
		replace(all, one);
		return;
	}
	merged = json_copy(*all);
	json_object_update(merged, *one);
	json_decref(*all);
	json_decref(*one);
	*all = merged;
	*one = NULL;
}

static int mode_strength(const json_t *config)
{
	static const char *const modes[] = { "AUTO", "ANY", "NONE" };
	const char *mode = json_string_value(json_object_get(config, "mode"));

	for (int i = 0; mode && i < 3; i++)
		if (strcmp(modes[i], mode) == 0)
			return i;
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t collect(const json_t *list, const char **names, size_t count)
{
	size_t i;
	json_t *name;

	json_array_foreach(list, i, name)
		if (json_is_string(name))
			names[count++] = json_string_value(name);
	return count;
}

/* Both lists' names, sorted, each once. */
static json_t *united(const json_t *a, const json_t *b)
{
	_cleanup_free_ const char **names =
		mem_alloc(json_array_size(a) + json_array_size(b) + 1, sizeof(*names));
	size_t count = collect(b, names, collect(a, names, 0));
	json_t *list = json_array();

	qsort(names, count, sizeof(*names), compare_names);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || strcmp(names[i - 1], names[i]) != 0)
			json_array_append_new(list, json_string(names[i]));
	return list;
}

static void merge_tool_config(json_t **all, json_t **one)
{
	json_t *merged;

	if (!*one)
		return;
	merged = json_copy(mode_strength(*one) > mode_strength(*all) ? *one : *all ? *all : *one);
	if (mode_strength(merged) == 2)
		json_object_del(merged, "allowedFunctionNames");
	else if (json_object_get(*all, "allowedFunctionNames") ||
	         json_object_get(*one, "allowedFunctionNames"))
		json_object_set_new(merged, "allowedFunctionNames",
		                    united(json_object_get(*all, "allowedFunctionNames"),
		                           json_object_get(*one, "allowedFunctionNames")));
	json_decref(*all);
	json_decref(*one);
	*all = merged;
	*one = NULL;
}

void hook_outcome_merge(struct hook_outcome *all, struct hook_outcome *one)
{
	/* Reasons are those of the strictest: a denial's replace what others only remarked. */
	if (one->denied && !all->denied)
		take(&all->reason, &one->reason);
	else if (one->denied || one->stop || !all->denied)
		join(&all->reason, &one->reason);
	all->denied |= one->denied;
	all->ask |= one->ask;
	all->allowed |= one->allowed;
	all->stop |= one->stop;
	all->suppress_output |= one->suppress_output;
	all->clear_context |= one->clear_context;
	join(&all->system_message, &one->system_message);
	join(&all->additional_context, &one->additional_context);
	join(&all->error, &one->error);
	take(&all->alternative, &one->alternative);
	replace(&all->tool_input, &one->tool_input);
	replace(&all->tail_call, &one->tail_call);
	replace_members(&all->llm_request, &one->llm_request);
	replace_members(&all->llm_response, &one->llm_response);
	merge_tool_config(&all->tool_config, &one->tool_config);
	hook_outcome_release(one);
}

void hook_outcome_release(struct hook_outcome *outcome)
{
	free(outcome->reason);
	free(outcome->system_message);
	free(outcome->additional_context);
	free(outcome->alternative);
	free(outcome->error);
	json_decref(outcome->tool_input);
	json_decref(outcome->tail_call);
	json_decref(outcome->llm_request);
	json_decref(outcome->llm_response);
	json_decref(outcome->tool_config);
	*outcome = (struct hook_outcome){ 0 };
}
