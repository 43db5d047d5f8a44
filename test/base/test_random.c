/* SPDX-License-Identifier: Apache-2.0 */
/* Random bytes where the kernel refuses getrandom, and where it has no other source either. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/random.h"

#define DENY(call, error) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))

/* From here on this process has no getrandom, or nothing to open either. */
static void deny(bool files)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		DENY(SYS_getrandom, ENOSYS),
		DENY(files ? SYS_openat : SYS_getrandom, EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { .len = ARRAY_LEN(filter), .filter = filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(99);
}

/* What `run` returns in a process of its own. */
static int in_child(int (*run)(void))
{
	const pid_t child = fork();
	int status = 0;

	assert_true(child >= 0);
	if (!child) {
		alarm(60);
		_exit(run());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static bool is_zero(const unsigned char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (bytes[i])
			return false;
	return true;
}

static int fill_without_getrandom(void)
{
	unsigned char bytes[4096] = { 0 };
	struct err err = ERR_INIT;

	deny(false);
	return random_fill(bytes, sizeof(bytes), &err) && !is_zero(bytes, 32) &&
	       !is_zero(bytes + sizeof(bytes) - 32, 32) ? 0 : 1;
}

static int fail_without_any(void)
{
	char text[2 * 32 + 1] = "secret";
	struct err err = ERR_INIT;

	deny(true);
	if (random_hex(text, 32, &err) || text[0])
		return 1;
	return err.code == ERR_PERMISSION_DENIED && strstr(err.message, "no random bytes") ? 0 : 2;
}

static int differ_without_any(void)
{
	char uuids[64][RANDOM_UUID_SIZE];

	deny(true);
	for (size_t i = 0; i < ARRAY_LEN(uuids); i++) {
		random_uuid(uuids[i]);
		for (size_t k = 0; k < i; k++)
			if (!strcmp(uuids[k], uuids[i]))
				return 1;
	}
	return 0;
}

static void a_kernel_without_getrandom_has_a_file(void **state)
{
	(void)state;
	assert_int_equal(in_child(fill_without_getrandom), 0);
}

static void without_random_bytes_there_is_no_secret(void **state)
{
	(void)state;
	assert_int_equal(in_child(fail_without_any), 0);
}

static void names_differ_even_then(void **state)
{
	(void)state;
	assert_int_equal(in_child(differ_without_any), 0);
}

static void the_texts_have_their_forms(void **state)
{
	unsigned char bytes[RANDOM_UUID_BYTES];
	char uuid[RANDOM_UUID_SIZE], hex[2 * 100 + 1];
	struct err err = ERR_INIT;

	(void)state;
	memset(bytes, 0xff, sizeof(bytes));
	random_uuid_print(bytes, uuid);
	assert_string_equal(uuid, "ffffffff-ffff-4fff-bfff-ffffffffffff");
	memset(bytes, 0, sizeof(bytes));
	random_uuid_print(bytes, uuid);
	assert_string_equal(uuid, "00000000-0000-4000-8000-000000000000");
	assert_true(random_hex(hex, 100, &err));
	assert_int_equal(strspn(hex, "0123456789abcdef"), 200);
	assert_int_equal(strlen(hex), 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_without_getrandom_has_a_file),
		cmocka_unit_test(without_random_bytes_there_is_no_secret),
		cmocka_unit_test(names_differ_even_then),
		cmocka_unit_test(the_texts_have_their_forms),
	};

	return cmocka_run_group_tests_name("base/random", tests, NULL, NULL);
}
