/* SPDX-License-Identifier: Apache-2.0 */
/* Which Host, Origin and token are let in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/http/headers.h"

static const char *const hosts[] = { "example.org", "other.example:99" };
static const char *const origins[] = { "https://example.org", "null" };
static const char *const names[] = { "10.0.0.5", "[2001:db8::5]" };
static const struct http_guard guard = {
	.port = 8080,
	.names = names,
	.name_count = ARRAY_LEN(names),
	.hosts = hosts,
	.host_count = ARRAY_LEN(hosts),
	.origins = origins,
	.origin_count = ARRAY_LEN(origins),
	.token = "secret",
};

struct row {
	const char *value;
	bool allowed;
};

static void check(const struct row *rows, size_t count,
                  bool (*ask)(const struct http_guard *guard, const char *value))
{
	for (size_t i = 0; i < count; i++)
		if (ask(&guard, rows[i].value) != rows[i].allowed)
			fail_msg("\"%s\" is %s", rows[i].value ? rows[i].value : "(none)",
			         rows[i].allowed ? "refused" : "let in");
}

static void only_loopback_and_listed_hosts(void **state)
{
	static const struct row rows[] = {
		{ "localhost", true },
		{ "localhost:8080", true },
		{ "LocalHost:8080", true },
		{ "127.0.0.1:8080", true },
		{ "[::1]", true },
		{ "[::1]:8080", true },
		{ " 127.0.0.1 ", true },
		{ "example.org", true },
		{ "example.org:1234", true },
		{ "EXAMPLE.ORG", true },
		{ "other.example:99", true },
		{ "10.0.0.5", true },
		{ "10.0.0.5:8080", true },
		{ "[2001:DB8::5]:8080", true },
		{ "10.0.0.5:8081", false }, /* another server there */
		{ "[2001:db8::5]:443", false },
		{ "2001:db8::5", false },
		{ NULL, false },
		{ "", false },
		{ "localhost:8081", false },
		{ "localhost:", false },
		{ "localhost:08080", true },
		{ "localhost:73616", false }, /* 8080 + 65536 */
		{ "localhost:8080x", false },
		{ "localhost:-1", false },
		{ "localhost.evil.example", false },
		{ "evil.example", false },
		{ "127.0.0.1.evil.example:8080", false },
		{ "127.0.0.2:8080", false },
		{ "0.0.0.0:8080", false },
		{ "::1", false },
		{ "[::1", false },
		{ "::1]:8080", false },
		{ "[::1]evil.example", false },
		{ "user@localhost:8080", false },
		{ "localhost:8080, evil.example", false },
		{ "other.example", false },
		{ "other.example:98", false },
		{ "xexample.org", false },
		{ ":8080", false },
		{ "]", false },
	};

	(void)state;
	check(rows, ARRAY_LEN(rows), http_guard_host);
}

static void only_loopback_and_listed_origins(void **state)
{
	static const struct row rows[] = {
		{ "http://localhost:8080", true },
		{ "http://localhost", true },
		{ "https://127.0.0.1:8080", true },
		{ "HTTP://[::1]:8080", true },
		{ "https://example.org", true },
		{ "null", true }, /* listed here, not by itself */
		{ "http://localhost:3000", false },
		{ "http://evil.example", false },
		{ "http://evil.example:8080", false },
		{ "http://localhost.evil.example:8080", false },
		{ "http://localhost:8080/path", false },
		{ "ftp://localhost:8080", false },
		{ "localhost:8080", false },
		{ "http://", false },
		{ "file://", false },
		{ "", false },
		{ "https://example.org.evil.example", false },
	};

	(void)state;
	check(rows, ARRAY_LEN(rows), http_guard_origin);
}

static void answers_are_shown_to_listed_origins_alone(void **state)
{
	(void)state;
	assert_true(http_guard_origin_is_listed(&guard, "https://example.org"));
	assert_false(http_guard_origin_is_listed(&guard, "http://localhost:8080"));
}

static void only_the_token(void **state)
{
	static const struct row rows[] = {
		{ "Bearer secret", true },
		{ "bearer secret", true },
		{ "Bearer   secret ", true },
		{ NULL, false },
		{ "", false },
		{ "Bearer", false },
		{ "Bearer ", false },
		{ "Bearer secre", false },
		{ "Bearer secrets", false },
		{ "Bearer Secret", false },
		{ "Basic secret", false },
		{ "secret", false },
		{ "Bearer secret secret", false },
	};
	struct http_guard open = { .port = 1 };

	(void)state;
	check(rows, ARRAY_LEN(rows), http_guard_token);
	assert_true(http_guard_token(&open, NULL));
	open.token = "";
	assert_false(http_guard_token(&open, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_loopback_and_listed_hosts),
		cmocka_unit_test(only_loopback_and_listed_origins),
		cmocka_unit_test(answers_are_shown_to_listed_origins_alone),
		cmocka_unit_test(only_the_token),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
