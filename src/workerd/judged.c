/* SPDX-License-Identifier: Apache-2.0 */
/* The plan, asked before the kernel is: so that a refusal names its rule, at every level. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "workerd/ops.h"

static bool refuse(const struct denial *denial, struct err *err)
{
	_cleanup_buf_ struct buf sentence = BUF_INIT(4096);

	denial_sentence(denial, &sentence);
	return err_set(err, ERR_DENIED_BY_SANDBOX, "%s",
	               sentence.data ? sentence.data : "The sandbox forbids it.");
}

bool op_may(const struct worker *worker, const char *path, enum sandbox_access wanted,
            bool removes, struct err *err)
{
	_cleanup_place_ struct place place = PLACE_INIT;
	struct denial denial = { 0 };
	struct err nowhere = ERR_INIT;

	if (!worker->plan || (wanted == SANDBOX_READ && !worker->hides) || !path ||
	    !workspace_resolve(worker->workspace, path, PLACE_FILE, &place, &nowhere) ||
	    plan_judge(worker->plan, place.path, wanted, removes, &denial))
		return true;
	return refuse(&denial, err);
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
