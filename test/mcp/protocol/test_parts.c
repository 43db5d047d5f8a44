/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the core that need no peer: members, results, maps, signatures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "mcp/protocol/call.h"
#include "mcp/protocol/private.h"

static void members_are_found_in_text(void **state)
{
	static const struct {
		const char *text;
		const char *found; /* key=value| for each */
		bool ended;
	} cases[] = {
		{ "{}", "", true },
		{ " { } ", "", true },
		{ "{\"a\":1}", "a=1|", true },
		{ "{ \"a\" : [1, {\"b\":\"]}\"}] ,\n\"c\":null }",
		  "a=[1, {\"b\":\"]}\"}]|c=null|", true },
		{ "{\"a\\\"b\":\"c\\\\\",\"d\":\"\\\\\\\"}\"}",
		  "a\\\"b=\"c\\\\\"|d=\"\\\\\\\"}\"|", true },
		{ "{\"\":-1.5e3,\"x\":true}", "=-1.5e3|x=true|", true },
		{ "{\"a\":{}}x", "a={}|", false },
		{ "{\"a\":1", "a=1|", false },
		{ "{\"a\":\"x", "", false },
		{ "{\"a\":[1}", "a=[1}|", false },
		{ "{\"a\":[[1}", "", false },
		{ "{\"a\"}", "", false },
		{ "{\"a\":}", "", false },
		{ "{\"a\":1,}", "a=1|", false },
		{ "{\"a", "", false },
		{ "[]", "", false },
		{ "", "", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_buf_ struct buf found = BUF_INIT(1024);
		/* A copy of its own, so that a sanitizer sees a byte too many. */
		size_t len = strlen(cases[i].text);
		_cleanup_free_ char *copy = mem_alloc(len + !len, 1);
		struct members members = { .rest = span_of(copy, len) };
		struct span key, value;

		memcpy(copy, cases[i].text, len);
		buf_str(&found, "");
		while (result_member_next(&members, &key, &value))
			buf_printf(&found, "%.*s=%.*s|", (int)key.len, key.data, (int)value.len,
			           value.data);
		assert_string_equal(found.data, cases[i].found);
		assert_int_equal(result_members_ended(&members), cases[i].ended);
	}
}

static void written_as(const char *version, bool tool, const char *scope, const char *text,
                       const char *wanted)
{
	_cleanup_buf_ struct buf out = BUF_INIT(65536);
	struct result_form form = { .version = version_find(version), .tool = tool,
		.complete = true, .cache_scope = scope, .server_info = SPAN("{I}") };
	bool written = result_write(&out, &form, span_str(text));

	assert_int_equal(written, wanted != NULL);
	if (wanted)
		assert_string_equal(out.data, wanted);
}

static void results_are_written_for_their_version(void **state)
{
#define INFO "\"io.modelcontextprotocol/serverInfo\":{I}"
	(void)state;
	written_as("2025-11-25", true, NULL, "{\"structuredContent\":1}",
	  "{\"structuredContent\":1}");
	written_as("2025-03-26", true, NULL, "{\"structuredContent\":1}", "{}");
	written_as("2025-03-26", true, NULL, "{\"a\":1,\"structuredContent\":{\"x\":[]},\"b\":2}",
	           "{\"a\":1,\"b\":2}");
	written_as("2025-03-26", false, NULL, "{\"structuredContent\":1}",
	  "{\"structuredContent\":1}");
	written_as("2025-03-26", true, "public", "{}", "{}");
	written_as("2026-07-28", false, NULL, "{}",
	  "{\"resultType\":\"complete\",\"_meta\":{" INFO "}}");
	written_as("2026-07-28", false, "private", "{\"a\":1}",
	  "{\"a\":1,\"resultType\":\"complete\","
	           "\"ttlMs\":60000,\"cacheScope\":\"private\",\"_meta\":{" INFO "}}");
	written_as("2026-07-28", false, "private", "{\"ttlMs\":0,\"cacheScope\":\"public\","
	           "\"resultType\":\"task\"}", "{\"ttlMs\":0,\"cacheScope\":\"public\","
	           "\"resultType\":\"task\",\"_meta\":{" INFO "}}");
	written_as("2026-07-28", true, NULL, "{\"_meta\":{\"a\":{}},\"b\":\"_meta\"}",
	           "{\"b\":\"_meta\",\"resultType\":\"complete\",\"_meta\":{\"a\":{}," INFO "}}");
	written_as("2026-07-28", true, NULL, "{\"_meta\":{" INFO "}}",
	           "{\"resultType\":\"complete\",\"_meta\":{" INFO "}}");
	written_as("2026-07-28", true, NULL, "{\"a\":1", NULL);
	written_as("2026-07-28", true, NULL, "{\"a\":1}}", NULL);
	written_as("2025-11-25", true, NULL, "[]", NULL);
	written_as("2025-11-25", true, NULL, "", NULL);
}

static void every_version_has_a_row(void **state)
{
	static const char *const names[] = { "2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26",
	                                     "2024-11-05" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		assert_string_equal(version_at(i)->name, names[i]);
		assert_ptr_equal(version_find(names[i]), version_at(i));
	}
	assert_null(version_at(ARRAY_LEN(names)));
	assert_null(version_find("2025-11-2"));
	assert_string_equal(version_latest_stateless()->name, "2026-07-28");
	assert_string_equal(version_latest()->name, "2025-11-25");
}

static void count_and_remove(struct idmap_entry *entry, void *data)
{
	idmap_remove(data, entry);
}

static void ids_are_found_while_they_are_there(void **state)
{
	enum { COUNT = 5000 };
	static struct idmap_entry entries[COUNT];
	static char names[COUNT][16];
	struct idmap map;

	(void)state;
	idmap_init(&map, 0x1234567);
	assert_null(idmap_find(&map, SPAN("1")));
	for (size_t i = 0; i < COUNT; i++) {
		snprintf(names[i], sizeof(names[i]), i % 2 ? "%zu" : "\"%zu\"", i / 2);
		assert_null(idmap_find(&map, span_str(names[i])));
		idmap_add(&map, &entries[i], span_str(names[i]));
	}
	for (size_t i = 0; i < COUNT; i += 3)
		idmap_remove(&map, &entries[i]);
	for (size_t i = 0; i < COUNT; i++)
		assert_ptr_equal(idmap_find(&map, span_str(names[i])), i % 3 ? &entries[i] : NULL);
	idmap_each(&map, count_and_remove, &map);
	assert_int_equal(map.count, 0);
	idmap_release(&map);
}

/* Computed by Python's hmac module. */
static void signatures_are_hmac_sha_256(void **state)
{
	static const struct {
		unsigned char key;
		const char *text, *hex;
	} cases[] = {
		{ 0x00, "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad" },
		{ 0xab, "what do ya want for nothing?",
		  "54c2b20c16f56b8432c429fd77ef6d9568c6f5e69024a87e6c850a8fd6b78c58" },
		{ 0x36, "a text that is longer than the block of sixty-four bytes of the hash "
		  "function",
		  "33cfbdbf6c2d061d52f4fc23d0d964147a63f52db0fae17baf3cb707a7ab4386" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct sha256 key;
		char hex[SHA256_HEX_SIZE];

		memset(key.bytes, cases[i].key, sizeof(key.bytes));
		sign_hex(&key, span_str(cases[i].text), hex);
		assert_string_equal(hex, cases[i].hex);
		assert_true(mcp_sign_check(&key, span_str(cases[i].text), span_str(hex)));
		hex[63] ^= 1;
		assert_false(mcp_sign_check(&key, span_str(cases[i].text), span_str(hex)));
		assert_false(mcp_sign_check(&key, span_str(cases[i].text), span_of(hex, 63)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_found_in_text),
		cmocka_unit_test(results_are_written_for_their_version),
		cmocka_unit_test(every_version_has_a_row),
		cmocka_unit_test(ids_are_found_while_they_are_there),
		cmocka_unit_test(signatures_are_hmac_sha_256),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
