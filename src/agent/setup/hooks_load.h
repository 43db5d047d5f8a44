/* SPDX-License-Identifier: Apache-2.0 */
/* The hooks that count for a project: of its settings and hooks.toml, of the user's, and of the system's.
 *
 *     struct hooks *hooks = hooks_load(&options, problems);
 *     hooks_free(hooks);
 */
#ifndef HASP_AGENT_SETUP_HOOKS_LOAD_H
#define HASP_AGENT_SETUP_HOOKS_LOAD_H

#include "config/settings.h"
#include "hooks/hooks.h"

struct hooks_sources {
	const struct settings *settings;
	const char *project;         /* absolute */
	bool local;                  /* the project's files are this machine's */
	const char *session_id;      /* "" where no hook will run */
	const char *transcript_path; /* likewise */
	const char *plans_folder;    /* or NULL */
	char *const *environment;    /* of hooks, scrubbed; NULL-terminated; NULL where none will run */
	void (*notice)(void *data, const char *severity, const char *message); /* may be NULL */
	void *data;
};

/* Reads them all; a project's own count if its folder is trusted, and run once they are trusted themselves.
 * What is wrong is appended to `problems` ({source, message}) and left out. Never NULL. */
struct hooks *hooks_load(const struct hooks_sources *sources, json_t *problems);

/* "2 hooks of this project are not trusted ...": to be told where hooks would run. The caller frees it; NULL:
 * there are none such. */
char *hooks_untrusted_sentence(const struct hooks *hooks);

#endif
