/* SPDX-License-Identifier: Apache-2.0 */
/* A provider that keeps what it found out answers as one that looks anew each time, while
 * files change and while several threads ask. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "data/json.h"
#include "part.h"
#include "tool/tool.h"
#include "worker/inside/inprocess.h"
#include "workspace_fixture.h"

enum { FOLDERS = 8, FILES = 6, ROUNDS = 120, THREADS = 4, CALLS = 60 };

struct two_sessions {
	char *root; /* owned */
	struct provider *cold_provider, *kept_provider;
	struct session cold, kept;
	unsigned dice;
};

static unsigned roll(struct two_sessions *two, unsigned sides)
{
	two->dice = two->dice * 1103515245u + 12345u;
	return (two->dice >> 16) % sides;
}

static char *any_path(struct two_sessions *two)
{
	unsigned folder = roll(two, FOLDERS), file = roll(two, FILES);

	if (file == 0)
		return mem_printf("%s/d%u/.gitignore", two->root, folder);
	return mem_printf("%s/d%u/f%u.%s", two->root, folder, file, file % 2 ? "c" : "h");
}

static void write_file(struct two_sessions *two, const char *path)
{
	static const char *const texts[] = { "needle one\n", "nothing\n", "a needle\nneedle\n",
		                             "*.h\n", "*.c\n!f1.c\n", "" };
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(texts[roll(two, ARRAY_LEN(texts))], file);
	assert_int_equal(fclose(file), 0);
}

/* One change as an editor, a build or git makes it. */
static void change_something(struct two_sessions *two)
{
	_cleanup_free_ char *path = any_path(two), *other = any_path(two);

	switch (roll(two, 4)) {
	case 0:
		unlink(path);
		break;
	case 1:
		rename(path, other);
		break;
	default:
		write_file(two, path);
	}
}

static json_t *ask(struct session *session, const char *tool, const char *arguments)
{
	json_t *object = json_loads(arguments, 0, NULL), *result;

	assert_non_null(object);
	result = tool_call(session, tool, object);
	assert_false(tool_result_failed(result));
	json_decref(object);
	return result;
}

static const struct {
	const char *tool, *arguments;
} questions[] = {
	{ "search_files", "{\"pattern\": \"needle\"}" },
	{ "search_files",
	  "{\"pattern\": \"^needle$|one\", \"regex\": true, \"output\": \"counts\"}" },
	{ "search_files", "{\"pattern\": \"needle\", \"no_ignore\": true, \"include\": \"*.h\"}" },
	{ "search_files", "{\"pattern\": \"needle\", \"path\": \"d3\", \"max_results\": 3}" },
	{ "search_files", "{\"pattern\": \"no such text\", \"output\": \"files\"}" },
	{ "glob", "{\"patterns\": [\"**/*.c\", \"!d1\"], \"order\": \"name\"}" },
	{ "glob", "{\"patterns\": [\"**\"], \"order\": \"name\", \"no_ignore\": true}" },
};

static void compare(struct two_sessions *two, size_t i)
{
	json_t *cold = ask(&two->cold, questions[i].tool, questions[i].arguments);
	json_t *kept = ask(&two->kept, questions[i].tool, questions[i].arguments);

	if (!json_equal(cold, kept)) {
		_cleanup_free_ char *a = json_dumps(cold, 0), *b = json_dumps(kept, 0);

		fail_msg("%s %s\ncold %s\nkept %s", questions[i].tool, questions[i].arguments, a,
		         b);
	}
	json_decref(cold);
	json_decref(kept);
}

static void open_session(const char *root, bool keep_cache, struct provider **ret,
                         struct session *session)
{
	struct inprocess_options options = { .roots = &root, .root_count = 1,
		                             .keep_cache = keep_cache };
	struct err err = ERR_INIT;

	assert_true(inprocess_provider(&options, ret, &err));
	session_init(session, *ret);
}

static int set_up(void **state)
{
	struct two_sessions *two = mem_alloc(1, sizeof(*two));

	two->root = fixture_make();
	two->dice = 2026;
	for (unsigned i = 0; i < FOLDERS; i++) {
		_cleanup_free_ char *folder = mem_printf("%s/d%u", two->root, i);

		assert_int_equal(mkdir(folder, 0777), 0);
	}
	for (unsigned i = 0; i < 30; i++) {
		_cleanup_free_ char *path = any_path(two);

		write_file(two, path);
	}
	open_session(two->root, false, &two->cold_provider, &two->cold);
	open_session(two->root, true, &two->kept_provider, &two->kept);
	*state = two;
	return 0;
}

static int tear_down(void **state)
{
	struct two_sessions *two = *state;

	session_release(&two->cold);
	session_release(&two->kept);
	provider_free(two->cold_provider);
	provider_free(two->kept_provider);
	fixture_remove(two->root);
	free(two->root);
	free(two);
	return 0;
}

/* Sometimes at once, sometimes when the background thread has had time. */
static void nap(struct two_sessions *two)
{
	const struct timespec some = { .tv_nsec = (long)roll(two, 3) * 10000000 };

	nanosleep(&some, NULL);
}

static void answers_are_the_same_while_files_change(void **state)
{
	struct two_sessions *two = *state;

	for (size_t round = 0; round < part_of(ROUNDS, 3); round++) {
		for (size_t i = 0; i < ARRAY_LEN(questions); i++)
			compare(two, i);
		nap(two);
		for (unsigned changes = 1 + roll(two, 3); changes-- > 0;)
			change_something(two);
	}
}

static void *ask_often(void *data)
{
	struct two_sessions *two = data;

	for (size_t call = 0; call < CALLS; call++) {
		size_t i = call % ARRAY_LEN(questions);

		json_decref(ask(&two->kept, questions[i].tool, questions[i].arguments));
	}
	return NULL;
}

static void several_threads_can_ask_at_once(void **state)
{
	struct two_sessions *two = *state;
	pthread_t threads[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_often, two), 0);
	for (size_t i = 0; i < 200; i++)
		change_something(two);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < ARRAY_LEN(questions); i++)
		compare(two, i);
}

static bool from_cache(struct provider *provider)
{
	struct search_request request = { .path = ".", .match = { .pattern = SPAN("needle") } };
	struct search_result found = { 0 };
	struct err err = ERR_INIT;
	bool ret;

	assert_true(provider->ops->search(provider, &request, &found, &err));
	ret = found.from_cache;
	search_result_release(&found);
	return ret;
}

static void only_who_is_asked_to_keeps_something(void **state)
{
	struct two_sessions *two = *state;
	const struct timespec some = { .tv_nsec = 20000000 };
	bool kept = false;

	for (size_t i = 0; i < 1000 && !kept; i++) {
		nanosleep(&some, NULL);
		kept = from_cache(two->kept_provider);
		assert_false(from_cache(two->cold_provider));
	}
	assert_true(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(answers_are_the_same_while_files_change, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(only_who_is_asked_to_keeps_something, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(several_threads_can_ask_at_once, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
