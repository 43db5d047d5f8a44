/* SPDX-License-Identifier: Apache-2.0 */
/* Safety checkers: what they say about a call that the rules let through.
 *
 * allowed-path: every argument whose name says that it is a path must lie in the workspace.
 * Links are followed as far as there is something; the tools themselves are kept inside by the
 * workspace and the sandbox, so this is for tools of others.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "policy/decide.h"

enum { DEPTH_MAX = 32 };

struct search {
	const struct policy_call *call;
	const struct checker *checker;
	char *said; /* owned: what is wrong; NULL: nothing yet */
};

static bool lists(const json_t *array, const char *name)
{
	for (size_t i = 0; i < json_array_size(array); i++) {
		const char *item = json_string_value(json_array_get(array, i));

		if (item && strcmp(item, name) == 0)
			return true;
	}
	return false;
}

/* Gemini CLI's choice of names. */
static bool is_path_name(const char *name)
{
	return strstr(name, "path") || strstr(name, "directory") || strstr(name, "file") ||
	       strcmp(name, "source") == 0 || strcmp(name, "destination") == 0;
}

/* ---- places --------------------------------------------------------------------------------- */

/* "/a/./b//../c" is "/a/c"; in place, `path` is absolute. */
static void normalize(char *path)
{
	char *out = path;
	const char *in = path;

	while (*in) {
		size_t len = strcspn(in + 1, "/");
		const char *part = in + 1;

		in += len + 1;
		if (len == 0 || (len == 1 && part[0] == '.'))
			continue;
		if (len == 2 && part[0] == '.' && part[1] == '.') {
			while (out > path && *--out != '/')
				;
			continue;
		}
		memmove(out + 1, part, len);
		*out = '/';
		out += len + 1;
	}
	if (out == path)
		*out++ = '/';
	*out = '\0';
}

/* Whether the first `len` bytes are the path of something; `real`: which. */
static bool existing_part(char *full, size_t len, char real[PATH_MAX])
{
	char was = full[len];
	bool exists;

	if (was != '/' && was != '\0')
		return false;
	full[len] = '\0';
	exists = realpath(full, real) != NULL;
	full[len] = was;
	return exists;
}

/* The path with the links of its existing part followed. The caller frees. */
static char *resolve(const char *base, const char *path)
{
	_cleanup_free_ char *full = path[0] == '/' ? mem_strdup(path)
	                                           : mem_printf("%s/%s", base, path);
	char real[PATH_MAX], *whole;
	size_t len;

	/* Links first, then "..": so does the kernel. */
	if (realpath(full, real))
		return mem_strdup(real);
	len = strlen(full);
	while (len > 0 && !existing_part(full, len, real))
		len--;
	whole = len > 0 ? mem_printf("%s%s", strcmp(real, "/") ? real : "", full + len)
	                : mem_strdup(full);
	normalize(whole);
	return whole;
}

static bool is_beneath(const char *path, const char *root)
{
	size_t len = strlen(root);

	if (strcmp(root, "/") == 0)
		return true;
	return strncmp(path, root, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

static bool is_inside(const struct policy_call *call, const char *path)
{
	_cleanup_free_ char *place = NULL;

	if (!call->roots || !call->roots[0])
		return !call->server;
	if (strlen(path) >= PATH_MAX)
		return false;
	place = resolve(call->roots[0], path);
	for (const char *const *root = call->roots; *root; root++) {
		_cleanup_free_ char *real = resolve("/", *root);

		if (is_beneath(place, real))
			return true;
	}
	return false;
}

/* ---- arguments -------------------------------------------------------------------------------- */

static void look(struct search *search, const char *prefix, const json_t *value, unsigned depth);

/* `name`: the member's own; `full`: with those above it, joined by dots. */
static void look_at(struct search *search, const char *name, const char *full, const json_t *value,
                    unsigned depth)
{
	const struct checker *checker = search->checker;

	if (search->said || lists(checker->excluded, full))
		return;
	if (!json_is_string(value)) {
		look(search, full, value, depth + 1);
		return;
	}
	if (!lists(checker->included, full) && !is_path_name(name))
		return;
	if (!is_inside(search->call, json_string_value(value)))
		search->said = mem_printf("The path in the argument %s is outside of the workspace "
		                          "(safety checker allowed-path, %s).", full,
		                          checker->origin);
}

static void look(struct search *search, const char *prefix, const json_t *value, unsigned depth)
{
	const char *name;
	json_t *member;

	if (depth > DEPTH_MAX) {
		if (!search->said)
			search->said = mem_strdup("The arguments are nested too deep to be checked.");
		return;
	}
	for (size_t i = 0; i < json_array_size(value); i++) {
		_cleanup_free_ char *full = mem_printf("%s.%zu", prefix, i);
		json_t *item = json_array_get(value, i);

		/* Elements go by the name of their array: paths = ["..."]. */
		look_at(search, strrchr(prefix, '.') ? strrchr(prefix, '.') + 1 : prefix, full, item,
		        depth);
	}
	json_object_foreach((json_t *)value, name, member) {
		_cleanup_free_ char *full = *prefix ? mem_printf("%s.%s", prefix, name)
		                                    : mem_strdup(name);

		look_at(search, name, full, member, depth);
	}
}

/* ---- checkers ---------------------------------------------------------------------------------- */

static bool is_about(const struct checker *checker, const struct policy_call *call,
                     const struct acts *acts)
{
	const struct selector *selector = &checker->selector;

	if (!decide_applies(selector, call))
		return false;
	for (size_t i = 0; i < acts->count; i++) {
		struct act *act = &acts->items[i];
		enum fit fit = act_fit(act, call, selector, /* strict= */ true);

		if (fit == FIT_NONE)
			continue;
		/* Prefixes are about parts of a command line: one that may be meant is checked. */
		if (selector->narrow == NARROW_NONE || selector->narrow == NARROW_PREFIX ||
		    act_matches(act, call, selector->regex, fit, /* strict= */ true))
			return true;
	}
	return false;
}

static void check_paths(const struct policy_call *call, const struct checker *checker,
                        struct outcome *outcome)
{
	struct search search = { .call = call, .checker = checker };

	look(&search, "", call->arguments, 0);
	if (!search.said)
		return;
	free(outcome->said);
	outcome->said = search.said;
	outcome->decision = POLICY_DENY;
}

void check_safety(const struct policy *policy, const struct policy_call *call,
                  const struct acts *acts, struct outcome *outcome)
{
	for (size_t i = 0; i < policy->checker_count && outcome->decision != POLICY_DENY; i++) {
		const struct checker *checker = policy->checkers[i];

		if (!is_about(checker, call, acts))
			continue;
		if (checker->kind == CHECKER_ALLOWED_PATH) {
			check_paths(call, checker, outcome);
		} else if (outcome->decision == POLICY_ALLOW) {
			outcome->decision = POLICY_ASK;
			outcome->why = "A safety checker that hasp does not have is asked for.";
		}
	}
}
