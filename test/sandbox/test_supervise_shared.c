/* SPDX-License-Identifier: Apache-2.0 */
/* The landlock level gives a command what it would have in namespaces of its own: shared memory, and
 * temporary files without a name; and nothing of other programs'. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "canaries.h"

enum { SIZE = 4096 };

struct shared {
	struct supervised_plan plan;
	key_t key;    /* of a segment outside */
	int id;       /* its number */
	char *memory; /* and what is in it */
	int pipe[2];  /* the child writes the number of its own */
};

static void shared_make(struct shared *shared)
{
	*shared = (struct shared){ .key = (key_t)(0x68000000 + getpid()) };
	supervised_plan_init(&shared->plan, SANDBOX_LANDLOCK, "/tmp/none");
	shared->id = shmget(shared->key, SIZE, IPC_CREAT | IPC_EXCL | 0600);
	assert_true(shared->id >= 0);
	shared->memory = shmat(shared->id, NULL, 0);
	assert_true(shared->memory != (void *)-1);
	shmctl(shared->id, IPC_RMID, NULL);
	memset(shared->memory, 'c', SIZE);
	assert_int_equal(pipe(shared->pipe), 0);
}

static void shared_free(struct shared *shared)
{
	assert_int_equal(shared->memory[0], 'c');
	shmdt(shared->memory);
	close(shared->pipe[0]);
	close(shared->pipe[1]);
}

static int use_segments(void *data)
{
	const struct shared *shared = data;
	const key_t key = shared->key + 1;
	int id, other;
	char *memory;
	struct shmid_ds info;

	CHECK(result(shmget(key, SIZE, 0600)) == -ENOENT);
	id = shmget(key, SIZE, IPC_CREAT | IPC_EXCL | 0666);
	CHECK(id >= 0);
	CHECK(result(shmget(key, SIZE, IPC_CREAT | IPC_EXCL | 0600)) == -EEXIST);
	CHECK(shmget(key, SIZE, IPC_CREAT | 0600) == id && shmget(key, 0, 0) == id);
	CHECK(result(shmget(key, 2 * SIZE, 0)) == -EINVAL);
	memory = shmat(id, NULL, 0);
	CHECK(memory != (void *)-1);
	memory[0] = 'x';
	CHECK(shmctl(id, IPC_STAT, &info) == 0 && info.shm_segsz == SIZE);
	CHECK((info.shm_perm.mode & 077) == 0);
	CHECK(write(shared->pipe[1], &id, sizeof(id)) == sizeof(id));
	other = shmget(IPC_PRIVATE, SIZE, IPC_CREAT | 0600);
	CHECK(other >= 0 && other != id);
	CHECK(shmctl(other, IPC_RMID, NULL) == 0);
	CHECK(shmat(other, NULL, 0) == (void *)-1);
	CHECK(memory[0] == 'x');
	return 0;
}

static void a_command_has_segments_of_its_own(void **state)
{
	struct shared shared;
	struct heard *heard;
	struct shmid_ds info;
	int id = -1;

	(void)state;
	shared_make(&shared);
	heard = supervised(&shared.plan.plan, use_segments, &shared);
	assert_int_equal(heard->status, 0);
	assert_int_equal(read(shared.pipe[0], &id, sizeof(id)), sizeof(id));
	/* Nothing of it stays on the machine. */
	assert_int_equal(shmctl(id, IPC_STAT, &info), -1);
	assert_int_equal(shmget(shared.key + 1, SIZE, 0), -1);
	heard_free(heard);
	shared_free(&shared);
}

static int reach_for_segments(void *data)
{
	const struct shared *shared = data;
	struct shmid_ds info;

	CHECK(result(shmget(shared->key, SIZE, 0600)) == -ENOENT);
	CHECK(shmat(shared->id, NULL, 0) == (void *)-1 && errno == EPERM);
	CHECK(result(shmctl(shared->id, IPC_STAT, &info)) == -EPERM);
	CHECK(result(shmctl(shared->id, IPC_RMID, NULL)) == -EPERM);
	CHECK(result(shmctl(0, SHM_STAT, &info)) == -EPERM);
	for (int i = 0; i < LIMIT_SHARED_SEGMENTS; i++)
		CHECK(shmget(IPC_PRIVATE, 1, IPC_CREAT | 0600) >= 0);
	CHECK(result(shmget(IPC_PRIVATE, 1, IPC_CREAT | 0600)) == -ENOSPC);
	return 0;
}

static void others_segments_are_out_of_reach(void **state)
{
	struct shared shared;
	struct heard *heard;

	(void)state;
	shared_make(&shared);
	heard = supervised(&shared.plan.plan, reach_for_segments, &shared);
	assert_int_equal(heard->status, 0);
	assert_non_null(heard_denial(heard, DENIAL_CALL, "shmat"));
	assert_non_null(heard_denial(heard, DENIAL_CALL, "shmctl"));
	heard_free(heard);
	shared_free(&shared);
}

static int make_without_a_name(void *data)
{
	struct stat st, temp;
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0640);

	CHECK(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
	CHECK(fstat(fd, &st) == 0 && stat(data, &temp) == 0 && st.st_dev == temp.st_dev);
	CHECK(st.st_nlink == 0 && (st.st_mode & 07777) == 0600);
	CHECK(pwrite(fd, "x", 1, 0) == 1);
	/* A program that forbids tracing is told that it is so, and is looked after all the same. */
	CHECK(prctl(PR_SET_DUMPABLE, 0UL, 0UL, 0UL, 0UL) == 0);
	CHECK(prctl(PR_GET_DUMPABLE, 0UL, 0UL, 0UL, 0UL) == 1);
	return 0;
}

static void a_file_without_a_name_lies_in_the_sessions_folder(void **state)
{
	char folder[] = "/tmp/hasp-test-XXXXXX";
	struct supervised_plan plan;
	struct heard *heard;
	mode_t before = umask(077);

	(void)state;
	assert_non_null(mkdtemp(folder));
	supervised_plan_init(&plan, SANDBOX_LANDLOCK, "/var/tmp/none");
	plan.plan.temp = folder;
	heard = supervised(&plan.plan, make_without_a_name, folder);
	umask(before);
	assert_int_equal(heard->status, 0);
	assert_int_equal(heard->count, 0);
	heard_free(heard);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_has_segments_of_its_own),
		cmocka_unit_test(others_segments_are_out_of_reach),
		cmocka_unit_test(a_file_without_a_name_lies_in_the_sessions_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
