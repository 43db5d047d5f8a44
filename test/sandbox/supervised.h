/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: a child with a command's filter, supervised by a thread of the test.
 *
 *     struct heard *heard = supervised(&plan, body, data);    // the child has ended
 *     assert_int_equal(heard->status, 0);
 *     heard_free(heard);
 *
 * There are no mounts and no Landlock: what is tested is what the filter and the supervisor do.
 */
#ifndef HASP_TEST_SUPERVISED_H
#define HASP_TEST_SUPERVISED_H

#include <pthread.h>
#include <sys/types.h>

#include "sandbox/plan/denial.h"
#include "sandbox/supervise/supervise.h"

enum { HEARD_MAX = 4096 };

struct heard {
	pthread_mutex_t lock;
	struct denial *denials; /* HEARD_MAX of them */
	size_t count, made;
	char made_last[4096];
	int status;             /* as waitpid has it */
};

/* A plan by hand: one writable root, /dev, the rest readable. */
struct supervised_plan {
	struct sandbox_plan plan;
	struct sandbox_rule rules[8];
	struct sandbox_absent absent[4];
	char *roots[1];
};
void supervised_plan_init(struct supervised_plan *plan, enum sandbox_level level, const char *root);
/* Rules and absent names in their order; the strings are borrowed. */
void supervised_rule(struct supervised_plan *plan, const char *path, enum sandbox_access access,
                     enum sandbox_reason reason, bool folder);
void supervised_absent(struct supervised_plan *plan, const char *path);

/* A child that has not begun yet, as user `uid` if that is not 0. */
struct supervised_child {
	pid_t pid;
	int go;   /* write a byte: it begins */
	struct supervisor *supervisor;
	struct heard *heard;
};
void supervised_start(const struct sandbox_plan *plan, uid_t uid, int (*body)(void *data),
                      void *data, struct supervised_child *ret);
/* Waits for it and stops the supervisor. */
struct heard *supervised_finish(struct supervised_child *child);
struct heard *supervised(const struct sandbox_plan *plan, int (*body)(void *data), void *data);
/* The same with a program: argv, in `folder`. */
struct heard *supervised_run(const struct sandbox_plan *plan, const char *folder,
                             const char *const *argv);
/* The first denial of this kind about `what` ("": about anything); NULL: none. */
const struct denial *heard_denial(const struct heard *heard, enum denial_kind kind,
                                  const char *what);
void heard_free(struct heard *heard);

/* A new folder under /tmp; removed with what is in it by temp_remove, which frees the path. */
char *temp_make(void);
void temp_remove(char *path);
/* In the child: ends it with a message if the condition does not hold. */
#define CHECK(condition) check_((condition), #condition, __FILE__, __LINE__)
void check_(bool holds, const char *text, const char *file, int line);
/* -errno, or what was returned. */
long result(long returned);

#endif
