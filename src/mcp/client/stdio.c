/* SPDX-License-Identifier: Apache-2.0 */
/* A server that is a program: started in the sandbox, a message a line on its standard input and
 * output (MCP, basic/transports, stdio). */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/text.h"
#include "data/json.h"
#include "mcp/client/client.h"
#include "mcp/client/transport.h"
#include "net/rpc/rpc.h"
#include "tool/denial.h"
#include "tool/tool.h"
#include "worker/environment.h"
#include "worker/front/open.h"
#include "worker/provider.h"

extern char **environ;

enum {
	ERRORS_KEPT = 4096, /* the last of what it wrote to its standard error */
	ERRORS_SHOWN = 400, /* of that, in a sentence */
	DENIALS_KEPT = 32,
	END_MS = 500,       /* between the end of its input and its own */
	WAIT_LOST_MS = 1000,
};

struct stdio {
	struct mcp_client *client;   /* who holds it */
	struct provider *provider;
	struct run *_Atomic run;     /* NULL: not started */
	struct rpc_reader reader;    /* the provider's thread's */
	pthread_mutex_t writing;     /* a message is written whole */
	pthread_mutex_t lock;        /* of what follows */
	pthread_cond_t over;
	char errors[ERRORS_KEPT];    /* a ring */
	size_t errors_len;           /* all that was written */
	json_t *denials;
	size_t denials_dropped;
	bool ended;
	struct timespec end_until;   /* deadline after its input was closed; used by one thread */
};

/* ---- what it writes to its standard error ---- */

/* The last of it, on one line and without what acts on a terminal. */
static void put_last_errors(struct stdio *stdio, struct buf *out)
{
	_cleanup_buf_ struct buf last = BUF_INIT(ERRORS_KEPT + 1);
	struct span text;
	size_t from;

	pthread_mutex_lock(&stdio->lock);
	from = stdio->errors_len > ERRORS_KEPT ? stdio->errors_len - ERRORS_KEPT : 0;
	for (; from < stdio->errors_len; from++)
		buf_char(&last, stdio->errors[from % ERRORS_KEPT]);
	pthread_mutex_unlock(&stdio->lock);
	text = span_trim(buf_view(&last));
	if (text.len > ERRORS_SHOWN)
		text = span_skip(text, text.len - ERRORS_SHOWN);
	while (text.len && ((unsigned char)text.data[0] & 0xC0) == 0x80)
		text = span_skip(text, 1);
	if (!text.len)
		return;
	buf_str(out, " The last of its standard error: ");
	name_line(out, text);
}

/* ---- events: on the provider's thread ------------------------------------------------------- */

static void stdio_lose(struct stdio *stdio, const char *what)
{
	_cleanup_buf_ struct buf errors = BUF_INIT(8 * ERRORS_SHOWN);
	struct err why = ERR_INIT;

	put_last_errors(stdio, &errors);
	err_set(&why, ERR_TOOL_FAILED, "The MCP server \"%s\" %s.%s",
	        mcp_client_name(stdio->client), what, errors.len ? errors.data : "");
	mcp_client_lose(stdio->client, &why);
}

static bool stdio_on_line(void *data, struct span line, bool too_long)
{
	struct stdio *stdio = data;

	if (too_long) {
		stdio_lose(stdio, "sent a message that is too long, and was ended");
		return false;
	}
	mcp_client_receive(stdio->client, line, NULL);
	return !mcp_client_lost(stdio->client);
}

static void stdio_on_output(void *data, enum run_stream stream, struct span bytes)
{
	struct stdio *stdio = data;
	struct run *run = stdio->run;

	if (stream == RUN_STDERR) {
		pthread_mutex_lock(&stdio->lock);
		for (size_t i = 0; i < bytes.len; i++)
			stdio->errors[stdio->errors_len++ % ERRORS_KEPT] = bytes.data[i];
		pthread_mutex_unlock(&stdio->lock);
		mcp_client_log(stdio->client, bytes);
		return;
	}
	if (!mcp_client_lost(stdio->client))
		rpc_feed(&stdio->reader, bytes, stdio_on_line, stdio);
	if (run && mcp_client_lost(stdio->client))
		run->ops->kill(run);
}

/* Nothing can be answered any more: what waits need not wait for its time to pass. */
static void stdio_on_closed(void *data, enum run_stream stream)
{
	struct stdio *stdio = data;
	struct run *run = stdio->run;

	if (stream != RUN_STDOUT)
		return;
	stdio_lose(stdio, "closed its standard output, and was ended");
	if (run)
		run->ops->kill(run);
}

static void stdio_on_denied(void *data, const struct denial *denial)
{
	struct stdio *stdio = data;

	pthread_mutex_lock(&stdio->lock);
	if (json_array_size(stdio->denials) >= DENIALS_KEPT) {
		json_array_remove(stdio->denials, 0);
		stdio->denials_dropped++;
	}
	json_array_append_new(stdio->denials, denial_json(denial));
	pthread_mutex_unlock(&stdio->lock);
}

static void stdio_on_main_ended(void *data, const struct run_end *end)
{
	struct stdio *stdio = data;
	char what[80];

	if (end->why == RUN_EXITED)
		snprintf(what, sizeof(what), "ended with exit code %d", end->exit_code);
	else if (end->why == RUN_SIGNALLED)
		snprintf(what, sizeof(what), "was ended by signal %d", end->signal);
	else
		snprintf(what, sizeof(what), "was ended (%s)", worker_run_why_name(end->why));
	stdio_lose(stdio, what);
}

static void stdio_on_ended(void *data, const struct run_end *end)
{
	struct stdio *stdio = data;

	(void)end;
	pthread_mutex_lock(&stdio->lock);
	stdio->ended = true;
	pthread_cond_broadcast(&stdio->over);
	pthread_mutex_unlock(&stdio->lock);
}

/* ---- operations ---- */

/* Why nothing can be written is known a moment later. */
static bool wait_lost(struct stdio *stdio)
{
	long long deadline = clock_deadline(WAIT_LOST_MS);
	long back_off = BACKOFF_FIRST_US;

	while (!mcp_client_lost(stdio->client))
		if (!clock_back_off(deadline, &back_off))
			return false;
	return true;
}

static bool stdio_send(void *transport, struct span message, struct mcp_ask *ask,
                       struct err *err)
{
	struct stdio *stdio = transport;
	_cleanup_buf_ struct buf line = BUF_INIT(LIMIT_MCP_MESSAGE_BYTES + 1);
	struct run *run;
	bool taken;

	buf_span(&line, message);
	if (!buf_char(&line, '\n'))
		return err_set(err, ERR_TOO_LARGE, "The message is too large.");
	pthread_mutex_lock(&stdio->writing);
	run = stdio->run;
	taken = run && run->ops->input(run, buf_view(&line));
	pthread_mutex_unlock(&stdio->writing);
	if (taken || (ask && wait_lost(stdio)))
		return true;
	if (line.len > LIMIT_RUN_INPUT_BYTES)
		return err_set(err, ERR_TOO_LARGE,
		               "The arguments are larger than %zu bytes, which the MCP server "
		               "\"%s\" cannot be sent.", LIMIT_RUN_INPUT_BYTES,
		               mcp_client_name(stdio->client));
	return err_set(err, ERR_TOOL_FAILED, "The MCP server \"%s\" does not read what it is sent.",
	               mcp_client_name(stdio->client));
}

static void stdio_end(void *transport)
{
	struct stdio *stdio = transport;
	struct run *run = stdio->run;

	if (!run || stdio->end_until.tv_sec)
		return;
	clock_gettime(CLOCK_MONOTONIC, &stdio->end_until);
	stdio->end_until.tv_nsec += END_MS * 1000000L;
	stdio->end_until.tv_sec += stdio->end_until.tv_nsec / 1000000000;
	stdio->end_until.tv_nsec %= 1000000000;
	run->ops->close_input(run);
}

static void stdio_free(void *transport)
{
	struct stdio *stdio = transport;
	struct run *run = stdio->run;

	if (run) {
		stdio_end(stdio);
		if (!mcp_client_lost(stdio->client)) {
			/* Several that are shutting down share that time. */
			pthread_mutex_lock(&stdio->lock);
			while (!stdio->ended &&
			       pthread_cond_clockwait(&stdio->over, &stdio->lock, CLOCK_MONOTONIC,
			                              &stdio->end_until) == 0)
				;
			pthread_mutex_unlock(&stdio->lock);
		}
		run->ops->free(run);
	}
	provider_free(stdio->provider);
	rpc_reader_release(&stdio->reader);
	json_decref(stdio->denials);
	pthread_cond_destroy(&stdio->over);
	pthread_mutex_destroy(&stdio->lock);
	pthread_mutex_destroy(&stdio->writing);
	free(stdio);
}

static json_t *stdio_denials(void *transport, size_t from, size_t *ret_next)
{
	struct stdio *stdio = transport;
	json_t *list = json_array();
	size_t i;
	json_t *denial;

	pthread_mutex_lock(&stdio->lock);
	json_array_foreach(stdio->denials, i, denial)
		if (stdio->denials_dropped + i >= from)
			json_array_append_new(list, json_deep_copy(denial));
	if (ret_next)
		*ret_next = stdio->denials_dropped + json_array_size(stdio->denials);
	pthread_mutex_unlock(&stdio->lock);
	return list;
}

/* ---- start ---- */

bool mcp_program_provider(const struct worker_options *workers, struct provider **ret,
                          struct err *err)
{
	struct worker_options own = *workers;

	own.commands_only = true;
	own.journal_folder = NULL;
	own.ret_recovered = NULL;
	return local_provider_open(&own, ret, err);
}

char **mcp_program_environment(struct provider *provider,
                               const struct environment_options *environment,
                               const char *const *env)
{
	struct environment_options options = { 0 };
	char **usual, **all;
	size_t count = 0, own = 0, n = 0;

	if (environment)
		options = *environment;
	options.pty = false;
	options.level = provider->ops->info(provider)->level;
	usual = environment_for_command((const char *const *)environ, &options);
	while (usual[count])
		count++;
	while (env && env[own])
		own++;
	all = mem_alloc(count + own + 1, sizeof(*all));
	for (size_t i = 0; i < own; i++)
		all[n++] = mem_strdup(env[i]);
	for (size_t i = 0; i < count; i++) {
		size_t len = (size_t)(strchrnul(usual[i], '=') - usual[i]) + 1;
		bool replaced = false;

		for (size_t j = 0; j < own && !replaced; j++)
			replaced = strncmp(usual[i], env[j], len) == 0;
		if (!replaced)
			all[n++] = mem_strdup(usual[i]);
	}
	environment_free(usual);
	return all;
}

/* Its folder may be outside of the workspace, where no command begins. */
static const char **stdio_argv(const struct mcp_stdio_options *from)
{
	static const char script[] = "cd -- \"$1\" && shift && exec \"$@\"";
	const char *const before[] = { "sh", "-c", script, "sh", from->folder };
	size_t count = 0, n = 0;
	const char **argv;

	while (from->argv[count])
		count++;
	argv = mem_alloc(ARRAY_LEN(before) + count + 1, sizeof(*argv));
	for (size_t i = 0; from->folder && i < ARRAY_LEN(before); i++)
		argv[n++] = before[i];
	for (size_t i = 0; i < count; i++)
		argv[n++] = from->argv[i];
	return argv;
}

static bool stdio_start(struct stdio *stdio, const struct mcp_stdio_options *from, struct err *err)
{
	static const struct run_events events = {
		.output = stdio_on_output,
		.closed = stdio_on_closed,
		.denied = stdio_on_denied,
		.main_ended = stdio_on_main_ended,
		.ended = stdio_on_ended,
	};
	_cleanup_free_ const char **argv = stdio_argv(from);
	char **env = mcp_program_environment(stdio->provider, from->environment, from->env);
	const struct run_request request = { .argv = argv, .env = (const char *const *)env };
	struct run *run = NULL;
	bool ok;

	/* What it sends first is not answered before there is a way to. */
	pthread_mutex_lock(&stdio->writing);
	ok = stdio->provider->ops->run(stdio->provider, &request, &events, stdio, &run, err);
	stdio->run = ok ? run : NULL;
	pthread_mutex_unlock(&stdio->writing);
	environment_free(env);
	return ok;
}

bool mcp_client_open_stdio(const struct mcp_client_options *options,
                           const struct mcp_stdio_options *from, const struct mcp_wait *wait,
                           struct mcp_client **ret, struct err *err)
{
	static const struct mcp_transport_ops ops = {
		.send = stdio_send,
		.end = stdio_end,
		.free = stdio_free,
		.denials = stdio_denials,
	};
	struct stdio *stdio = mem_alloc(1, sizeof(*stdio));

	rpc_reader_init(&stdio->reader, LIMIT_MCP_MESSAGE_BYTES);
	pthread_mutex_init(&stdio->writing, NULL);
	pthread_mutex_init(&stdio->lock, NULL);
	pthread_cond_init(&stdio->over, NULL);
	stdio->denials = json_array();
	stdio->client = mcp_client_new(options, &ops, stdio);
	if (!mcp_program_provider(from->workers, &stdio->provider, err) ||
	    !stdio_start(stdio, from, err) || !mcp_client_begin(stdio->client, wait, err)) {
		/* What it was refused before it worked, or lacked, is mostly why it did not. */
		json_auto_t *denials = stdio_denials(stdio, 0, NULL);

		mcp_denials_explain(mcp_client_name(stdio->client), denials,
		                    !from->workers->network && !mcp_client_lost(stdio->client),
		                    err);
		mcp_client_unref(stdio->client);
		return false;
	}
	*ret = stdio->client;
	return true;
}

/* ---- what would allow more ------------------------------------------------------------- */

enum { REMEDY_PATHS = 4 };

static void add_remedy_path(json_t *sandbox, const char *member, json_t *path)
{
	json_t *list = json_object_get(sandbox, member);

	if (!list) {
		list = json_array();
		json_object_set_new(sandbox, member, list);
	}
	if (json_array_size(list) < REMEDY_PATHS && !json_lists(list, json_span(path)))
		json_array_append(list, path);
}

char *mcp_denials_remedy(const char *server, const json_t *denials, bool network)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4 * REMEDY_PATHS * LIMIT_PATH_BYTES);
	json_auto_t *sandbox = json_object();
	size_t i;
	json_t *denial;

	json_array_foreach(denials, i, denial) {
		const struct span kind = json_span(json_object_get(denial, "kind"));
		json_t *what = json_object_get(denial, "what");

		if (span_eq(json_span(json_object_get(denial, "reason")), SPAN("network")))
			network = true;
		else if (span_eq(kind, SPAN("read")))
			add_remedy_path(sandbox, "read", what);
		else if (span_eq(kind, SPAN("write")) || span_eq(kind, SPAN("metadata")) ||
		         span_eq(kind, SPAN("removed")))
			add_remedy_path(sandbox, "write", what);
	}
	if (network)
		json_object_set_new(sandbox, "network", json_true());
	if (!json_object_size(sandbox) || !json_print(&text, sandbox, 0))
		return NULL;
	return mem_printf("\"sandbox\": %s in mcpServers.%s", text.data, server);
}

void mcp_denials_explain(const char *server, const json_t *denials, bool network, struct err *err)
{
	const json_t *first = json_array_get(denials, 0);
	const struct err why = *err;
	/* A program that is missing has asked for nothing yet. */
	_cleanup_free_ char *remedy = mcp_denials_remedy(
		server, denials, network && why.code != ERR_FILE_NOT_FOUND);

	if (!remedy)
		return;
	if (first)
		err_set(err, why.code,
		        "%s The sandbox denied it: %s %.200s. What would allow more: %s.",
		        why.message, json_string_value(json_object_get(first, "kind")),
		        json_string_value(json_object_get(first, "what")), remedy);
	else
		err_set(err, why.code, "%s If it needs the network, which it has not: %s.",
		        why.message, remedy);
}
