/* SPDX-License-Identifier: Apache-2.0 */
/* A provider through a worker: answers are the same as without one, it is parallel, it can be
 * cancelled, and a worker that dies or hangs costs one error. */
#pragma GCC diagnostic ignored "-Wframe-larger-than=" /* the first thread's stack has room */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "live.h"
#include "part.h"

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- answers --------------------------------------------------------------- */

static void test_read_edit_walk_search(void **state)
{
	struct live *live = *state;
	const struct walk_request walk = { .path = ".", .recursive = true };
	const struct search_request search = { .path = ".", .match.pattern = SPAN("tw") };
	struct walk_result walked;
	struct search_result found;
	struct read_result read;
	struct err err = ERR_INIT;

	live_write(live, "a.txt", "one\ntwo\n");
	read = live_read(live, "a.txt");
	assert_string_equal(read.content.data, "one\ntwo\n");
	assert_string_equal(read.line_endings, "lf");
	assert_int_equal(read.total_lines, 2);
	read_result_release(&read);
	assert_true(live_edit(live, "a.txt", "one\ntwo\ntwice\n", &err));
	assert_true(live->provider->ops->walk(live->provider, &walk, &walked, &err));
	assert_int_equal(walked.count, 1);
	assert_string_equal(walked.entries[0].path, "a.txt");
	walk_result_release(&walked);
	assert_true(live->provider->ops->search(live->provider, &search, &found, &err));
	assert_int_equal(found.matches, 2);
	assert_int_equal(found.files[0].lines[1].number, 3);
	assert_true(span_eq(found.files[0].lines[1].text, SPAN("twice")));
	search_result_release(&found);
}

static bool begin_read(const struct live *live, const struct read_request *request,
                       struct read_result *result, struct provider_request *ret)
{
	*ret = (struct provider_request){ .read = request, .read_result = result };
	return live->provider->ops->begin(live->provider, ret);
}

static void test_reads_that_are_under_way_together(void **state)
{
	struct live *live = *state;
	const struct provider_ops *ops = live->provider->ops;
	struct read_request requests[LIMIT_READS_STARTED];
	struct provider_request begun[LIMIT_READS_STARTED];
	struct read_result reads[LIMIT_READS_STARTED];
	_cleanup_free_ char *large = mem_alloc(20001, 1);
	struct err err = ERR_INIT;

	memset(large, 'x', 20000);
	live_write(live, "large", large); /* its answers are more than a connection holds */
	live_write(live, "small", "one\n");
	for (size_t i = 0; i < LIMIT_READS_STARTED; i++) {
		requests[i] = (struct read_request){ .path = i % 3 == 0 ? "large" :
			                                     i % 3 == 1 ? "small" : "none",
			                             .max_line_chars = 100000 };
		assert_true(begin_read(live, &requests[i], &reads[i], &begun[i]));
	}
	/* What is asked now comes behind them. */
	assert_true(live_edit(live, "small", "two\n", &err));
	for (size_t i = 0; i < LIMIT_READS_STARTED; i++) {
		bool ok = ops->end(live->provider, &begun[i], &err);

		assert_int_equal(ok, i % 3 != 2);
		if (i % 3 == 0)
			assert_int_equal(reads[i].content.len, 20000);
		else if (i % 3 == 1)
			assert_string_equal(reads[i].content.data, "one\n");
		else
			assert_int_equal(err.code, ERR_FILE_NOT_FOUND);
		read_result_release(&reads[i]);
	}
}

static void test_a_worker_that_dies_with_reads_under_way(void **state)
{
	struct live *live = *state;
	const struct provider_ops *ops = live->provider->ops;
	const struct read_request request = { .path = "a" };
	struct provider_request begun[4];
	struct err err = ERR_INIT;
	struct read_result reads[ARRAY_LEN(begun)], read;

	live_write(live, "a", "one\n");
	for (size_t i = 0; i < ARRAY_LEN(begun); i++)
		assert_true(begin_read(live, &request, &reads[i], &begun[i]));
	kill(live_worker(), SIGKILL);
	for (size_t i = 0; i < ARRAY_LEN(begun); i++) {
		if (!ops->end(live->provider, &begun[i], &err))
			assert_int_equal(err.code, ERR_WORKER_LOST);
		read_result_release(&reads[i]);
	}
	read = live_read(live, "a"); /* by another worker */
	assert_string_equal(read.content.data, "one\n");
	read_result_release(&read);
}

/* ---- a provider beside it ---- */

static char *beside_read(struct provider *provider, const char *path, enum err_code *ret)
{
	const struct read_request request = { .path = path };
	struct read_result read = { 0 };
	struct err err = ERR_INIT;
	char *text = NULL;

	if (provider_read(provider, &request, &read, &err))
		text = mem_strdup(read.content.data);
	*ret = err.code;
	read_result_release(&read);
	return text;
}

static void test_beside(void **state)
{
	struct live *live = *state;
	char outside[] = "/tmp/hasp-beside-XXXXXX", file[64], link[64];
	const char *folders[] = { outside };
	const struct outside_request request = { .folders = folders, .folder_count = 1 };
	struct provider *beside;
	struct err err = ERR_INIT;
	enum err_code code;
	_cleanup_free_ char *text = NULL, *none = NULL;
	bool elsewhere;
	int fd;

	assert_non_null(mkdtemp(outside));
	snprintf(file, sizeof(file), "%s/a", outside);
	snprintf(link, sizeof(link), "%s/out", outside);
	fd = open(file, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, "there\n", 6), 6);
	close(fd);
	assert_int_equal(symlink(live->folder, link), 0);
	live_write(live, "a.txt", "here\n");
	none = beside_read(live->provider, file, &code);
	assert_int_equal(code, ERR_OUTSIDE_WORKSPACE);
	/* Of files elsewhere there is none. */
	elsewhere = strcmp(live->provider->ops->info(live->provider)->kind, "command") == 0;
	assert_int_equal(live->provider->ops->outside(live->provider, &request, &beside, &err),
	                 !elsewhere);
	if (!elsewhere) {
		assert_string_equal(beside->ops->root(beside, 0), outside);
		text = beside_read(beside, file, &code);
		assert_string_equal(text, "there\n");
		assert_null(beside_read(beside, live->folder, &code));
		assert_int_equal(code, ERR_OUTSIDE_WORKSPACE);
		assert_null(beside_read(beside, "out/a.txt", &code));
		assert_int_equal(code, ERR_OUTSIDE_WORKSPACE);
		provider_free(beside);
	}
	err = (struct err)ERR_INIT;
	folders[0] = link;
	assert_false(live->provider->ops->outside(live->provider, &request, &beside, &err));
	assert_int_equal(err.code, ERR_OUTSIDE_WORKSPACE);
	unlink(link);
	unlink(file);
	rmdir(outside);
}

/* ---- edits without a thread that waits --------------------------------------- */

enum { EDITS = 20, ANSWER_MS = 120000 };

struct begun_edit {
	struct change change;
	char name[16];
	struct change_result result;
	struct provider_request request; /* of these */
	_Atomic int ready; /* 0: not yet, 1: it is here, -1: it has to be waited for */
};

static void note_ready(void *data, bool here)
{
	struct begun_edit *edit = data;

	assert_int_equal(edit->ready, 0);
	edit->ready = here ? 1 : -1;
}

static void begin_edit(const struct live *live, struct begun_edit *edit)
{
	static const struct edit_options options = { .want_content = true };

	edit->request = (struct provider_request){
		.changes = &edit->change, .count = 1, .options = &options, .results = &edit->result,
		.ready = note_ready, .data = edit,
	};
	edit->ready = 0;
	assert_true(live->provider->ops->begin(live->provider, &edit->request));
}

static void create(const struct live *live, struct begun_edit *edit, int number, struct span text)
{
	snprintf(edit->name, sizeof(edit->name), "new%d", number);
	edit->change = (struct change){ .kind = CHANGE_CREATE, .path = edit->name, .text = text };
	begin_edit(live, edit);
}

/* As a loop does: sleeps until the bell rings. */
static void take_until_ready(const struct live *live, const struct begun_edit *edits, size_t count)
{
	const struct provider_ops *ops = live->provider->ops;
	struct pollfd bell = { .fd = ops->ready_fd(live->provider), .events = POLLIN };

	ops->flush(live->provider);
	for (size_t i = 0; i < count; i++)
		while (!edits[i].ready) {
			assert_int_equal(poll(&bell, 1, ANSWER_MS), 1);
			ops->take(live->provider);
		}
}

static bool end_edit(const struct live *live, struct begun_edit *edit, struct err *err)
{
	return live->provider->ops->end(live->provider, &edit->request, err);
}

static void expect_content(const struct live *live, const char *name, const char *content)
{
	struct read_result read = live_read(live, name);

	assert_string_equal(read.content.data, content);
	read_result_release(&read);
}

static void test_edits_that_are_under_way_together(void **state)
{
	struct live *live = *state;
	struct begun_edit edits[EDITS];
	struct err err = ERR_INIT;

	for (int i = 0; i < EDITS; i++)
		create(live, &edits[i], i, SPAN("one\n"));
	take_until_ready(live, edits, EDITS);
	for (int i = 0; i < EDITS; i++) {
		assert_int_equal(edits[i].ready, 1);
		assert_true(end_edit(live, &edits[i], &err));
		assert_true(edits[i].result.done);
		assert_string_equal(edits[i].result.content.data, "one\n");
		change_result_release(&edits[i].result);
		expect_content(live, edits[i].name, "one\n");
	}
}

/* Other threads read for themselves, and hand out what they find; what they leave rings the bell. */
static void test_edits_are_taken_by_whoever_reads(void **state)
{
	struct live *live = *state;
	struct begun_edit edits[EDITS];
	struct err err = ERR_INIT;

	live_write(live, "a", "one\n");
	for (int i = 0; i < EDITS; i++) {
		create(live, &edits[i], i, SPAN("two\n"));
		if (i % 3 == 0)
			expect_content(live, "a", "one\n");
	}
	take_until_ready(live, edits, EDITS);
	for (int i = 0; i < EDITS; i++) {
		assert_true(end_edit(live, &edits[i], &err));
		change_result_release(&edits[i].result);
	}
}

static void test_an_edit_that_is_refused_or_large_has_to_be_waited_for(void **state)
{
	enum { LARGE = 1 << 20 };
	struct live *live = *state;
	_cleanup_free_ char *large = mem_alloc(LARGE + 1, 1);
	struct begun_edit edits[2] = { { .change = { .kind = CHANGE_UPDATE, .path = "large",
		.old_text = SPAN("first"), .text = SPAN("FIRST") } },
		{ .change = { .kind = CHANGE_UPDATE, .path = "none", .old_text = SPAN("x"),
		.text = SPAN("y") } } };
	struct err err = ERR_INIT;

	memset(large, 'x', LARGE);
	memcpy(large, "first\n", 6);
	live_write(live, "large", large);
	begin_edit(live, &edits[0]);
	begin_edit(live, &edits[1]);
	take_until_ready(live, edits, 1);
	assert_int_equal(edits[0].ready, -1);
	assert_true(end_edit(live, &edits[0], &err));
	assert_int_equal(edits[0].result.content.len, LARGE);
	assert_memory_equal(edits[0].result.content.data, "FIRST\nx", 7);
	take_until_ready(live, edits, 2);
	assert_int_equal(edits[1].ready, -1);
	assert_false(end_edit(live, &edits[1], &err));
	assert_int_equal(err.code, ERR_FILE_NOT_FOUND);
	for (int i = 0; i < 2; i++)
		change_result_release(&edits[i].result);
}

static void test_an_edit_can_be_ended_before_it_is_ready(void **state)
{
	struct live *live = *state;
	struct begun_edit edits[3];
	struct err err = ERR_INIT;

	for (int i = 0; i < 3; i++)
		create(live, &edits[i], i, SPAN("three\n"));
	for (int i = 3; i-- > 0;) {
		assert_true(end_edit(live, &edits[i], &err));
		change_result_release(&edits[i].result);
	}
}

static void test_a_worker_that_dies_with_edits_under_way(void **state)
{
	struct live *live = *state;
	struct begun_edit edits[3];
	struct err err = ERR_INIT;

	live_write(live, "a", "one\n");
	expect_content(live, "a", "one\n");
	kill(live_worker(), SIGSTOP);
	for (int i = 0; i < 3; i++)
		create(live, &edits[i], i, SPAN("four\n"));
	live->provider->ops->flush(live->provider);
	kill(live_worker(), SIGKILL);
	take_until_ready(live, edits, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(edits[i].ready, -1);
		assert_false(end_edit(live, &edits[i], &err));
		assert_int_equal(err.code, ERR_WORKER_LOST);
		assert_non_null(strstr(err.message, "Whether the change was made is not known."));
		change_result_release(&edits[i].result);
		err = (struct err)ERR_INIT;
	}
	expect_content(live, "a", "one\n"); /* by another worker */
	create(live, &edits[0], 9, SPAN("five\n"));
	take_until_ready(live, edits, 1);
	assert_true(end_edit(live, &edits[0], &err));
	change_result_release(&edits[0].result);
}

static void test_failures_come_with_their_facts(void **state)
{
	struct live *live = *state;
	const struct read_request missing = { .path = "none" };
	const struct sha256 wrong = { { 1 } };
	struct change change = { .kind = CHANGE_PATCH, .path = "a", .base = &wrong,
		                 .text = SPAN("@@ -1 +1 @@\n-x\n+y\n") };
	const struct edit_options options = { .want_content = true };
	struct change_result result;
	struct read_result read;
	struct err err = ERR_INIT;

	assert_false(provider_read(live->provider, &missing, &read, &err));
	assert_int_equal(err.code, ERR_FILE_NOT_FOUND);
	read_result_release(&read);
	live_write(live, "a", "z\n");
	assert_false(provider_edit(live->provider, &change, 1, &options, &result, &err));
	assert_int_equal(err.code, ERR_STATE_MISMATCH);
	assert_int_equal(result.err.code, ERR_STATE_MISMATCH);
	assert_true(result.state_known && result.content_is_text);
	assert_string_equal(result.content.data, "z\n");
	change.base = &result.state.sha256;
	change_result_release(&result);
	assert_false(provider_edit(live->provider, &change, 1, &options, &result, &err));
	change_result_release(&result);
}

static void test_a_large_content_arrives_whole(void **state)
{
	struct live *live = *state;
	enum { SIZE = 5 << 20 };
	struct err err = ERR_INIT;
	struct read_result read;
	char *text = mem_alloc(SIZE + 1, 1);

	for (size_t i = 0; i < SIZE; i++)
		text[i] = i % 61 == 60 ? '\n' : (char)('a' + (i * 7919) % 26);
	live_write(live, "large", "");
	assert_true(live_edit(live, "large", text, &err));
	read = live_read(live, "large");
	assert_int_equal(read.content.len, SIZE);
	assert_memory_equal(read.content.data, text, SIZE + 1);
	read_result_release(&read);
	free(text);
}

/* ---- together -------------------------------------------------------------- */

struct hand {
	struct live *live;
	pthread_t thread;
	int number;
	int done;
	struct cancel *cancel;
	struct err err;
};

static void *read_many(void *data)
{
	struct hand *hand = data;
	char name[16], want[16];

	snprintf(name, sizeof(name), "f%d", hand->number);
	snprintf(want, sizeof(want), "text %d\n", hand->number);
	for (int i = 0; i < 300; i++) {
		struct read_result read = live_read(hand->live, name);

		hand->done += strcmp(read.content.data, want) == 0;
		read_result_release(&read);
	}
	return NULL;
}

static void test_many_threads_get_their_own_answers(void **state)
{
	struct live *live = *state;
	struct hand hands[8];

	for (int i = 0; i < 8; i++) {
		char name[16], text[16];

		snprintf(name, sizeof(name), "f%d", i);
		snprintf(text, sizeof(text), "text %d\n", i);
		live_write(live, name, text);
		hands[i] = (struct hand){ .live = live, .number = i };
	}
	for (int i = 0; i < 8; i++)
		pthread_create(&hands[i].thread, NULL, read_many, &hands[i]);
	for (int i = 0; i < 8; i++) {
		pthread_join(hands[i].thread, NULL);
		assert_int_equal(hands[i].done, 300);
	}
}

/* A file in which a regular expression takes for ever. */
static void write_hard(struct live *live)
{
	for (int i = 0; i < 200; i++) {
		char name[16], text[4001];

		snprintf(name, sizeof(name), "hard%d", i);
		memset(text, 'a', 4000);
		text[4000] = '\0';
		live_write(live, name, text);
	}
}

static void *search_hard(void *data)
{
	struct hand *hand = data;
	const struct search_request request = { .path = ".", .threads = 1, .timeout_ms = 20000,
		                                .match.pattern = SPAN("(a|aa|aaa)+(a+)+b"),
		                                .cancel = hand->cancel };
	struct search_result found;
	struct provider *provider = hand->live->provider;

	if (provider->ops->search(provider, &request, &found, &hand->err))
		search_result_release(&found);
	return NULL;
}

static void test_a_cancelled_search_returns_at_once_and_others_go_on(void **state)
{
	struct live *live = *state;
	struct cancel cancel;
	struct hand hand = { .live = live, .cancel = &cancel };
	struct read_result read;

	cancel_init_lazily(&cancel);
	write_hard(live);
	live_write(live, "a", "x\n");
	pthread_create(&hand.thread, NULL, search_hard, &hand);
	usleep(50000);
	read = live_read(live, "a");
	read_result_release(&read);
	cancel_set(&cancel); /* else it would end by its own limit, with another error */
	pthread_join(hand.thread, NULL);
	cancel_release(&cancel);
	if (hand.err.code != ERR_NONE)
		assert_int_equal(hand.err.code, ERR_CANCELLED);
	read = live_read(live, "a");
	read_result_release(&read);
}

static void *append_one(void *data)
{
	struct hand *hand = data;
	struct edit_options options = { 0 };
	char text[32] = "";
	const struct change change = { .kind = CHANGE_UPDATE, .path = "list",
		                       .old_text = SPAN("end"), .text = span_of(text, 0) };
	struct change own = change;
	struct change_result result;
	struct provider *provider = hand->live->provider;

	snprintf(text, sizeof(text), "%d\nend", hand->number);
	own.text = span_str(text);
	hand->done = provider_edit(provider, &own, 1, &options, &result, &hand->err);
	change_result_release(&result);
	return NULL;
}

static void test_edits_of_one_file_at_once_all_land(void **state)
{
	struct live *live = *state;
	struct hand hands[12];
	struct read_result read;

	live_write(live, "list", "end");
	for (int i = 0; i < 12; i++) {
		hands[i] = (struct hand){ .live = live, .number = 100 + i };
		pthread_create(&hands[i].thread, NULL, append_one, &hands[i]);
	}
	for (int i = 0; i < 12; i++) {
		pthread_join(hands[i].thread, NULL);
		if (!hands[i].done)
			fail_msg("%s", hands[i].err.message);
	}
	read = live_read(live, "list");
	assert_int_equal(read.content.len, 12 * 4 + 3);
	read_result_release(&read);
}

/* ---- death ----------------------------------------------------------------- */

static void test_the_next_call_gets_a_new_worker(void **state)
{
	struct live *live = *state;
	struct read_result read;
	int first = live_worker();

	live_write(live, "a", "x\n");
	assert_true(first > 0);
	kill(first, SIGKILL);
	while (live_worker() == first && kill(first, 0) == 0) {
		const struct read_request request = { .path = "a" };
		struct err err = ERR_INIT;

		if (!provider_read(live->provider, &request, &read, &err))
			assert_non_null(strstr(err.message, "SIGKILL"));
		read_result_release(&read);
	}
	read = live_read(live, "a");
	assert_string_equal(read.content.data, "x\n");
	read_result_release(&read);
	assert_int_not_equal(live_worker(), first);
}

struct load {
	struct live *live;
	_Atomic bool stop;
	_Atomic int good, lost;
};

static void *make_load(void *data)
{
	struct load *load = data;

	while (!load->stop) {
		struct err err = ERR_INIT;
		bool ok = live_edit(load->live, "a", load->good % 2 ? "odd\n" : "even\n", &err);

		if (ok)
			load->good++;
		else if (err.code == ERR_WORKER_LOST)
			load->lost++;
		else if (err.code != ERR_STATE_MISMATCH && err.code != ERR_NO_CHANGE)
			fail_msg("%s", err.message);
	}
	return NULL;
}

static void test_workers_killed_under_load_cost_errors_and_nothing_else(void **state)
{
	struct live *live = *state;
	struct load load = { .live = live };
	struct read_result read;
	pthread_t threads[4];

	live_write(live, "a", "even\n");
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, make_load, &load);
	for (int i = 0; i < 40; i++) {
		int worker = live_worker();

		usleep(5000 + (unsigned)(i * 613) % 9000);
		if (worker > 0)
			kill(worker, SIGKILL);
	}
	load.stop = true;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_true(load.good > 0);
	read = live_read(live, "a");
	assert_true(strcmp(read.content.data, "odd\n") == 0 ||
	            strcmp(read.content.data, "even\n") == 0);
	read_result_release(&read);
}

static size_t open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	size_t count = 0;

	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

static void test_restarts_leak_no_descriptor(void **state)
{
	struct live *live = *state;
	size_t before = open_files();

	live_write(live, "a", "x\n");
	for (size_t i = 0; i < part_of(200, 5); i++) {
		const struct read_request request = { .path = "a" };
		struct err err = ERR_INIT;
		struct read_result read;

		/* The first may fail, with the worker; the second has a new one. */
		provider_read(live->provider, &request, &read, &err);
		read_result_release(&read);
		read = live_read(live, "a");
		read_result_release(&read);
		assert_true(live_worker() > 0);
		kill(live_worker(), SIGKILL);
	}
	assert_true(open_files() <= before + 1);
}

/* ---- watches --------------------------------------------------------------- */

static void count_change(void *data)
{
	(*(_Atomic int *)data)++;
}

static bool wait_for(_Atomic int *count, int least)
{
	for (int i = 0; i < 6000 && *count < least; i++)
		usleep(10000);
	return *count >= least;
}

static void test_watches_tell_and_outlive_the_worker(void **state)
{
	struct live *live = *state;
	_Atomic int count = 0;
	const struct watch_request request = { "a", count_change, &count };
	struct provider_watch *watch;
	struct err err = ERR_INIT;
	int before;

	live_write(live, "a", "1\n");
	assert_true(live->provider->ops->watch(live->provider, &request, &watch, &err));
	live_write(live, "a", "22\n");
	assert_true(wait_for(&count, 1));
	assert_true(live_worker() > 0);
	kill(live_worker(), SIGKILL);
	assert_true(wait_for(&count, 2)); /* what happened in between is not known */
	usleep(500000);
	before = count;
	live_write(live, "a", "333\n");
	assert_true(wait_for(&count, before + 1));
	live->provider->ops->unwatch(live->provider, watch);
	before = count;
	live_write(live, "a", "4444\n");
	usleep(400000);
	assert_int_equal(count, before);
}

/* The thread of the watches reads for all: it waits for input and does not send what was begun. */
static void test_reads_are_sent_while_a_watch_listens(void **state)
{
	enum { PATIENCE_MS = 10000 /* after it, signs of life are asked for, and all is sent */ };
	struct live *live = *state;
	const struct provider_ops *ops = live->provider->ops;
	_Atomic int count = 0;
	const struct watch_request watched = { "a", count_change, &count };
	const struct read_request request = { .path = "b" };
	struct err err = ERR_INIT;
	struct provider_request begun;
	struct read_result read;
	struct provider_watch *watch;
	int64_t start;

	live_write(live, "a", "1\n");
	live_write(live, "b", "one\n");
	assert_true(ops->watch(live->provider, &watched, &watch, &err));
	live_write(live, "a", "22\n");
	assert_true(wait_for(&count, 1));
	start = now_ms();
	for (int i = 0; i < 5; i++) {
		assert_true(begin_read(live, &request, &read, &begun));
		assert_true(ops->end(live->provider, &begun, &err));
		assert_string_equal(read.content.data, "one\n");
		read_result_release(&read);
	}
	assert_true(now_ms() - start < PATIENCE_MS);
	ops->unwatch(live->provider, watch);
}

/* It hands out the answers of edits that nobody waits for, too. */
static void test_edits_are_taken_while_a_watch_listens(void **state)
{
	struct live *live = *state;
	const struct provider_ops *ops = live->provider->ops;
	_Atomic int count = 0;
	const struct watch_request watched = { "a", count_change, &count };
	struct begun_edit edits[EDITS];
	struct err err = ERR_INIT;
	struct provider_watch *watch;
	int64_t until = now_ms() + ANSWER_MS;

	live_write(live, "a", "1\n");
	assert_true(ops->watch(live->provider, &watched, &watch, &err));
	live_write(live, "a", "22\n");
	assert_true(wait_for(&count, 1));
	for (int i = 0; i < EDITS; i++)
		create(live, &edits[i], i, SPAN("six\n"));
	ops->flush(live->provider);
	for (int i = 0; i < EDITS; i++) {
		while (!edits[i].ready && now_ms() < until)
			usleep(1000);
		assert_int_equal(edits[i].ready, 1);
		assert_true(end_edit(live, &edits[i], &err));
		change_result_release(&edits[i].result);
	}
	ops->unwatch(live->provider, watch);
}

int main(int argc, char **argv)
{
	live_main(argc, argv);
	signal(SIGPIPE, SIG_IGN);
#define LIVE(name) cmocka_unit_test_setup_teardown(name, live_setup, live_teardown)
	const struct CMUnitTest tests[] = {
		LIVE(test_read_edit_walk_search),
		LIVE(test_beside),
		LIVE(test_reads_that_are_under_way_together),
		LIVE(test_a_worker_that_dies_with_reads_under_way),
		LIVE(test_edits_that_are_under_way_together),
		LIVE(test_edits_are_taken_by_whoever_reads),
		LIVE(test_an_edit_that_is_refused_or_large_has_to_be_waited_for),
		LIVE(test_an_edit_can_be_ended_before_it_is_ready),
		LIVE(test_a_worker_that_dies_with_edits_under_way),
		LIVE(test_failures_come_with_their_facts),
		LIVE(test_a_large_content_arrives_whole),
		LIVE(test_many_threads_get_their_own_answers),
		LIVE(test_a_cancelled_search_returns_at_once_and_others_go_on),
		LIVE(test_edits_of_one_file_at_once_all_land),
		LIVE(test_the_next_call_gets_a_new_worker),
		LIVE(test_workers_killed_under_load_cost_errors_and_nothing_else),
		LIVE(test_restarts_leak_no_descriptor),
		LIVE(test_watches_tell_and_outlive_the_worker),
		LIVE(test_reads_are_sent_while_a_watch_listens),
		LIVE(test_edits_are_taken_while_a_watch_listens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
