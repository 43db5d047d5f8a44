/* SPDX-License-Identifier: Apache-2.0 */
/* What deciding costs: a mistake of an order passes the bounds, a slow machine does not;
 * the figures are printed. */
#include "policy_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "meter.h"

enum { LOADS = 50, DECISIONS = 2000 };

static void loading_the_defaults_is_quick(void **state)
{
	struct meter meter = meter_start();
	double each;

	(void)state;
	for (int i = 0; i < LOADS; i++)
		policy_free(policy_of(NULL, POLICY_DEFAULT));
	each = meter_yards(&meter) / LOADS;
	printf("# loading the defaults: %.2f yards\n", each);
	assert_true(each < 20);
}

static double measure(const struct policy *policy, const struct policy_call *call)
{
	struct meter meter = meter_start();

	for (int i = 0; i < DECISIONS; i++) {
		struct policy_verdict verdict;

		policy_decide(policy, call, &verdict);
		policy_verdict_release(&verdict);
	}
	return meter_yards(&meter) / DECISIONS;
}

static void deciding_is_quick(void **state)
{
	static const struct {
		const char *tool, *arguments;
		double most;
	} rows[] = {
		{ "read_file", "{\"file_path\": \"src/a.c\"}", 0.4 },
		{ "write_file", "{\"file_path\": \"src/a.c\", \"content\": \"x\"}", 0.4 },
		{ "mcp_a_b", "{\"x\": 1}", 0.4 },
		{ "run_shell_command", "{\"command\": \"git status && npm test | head\"}", 20 },
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

		printf("# %s: %.4f yards\n", rows[i].tool, each);
		assert_true(each < rows[i].most);
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
