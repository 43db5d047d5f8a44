/* SPDX-License-Identifier: Apache-2.0 */
/* What a session's tools work with beyond the workspace: the folder of outputs that were too long
 * (outputs.c), and services: plans, the tools of the conversation, those that a command of the
 * project describes (services.c; tool/services.h is what tools see of them). */
#ifndef HASP_AGENT_HOST_SERVICES_H
#define HASP_AGENT_HOST_SERVICES_H

#include "agent/agent.h"
#include "base/cancel.h"
#include "base/notices.h"
#include "config/home.h"
#include "config/settings.h"
#include "model/model.h"
#include "tool/services.h"

/* ---- tool outputs that were too long ------------------------------------------ */

/* The folder of a session's tool outputs that were too long (context.h), and the confined worker
 * through which the model reads them, started by the first such read.  A second worker reads the
 * images that were pasted (TEMP/images, tui/paste.c).
 *
 *     outputs = outputs_open(&options);
 *     session.own_files = outputs_reader;
 *     session.own_files_data = outputs;
 *     outputs_close(outputs);
 */

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
/* As session.own_files; `data` is a struct outputs. From any thread. */
struct provider *outputs_reader(void *data, const char *path);
/* From now on what is in this folder, absolute and canonical, is read as well. From any thread. */
void outputs_allow(struct outputs *outputs, const char *folder);
const char *outputs_folder(const struct outputs *outputs); /* NULL: none */

/* ---- services ------------------------------------------------------------------ */

struct services;

/* All borrowed, for as long as there are services. */
struct services_options {
	const struct settings *settings;
	struct provider *provider;      /* of the workspace */
	struct policy *policy;          /* may be NULL; gets a rule for a folder of plans in the
	                                 * project */
	struct bus *bus;
	struct home *home;
	const char *session_id;
	struct model *model;
	const struct model_options *model_options;
	enum approval_mode mode;        /* at first */
	bool interactive;
	bool watched;
	const struct tool_editor *editor; /* or NULL */
	const struct cancel *cancel;
	struct notices notices;
};

/* Never NULL; makes no folder and starts no worker: the first plan does. */
struct services *services_open(const struct services_options *options);
void services_close(struct services *services); /* NULL is fine */

/* Gives a session its services, and its provider: that of the workspace, with the plans. */
void services_attach(struct services *services, struct session *session);
/* The agent whose mode it is, once there is one; whether tools are off that the user could allow
 * (call/gate.h). */
void services_follow(struct services *services, struct agent *agent, bool tools_off);
/* Adds the conversation's tools to the set, and those that a command of the project describes. */
void services_add_tools(struct services *services, struct tool_set *set);
/* The user's editor from now on. While nothing is under way. */
void services_set_editor(struct services *services, const struct tool_editor *editor);
/* Absolute; NULL: there is no plan mode. Borrowed. */
const char *services_plans_folder(const struct services *services);

#endif
