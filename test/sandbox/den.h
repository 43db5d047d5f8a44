/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: a plan made by hand, and this very program started inside it.
 *
 *     static void probe_write(char **args) { say("write", open(args[0], O_WRONLY)); }
 *     static const struct den_probe probes[] = { { "write", probe_write }, { 0 } };
 *
 *     int main(int argc, char **argv)
 *     {
 *             den_probe_main(argc, argv, probes);     // does not return inside
 *             ... cmocka ...
 *     }
 *     ...
 *     den_init(&den, SANDBOX_USE_COMMAND, 0);         // as which user
 *     den_rule(&den, "ws", SANDBOX_WRITE, SANDBOX_REASON_ROOT);
 *     den_expect(&den, "write: EROFS\n", "write", "outside", NULL);
 *     den_release(&den);
 *
 * What a probe prints is compared with what is expected, whole.
 */
#ifndef HASP_TEST_DEN_H
#define HASP_TEST_DEN_H

#pragma GCC diagnostic ignored "-Wframe-larger-than=" /* the first thread's stack has room */

#include "sandbox/apply/spawn.h"
#include "sandbox/plan/denial.h"

enum { DEN_RULES = 32, DEN_OUTPUT = 32768 };

struct den {
	char base[128];              /* folder of the test's own: its places are beneath */
	struct sandbox_plan plan;
	struct sandbox_rule rules[DEN_RULES];
	char *roots[1];
	uid_t uid;                   /* not 0: everything is done as this user */
	bool undumpable;             /* the parent may not be looked at */
	int program;                 /* -1: this one */
	char output[DEN_OUTPUT];     /* of the last run */
	int status;                  /* of the last run, as waitpid has it */
	bool explained;              /* sandbox_limits_explain said, of the last run: */
	struct denial denial;
	struct err err;              /* of the last run; ERR_NONE: it was started */
};

enum { DEN_NOBODY = 65534 };

/* At full, with namespaces of its own, in /var/tmp. Makes base/ws with a root of it, and base/outside. */
void den_init(struct den *den, enum sandbox_use use, uid_t uid);
/* The same in /tmp. */
void den_init_tmp(struct den *den, enum sandbox_use use, uid_t uid);
void den_release(struct den *den); /* removes the folder */

/* Beneath den->base, unless absolute; what does not exist is not made. Sorted as plans are. */
void den_rule(struct den *den, const char *path, enum sandbox_access access,
              enum sandbox_reason reason);
/* A file (with its name as content) or, with a slash at its end, a folder; folders above are made. */
void den_make(struct den *den, const char *path);
/* Absolute; valid until the next sixteen. */
const char *den_path(const struct den *den, const char *path);
/* A session's folder, base/temp. */
void den_temp(struct den *den);

/* Starts `probe` with arguments (relative ones are taken as beneath base if they begin with "./"), waits,
 * keeps its output. */
void den_run(struct den *den, const char *probe, ...) __attribute__((sentinel));
/* The same, fails unless its output is exactly that and it ended with 0. */
void den_expect(struct den *den, const char *output, const char *probe, ...)
	__attribute__((sentinel));
/* Starts it and leaves it running; *ret_out is a descriptor on its output. */
void den_start(struct den *den, struct sandbox_child *ret, int *ret_out, const char *probe, ...)
	__attribute__((sentinel));

/* All names beneath base with their types and modes, sorted, one a line; the caller frees. */
char *den_tree(const struct den *den);

/* ---- inside ---------------------------------------------------------------------------- */

struct den_probe {
	const char *name;
	void (*run)(char **args); /* NULL-terminated */
};
/* argv[0] is the test's name; this program is started inside by it. */
void den_probe_main(int argc, char **argv, const struct den_probe *probes);
/* "what: ok" if the result is not negative, else "what: ENAME". */
void say(const char *what, long result);

#endif
