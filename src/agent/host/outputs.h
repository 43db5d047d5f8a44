/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of a session's tool outputs that were too long (mask.h), and who reads them for the model:
 * a confined worker of their own, started by the first such read.
 *
 *     outputs = outputs_open(&options);
 *     session.own_files = outputs_reader;
 *     session.own_files_data = outputs;
 *     outputs_close(outputs);
 */
#ifndef HASP_AGENT_HOST_OUTPUTS_H
#define HASP_AGENT_HOST_OUTPUTS_H

#include "config/home.h"
#include "worker/provider.h"

struct outputs;

struct outputs_options {
	struct home *home;
	const char *session_id;
	enum sandbox_level level; /* of the worker: the workspace's */
	const char *program;      /* as worker_options.program */
};

/* Never NULL; the options are copied, but the home's claim is taken now. */
struct outputs *outputs_open(const struct outputs_options *options);
void outputs_close(struct outputs *outputs); /* NULL is fine */
/* Absolute; not made yet. NULL: there is no place for it. Borrowed. */
const char *outputs_folder(const struct outputs *outputs);
/* As session.own_files; `data` is a struct outputs. From any thread. */
struct provider *outputs_reader(void *data, const char *path);

#endif
