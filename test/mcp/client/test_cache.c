/* SPDX-License-Identifier: Apache-2.0 */
/* The files of what servers declare, and of what was allowed: several processes write them. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "data/json.h"
#include "mcp/client/client.h"
#include "mcp/servers/kept.h"

enum {
	ROUNDS = 20,
	WAIT_MS = 400,  /* less than any of the writers waits for the lock */
	TOO_LATE = 2,   /* exit status: it may have given up waiting, which says nothing */
};

static void write_declared(const char *file, const char *server)
{
	json_auto_t *tools = json_array(), *offers = json_object();

	mcp_cache_write(file, server, "hash", tools, offers);
}

static void write_allowed(const char *file, const char *server)
{
	json_auto_t *all = json_object(), *approval = json_object();

	mcp_approvals_set(all, file, server, "tool", approval);
}

typedef void writer(const char *file, const char *server);

/* What has the file and a lock of it does the same as `write` would, but slowly. */
static void write_holding(const char *file, const char *server)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 16);
	json_auto_t *all = mcp_cache_load(file);
	struct err err = ERR_INIT;

	json_object_set_new(all, server, json_object());
	assert_true(json_print(&out, all, 0));
	assert_true(file_replace(file, buf_view(&out), 0600, &err));
}

/* `lock`: of this process alone. */
static pid_t spawn_writer(writer *write_entry, const char *file, const char *server, int ready,
                          int lock)
{
	const pid_t pid = fork();
	uint64_t began;

	assert_true(pid >= 0);
	if (pid)
		return pid;
	close(lock);
	began = clock_monotonic_ms();
	if (write(ready, "", 1) == 1)
		write_entry(file, server);
	_exit(clock_monotonic_ms() - began < WAIT_MS ? 0 : TOO_LATE);
}

/* Another process adds to the file while a second one waits. False: too slowly to say anything. */
static bool both_are_kept(writer *write_entry, const char *file, const char *first,
                          const char *second)
{
	int lock = file_lock_next_to(file, 10000), ready[2], status;
	char byte;
	pid_t pid;

	assert_true(lock >= 0);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = spawn_writer(write_entry, file, second, ready[1], lock);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	write_holding(file, first);
	close(lock);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(ready[0]);
	close(ready[1]);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == TOO_LATE)
		return false;
	json_auto_t *all = mcp_cache_load(file);

	assert_non_null(json_object_get(all, first));
	assert_non_null(json_object_get(all, second));
	return true;
}

static void nothing_is_lost(void **state)
{
	static writer *const writers[] = { write_declared, write_allowed };
	char folder[] = "/tmp/hasp-test-cache-XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < ARRAY_LEN(writers); i++) {
		_cleanup_free_ char *file = mem_printf("%s/%zu.json", folder, i);
		_cleanup_free_ char *lock = mem_printf("%s.lock", file);

		for (int round = 0; round < ROUNDS;) {
			_cleanup_free_ char *first = mem_printf("first%d", round);
			_cleanup_free_ char *second = mem_printf("second%d", round);

			round += both_are_kept(writers[i], file, first, second);
		}
		json_auto_t *all = mcp_cache_load(file);

		assert_int_equal(json_object_size(all), 2 * ROUNDS);
		unlink(file);
		unlink(lock);
	}
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(nothing_is_lost) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
