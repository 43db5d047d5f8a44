/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures by the user's SSH key: ssh-keygen(1) makes and checks them, also with keys in an agent
 * or on a token. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/buf.h"
#include "base/child.h"
#include "base/fd.h"
#include "base/mem.h"

enum { OUTPUT_MAX = 64 << 10, SIGNATURE_FD = 3 };
/* The signature, as the program's argument. */
#define SIGNATURE_PATH "/dev/fd/3"

/* ---- the program ------------------------------------------------------------------- */

struct keygen {
	const char *const *argv;
	struct span input;
	struct span signature;  /* at SIGNATURE_PATH; empty: none */
	bool speaks;            /* what it writes to standard error is the user's */
	struct buf output;
};

static bool keygen_spawn(const struct keygen *keygen, const int fds[3], pid_t *ret)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	int failed;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, fds[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, fds[1], STDOUT_FILENO);
	if (!keygen->speaks)
		posix_spawn_file_actions_adddup2(&files, fds[1], STDERR_FILENO);
	if (keygen->signature.len)
		posix_spawn_file_actions_adddup2(&files, fds[2], SIGNATURE_FD);
	child_attributes(&how, POSIX_SPAWN_SETSIGMASK);
	failed = posix_spawnp(ret, "ssh-keygen", &files, &how, (char *const *)keygen->argv,
	                      environ);
	posix_spawnattr_destroy(&how);
	posix_spawn_file_actions_destroy(&files);
	errno = failed;
	return failed == 0;
}

/* Whether it says yes; what it says is in `output`. */
static bool keygen_run(struct keygen *keygen, struct err *err)
{
	_cleanup_fd_ int input = child_input("statement", keygen->input);
	_cleanup_fd_ int signature = child_input("signature", keygen->signature);
	_cleanup_fd_ int out = -1;
	int ends[2], status;
	pid_t pid;

	if (input < 0 || signature < 0 || pipe2(ends, O_CLOEXEC) != 0)
		return err_set(err, ERR_NO_RESOURCES, "ssh-keygen cannot be started: %s.",
		               strerror(errno));
	out = ends[0];
	if (!keygen_spawn(keygen, (const int[]){ input, ends[1], signature }, &pid)) {
		close(ends[1]);
		return err_set(err, ERR_NO_RESOURCES, "ssh-keygen cannot be started: %s.",
		               strerror(errno));
	}
	close(ends[1]);
	(void)fd_read_into(out, &keygen->output, OUTPUT_MAX - 1);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	return err_set(err, ERR_INVALID_ARGUMENT, "ssh-keygen says: %.*s",
	               (int)span_trim(buf_view(&keygen->output)).len,
	               span_trim(buf_view(&keygen->output)).data);
}

/* ---- signatures -------------------------------------------------------------------- */

char *audit_statement(uint64_t number, const char *hash)
{
	return mem_printf("hasp audit record 1\nrecord %llu\nsha256 %s\n",
	                  (unsigned long long)number, hash);
}

char *audit_sign(const char *key, const char *name_space, struct span text, struct err *err)
{
	const char *const argv[] = { "ssh-keygen", "-Y", "sign", "-f", key, "-n", name_space,
		                     NULL };
	struct keygen keygen = { .argv = argv, .input = text, .speaks = true,
		                 .output = BUF_INIT(OUTPUT_MAX) };
	const bool ok = keygen_run(&keygen, err) ||
	                err_set(err, ERR_INVALID_ARGUMENT,
	                        "ssh-keygen has not signed with the key %s.", key);
	char *signature = ok ? mem_dup(keygen.output.data, keygen.output.len) : NULL;

	buf_release(&keygen.output);
	return signature;
}

bool audit_check_signature(const char *signers, const char *who, const char *name_space,
                           struct span text, struct span signature, struct err *err)
{
	const char *const known[] = { "ssh-keygen", "-Y", "verify", "-f", signers, "-I", who, "-n",
		                      name_space, "-s", SIGNATURE_PATH, NULL };
	const char *const any[] = { "ssh-keygen", "-Y", "check-novalidate", "-n", name_space, "-s",
		                    SIGNATURE_PATH, NULL };
	struct keygen keygen = { .argv = signers ? known : any, .input = text,
		                 .signature = signature, .output = BUF_INIT(OUTPUT_MAX) };
	bool good;

	if (!signature.len || (signers && (!who || who[0] == '-')))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               !signature.len ? "It is empty." : "It names no signer.");
	good = keygen_run(&keygen, err);
	buf_release(&keygen.output);
	return good;
}
