/* SPDX-License-Identifier: Apache-2.0 */
/* plan_judge, as a function of text. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "sandbox/plan/denial.h"

#define RULE(path_, access_, reason_, folder_) { .path = (char[]){ path_ }, .access = access_, \
	.reason = reason_, .folder = folder_ }

/* Sorted as strcmp sorts: "/t/proj-evil" is not where "/t/proj/..." is. */
static struct sandbox_rule rules[] = {
	RULE("/home/user/.ssh", SANDBOX_HIDDEN, SANDBOX_REASON_CREDENTIALS, true),
	RULE("/home/user/.ssh/known_hosts", SANDBOX_READ, SANDBOX_REASON_OPTION, false),
	RULE("/t/proj", SANDBOX_WRITE, SANDBOX_REASON_ROOT, true),
	RULE("/t/proj-b", SANDBOX_READ, SANDBOX_REASON_OPTION, true),
	RULE("/t/proj/.git/config", SANDBOX_READ, SANDBOX_REASON_GIT, false),
	RULE("/t/proj/.git/hooks", SANDBOX_READ, SANDBOX_REASON_GIT, true),
	RULE("/t/proj/out", SANDBOX_READ, SANDBOX_REASON_OPTION, true),
	RULE("/t/proj/out/cache", SANDBOX_WRITE, SANDBOX_REASON_OPTION, true),
};
static struct sandbox_absent absent[] = {
	{ .path = (char[]){ "/t/proj/.git/commondir" }, .reason = SANDBOX_REASON_GIT },
	{ .path = (char[]){ "/t/proj/.vscode" }, .reason = SANDBOX_REASON_SETTINGS },
	{ .path = (char[]){ "/t/proj/sub/.idea/x" }, .reason = SANDBOX_REASON_SETTINGS },
};
static struct sandbox_plan plan = {
	.level = SANDBOX_LANDLOCK, .rules = rules, .rule_count = ARRAY_LEN(rules), .absent = absent,
	.absent_count = ARRAY_LEN(absent),
};

#define R SANDBOX_READ
#define W SANDBOX_WRITE

static void the_longest_rule_above_a_path_decides(void **state)
{
	static const struct {
		const char *path;
		enum sandbox_access wanted;
		bool removes, allowed;
		const char *rule;
	} rows[] = {
		{ "/", R, false, true, "" },
		{ "/", W, false, false, "" },
		{ "/etc/passwd", R, false, true, "" },
		{ "/etc/passwd", W, false, false, "" },
		{ "/t", W, false, false, "" },
		{ "/t/proj", W, false, true, "" },
		{ "/t/proj/a", W, false, true, "" },
		{ "/t/proj/a/b/c/d", W, false, true, "" },
		/* a prefix of text is not a folder above */
		{ "/t/proj-evil/secret", W, false, false, "" },
		{ "/t/proj-b/x", W, false, false, "/t/proj-b" },
		{ "/t/projx", W, false, false, "" },
		{ "/t/pro", W, false, false, "" },
		/* protected inside */
		{ "/t/proj/.git/config", W, false, false, "/t/proj/.git/config" },
		{ "/t/proj/.git/config", R, false, true, "" },
		{ "/t/proj/.git/config.lock", W, false, true, "" },
		{ "/t/proj/.git/configx", W, false, true, "" },
		{ "/t/proj/.git/hooks/pre-commit", W, false, false, "/t/proj/.git/hooks" },
		{ "/t/proj/.git/index", W, false, true, "" },
		{ "/t/proj/out/x", W, false, false, "/t/proj/out" },
		{ "/t/proj/out/cache/x", W, false, true, "" },
		{ "/t/proj/out/cachex", W, false, false, "/t/proj/out" },
		/* hidden */
		{ "/home/user/.ssh/id", R, false, false, "/home/user/.ssh" },
		{ "/home/user/.ssh", R, false, false, "/home/user/.ssh" },
		{ "/home/user/.sshd", R, false, true, "" },
		{ "/home/user/.ssh/known_hosts", R, false, true, "" },
		{ "/home/user/.ssh/known_hosts", W, false, false, "/home/user/.ssh/known_hosts" },
		/* absent, and all beneath */
		{ "/t/proj/.vscode", W, false, false, "/t/proj/.vscode" },
		{ "/t/proj/.vscode/settings.json", W, false, false, "/t/proj/.vscode" },
		{ "/t/proj/.vscode", R, false, true, "" },
		{ "/t/proj/.vscodex", W, false, true, "" },
		{ "/t/proj/.git/commondir", W, false, false, "/t/proj/.git/commondir" },
		{ "/t/proj/sub/.idea", W, false, true, "" },
		{ "/t/proj/sub/.idea/x/y", W, false, false, "/t/proj/sub/.idea/x" },
		/* moving what holds something protected, or the place of an absent name */
		{ "/t/proj/.git", W, true, false, "/t/proj/.git/config" },
		{ "/t/proj/.git", W, false, true, "" },
		{ "/t/proj/sub/.idea", W, true, false, "/t/proj/sub/.idea/x" },
		{ "/t/proj/sub", W, true, false, "/t/proj/sub/.idea/x" },
		{ "/t/proj/su", W, true, true, "" },
		{ "/t/proj/a", W, true, true, "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct denial denial = { 0 };
		bool allowed = plan_judge(&plan, rows[i].path, rows[i].wanted, rows[i].removes, &denial);

		if (allowed != rows[i].allowed || strcmp(denial.rule, rows[i].rule) != 0)
			fail_msg("row %zu, %s: allowed %d, rule '%s'", i, rows[i].path, allowed, denial.rule);
		if (!allowed) {
			assert_string_equal(denial.what, rows[i].path);
			assert_int_equal(denial.kind, rows[i].wanted == W ? DENIAL_WRITE : DENIAL_READ);
			assert_int_equal(denial.level, SANDBOX_LANDLOCK);
		}
		assert_int_equal(plan_judge(&plan, rows[i].path, rows[i].wanted, rows[i].removes, NULL),
		                 allowed);
	}
}

static void at_full_the_temporary_folder_is_seen_as_tmp(void **state)
{
	struct sandbox_rule own[] = {
		RULE("/tmp/hasp-1", SANDBOX_WRITE, SANDBOX_REASON_TEMP, true),
		RULE("/tmp/ws", SANDBOX_WRITE, SANDBOX_REASON_ROOT, true),
		RULE("/tmp/ws/.git/config", SANDBOX_READ, SANDBOX_REASON_GIT, false),
	};
	struct sandbox_plan with = { .level = SANDBOX_FULL, .rules = own, .rule_count = 3,
		.temp = (char[]){ "/tmp/hasp-1" } };

	(void)state;
	assert_true(plan_judge(&with, "/tmp/x", W, false, NULL));
	assert_true(plan_judge(&with, "/tmp", W, false, NULL));
	assert_false(plan_judge(&with, "/tmpx", W, false, NULL));
	assert_false(plan_judge(&with, "/tmp/ws/.git/config", W, false, NULL));
	with.level = SANDBOX_LANDLOCK;
	assert_false(plan_judge(&with, "/tmp/x", W, false, NULL));
	assert_true(plan_judge(&with, "/tmp/hasp-1/x", W, false, NULL));
}

static void a_plan_without_rules_allows_reading_alone(void **state)
{
	struct sandbox_plan empty = { .level = SANDBOX_FULL };

	(void)state;
	assert_true(plan_judge(&empty, "/a/b", R, false, NULL));
	assert_false(plan_judge(&empty, "/a/b", W, true, NULL));
}

/* Against the slow and obvious way, for paths made at random. */
static bool obvious(const struct sandbox_plan *of, const char *path)
{
	const struct sandbox_rule *best = NULL;

	for (size_t i = 0; i < of->rule_count; i++) {
		size_t len = strlen(of->rules[i].path);

		if (strncmp(path, of->rules[i].path, len) == 0 &&
		    (path[len] == '\0' || (path[len] == '/' && of->rules[i].folder)) &&
		    (!best || len > strlen(best->path)))
			best = &of->rules[i];
	}
	for (size_t i = 0; i < of->absent_count; i++) {
		size_t len = strlen(of->absent[i].path);

		if (strncmp(path, of->absent[i].path, len) == 0 && (!path[len] || path[len] == '/'))
			return false;
	}
	return best && best->access == SANDBOX_WRITE;
}

static void it_agrees_with_the_obvious_way(void **state)
{
	static const char *const words[] = { "t", "proj", "proj-b", "projx", ".git", "config", "hooks",
		"out", "cache", ".vscode", "sub", ".idea", "x", "commondir" };
	uint32_t seed = 7;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		char path[256] = "/t/proj";
		size_t len = i % 3 ? strlen(path) : 0;

		for (uint32_t n = (seed >> 8) % 5 + 1; n; n--) {
			const char *word;

			seed = seed * 1664525u + 1013904223u;
			word = words[(seed >> 16) % ARRAY_LEN(words)];
			path[len++] = '/';
			memcpy(path + len, word, strlen(word) + 1);
			len += strlen(word);
		}
		if (plan_judge(&plan, path, W, false, NULL) != obvious(&plan, path))
			fail_msg("%s", path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_longest_rule_above_a_path_decides),
		cmocka_unit_test(at_full_the_temporary_folder_is_seen_as_tmp),
		cmocka_unit_test(a_plan_without_rules_allows_reading_alone),
		cmocka_unit_test(it_agrees_with_the_obvious_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
