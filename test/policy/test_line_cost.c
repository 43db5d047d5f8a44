/* SPDX-License-Identifier: Apache-2.0 */
/* What deciding on long command lines costs: twice the text is about twice the work, however many
 * commands and rules there are, and no line costs many times what a simple one of its length does.
 * Ratios are measured, not seconds: they are the same on any machine. */
#include "policy_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "meter.h"

static const char rules[] =
	"[[rule]]\ntoolName = 'run_shell_command'\ncommandRegex = 'rm .*-rf'\n"
	"decision = 'deny'\npriority = 500\n"
	"[[rule]]\ntoolName = 'run_shell_command'\ncommandRegex = 'git (push|pull) .*--force'\n"
	"decision = 'ask_user'\npriority = 400\n"
	"[[rule]]\ntoolName = 'run_shell_command'\ncommandPrefix = ['ls', 'find']\n"
	"decision = 'allow'\npriority = 300\n";

static double cpu_ms(void)
{
	return meter_cpu_us() / 1e3;
}

/* A line of about `bytes`: a beginning, and a part many times. */
static json_t *make_line(const char *begins, const char *part, size_t bytes)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_SHELL_BYTES * 2);

	buf_str(&text, begins);
	while (text.len + strlen(part) < bytes)
		buf_str(&text, part);
	return json_pack("{s:o}", "command", json_text(buf_from(&text, 0)));
}

static double measure(const struct policy *policy, const char *begins, const char *part,
                      size_t bytes, enum policy_decision *ret)
{
	json_auto_t *arguments = make_line(begins, part, bytes);
	const struct policy_call call = {
		.tool = "run_shell_command", .kind = "other", .arguments = arguments,
		.mode = MODE_DEFAULT, .interactive = true, .trusted = true,
	};
	double began = cpu_ms(), best = 1e9;

	for (int i = 0; i < 2; i++, began = cpu_ms()) {
		struct policy_verdict verdict;

		policy_decide(policy, &call, &verdict);
		*ret = verdict.decision;
		policy_verdict_release(&verdict);
		best = cpu_ms() - began < best ? cpu_ms() - began : best;
	}
	return best;
}

static void the_cost_of_a_line_grows_with_its_length(void **state)
{
	static const struct {
		const char *begins, *part;
	} rows[] = {
		{ "find . ", "-exec ls {} \\; " }, { "", "a;" }, { "", "ls x;" }, { "ls ", "$(ls) " },
		{ "echo ", "a" }, { "", "sh -c ls;" }, { "", "x=1;" }, { "", "ls `ls`;" },
		{ "echo ", "{a,b} " }, { "", "env ls;" }, { "f() { ls; }; ", "f;" }, { "", "a|" },
		{ "xargs ", "env ls " }, { "", "ls <<< x;" }, { "echo ", "$((1+1)) " },
		{ "", "i=1; echo $((i));" }, { "git ", "-c alias.x=!ls " },
	};
	struct policy *policy = policy_of(rules, POLICY_USER);
	enum policy_decision ignored;
	double simple = measure(policy, "", "x=1;", LIMIT_SHELL_BYTES, &ignored);
	double total = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		enum policy_decision decision = POLICY_DENY;
		double half = measure(policy, rows[i].begins, rows[i].part, LIMIT_SHELL_BYTES / 2,
		                      &decision);
		double whole = measure(policy, rows[i].begins, rows[i].part, LIMIT_SHELL_BYTES,
		                       &decision);

		printf("# %s%s…: %.0f ms, twice as long %.0f ms\n", rows[i].begins, rows[i].part,
		       half, whole);
		assert_true(whole < 3.2 * half + 100);
		assert_true(whole < 40 * simple + 200); /* 16 s when each command saw all */
		total += whole;
	}
	printf("# together %.0f ms\n", total);
	policy_free(policy);
}

static void too_much_work_is_a_question(void **state)
{
	struct policy *policy = policy_of(rules, POLICY_USER);
	enum policy_decision decision;

	(void)state;
	measure(policy, "find . ", "-exec ls {} \\; ", 1000, &decision);
	assert_int_equal(decision, POLICY_ALLOW);
	measure(policy, "find . ", "-exec ls {} \\; ", LIMIT_SHELL_BYTES, &decision);
	assert_int_equal(decision, POLICY_ASK);
	policy_free(policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cost_of_a_line_grows_with_its_length),
		cmocka_unit_test(too_much_work_is_a_question),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
