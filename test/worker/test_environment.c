/* SPDX-License-Identifier: Apache-2.0 */
/* Which variables look like secrets, and which are let through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "worker/environment.h"

static void names_of_secrets_are_known(void **state)
{
	static const char *const names[] = {
		"API_KEY=x",        "APIKEY=x",          "apiKey=x",        "API_KEYS=x",
		"API_KEY2=x",       "KEYFILE=x",         "GITHUBTOKEN=x",   "npm_config__authToken=x",
		"AUTHORIZATION=x",  "MY_AUTHORITY=x",    "DB_PASS=x",       "SSHPASS=x",
		"DB_PASSFILE=x",    "PASS=x",            "PGPASSWORD=x",    "GITHUB_PAT=x",
		"GITHUB_PAT_1=x",   "PAT=x",             "GHPAT=x",         "MYSQL_PWD=x",
		"DBPWD=x",          "AWS_CREDS=x",       "my-cookie=x",     "SLACK_WEBHOOK_URL=x",
		"KEYBOARD_TOKEN=x", "AUTHOR_PASSWORD=x", "//host/:_auth=x", "SECRETARY=x",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!environment_is_secret(names[i]))
			fail_msg("%s is no secret", names[i]);
}

static void other_names_are_none(void **state)
{
	static const char *const names[] = {
		"PKG_CONFIG_PATH=x", "NODE_PATH=x",   "LIBRARY_PATH=x", "MY_PATH=x",
		"MY_PATTERN=x",      "PATH=x",        "PWD=/x",         "OLDPWD=/x",
		"KEYBOARD=x",        "XKB_KEYMAP=x",  "GIT_AUTHOR_X=x", "AUTHORS=x",
		"BYPASS_CACHE=x",    "GLIBC_COMPAT=x", "TOKENIZERS_PARALLELISM=x", "PASSED=x", "=x", "_=x",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (environment_is_secret(names[i]))
			fail_msg("%s is a secret", names[i]);
}

static void values_of_secrets_are_known(void **state)
{
	static const char *const values[] = {
		"X=ghp_1",     "X=ghu_1",  "X=ghr_1",       "X=sk_live_1",
		"X=rk_test_1", "X=xoxa-1", "X=-----BEGIN ", "X=a https://me:word@host/",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		assert_true(environment_is_secret(values[i]));
	assert_false(environment_is_secret("X=https://host/a@b"));
}

static void commands_get_paths_and_no_secrets(void **state)
{
	(void)state;
	assert_true(environment_allows("PKG_CONFIG_PATH=/opt/lib/pkgconfig"));
	assert_true(environment_allows("NODE_PATH=/x"));
	assert_true(environment_allows("CMAKE_PREFIX_PATH=/x"));
	assert_true(environment_allows("NIX_PATH=/x"));
	assert_false(environment_allows("NODE_PAT=x"));
	assert_false(environment_allows("PIP_PASS=x"));
	assert_false(environment_allows("NPM_CONFIG_APIKEY=x"));
	assert_false(environment_allows("MY_PATH=/x")); /* no row */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_secrets_are_known),
		cmocka_unit_test(other_names_are_none),
		cmocka_unit_test(values_of_secrets_are_known),
		cmocka_unit_test(commands_get_paths_and_no_secrets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
