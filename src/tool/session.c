/* SPDX-License-Identifier: Apache-2.0 */
/* What the calls of one conversation have in common, whichever thread makes them. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "tool/history.h"
#include "tool/answer.h"
#include "tool/outside.h"
#include "tool/rebase.h"
#include "tool/set.h"
#include "tool/tool.h"
#include "worker/environment.h"
#include "worker/job/job.h"

extern char **environ;

enum { INACTIVITY_MS = 300 * 1000 };

struct session_shared {
	struct session_shared *of; /* borrowed; whose version, schemas and grants count; or NULL */
	_Atomic uint64_t version;
	/* By tool; compiled when first used. If two threads compile one at the same time, the
	 * second discards its result. */
	struct schema *_Atomic *schemas;
	pthread_mutex_t grant_lock;
	struct tool_grant grant;
	struct outside_session *outside; /* owned; NULL where `of` has it */
};

void session_init(struct session *session, struct provider *provider)
{
	struct session_shared *shared = mem_alloc(1, sizeof(*shared));

	shared->outside = outside_session_new();
	shared->schemas = mem_alloc(tool_builtin_count(), sizeof(*shared->schemas));
	pthread_mutex_init(&shared->grant_lock, NULL);
	*session = (struct session){ .provider = provider, .shared = shared,
		                     .kept = rebase_kept_new(),
		                     .history = history_new(),
		                     .seen = seen_new(),
		                     .inactivity_ms = INACTIVITY_MS };
}

void session_branch(struct session *session, const struct session *from)
{
	struct session_shared *shared = mem_alloc(1, sizeof(*shared));

	shared->of = from->shared->of ? from->shared->of : from->shared;
	pthread_mutex_init(&shared->grant_lock, NULL);
	*session = *from;
	session->shared = shared;
	session->kept = rebase_kept_new();
	session->history = history_new();
	session->seen = seen_new();
	session->hooks = (struct call_hooks){ 0 };
}

/* What all conversations of a session have in common. */
static struct session_shared *session_common(const struct session *session)
{
	return session->shared->of ? session->shared->of : session->shared;
}

void session_release(struct session *session)
{
	struct session_shared *shared = session->shared;

	for (size_t i = 0; !shared->of && i < tool_builtin_count(); i++)
		schema_free(atomic_load(&shared->schemas[i]));
	free(shared->schemas);
	pthread_mutex_destroy(&shared->grant_lock);
	tool_grant_release(&shared->grant);
	outside_session_free(shared->outside);
	rebase_kept_free(session->kept);
	history_free(session->history);
	seen_free(session->seen);
	free(shared);
	*session = (struct session){ .provider = session->provider };
}

uint64_t session_next_version(struct session *session)
{
	return atomic_fetch_add(&session_common(session)->version, 1) + 1;
}

uint64_t session_version(const struct session *session)
{
	return atomic_load(&session_common(session)->version);
}

void session_raise_version(struct session *session, uint64_t at_least)
{
	uint64_t now = session_version(session);

	while (now < at_least &&
	       !atomic_compare_exchange_weak(&session_common(session)->version, &now, at_least))
		;
}

/* ---- what commands were allowed ---- */

bool tool_grant_has(const struct tool_grant *grant, const char *path)
{
	for (size_t i = 0; i < grant->file_count; i++)
		if (strcmp(grant->files[i], path) == 0)
			return true;
	return false;
}

void tool_grant_file(struct tool_grant *grant, const char *path)
{
	if (grant->file_count == LIMIT_GRANTED_FILES || tool_grant_has(grant, path))
		return;
	grant->files = mem_grow(grant->files, &grant->file_cap, grant->file_count + 1,
	                        sizeof(*grant->files));
	grant->files[grant->file_count++] = mem_strdup(path);
}

void tool_grant_join(struct tool_grant *grant, const struct tool_grant *more)
{
	grant->network |= more->network;
	for (size_t i = 0; i < more->file_count; i++)
		tool_grant_file(grant, more->files[i]);
}

void tool_change_release(struct tool_change *change)
{
	json_decref(change->state);
	free(change->parts);
	free(change->lines);
	*change = (struct tool_change){ 0 };
}

void tool_grant_release(struct tool_grant *grant)
{
	for (size_t i = 0; i < grant->file_count; i++)
		free(grant->files[i]);
	free(grant->files);
	*grant = (struct tool_grant){ 0 };
}

void session_grant(struct session *session, const struct tool_grant *grant)
{
	pthread_mutex_lock(&session_common(session)->grant_lock);
	tool_grant_join(&session_common(session)->grant, grant);
	pthread_mutex_unlock(&session_common(session)->grant_lock);
}

void session_granted(const struct session *session, struct tool_grant *ret)
{
	*ret = (struct tool_grant){ 0 };
	if (session->grant) /* first: it may be what there is no room for */
		tool_grant_join(ret, session->grant);
	pthread_mutex_lock(&session_common(session)->grant_lock);
	tool_grant_join(ret, &session_common(session)->grant);
	pthread_mutex_unlock(&session_common(session)->grant_lock);
}

json_t *session_permissions(const struct session *session)
{
	json_t *list = json_array();
	struct tool_grant grant;

	session_granted(session, &grant);
	if (grant.network)
		json_array_append_new(list, json_string("the network, for commands"));
	for (size_t i = 0; i < grant.file_count; i++) {
		json_auto_t *name = json_name(grant.files[i]);

		json_array_append_new(list, json_pack("s++", "writing to ", json_string_value(name),
		                                      ", for commands"));
	}
	tool_grant_release(&grant);
	outside_session_list(session_outside(session), list);
	return list;
}

void session_revoke(const struct session *session)
{
	pthread_mutex_lock(&session_common(session)->grant_lock);
	tool_grant_release(&session_common(session)->grant);
	pthread_mutex_unlock(&session_common(session)->grant_lock);
	outside_session_clear(session_outside(session));
}

struct outside_session *session_outside(const struct session *session)
{
	return session_common(session)->outside;
}

struct provider *session_reader(const struct session *session, const char *path)
{
	struct provider *own = session->own_files && path ?
	                               session->own_files(session->own_files_data, path) :
	                               NULL;

	return own ? own : session->provider;
}

char **session_environment(const struct session *session, bool pty)
{
	struct environment_options options;

	if (!session->environment)
		return NULL;
	options = *session->environment;
	options.pty = pty;
	options.level = session->provider->ops->info(session->provider)->level;
	return environment_for_command((const char *const *)environ, &options);
}

bool session_cancelled(const struct session *session)
{
	return cancelled(session->hooks.cancel);
}

bool session_wait_job(const struct session *session, struct job *job, struct job_news *news)
{
	news->cancel = session->hooks.cancel;
	return job_wait_news(job, news);
}

void session_progress(const struct session *session, size_t done, size_t total)
{
	if (session->hooks.progress)
		session->hooks.progress(session->hooks.data, done, total);
}

void session_wait_begin(const struct session *session)
{
	if (session->hooks.wait_begin)
		session->hooks.wait_begin(session->hooks.data);
}

void session_wait_end(const struct session *session)
{
	if (session->hooks.wait_end)
		session->hooks.wait_end(session->hooks.data);
}

static bool registry_index(const struct tool *tool, size_t *ret)
{
	for (size_t i = 0; i < tool_builtin_count(); i++)
		if (tool_builtin_at(i) == tool) {
			*ret = i;
			return true;
		}
	return false;
}

bool session_schema(struct session *session, const struct tool *tool, struct schema **ret,
                    struct err *err)
{
	struct schema *own, *theirs = NULL;
	size_t i;

	if (tool_set_schema(session->tools, tool, ret))
		return true;
	if (!registry_index(tool, &i))
		return err_set(err, ERR_INTERNAL, "The tool %s is not registered.", tool->name);
	*ret = atomic_load(&session_common(session)->schemas[i]);
	if (*ret)
		return true;
	if (!schema_compile(span_str(tool->arguments_schema), &own, err)) {
		err->code = ERR_INTERNAL;
		return false;
	}
	*ret = own;
	if (atomic_compare_exchange_strong(&session_common(session)->schemas[i], &theirs, own))
		return true;
	schema_free(own);
	*ret = theirs;
	return true;
}
