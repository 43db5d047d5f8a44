/* SPDX-License-Identifier: Apache-2.0 */
/* A host in folders of its own, with a model that says what it is told to: for tests of what holds an
 * agent. */
#ifndef HASP_TEST_AGENT_HOST_BENCH_H
#define HASP_TEST_AGENT_HOST_BENCH_H

#include "agent/host/host.h"

struct host_bench {
	char *top, *root;         /* "project" and the home "user" are beneath the top */
	json_t *overrides;        /* settings as flags give them; before the host is opened; or NULL */
	enum approval_mode mode;  /* likewise */
	struct settings *settings;
	struct policy *policy;
	struct provider *provider;
	struct host *host;
};

void host_bench_open(struct host_bench *bench);
void host_bench_close(struct host_bench *bench);
/* Names are beneath the top. */
void host_bench_write(const struct host_bench *bench, const char *name, const char *text);
char *host_bench_read(const struct host_bench *bench, const char *name);
/* Opens the host; the model's replies, one after the other: a text, or a call as JSON ("{..."). */
void host_bench_start(struct host_bench *bench, const char *const *replies);
void host_bench_prompt(struct host_bench *bench, const char *text);

#endif
