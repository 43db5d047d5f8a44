/* SPDX-License-Identifier: Apache-2.0 */
/* file: URIs and paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "mcp/offer/offer.h"

static const struct {
	const char *uri;
	const char *path; /* NULL: not one */
} rows[] = {
	{ "file:///", "/" },
	{ "file:///a/b.c", "/a/b.c" },
	{ "file:/a", "/a" },
	{ "FILE:///a", "/a" },
	{ "file://localhost/a", "/a" },
	{ "file://LOCALHOST/a", "/a" },
	{ "file:///a%20b%2Fc", "/a b/c" },
	{ "file:///%C3%a9%ff", "/\xC3\xA9\xFF" },
	{ "file:///a?b#c", "/a" },
	{ "file:///a%3Fb%23c", "/a?b#c" },
	{ "file:///a/../b", "/a/../b" },
	{ "file:///a+b", "/a+b" },
	{ "", NULL },
	{ "file:", NULL },
	{ "file://", NULL },
	{ "file://a", NULL },
	{ "file:a", NULL },
	{ "file://other.example/a", NULL },
	{ "file://localhost", NULL },
	{ "file://localhost.evil/a", NULL },
	{ "https:///a", NULL },
	{ "/a", NULL },
	{ "file:///a%", NULL },
	{ "file:///a%2", NULL },
	{ "file:///a%zz", NULL },
	{ "file:///a%00b", NULL },
};

static void uris_name_paths(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_free_ char *path = NULL;
		struct err err = ERR_INIT;
		bool ok = uri_to_path(rows[i].uri, &path, &err);

		if (ok != (rows[i].path != NULL) || (ok && strcmp(path, rows[i].path) != 0))
			fail_msg("%s: %s", rows[i].uri, ok ? path : err.message);
		if (!ok)
			assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
	}
}

static void a_path_longer_than_paths_can_be_is_refused(void **state)
{
	_cleanup_free_ char *uri = mem_alloc(4 * LIMIT_PATH_BYTES, 1);
	_cleanup_free_ char *path = NULL;
	struct err err = ERR_INIT;

	(void)state;
	memset(uri, 'a', 4 * LIMIT_PATH_BYTES - 1);
	memcpy(uri, "file:///", 8);
	assert_false(uri_to_path(uri, &path, &err));
	uri[8 + LIMIT_PATH_BYTES] = '\0';
	assert_false(uri_to_path(uri, &path, &err));
	uri[7 + LIMIT_PATH_BYTES] = '\0';
	assert_true(uri_to_path(uri, &path, &err));
}

static void every_path_comes_back_from_its_uri(void **state)
{
	_cleanup_buf_ struct buf uri = BUF_INIT(4096);
	_cleanup_free_ char *path = NULL;
	struct err err = ERR_INIT;
	char all[258] = "/";

	(void)state;
	for (int c = 1; c < 256; c++)
		all[c] = (char)c;
	all[256] = '\0';
	assert_true(uri_from_path(&uri, all));
	assert_null(strpbrk(uri.data, " \"<>\\^`{|}?#\n"));
	assert_true(uri_to_path(uri.data, &path, &err));
	assert_string_equal(path, all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uris_name_paths),
		cmocka_unit_test(a_path_longer_than_paths_can_be_is_refused),
		cmocka_unit_test(every_path_comes_back_from_its_uri),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
