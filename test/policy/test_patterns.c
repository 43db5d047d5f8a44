/* SPDX-License-Identifier: Apache-2.0 */
/* The text that patterns see, and patterns that are too hard. */
#include "policy_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "policy/decide.h"

/* A pattern that is too hard denies where it would deny, and allows nothing. */
static void what_cannot_be_told_is_not_allowed(void **state)
{
	static const char format[] =
		"[[rule]]\ntoolName = \"web_fetch\"\ndecision = \"%s\"\npriority = 1\n"
		"argsPattern = '(?:a|aa)*[bc]'\n";
	char text[400], arguments[600];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	snprintf(arguments, sizeof(arguments), "{\"prompt\": \"%s\"}", text);
	for (int i = 0; i < 2; i++) {
		_cleanup_free_ char *toml = mem_printf(format, i ? "allow" : "deny");
		struct policy *policy = policy_of(toml, POLICY_USER);

		check_rows(policy, (const struct row[]){
			{ "web_fetch", arguments, { .mode = MODE_DEFAULT },
			  i ? POLICY_ASK : POLICY_DENY } }, 1);
		policy_free(policy);
	}
}

static void arguments_are_printed_as_gemini_cli_prints_them(void **state)
{
	static const char text[] =
		"{\"b\":\"q\\\"\\\\\\n\\u0001/\xc3\xa9\",\"a\":[1,true,null,1.5,2.0,1e300,{\"z\":1,"
		"\"y\":{}}]}";
	static const char expected[] =
		"{\0\"a\":[1,true,null,1.5,2,1e+300,{\"y\":{},\"z\":1}]\0,"
		"\0\"b\":\"q\\\"\\\\\\n\\u0001/\xc3\xa9\"\0}";
	json_auto_t *value = json_loads(text, 0, NULL);
	_cleanup_buf_ struct buf out = BUF_INIT(4096);

	(void)state;
	assert_true(act_write_json(&out, value));
	assert_int_equal(out.len, sizeof(expected) - 1);
	assert_memory_equal(out.data, expected, out.len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_be_told_is_not_allowed),
		cmocka_unit_test(arguments_are_printed_as_gemini_cli_prints_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
