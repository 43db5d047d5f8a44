/* SPDX-License-Identifier: Apache-2.0 */
/* The plan, asked before the kernel is: so that a refusal names its rule, at every level. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "worker/inside/ops.h"

/* Takes the last component off; false when there is none above it. */
static bool cut_component(char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	while (len && path[len - 1] != '/')
		len--;
	path[len] = '\0';
	return len > 0;
}

/* At level full a hidden folder cannot be searched, so that what is beneath it leads nowhere: the
 * folder itself is judged then.  NULL, or the canonical path; owned by the caller. */
static char *hidden_above(const struct worker *worker, const char *path)
{
	_cleanup_free_ char *above = mem_strdup(path);

	while (cut_component(above)) {
		_cleanup_place_ struct place place = PLACE_INIT;
		struct err err = ERR_INIT;
		const char *rest = path + strlen(above);

		if (!workspace_resolve(worker->workspace, above, PLACE_FILE, &place, &err)) {
			if (err.code != ERR_PERMISSION_DENIED)
				return NULL;
			continue;
		}
		if (plan_judge(worker->plan, place.path, SANDBOX_READ, false, NULL))
			return NULL;
		return strstr(rest, "..") ? mem_strdup(place.path) :
		                            mem_printf("%s/%s", place.path, rest);
	}
	return NULL;
}

/* The canonical path to judge, owned by the caller; NULL: it leads nowhere. */
static char *judged_path(const struct worker *worker, const char *path)
{
	_cleanup_place_ struct place place = PLACE_INIT;
	struct err err = ERR_INIT;

	if (workspace_resolve(worker->workspace, path, PLACE_FILE, &place, &err))
		return mem_steal(&place.path);
	return err.code == ERR_PERMISSION_DENIED && worker->hides ? hidden_above(worker, path) : NULL;
}

bool op_may(const struct worker *worker, const char *path, enum sandbox_access wanted,
            bool removes, struct err *err)
{
	_cleanup_free_ char *canonical = NULL;
	struct denial denial = { 0 };

	if (!worker->plan || (wanted == SANDBOX_READ && !worker->hides) || !path)
		return true;
	canonical = judged_path(worker, path);
	if (!canonical || plan_judge(worker->plan, canonical, wanted, removes, &denial))
		return true;
	return denial_refuse(&denial, err);
}

static bool is_beneath(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return len == 1 || (strncmp(path, folder, len) == 0 &&
	                    (path[len] == '/' || path[len] == '\0'));
}

bool plan_hides_beneath(const struct sandbox_plan *plan, const struct workspace *ws)
{
	for (size_t i = 0; i < plan->rule_count; i++)
		for (size_t r = 0; r < workspace_root_count(ws); r++)
			if (plan->rules[i].access == SANDBOX_HIDDEN &&
			    is_beneath(plan->rules[i].path, workspace_root_path(ws, r)))
				return true;
	return false;
}

bool op_is_hidden(const struct worker *worker, const char *folder, const char *path)
{
	_cleanup_free_ char *whole = mem_printf("%s/%s", strcmp(folder, "/") == 0 ? "" : folder,
	                                        path);

	return !plan_judge(worker->plan, whole, SANDBOX_READ, false, NULL);
}
