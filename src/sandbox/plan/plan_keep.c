/* SPDX-License-Identifier: Apache-2.0 */
/* Paths that rules on paths keep from being written: read-only, and not to come into being where
 * they are missing. */
#include <string.h>

#include "base/mem.h"
#include "sandbox/plan/private.h"

struct plan_keeping {
	struct plan_draft *draft;
	enum sandbox_reason reason;
};

/* A link on the way must go on leading there. */
static void plan_keep_link(void *data, const char *path)
{
	const struct plan_keeping *keeping = data;

	draft_absent(keeping->draft, mem_strdup(path), keeping->reason,
	             "a policy rule's path leads over it");
}

static void plan_keep_path(struct plan_draft *draft, const char *start, const char *path,
                           enum sandbox_reason reason)
{
	static const char why[] = "a policy rule keeps it from being written";
	struct plan_keeping keeping = { draft, reason };
	_cleanup_location_ struct location place = { 0 };
	const bool firm = reason == SANDBOX_REASON_KEPT;
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

static void keep_paths(struct plan_draft *draft, const char *const *paths, size_t count,
                       enum sandbox_reason reason)
{
	for (size_t i = 0; i < count; i++) {
		if (paths[i][0] == '/')
			plan_keep_path(draft, "/", paths[i], reason);
		for (size_t k = 0; paths[i][0] != '/' && k < draft->plan->root_count; k++)
			plan_keep_path(draft, draft->plan->roots[k], paths[i], reason);
	}
}

void plan_keep(struct plan_draft *draft)
{
	const struct sandbox_options *options = draft->options;

	keep_paths(draft, options->keep, options->keep_count, SANDBOX_REASON_KEPT);
	if (options->use != SANDBOX_USE_COMMAND && !options->ask_refuses)
		return;
	keep_paths(draft, options->ask, options->ask_count, SANDBOX_REASON_POLICY);
	keep_paths(draft, options->voted, options->voted_count, SANDBOX_REASON_VOTED);
}

/* Whether the canonical `path` is beneath `kept`, which nothing lifts; a relative one is in
 * `start`. */
static bool is_beneath(const char *start, const char *kept, const char *path)
{
	_cleanup_location_ struct location place = { 0 };

	location_resolve(start, kept, NULL, NULL, &place);
	return place.path && location_within(path, place.path);
}

static bool is_beneath_one(const struct plan_draft *draft, const char *const *kept, size_t count,
                           const char *path)
{
	for (size_t i = 0; i < count; i++) {
		if (kept[i][0] == '/' && is_beneath("/", kept[i], path))
			return true;
		for (size_t k = 0; kept[i][0] != '/' && k < draft->plan->root_count; k++)
			if (is_beneath(draft->plan->roots[k], kept[i], path))
				return true;
	}
	return false;
}

bool plan_keeps(const struct plan_draft *draft, const char *given, bool permitted)
{
	const struct sandbox_options *options = draft->options;
	const size_t voted = permitted ? 0 : options->voted_count;
	_cleanup_location_ struct location here = { 0 }, place = { 0 };

	if (!options->keep_count && !voted)
		return false;
	if (given[0] != '/' && !location_here(&here))
		return true;
	location_resolve(here.path ? here.path : "/", given, NULL, NULL, &place);
	if (!place.path)
		return true; /* it cannot be judged */
	return is_beneath_one(draft, options->keep, options->keep_count, place.path) ||
	       is_beneath_one(draft, options->voted, voted, place.path);
}
