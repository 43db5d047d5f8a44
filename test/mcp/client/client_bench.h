/* SPDX-License-Identifier: Apache-2.0 */
/* One server, without an agent: the fake of this folder, and a person who answers what it asks. */
#ifndef HASP_TEST_MCP_CLIENT_BENCH_H
#define HASP_TEST_MCP_CLIENT_BENCH_H

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "base/mem.h"
#include "mcp/client/client.h"

struct bench {
	char *root;
	struct mcp_client *client;
	const char *way; /* of the server that the client has */
	double done, total; /* of the last report */
	unsigned told;
	char *said;
	struct buf log;
	_Atomic bool withdrawn; /* test/wait was cancelled */
	unsigned opened, asked; /* questions about an address, and others */
	bool person; /* there is one who is asked */
	bool declines, finishes; /* how they answer */
};

static inline void keep_log(void *data, struct span line)
{
	struct bench *bench = data;

	buf_span(&bench->log, line);
	buf_char(&bench->log, '\n');
}

static inline void keep_progress(void *data, double done, double total, const char *said)
{
	struct bench *bench = data;

	assert_true(!bench->told || done > bench->done);
	bench->told++;
	bench->done = done;
	bench->total = total;
	free(bench->said);
	bench->said = said ? mem_strdup(said) : NULL;
}

/* A person who opens addresses, unless they decline, and says so in the file that the server looks
 * for; other questions they answer, or leave until they are withdrawn. */
static inline json_t *answer_person(struct bench *bench, const json_t *params, struct pollfd *fd)
{
	const char *mode = json_string_value(json_object_get(params, "mode"));
	_cleanup_free_ char *path = mem_printf("%s/opened", bench->root);
	FILE *file;

	if (mode && !strcmp(mode, "url")) {
		bench->opened++;
		if (bench->declines)
			return json_pack("{s:s}", "action", "decline");
		file = fopen(path, "w");
		assert_non_null(file);
		fclose(file);
		return json_pack("{s:s}", "action", "accept");
	}
	bench->asked++;
	if (bench->finishes)
		return json_pack("{s:s, s:{s:s}}", "action", "accept", "content", "name", "Ada");
	poll(fd, 1, -1);
	bench->withdrawn = true;
	return json_pack("{s:s}", "action", "cancel");
}

/* test/answer: {"n"}; test/wait: until it is cancelled; test/withdrawn: until that has been. */
static inline json_t *answer_test(void *data, const char *method, const json_t *params,
                           const struct cancel *cancel, struct err *err)
{
	struct bench *bench = data;
	struct pollfd fd = { .fd = cancel_fd(cancel), .events = POLLIN };

	if (bench->person && !strcmp(method, "elicitation/create"))
		return answer_person(bench, params, &fd);
	if (!strcmp(method, "test/answer"))
		return json_pack("{s:O}", "n", json_object_get(params, "n"));
	if (!strcmp(method, "test/wait")) {
		poll(&fd, 1, -1);
		bench->withdrawn = true;
		return json_object();
	}
	if (!strcmp(method, "sampling/createMessage")) {
		poll(&fd, 1, -1);
		usleep(50000); /* whoever does not wait for it is gone */
		bench->withdrawn = true;
		err_set(err, ERR_CANCELLED, "It was cancelled.");
		return NULL;
	}
	if (!strcmp(method, "test/withdrawn")) {
		while (!bench->withdrawn)
			usleep(1000);
		return json_object();
	}
	err_set(err, ERR_UNKNOWN_TOOL, "There is no method \"%s\".", method);
	return NULL;
}

static inline void close_fake(struct bench *bench)
{
	mcp_client_unref(bench->client);
	bench->client = NULL;
	buf_release(&bench->log);
	bench->log = (struct buf)BUF_INIT(1 << 16);
}

static inline bool open_fake(struct bench *bench, const char *way, struct err *err)
{
	const char *roots[] = { bench->root };
	const struct worker_options workers = { .roots = roots, .root_count = 1,
		                                .program = getenv("HASP") };
	const char *argv[] = { "/usr/bin/python3", "-I", "-S", getenv("FAKE_SERVER"), way, NULL };
	json_auto_t *offered = json_pack("[{s:s}]", "uri", "file:///x");
	const struct mcp_client_options options = { .name = "fake", .log = keep_log,
		                                    .roots = offered, .answer = answer_test,
		                                    .data = bench };
	const struct mcp_stdio_options stdio = { .workers = &workers, .argv = argv };
	const struct mcp_wait wait = { .timeout_ms = 60000 };

	/* A start costs more than most of the questions: who left a server in order left it to
	 * the next. */
	if (bench->client && !mcp_client_lost(bench->client) && strcmp(bench->way, way) == 0)
		return true;
	close_fake(bench);
	bench->way = way;
	return mcp_client_open_stdio(&options, &stdio, &wait, &bench->client, err);
}

/* All tests have one folder and, one after the other, servers of the same ways. */
static struct bench shared = { .log = BUF_INIT(1 << 16) };

static inline int set_up_folder(void **state)
{
	static char folder[] = "/tmp/mcp_client.XXXXXX";

	(void)state;
	shared.root = mkdtemp(folder);
	return shared.root ? 0 : -1;
}

static inline int tear_down_folder(void **state)
{
	(void)state;
	close_fake(&shared);
	buf_release(&shared.log);
	rmdir(shared.root);
	return 0;
}

static inline int set_up(void **state)
{
	shared = (struct bench){ .root = shared.root, .client = shared.client, .way = shared.way,
		                 .log = shared.log };
	*state = &shared;
	return 0;
}

static inline int tear_down(void **state)
{
	struct bench *bench = *state;
	_cleanup_free_ char *opened = mem_printf("%s/opened", bench->root);

	unlink(opened);
	free(bench->said);
	bench->said = NULL;
	return 0;
}

static inline json_t *must_call(struct bench *bench, const char *what, const struct mcp_wait *wait)
{
	json_auto_t *arguments = json_pack("{s:s}", "what", what);
	struct err err = ERR_INIT;
	json_t *result = NULL;

	if (!mcp_client_call(bench->client, "say", arguments, wait, &result, &err))
		fail_msg("%s", err.message);
	return result;
}

static inline struct cancel cancelled_already(void)
{
	struct cancel cancel;

	cancel_init_lazily(&cancel);
	cancel_set(&cancel);
	return cancel;
}

#endif
