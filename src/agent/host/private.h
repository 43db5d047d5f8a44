/* SPDX-License-Identifier: Apache-2.0 */
/* The services of a host's tools (tool/services.h): its bus, its model, its folders, its mode.
 * Private to this folder. */
#ifndef HASP_AGENT_HOST_PRIVATE_H
#define HASP_AGENT_HOST_PRIVATE_H

#include "agent/agent.h"
#include "config/home.h"
#include "config/settings.h"
#include "tool/services.h"

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
	const struct cancel *cancel;
	void (*notice)(void *data, const char *severity, const char *message);
	void *data;
};

/* Never NULL; makes no folder and starts no worker: the first plan does. */
struct services *services_open(const struct services_options *options);
void services_close(struct services *services); /* NULL is fine */

/* Gives a session its services, and its provider: that of the workspace, with the plans. */
void services_attach(struct services *services, struct session *session);
/* The agent whose mode it is, once there is one; whether tools are off that somebody could allow
 * (call/gate.h). */
void services_follow(struct services *services, struct agent *agent, bool tools_off);
/* Adds the conversation's tools to the set, and those that a command of the project describes. */
void services_add_tools(struct services *services, struct tool_set *set);
/* Absolute; NULL: there is no plan mode. Borrowed. */
const char *services_plans_folder(const struct services *services);

#endif
