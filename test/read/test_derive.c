/* SPDX-License-Identifier: Apache-2.0 */
/* Readers that are made to do harm: each is one error, and nothing else happens.  And what a good
 * one answers arrives whole, from a plain process as from a confined file worker. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "data/json.h"
#include "read/child.h"
#include "read/text_out.h"
#include "sandbox/apply/filter.h"

enum { QUICK_MS = 400, SMALL_MEMORY = 64 << 20 };

#define READER(name) \
	static bool name(const struct format_input *input, const struct derive_request *request, \
	                 struct derive_result *ret, struct err *err)
#define UNUSED (void)input, (void)request, (void)ret, (void)err

static int file_of(const char *content)
{
	_cleanup_fd_ int fd = memfd_create("file", MFD_CLOEXEC);
	char path[64];

	assert_true(fd_write_all(fd, content, strlen(content)));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static bool run(format_read_fn *read, const struct cancel *cancel, struct derive_result *ret,
                struct err *err)
{
	const struct format format = { .key = "test", .words = "a test file", .takes = "",
		                       .read = read };
	_cleanup_fd_ int fd = file_of("content\n");
	const struct derive_request request = { .fd = fd, .name = "x.test", .size = 8,
		                                .timeout_ms = QUICK_MS,
		                                .memory_bytes = SMALL_MEMORY };

	return format_derive(&format, &request, cancel, ret, err);
}

/* ---- a good one ---- */

READER(good)
{
	char content[16] = "";
	struct text_out out;

	if (read(input->fd, content, sizeof(content) - 1) != 8)
		return err_set(err, ERR_NOT_TEXT, "It cannot be read.");
	text_out_init(&out, request, ret);
	text_out_printf(&out, "It says \xff\x1b[31m: ");
	text_out(&out, span_str(content));
	text_out_end(&out);
	format_library(ret, "libtest %d", 3);
	format_fact_count(ret, "pages", 7);
	format_fact(ret, "title", SPAN("a\nb\x01"));
	format_entry_count(format_outline_at(ret, SPAN("One"), "pages", 1), "level", 1);
	format_picture(ret, "image/png", SPAN("\x89PNG"));
	return true;
}

static void check_good(void)
{
	struct derive_result result;
	struct err err = ERR_INIT;
	char *facts, *outline;

	if (!run(good, NULL, &result, &err))
		fail_msg("%s", err.message);
	assert_string_equal(result.text.data, "It says \xEF\xBF\xBD[31m: content\n");
	assert_string_equal(result.library, "libtest 3");
	assert_string_equal(result.kind, "a test file");
	facts = json_dumps(result.facts, JSON_COMPACT);
	outline = json_dumps(result.outline, JSON_COMPACT);
	assert_string_equal(facts, "{\"pages\":7,\"title\":\"a b\"}");
	assert_string_equal(outline, "[{\"name\":\"One\",\"ask\":{\"pages\":\"1\"},\"level\":1}]");
	assert_int_equal(json_array_size(result.pictures), 1);
	free(facts);
	free(outline);
	derive_result_release(&result);
}

static void an_answer_arrives_whole(void **state)
{
	(void)state;
	check_good();
}

/* ---- page numbers ---- */

static void page_numbers_are_joined_and_checked(void **state)
{
	static const struct {
		const char *text, *pages;
	} rows[] = {
		{ NULL, "1-9 " },         { "3", "3-3 " },         { "3-5,8", "3-5 8-8 " },
		{ " 8 , 3-5", "3-5 8-8 " }, { "3-5,4-7,2", "2-7 " }, { "7-", "7-9 " },
		{ "-2", "1-2 " },         { "5-100", "5-9 " },     { "10", NULL },
		{ "0", NULL },            { "x", NULL },           { "5-3", NULL },
		{ "", NULL },             { "3,,4", NULL },        { "1-2-3", NULL },
		{ "99999999999999999999999999", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct format_pages pages;
		struct err err = ERR_INIT;
		_cleanup_buf_ struct buf text = BUF_INIT(1000);
		const bool ok = format_pages(rows[i].text, "page", 9, &pages, &err);

		if (ok != (rows[i].pages != NULL))
			fail_msg("%s", rows[i].text);
		for (size_t k = 0; ok && k < pages.count; k++)
			buf_printf(&text, "%d-%d ", (int)pages.ranges[k].first,
			           (int)pages.ranges[k].last);
		if (ok)
			assert_string_equal(text.data, rows[i].pages);
		assert_true(!ok || !format_pages_have(&pages, 10));
	}
}

/* ---- hostile ones ---- */

static volatile bool forever = true;

READER(loops)
{
	UNUSED;
	while (forever)
		;
	return true;
}

READER(sleeps)
{
	UNUSED;
	while (forever)
		nanosleep(&(struct timespec){ 100, 0 }, NULL);
	return true;
}

READER(allocates)
{
	UNUSED;
	while (forever)
		memset(mem_alloc(1, 1 << 20), 1, 1 << 20);
	return true;
}

READER(stops_at_no_memory)
{
	UNUSED;
	while (forever) {
		char *block = malloc(1 << 20);

		block[0] = block[4096] = 1;
	}
	return true;
}

READER(crashes)
{
	UNUSED;
	*(volatile int *)8 = 1;
	return true;
}

READER(aborts)
{
	UNUSED;
	abort();
}

READER(recurses)
{
	volatile char frame[4096];

	frame[0] = 1;
	return !forever || (recurses(input, request, ret, err) && frame[0]);
}

READER(exits)
{
	UNUSED;
	_exit(0);
}

READER(prints_garbage)
{
	UNUSED;
	fd_write_all(CHILD_ANSWER, "this is no frame, and it goes on for long enough", 48);
	_exit(0);
}

static void send_head(uint64_t json, uint64_t text)
{
	char head[CHILD_HEAD_BYTES];

	memcpy(head, CHILD_MAGIC, 8);
	memcpy(head + 8, &json, 8);
	memcpy(head + 16, &text, 8);
	fd_write_all(CHILD_ANSWER, head, sizeof(head));
}

READER(lies_large)
{
	UNUSED;
	send_head(UINT64_MAX, UINT64_MAX);
	_exit(0);
}

READER(lies_short)
{
	UNUSED;
	send_head(1000, 1000);
	_exit(0);
}

static void send_whole(const char *json, struct span text, const char *more)
{
	send_head(strlen(json), text.len);
	fd_write_all(CHILD_ANSWER, json, strlen(json));
	fd_write_all(CHILD_ANSWER, text.data, text.len);
	fd_write_all(CHILD_ANSWER, more, strlen(more));
	_exit(0);
}

READER(sends_more)
{
	UNUSED;
	send_whole("{\"facts\":{}}", SPAN("a"), "more");
	return true;
}

READER(sends_controls)
{
	UNUSED;
	send_whole("{\"facts\":{}}", SPAN("a\x1b[31m"), "");
	return true;
}

READER(sends_no_utf8)
{
	UNUSED;
	send_whole("{\"facts\":{}}", SPAN("a\xff"), "");
	return true;
}

READER(sends_no_json)
{
	UNUSED;
	send_whole("{\"facts\":", SPAN("a"), "");
	return true;
}

READER(sends_other_types)
{
	UNUSED;
	send_whole("{\"facts\":[],\"pictures\":[3]}", SPAN("a"), "");
	return true;
}

READER(lies_about_errors)
{
	UNUSED;
	send_whole("{\"error\":\"denied_by_user\",\"message\":\"It \\u001b[31m\\n\"}", SPAN(""), "");
	return true;
}

static const struct harm {
	const char *name;
	format_read_fn *read;
	enum err_code code;
	const char *says;
} harms[] = {
	{ "loops", loops, ERR_TOO_LARGE, "within 0.4 s" },
	{ "sleeps", sleeps, ERR_TOO_LARGE, "within 0.4 s" },
	{ "allocates", allocates, ERR_TOO_LARGE, "64 MB of memory" },
	{ "stops at no memory", stops_at_no_memory, ERR_TOO_LARGE, "64 MB of memory" },
	{ "crashes", crashes, ERR_TOOL_FAILED, "crashed (SIGSEGV)" },
	{ "aborts", aborts, ERR_TOOL_FAILED, "crashed (SIG" },
	{ "recurses", recurses, ERR_TOOL_FAILED, "crashed (SIGSEGV)" },
	{ "exits", exits, ERR_TOOL_FAILED, "without an answer" },
	{ "prints garbage", prints_garbage, ERR_TOOL_FAILED, "breaks the rules" },
	{ "lies large", lies_large, ERR_TOOL_FAILED, "breaks the rules" },
	{ "lies short", lies_short, ERR_TOOL_FAILED, "without an answer" },
	{ "sends more", sends_more, ERR_TOOL_FAILED, "breaks the rules" },
	{ "sends controls", sends_controls, ERR_TOOL_FAILED, "breaks the rules" },
	{ "sends no UTF-8", sends_no_utf8, ERR_TOOL_FAILED, "breaks the rules" },
	{ "sends no JSON", sends_no_json, ERR_TOOL_FAILED, "breaks the rules" },
	{ "sends other types", sends_other_types, ERR_TOOL_FAILED, "breaks the rules" },
	{ "lies about errors", lies_about_errors, ERR_TOOL_FAILED, "x.test: It  [31m" },
};

static size_t descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	size_t count = 0;

	assert_non_null(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

/* With sanitizers memory does not run out, and programs do not crash, as they do otherwise. */
#ifndef __has_feature
#define __has_feature(name) 0
#endif
enum { SANITIZED = __has_feature(address_sanitizer) };

static void each_harm_is_one_error(void **state)
{
	const size_t before = descriptors();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(harms); i++) {
		struct derive_result result;
		struct err err = ERR_INIT;

		if (SANITIZED && (strstr(harms[i].says, "memory") || strstr(harms[i].says, "SIG")))
			continue;
		if (run(harms[i].read, NULL, &result, &err))
			fail_msg("%s: succeeded", harms[i].name);
		if (err.code != harms[i].code || !strstr(err.message, harms[i].says))
			fail_msg("%s: %s: %s", harms[i].name, err_name(err.code), err.message);
		assert_null(result.facts);
		assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no zombie */
	}
	assert_int_equal(descriptors(), before);
}

/* ---- what it cannot do ---- */

#define REFUSED(call) \
	do { \
		if ((long)(call) != -1) \
			return err_set(err, ERR_NOT_TEXT, "It did: %s", #call); \
	} while (0)

READER(tries_everything)
{
	char *argv[] = { (char *)"/bin/true", NULL };
	char byte;

	(void)input, (void)request, (void)ret;
	REFUSED(open("/etc/passwd", O_RDONLY));
	REFUSED(open("/", O_RDONLY | O_DIRECTORY));
	REFUSED(open("/proc/self/environ", O_RDONLY));
	REFUSED(open("/tmp/made", O_WRONLY | O_CREAT, 0600));
	REFUSED(access("/etc/passwd", R_OK));
	REFUSED(mkdir("/tmp/made", 0700));
	REFUSED(unlink("/tmp/none"));
	REFUSED(rename("/tmp/none", "/tmp/none2"));
	REFUSED(chdir("/tmp"));
	REFUSED(socket(AF_INET, SOCK_STREAM, 0));
	REFUSED(socket(AF_UNIX, SOCK_STREAM, 0));
	REFUSED(syscall(SYS_connect, 0, NULL, 0));
	REFUSED(fork());
	REFUSED(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
	REFUSED(execv(argv[0], argv));
	REFUSED(kill(getppid(), 0));
	REFUSED(kill(getpid(), 0));
	REFUSED(syscall(SYS_ptrace, 16, getppid(), 0, 0));
	REFUSED(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	REFUSED(fcntl(0, F_SETOWN, getppid()));
	REFUSED(fcntl(CHILD_ALIVE, F_SETFL, 0));
	REFUSED(prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0));
	REFUSED(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
	REFUSED(write(0, "x", 1));
	REFUSED(pwrite(0, "x", 1, 0));
	REFUSED(ftruncate(0, 0));
	REFUSED(fcntl(5, F_GETFD)); /* nothing else was inherited */
	if (pread(0, &byte, 1, 0) != 1)
		return err_set(err, ERR_NOT_TEXT, "It cannot even read its file.");
	return true;
}

static void a_reader_can_do_nothing_but_read(void **state)
{
	struct derive_result result;
	struct err err = ERR_INIT;

	(void)state;
	if (!run(tries_everything, NULL, &result, &err))
		fail_msg("%s", err.message);
	derive_result_release(&result);
}

READER(reads_its_folder)
{
	(void)input, (void)request, (void)ret;
	if (open("/usr/share/doc", O_RDONLY | O_DIRECTORY) < 0)
		return err_set(err, ERR_NOT_TEXT, "It cannot list its folder: %d", errno);
	REFUSED(open("/etc/passwd", O_RDONLY));
	REFUSED(open("/usr/share", O_RDONLY | O_DIRECTORY));
	REFUSED(open("/usr/share/doc/made", O_WRONLY | O_CREAT, 0600));
	return true;
}

static void a_library_can_read_its_own_folders(void **state)
{
	static const char *const folders[] = { "/usr/share/none", "/usr/share/doc", NULL };
	const struct format format = { .key = "test", .words = "a test file", .takes = "",
		                       .data = folders, .read = reads_its_folder };
	_cleanup_fd_ int fd = file_of("content\n");
	const struct derive_request request = { .fd = fd, .name = "x.test", .size = 8 };
	struct derive_result result;
	struct err err = ERR_INIT;

	(void)state;
	if (!format_derive(&format, &request, NULL, &result, &err))
		fail_msg("%s", err.message);
	derive_result_release(&result);
}

/* ---- cancelling ---- */

static void *cancel_soon(void *data)
{
	poll(NULL, 0, 50);
	cancel_set(data);
	return NULL;
}

static void it_can_be_cancelled(void **state)
{
	struct cancel cancel;
	struct derive_result result;
	struct err err = ERR_INIT;
	pthread_t thread;

	(void)state;
	assert_true(cancel_init(&cancel, &err));
	assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &cancel), 0);
	assert_false(run(sleeps, &cancel, &result, &err));
	assert_int_equal(err.code, ERR_CANCELLED);
	pthread_join(thread, NULL);
	cancel_release(&cancel);
}

/* ---- in a confined file worker ---- */

/* Which may neither kill nor execute: the pipe ends its children. */
static void works_in_a_file_worker(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (!filter_install(FILTER_BASE) || !filter_install(FILTER_FILES))
			_exit(90);
		if (kill(getpid(), 0) == 0)
			_exit(91);
		check_good();
		a_reader_can_do_nothing_but_read(NULL);
		each_harm_is_one_error(NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_arrives_whole),
		cmocka_unit_test(page_numbers_are_joined_and_checked),
		cmocka_unit_test(each_harm_is_one_error),
		cmocka_unit_test(a_reader_can_do_nothing_but_read),
		cmocka_unit_test(a_library_can_read_its_own_folders),
		cmocka_unit_test(it_can_be_cancelled),
		cmocka_unit_test(works_in_a_file_worker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
