/* SPDX-License-Identifier: Apache-2.0 */
/* Watching files: what is told, once, and what is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "base/limits.h"
#include "scratch_folder.h"

enum {
	SOON_MS = 120000, /* a change is told much sooner, but machines may be busy */
	NEVER_MS = 700,  /* longer than changes are held back */
};

/* Counts what is told about one file. */
struct ear {
	pthread_mutex_t lock;
	pthread_cond_t heard;
	int count;
	struct provider_watch *watch;
};

static void hear(void *data)
{
	struct ear *ear = data;

	pthread_mutex_lock(&ear->lock);
	ear->count++;
	pthread_cond_signal(&ear->heard);
	pthread_mutex_unlock(&ear->lock);
}

static int heard(struct ear *ear)
{
	int count;

	pthread_mutex_lock(&ear->lock);
	count = ear->count;
	pthread_mutex_unlock(&ear->lock);
	return count;
}

static void listen_to(struct scratch_folder *scratch, struct ear *ear, const char *path)
{
	struct watch_request request = { .path = path, .changed = hear, .data = ear };
	struct err err = ERR_INIT;

	pthread_mutex_init(&ear->lock, NULL);
	pthread_cond_init(&ear->heard, NULL);
	ear->count = 0;
	if (!scratch->provider->ops->watch(scratch->provider, &request, &ear->watch, &err))
		fail_msg("%s: %s", path, err.message);
}

static void stop_listening(struct scratch_folder *scratch, struct ear *ear)
{
	scratch->provider->ops->unwatch(scratch->provider, ear->watch);
}

/* Whether more than `before` has been told within the time. */
static bool hears_more(struct ear *ear, int before, long ms)
{
	struct timespec until;
	bool more;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += ms % 1000 * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&ear->lock);
	while (ear->count <= before &&
	       pthread_cond_timedwait(&ear->heard, &ear->lock, &until) != ETIMEDOUT)
		;
	more = ear->count > before;
	pthread_mutex_unlock(&ear->lock);
	return more;
}

static void nap_ms(long ms)
{
	struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

static char *path_in(const struct scratch_folder *scratch, const char *name)
{
	return mem_printf("%s/%s", scratch->path, name);
}

/* ---- what happens to a file ---------------------------------------------------- */

static void write_in_place(const struct scratch_folder *scratch)
{
	scratch_write(scratch, "a/f", "changed\n");
}

static void replace_by_rename(const struct scratch_folder *scratch)
{
	_cleanup_free_ char *from = path_in(scratch, "a/new"), *to = path_in(scratch, "a/f");

	scratch_write(scratch, "a/new", "other\n");
	assert_int_equal(rename(from, to), 0);
}

static void delete_it(const struct scratch_folder *scratch)
{
	_cleanup_free_ char *path = path_in(scratch, "a/f");

	assert_int_equal(unlink(path), 0);
}

static void move_it_away(const struct scratch_folder *scratch)
{
	_cleanup_free_ char *from = path_in(scratch, "a/f"), *to = path_in(scratch, "a/g");

	assert_int_equal(rename(from, to), 0);
}

static void edit_with_hasp(const struct scratch_folder *scratch)
{
	struct change change = { .kind = CHANGE_UPDATE, .path = "a/f", .old_text = SPAN("text"),
		.text = SPAN("TEXT") };
	struct edit_options options = { 0 };
	struct change_result result;
	struct err err = ERR_INIT;

	assert_true(provider_edit(scratch->provider, &change, 1, &options, &result,
	                                         &err));
	change_result_release(&result);
}

static void (*const changes[])(const struct scratch_folder *scratch) = {
	write_in_place, replace_by_rename, delete_it, move_it_away, edit_with_hasp,
};

/* The file's content, or that it is there, is heard of after each kind of change, and again when
 * the file is written afterwards, whatever became of the one that was watched first. */
static void each_change_is_told_and_the_watch_goes_on(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		struct scratch_folder scratch;
		struct ear ear;
		int before;

		scratch_make(&scratch);
		_cleanup_free_ char *folder = path_in(&scratch, "a");

		mkdir(folder, 0777);
		scratch_write(&scratch, "a/f", "text\n");
		listen_to(&scratch, &ear, "a/f");
		changes[i](&scratch);
		if (!hears_more(&ear, 0, SOON_MS))
			fail_msg("change %zu is not told", i);
		nap_ms(NEVER_MS);
		before = heard(&ear);
		scratch_write(&scratch, "a/f", "once more\n");
		if (!hears_more(&ear, before, SOON_MS))
			fail_msg("what comes after change %zu is not told", i);
		stop_listening(&scratch, &ear);
		scratch_remove(&scratch);
	}
}

static void what_leaves_the_file_as_it_was_is_not_told(void **state)
{
	struct scratch_folder scratch;
	struct ear ear;

	(void)state;
	scratch_make(&scratch);
	scratch_write(&scratch, "f", "text\n");
	listen_to(&scratch, &ear, "f");
	free(scratch_read(&scratch, "f"));
	scratch_write(&scratch, "g", "text\n");
	scratch_write(&scratch, "ff", "text\n");
	assert_false(hears_more(&ear, 0, NEVER_MS));
	stop_listening(&scratch, &ear);
	scratch_remove(&scratch);
}

static void a_burst_is_told_a_few_times_and_its_end_is(void **state)
{
	struct scratch_folder scratch;
	struct ear ear;
	int count;

	(void)state;
	scratch_make(&scratch);
	listen_to(&scratch, &ear, "f");
	for (int i = 0; i < 3000; i++)
		scratch_write(&scratch, "f", i % 2 ? "odd\n" : "even number\n");
	assert_true(hears_more(&ear, 0, SOON_MS));
	nap_ms(NEVER_MS);
	count = heard(&ear);
	/* One for each 300 ms that the writing took, and the last. */
	assert_true(count < 300);
	scratch_write(&scratch, "f", "the end\n");
	assert_true(hears_more(&ear, count, SOON_MS));
	stop_listening(&scratch, &ear);
	scratch_remove(&scratch);
}

static void folders_may_come_and_go(void **state)
{
	struct scratch_folder scratch;
	struct ear ear;
	int before;

	(void)state;
	scratch_make(&scratch);
	_cleanup_free_ char *a = path_in(&scratch, "a"), *b = path_in(&scratch, "a/b");
	_cleanup_free_ char *file = path_in(&scratch, "a/b/f");

	listen_to(&scratch, &ear, "a/b/f");
	for (int round = 0; round < 3; round++) {
		before = heard(&ear);
		assert_int_equal(mkdir(a, 0777), 0);
		assert_int_equal(mkdir(b, 0777), 0);
		scratch_write(&scratch, "a/b/f", "text\n");
		assert_true(hears_more(&ear, before, SOON_MS));
		nap_ms(NEVER_MS);
		before = heard(&ear);
		assert_int_equal(unlink(file), 0);
		assert_int_equal(rmdir(b), 0);
		assert_int_equal(rmdir(a), 0);
		assert_true(hears_more(&ear, before, SOON_MS));
		nap_ms(NEVER_MS);
	}
	stop_listening(&scratch, &ear);
	scratch_remove(&scratch);
}

static void a_link_is_followed_and_nothing_outside_is_watched(void **state)
{
	struct watch_request request = { .changed = hear };
	static const char *const outside[] = { "/etc/passwd", "../x", "out/x" };
	struct scratch_folder scratch;
	struct err err = ERR_INIT;
	struct ear ear;

	(void)state;
	scratch_make(&scratch);
	_cleanup_free_ char *link = path_in(&scratch, "link"), *out = path_in(&scratch, "out");

	scratch_write(&scratch, "f", "text\n");
	assert_int_equal(symlink("f", link), 0);
	assert_int_equal(symlink("/etc", out), 0);
	listen_to(&scratch, &ear, "link");
	scratch_write(&scratch, "f", "more text\n");
	assert_true(hears_more(&ear, 0, SOON_MS));
	stop_listening(&scratch, &ear);
	for (size_t i = 0; i < ARRAY_LEN(outside); i++) {
		const struct provider_ops *ops = scratch.provider->ops;
		struct provider_watch *watch = NULL;

		request.path = outside[i];
		assert_false(ops->watch(scratch.provider, &request, &watch, &err));
		assert_int_equal(err.code, ERR_OUTSIDE_WORKSPACE);
	}
	scratch_remove(&scratch);
}

static void watches_are_counted_and_each_is_told_of_its_own(void **state)
{
	static struct ear ears[LIMIT_WATCHES + 1];
	struct scratch_folder scratch;
	struct err err = ERR_INIT;
	struct watch_request more = { .path = "more", .changed = hear };
	struct provider_watch *watch = NULL;

	(void)state;
	scratch_make(&scratch);
	for (int i = 0; i < LIMIT_WATCHES; i++) {
		_cleanup_free_ char *name = mem_printf("f%d", i);

		listen_to(&scratch, &ears[i], name);
	}
	assert_false(scratch.provider->ops->watch(scratch.provider, &more, &watch, &err));
	assert_int_equal(err.code, ERR_TOO_LARGE);
	scratch_write(&scratch, "f17", "text\n");
	assert_true(hears_more(&ears[17], 0, SOON_MS));
	assert_int_equal(heard(&ears[18]), 0);
	for (int i = 0; i < LIMIT_WATCHES; i++)
		stop_listening(&scratch, &ears[i]);
	scratch_remove(&scratch);
}

/* While `changed` is under way: unwatch waits for it, so that what it uses can be freed. */
static void nothing_is_told_after_the_end(void **state)
{
	struct scratch_folder scratch;

	(void)state;
	scratch_make(&scratch);
	for (int i = 0; i < 200; i++) {
		struct ear *ear = mem_alloc(1, sizeof(*ear));

		listen_to(&scratch, ear, "f");
		scratch_write(&scratch, "f", i % 2 ? "a\n" : "bb\n");
		if (i % 4 == 0)
			nap_ms(30);
		stop_listening(&scratch, ear);
		memset(ear, 0xAA, sizeof(*ear));
		free(ear);
	}
	scratch_remove(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_change_is_told_and_the_watch_goes_on),
		cmocka_unit_test(what_leaves_the_file_as_it_was_is_not_told),
		cmocka_unit_test(a_burst_is_told_a_few_times_and_its_end_is),
		cmocka_unit_test(folders_may_come_and_go),
		cmocka_unit_test(a_link_is_followed_and_nothing_outside_is_watched),
		cmocka_unit_test(watches_are_counted_and_each_is_told_of_its_own),
		cmocka_unit_test(nothing_is_told_after_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
