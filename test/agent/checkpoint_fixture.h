/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of checkpoints share: one project with a home of its own, real tools, and git. */
#ifndef HASP_TEST_AGENT_CHECKPOINT_FIXTURE_H
#define HASP_TEST_AGENT_CHECKPOINT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/checkpoint/checkpoint.h"
#include "base/notices.h"
#include "base/span.h"

struct fixture {
	char top[64], root[80];
	struct provider *provider;
	struct home *home;
	struct checkpoints *checkpoints;
	struct session session;
	unsigned calls;
	char notice[1024]; /* the last one */
};

/* cmocka's: *state is the struct fixture. */
int checkpoint_setup(void **state);
int checkpoint_teardown(void **state);
#define WITH_FIXTURE(test) \
	cmocka_unit_test_setup_teardown(test, checkpoint_setup, checkpoint_teardown)

/* Puts it into fixture->notice. */
void checkpoint_notice(void *data, enum severity severity, const char *message);
struct checkpoints *open_checkpoints(struct fixture *fixture, const char *session);

/* NAME in the project; the caller frees. */
char *path_of(const struct fixture *fixture, const char *name);
/* Somebody else's write. */
void put(const struct fixture *fixture, const char *name, struct span bytes);
void assert_content(const struct fixture *fixture, const char *name, struct span want);
bool exists(const struct fixture *fixture, const char *name);

/* A call as an agent makes it: kept, made, remembered. `arguments` is taken over. */
json_t *call_in(struct fixture *fixture, struct checkpoints *checkpoints, const char *tool,
                json_t *arguments);
/* One that has to succeed. */
void edit(struct fixture *fixture, const char *tool, json_t *arguments);
/* An edit of the whole content, whatever was there. */
void write_file(struct fixture *fixture, const char *name, const char *text);

json_t *list_checkpoints(struct fixture *fixture);
/* Of the checkpoint `i`; the caller frees. */
char *id_of(struct fixture *fixture, size_t i);
json_t *restore(struct fixture *fixture, const char *id, bool force);
/* What a restore did to a file; "not named". */
const char *action(const json_t *result, const struct fixture *fixture, const char *name);
bool succeeded(const json_t *result);
/* Runs git on the repository of checkpoints; its output, for the caller. */
char *git(const struct fixture *fixture, const char *arguments);

#endif
