/* SPDX-License-Identifier: Apache-2.0 */
/* Paths that rules on paths keep from being written: read-only, and not to come into being where
 * they are missing. */
#include <string.h>

#include "base/mem.h"
#include "sandbox/plan/private.h"

struct plan_keeping {
	struct plan_draft *draft;
	bool firm;
};

static enum sandbox_reason keeping_reason(bool firm)
{
	return firm ? SANDBOX_REASON_KEPT : SANDBOX_REASON_POLICY;
}

/* A link on the way must go on leading there. */
static void plan_keep_link(void *data, const char *path)
{
	const struct plan_keeping *keeping = data;

	draft_absent(keeping->draft, mem_strdup(path), keeping_reason(keeping->firm),
	             "a policy rule's path leads over it");
}

static void plan_keep_path(struct plan_draft *draft, const char *start, const char *path, bool firm)
{
	static const char why[] = "a policy rule keeps it from being written";
	struct plan_keeping keeping = { draft, firm };
	_cleanup_location_ struct location place = { 0 };
	const enum sandbox_reason reason = keeping_reason(firm);
	const enum draft_strength strength = firm ? DRAFT_DENY : DRAFT_TABLE;

	location_resolve(start, path, plan_keep_link, &keeping, &place);
	if (place.kind == LOCATION_CLOSED) {
		draft_closed(draft, start, path, &(struct sandbox_rule){
			.access = SANDBOX_READ, .reason = reason, .why = why,
		}, strength);
		return;
	}
	/* What lies in it is in it. */
	for (size_t i = 0; i < draft->plan->root_count; i++)
		if (location_within(draft->plan->roots[i], place.path))
			draft_rule(draft, mem_strdup(draft->plan->roots[i]), true, SANDBOX_READ,
			           reason, firm ? DRAFT_DENY : DRAFT_ROOT, why);
	if (place.kind == LOCATION_MISSING)
		draft_absent(draft, mem_steal(&place.path), reason, why);
	else
		draft_rule(draft, mem_steal(&place.path), place.kind == LOCATION_FOLDER,
		           SANDBOX_READ, reason, strength, why);
}

static void keep_paths(struct plan_draft *draft, const char *const *paths, size_t count, bool firm)
{
	for (size_t i = 0; i < count; i++) {
		if (paths[i][0] == '/')
			plan_keep_path(draft, "/", paths[i], firm);
		for (size_t k = 0; paths[i][0] != '/' && k < draft->plan->root_count; k++)
			plan_keep_path(draft, draft->plan->roots[k], paths[i], firm);
	}
}

void plan_keep(struct plan_draft *draft)
{
	const struct sandbox_options *options = draft->options;

	keep_paths(draft, options->keep, options->keep_count, /* firm= */ true);
	if (options->use == SANDBOX_USE_COMMAND || options->ask_refuses)
		keep_paths(draft, options->ask, options->ask_count, /* firm= */ false);
}

/* Whether the canonical `path` is beneath `kept`, which nothing lifts; a relative one is in
 * `start`. */
static bool is_beneath(const char *start, const char *kept, const char *path)
{
	_cleanup_location_ struct location place = { 0 };

	location_resolve(start, kept, NULL, NULL, &place);
	return place.path && location_within(path, place.path);
}

bool plan_keeps(const struct plan_draft *draft, const char *given)
{
	const struct sandbox_options *options = draft->options;
	_cleanup_location_ struct location here = { 0 }, place = { 0 };

	if (!options->keep_count)
		return false;
	if (given[0] != '/' && !location_here(&here))
		return true;
	location_resolve(here.path ? here.path : "/", given, NULL, NULL, &place);
	if (!place.path)
		return true; /* it cannot be judged */
	for (size_t i = 0; i < options->keep_count; i++) {
		if (options->keep[i][0] == '/' && is_beneath("/", options->keep[i], place.path))
			return true;
		for (size_t k = 0; options->keep[i][0] != '/' && k < draft->plan->root_count; k++)
			if (is_beneath(draft->plan->roots[k], options->keep[i], place.path))
				return true;
	}
	return false;
}
