/* SPDX-License-Identifier: Apache-2.0 */
/* What deciding costs: a bound that a mistake of an order would pass, on any machine; the
 * figures are printed. */
#include "policy_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"

enum { LOADS = 50, DECISIONS = 2000 };

static double cpu_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void loading_the_defaults_is_quick(void **state)
{
	double began = cpu_us(), each;

	(void)state;
	for (int i = 0; i < LOADS; i++)
		policy_free(policy_of(NULL, POLICY_DEFAULT));
	each = (cpu_us() - began) / LOADS;
	printf("# loading the defaults: %.0f us\n", each);
	assert_true(each < 20000);
}

static double measure(const struct policy *policy, const struct policy_call *call)
{
	double began = cpu_us();

	for (int i = 0; i < DECISIONS; i++) {
		struct policy_verdict verdict;

		policy_decide(policy, call, &verdict);
		policy_verdict_release(&verdict);
	}
	return (cpu_us() - began) / DECISIONS;
}

static void deciding_is_quick(void **state)
{
	static const struct {
		const char *tool, *arguments;
		double most_us;
	} rows[] = {
		{ "read_file", "{\"file_path\": \"src/a.c\"}", 400 },
		{ "write_file", "{\"file_path\": \"src/a.c\", \"content\": \"x\"}", 400 },
		{ "mcp_a_b", "{\"x\": 1}", 400 },
		{ "run_shell_command", "{\"command\": \"git status && npm test | head\"}", 20000 },
	};
	struct policy *policy = policy_of(NULL, POLICY_DEFAULT);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_auto_t *arguments = json_loads(rows[i].arguments, 0, NULL);
		const struct policy_call call = {
			.tool = rows[i].tool, .kind = "other", .arguments = arguments,
			.mode = MODE_DEFAULT, .interactive = true, .trusted = true,
		};
		double each = measure(policy, &call);

		printf("# %s: %.1f us\n", rows[i].tool, each);
		assert_true(each < rows[i].most_us);
	}
	policy_free(policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loading_the_defaults_is_quick),
		cmocka_unit_test(deciding_is_quick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
