/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of its own, and providers on it whose workers are this program (live_main). */
#ifndef HASP_TEST_WORKER_LIVE_H
#define HASP_TEST_WORKER_LIVE_H

#include "worker/local.h"

/* To be called first by main: a worker's process does not return.  With the argument "pipes" the
 * workers are behind pipes instead of sockets, and not started by sandbox_spawn. */
void live_main(int argc, char **argv);

struct live {
	char folder[64];
	struct provider *provider;
};

/* A new folder, and local_provider_none on it, or local_provider_command. */
void live_open(struct live *live);
void live_close(struct live *live);
/* The same for cmocka: *state is a struct live. */
int live_setup(void **state);
int live_teardown(void **state);
void live_write(const struct live *live, const char *name, const char *text);
/* The worker's process number: this process's only child. */
int live_worker(void);

struct read_result live_read(const struct live *live, const char *path);
/* Writes by the provider; the base is read first. */
bool live_edit(const struct live *live, const char *path, const char *text, struct err *err);

#endif
