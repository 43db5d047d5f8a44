/* SPDX-License-Identifier: Apache-2.0 */
/* @path in prompts: what counts as one, and what the message has of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/prompt/prompt.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "model/content.h"
#include "worker/inside/inprocess.h"

static char root[] = "/tmp/hasp-mention-XXXXXX";

static void what_is_a_mention(void **state)
{
	/* The paths, each followed by a '|'. */
	static const struct {
		const char *prompt, *paths;
	} rows[] = {
		{ "no mention", "" },
		{ "@a.c", "a.c|" },
		{ "read @src/a.c, then @b.c; (@c.c) [@d]!", "src/a.c|b.c|c.c|d|" },
		{ "look at @a.c. And more", "a.c|" },
		{ "look at @a.c.", "a.c|" },
		{ "@a.b.c", "a.b.c|" },
		{ "me@example.com", "" },
		{ "\\@a.c and @b.c", "b.c|" },
		{ "@with\\ blank.c", "with blank.c|" },
		{ "@\"with blank.c\" x", "with blank.c|" },
		{ "@\"a \\\" b\"", "a \" b|" },
		{ "@\"not closed", "" },
		{ "@", "" },
		{ "@ a", "" },
		{ "@src/**/*.c", "src/**/*.c|" },
		{ "@a @a", "a|a|" },
		{ "wer ist @\xc3\xa4.txt?", "\xc3\xa4.txt|" },
		{ "@a\\", "a\\|" },
		{ "@\"not closed @b", "b|" },
		{ "@\"not closed\n@b @\"c\"", "b|c|" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct mention *mentions;
		size_t count = mentions_find(span_str(rows[i].prompt), &mentions);
		_cleanup_buf_ struct buf paths = BUF_INIT(4096);

		for (size_t j = 0; j < count; j++) {
			assert_int_equal(rows[i].prompt[mentions[j].offset], '@');
			buf_printf(&paths, "%s|", mentions[j].path);
		}
		buf_char(&paths, 0);
		assert_string_equal(paths.data, rows[i].paths);
		mentions_free(mentions, count);
	}
}

/* A few megabytes that begin a mention everywhere, and one that counts behind them. */
static void a_long_prompt_is_read_once(void **state)
{
	static const char *const pieces[] = { "@", "@/", "@\"", "@\"\\\"", "@\"a ", "\\@\"", "@x@\"\n", "\"@" };
	enum { BYTES = 4 << 20 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
		_cleanup_buf_ struct buf prompt = BUF_INIT(BYTES + 64);
		const uint64_t from = clock_monotonic_ms();
		struct mention *mentions;
		size_t count;

		while (prompt.len < BYTES)
			buf_str(&prompt, pieces[i]);
		count = mentions_find(buf_view(&prompt), &mentions);
		assert_true(count <= LIMIT_MENTIONS);
		assert_true(clock_monotonic_ms() - from < 100000);
		mentions_free(mentions, count);
	}
}

static void more_than_a_path_can_be_is_passed_over(void **state)
{
	_cleanup_buf_ struct buf prompt = BUF_INIT(1 << 20);
	struct mention *mentions;

	(void)state;
	while (prompt.len <= LIMIT_PATH_BYTES)
		buf_str(&prompt, "@some/path");
	buf_str(&prompt, " and @a.txt");
	assert_int_equal(mentions_find(buf_view(&prompt), &mentions), 1);
	assert_string_equal(mentions[0].path, "a.txt");
	assert_int_equal(mentions[0].offset + mentions[0].length, prompt.len);
	mentions_free(mentions, 1);
}

static struct provider *open_root(void)
{
	const char *roots[] = { root };
	struct inprocess_options options = { .roots = roots, .root_count = 1 };
	struct provider *provider;
	struct err err = ERR_INIT;

	if (!inprocess_provider(&options, &provider, &err))
		fail_msg("%s", err.message);
	return provider;
}

/* All text of the message. */
static char *message_of(const char *prompt, json_t *notices, size_t *ret_media)
{
	struct provider *provider = open_root();
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);
	struct session session;
	json_t *message, *part;
	size_t i;

	session_init(&session, provider);
	message = mention_message(&session, SPAN("piped: @sub/b.c \\@x\n"), span_str(prompt), true,
	                          NULL, notices);
	content_text(message, &text);
	*ret_media = 0;
	json_array_foreach(json_object_get(message, "parts"), i, part)
		*ret_media += json_object_get(part, "inlineData") != NULL;
	json_decref(message);
	session_release(&session);
	provider_free(provider);
	buf_char(&text, 0);
	return buf_steal(&text);
}

static void files_come_versioned_and_hashed(void **state)
{
	json_auto_t *notices = json_array();
	size_t media;
	_cleanup_free_ char *text = message_of("what is @a.txt and \\@b, @a.txt?", notices, &media);

	(void)state;
	assert_non_null(strstr(text, "piped: @sub/b.c \\@x\nwhat is @a.txt and @b, @a.txt?"));
	assert_null(strstr(text, "in the folder"));
	assert_non_null(strstr(text, "--- Content from referenced files ---"));
	assert_non_null(strstr(text, "\"version\":1,\"sha256\":\""));
	assert_null(strstr(text, "\"version\":2"));
	assert_non_null(strstr(text, "alpha"));
	assert_non_null(strstr(text, "--- End of content ---"));
	assert_int_equal(json_array_size(notices), 0);
	assert_int_equal(media, 0);
}

static void folders_globs_names_and_media(void **state)
{
	json_auto_t *notices = json_array();
	size_t media;
	_cleanup_free_ char *text =
		message_of("@sub @*.txt @\"deep name\" @alice @gone.c @pixel.png", notices, &media);

	(void)state;
	assert_non_null(strstr(text, "in the folder"));
	assert_non_null(strstr(text, "alpha"));
	assert_non_null(strstr(text, "found by its name"));
	assert_int_equal(media, 1);
	assert_null(strstr(text, "\"data\":"));
	assert_int_equal(json_array_size(notices), 1);
	assert_string_equal(json_string_value(json_array_get(notices, 0)),
	                    "@gone.c: there is no such file");
}

static void nothing_outside_is_read(void **state)
{
	json_auto_t *notices = json_array();
	size_t media;
	_cleanup_free_ char *text = message_of("@/etc/passwd @../x @link", notices, &media);

	(void)state;
	assert_null(strstr(text, "root:"));
	assert_true(json_array_size(notices) >= 2);
}

static void write_bytes(const char *name, const char *bytes, size_t len)
{
	_cleanup_free_ char *path = mem_printf("%s/%s", root, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fwrite(bytes, 1, len, file);
	fclose(file);
}

static int make(void **state)
{
	static const char png[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\x06\0\0\0";
	_cleanup_free_ char *sub = NULL, *deep = NULL, *link = NULL;

	(void)state;
	if (!mkdtemp(root))
		return -1;
	sub = mem_printf("%s/sub", root);
	deep = mem_printf("%s/sub/deeper", root);
	link = mem_printf("%s/link", root);
	if (mkdir(sub, 0700) || mkdir(deep, 0700) || symlink("/etc/passwd", link))
		return -1;
	write_bytes("a.txt", "alpha\n", 6);
	write_bytes("sub/b.c", "in the folder\n", 14);
	write_bytes("sub/deeper/a deep name.md", "found by its name\n", 18);
	write_bytes("pixel.png", png, sizeof(png) - 1);
	return 0;
}

static int clean(void **state)
{
	_cleanup_free_ char *command = mem_printf("rm -rf '%s'", root);

	(void)state;
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_a_mention),
		cmocka_unit_test(a_long_prompt_is_read_once),
		cmocka_unit_test(more_than_a_path_can_be_is_passed_over),
		cmocka_unit_test(files_come_versioned_and_hashed),
		cmocka_unit_test(folders_globs_names_and_media),
		cmocka_unit_test(nothing_outside_is_read),
	};

	return cmocka_run_group_tests(tests, make, clean);
}
