/* SPDX-License-Identifier: Apache-2.0 */
/* Reading files whole: what is read, what is refused, and that nothing hangs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "file/private.h"
#include "file/snapshot.h"

#include "scratch.h"

static int setup(void **state)
{
	struct scratch *scratch = mem_alloc(1, sizeof(*scratch));

	scratch_open(scratch);
	*state = scratch;
	return 0;
}

static int teardown(void **state)
{
	scratch_close(*state);
	free(*state);
	return 0;
}

static char *path_of(const struct scratch *scratch, const char *name)
{
	return mem_printf("%s/%s", scratch->folder, name);
}

static void assert_refused(const struct scratch *scratch, const char *name, size_t max,
                           enum err_code code)
{
	_cleanup_snapshot_ struct snapshot snap = SNAPSHOT_INIT;
	struct err err = ERR_INIT;

	assert_false(snapshot_read(scratch->ws, name, max, &snap, &err));
	if (err.code != code)
		fail_msg("%s: %s, %s", name, err_name(err.code), err.message);
}

static void assert_reads(const struct scratch *scratch, const char *name, struct span want)
{
	_cleanup_snapshot_ struct snapshot snap = SNAPSHOT_INIT;
	struct sha256 sum = sha256_of(want);
	struct err err = ERR_INIT;

	if (!snapshot_read(scratch->ws, name, 0, &snap, &err))
		fail_msg("%s: %s", name, err.message);
	assert_true(snap.exists);
	assert_true(span_eq(snap.content, want));
	assert_true(sha256_eq(&snap.sha256, &sum));
	assert_int_equal(snap.stat.st_size, want.len);
}

static void content_of_any_size_is_read_with_its_hash(void **state)
{
	const size_t sizes[] = { 0, 1, 4095, 4096, 4097, 1 << 20, (1 << 20) + 1,
		                 HASHER_THREAD_BYTES, HASHER_THREAD_BYTES + 4097, 20 << 20 };
	_cleanup_free_ char *data = mem_alloc(20 << 20, 1);

	for (size_t i = 0; i < 20 << 20; i++)
		data[i] = (char)(i * 2654435761u >> 13);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		scratch_write(*state, "file", span_of(data, sizes[i]));
		assert_reads(*state, "file", span_of(data, sizes[i]));
	}
}

/* A content that was hashed before is known again by its bytes alone, not by size and time. */
static void a_change_that_time_stamps_hide_is_another_hash(void **state)
{
	_cleanup_free_ char *path = path_of(*state, "file");
	char content[1000];
	struct stat before;

	memset(content, 'a', sizeof(content));
	scratch_write(*state, "file", span_of(content, sizeof(content)));
	assert_int_equal(stat(path, &before), 0);
	for (size_t i = 0; i < 20; i++) {
		const struct timespec times[] = { before.st_atim, before.st_mtim };

		content[i * 50] = (char)('b' + i % 2);
		scratch_write(*state, "file", span_of(content, sizeof(content)));
		assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
		assert_reads(*state, "file", span_of(content, sizeof(content)));
		assert_reads(*state, "file", span_of(content, sizeof(content)));
		assert_int_equal(truncate(path, 900), 0);
		assert_reads(*state, "file", span_of(content, 900));
	}
}

static void a_missing_file_is_no_error(void **state)
{
	struct scratch *scratch = *state;
	const char *names[] = { "missing", "no/such/folder" };
	struct sha256 nothing = sha256_of(SPAN(""));
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		_cleanup_snapshot_ struct snapshot snap = SNAPSHOT_INIT;

		assert_true(snapshot_read(scratch->ws, names[i], 0, &snap, &err));
		assert_false(snap.exists);
		assert_int_equal(snap.fd, -1);
		assert_true(sha256_eq(&snap.sha256, &nothing));
	}
}

static void a_sparse_file_is_read_as_its_zeros(void **state)
{
	_cleanup_free_ char *path = path_of(*state, "sparse");
	_cleanup_free_ char *zeros = mem_alloc(3 << 20, 1);

	scratch_write(*state, "sparse", SPAN(""));
	assert_int_equal(truncate(path, 3 << 20), 0);
	assert_reads(*state, "sparse", span_of(zeros, 3 << 20));
}

static void odd_names_are_only_names(void **state)
{
	char longest[256];
	const char *names[] = { "new\nline", "quo'te\"s", "\xff\xfe", " ", "-rf", "\x1b[2J",
		                longest };

	memset(longest, 'n', 255);
	longest[255] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		scratch_write(*state, names[i], SPAN("x"));
		assert_reads(*state, names[i], SPAN("x"));
	}
}

/* The FIFO has no writer: an ordinary open would wait for one. */
static void special_files_are_refused_and_never_waited_for(void **state)
{
	struct scratch *scratch = *state;
	_cleanup_free_ char *fifo = path_of(scratch, "fifo");
	_cleanup_free_ char *device = path_of(scratch, "device");
	_cleanup_fd_ int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path), "%.80s/socket", scratch->folder);
	assert_int_equal(bind(sock, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(mkfifo(fifo, 0666), 0);
	assert_int_equal(mknod(device, S_IFCHR | 0666, makedev(1, 3)), 0);
	assert_refused(scratch, "fifo", 0, ERR_NOT_A_FILE);
	assert_refused(scratch, "device", 0, ERR_NOT_A_FILE);
	assert_refused(scratch, "socket", 0, ERR_NOT_A_FILE);
	assert_refused(scratch, ".", 0, ERR_NOT_A_FILE);
}

static void a_file_above_the_limit_is_too_large(void **state)
{
	scratch_write(*state, "file", SPAN("12345"));
	assert_refused(*state, "file", 4, ERR_TOO_LARGE);
	assert_reads(*state, "file", SPAN("12345"));
}

static void an_unreadable_file_is_permission_denied(void **state)
{
	struct scratch *scratch = *state;
	_cleanup_free_ char *path = path_of(scratch, "file");
	int status;
	pid_t child;

	scratch_write(scratch, "file", SPAN("x"));
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(chmod(scratch->folder, 0755), 0);
	child = fork();
	if (child == 0) {
		_cleanup_snapshot_ struct snapshot snap = SNAPSHOT_INIT;
		struct err err = ERR_INIT;

		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(2);
		snapshot_read(scratch->ws, "file", 0, &snap, &err);
		_exit(err.code == ERR_PERMISSION_DENIED ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

struct writer {
	char *path;
	volatile bool stop;
};

/* Writes the file over and over with one letter, all of it at once. */
static void *rewrite(void *arg)
{
	struct writer *writer = arg;
	_cleanup_free_ char *data = mem_alloc(256 << 10, 1);
	_cleanup_fd_ int fd = open(writer->path, O_WRONLY | O_CLOEXEC);

	for (int i = 0; !writer->stop; i++) {
		memset(data, 'a' + i % 26, 256 << 10);
		pwrite(fd, data, 256 << 10, 0);
		usleep(300);
	}
	return NULL;
}

/* The hash must be that of the bytes handed over, torn or not. */
static void the_hash_is_that_of_the_bytes_even_while_they_change(void **state)
{
	struct scratch *scratch = *state;
	struct writer writer = { path_of(scratch, "file"), false };
	_cleanup_free_ char *data = mem_alloc(256 << 10, 1);
	pthread_t thread;

	scratch_write(scratch, "file", span_of(data, 256 << 10));
	assert_int_equal(pthread_create(&thread, NULL, rewrite, &writer), 0);
	for (int i = 0; i < 200; i++) {
		_cleanup_snapshot_ struct snapshot snap = SNAPSHOT_INIT;
		struct err err = ERR_INIT;
		struct sha256 sum;

		assert_true(snapshot_read(scratch->ws, "file", 0, &snap, &err));
		sum = sha256_of(snap.content);
		assert_true(sha256_eq(&sum, &snap.sha256));
	}
	writer.stop = true;
	pthread_join(thread, NULL);
	free(writer.path);
}

#define scratch_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(content_of_any_size_is_read_with_its_hash),
		scratch_test(a_change_that_time_stamps_hide_is_another_hash),
		scratch_test(a_missing_file_is_no_error),
		scratch_test(a_sparse_file_is_read_as_its_zeros),
		scratch_test(odd_names_are_only_names),
		scratch_test(special_files_are_refused_and_never_waited_for),
		scratch_test(a_file_above_the_limit_is_too_large),
		scratch_test(an_unreadable_file_is_permission_denied),
		scratch_test(the_hash_is_that_of_the_bytes_even_while_they_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
