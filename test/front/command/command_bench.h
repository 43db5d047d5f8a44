/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of slash commands share: a host, one line run in it, and what that says. */
#ifndef HASP_TEST_COMMAND_BENCH_H
#define HASP_TEST_COMMAND_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../agent/host_bench.h"
#include "base/mem.h"
#include "data/json.h"
#include "front/command/command.h"

struct bench {
	struct host_bench of;
	struct command_context context;
	struct command_result result;
	struct buf said; /* the rows of the last answer */
};

static const char *const themes[] = { "Dark", "Light", NULL };

/* ---- bench --------------------------------------------------------------------------- */

static inline void open_host(struct bench *bench, const char *const *replies)
{
	host_bench_start(&bench->of, replies);
	bench->context = (struct command_context){
		.host = bench->of.host, .settings = bench->of.settings, .local = true, .can = ~0u,
		.themes = themes,
	};
}

static inline int open_bench(void **state)
{
	struct bench *bench = mem_alloc(1, sizeof(*bench));

	host_bench_open(&bench->of);
	bench->said = (struct buf)BUF_INIT(1 << 20);
	*state = bench;
	return 0;
}

static inline int close_bench(void **state)
{
	struct bench *bench = *state;

	command_result_release(&bench->result);
	buf_release(&bench->said);
	host_bench_close(&bench->of);
	free(bench);
	return 0;
}

/* Runs it; the rows are the lines of the text that is returned. */
static inline const char *run(struct bench *bench, const char *line)
{
	command_result_release(&bench->result);
	command_run(&bench->context, span_str(line), &bench->result);
	buf_clear(&bench->said);
	for (size_t i = 0; i < bench->result.rows.count; i++) {
		row_plain(&bench->result.rows.at[i], &bench->said);
		buf_char(&bench->said, '\n');
	}
	buf_char(&bench->said, '\0');
	bench->said.len--;
	return bench->said.data;
}

static inline void must_say(struct bench *bench, const char *line, const char *wanted)
{
	const char *said = run(bench, line);

	if (!bench->result.ok || !strstr(said, wanted))
		fail_msg("%s says, and not \"%s\": %s", line, wanted, said);
}

static inline void must_fail(struct bench *bench, const char *line, const char *wanted)
{
	const char *said = run(bench, line);

	if (bench->result.ok || !strstr(said, wanted))
		fail_msg("%s fails, and not with \"%s\": %s", line, wanted, said);
	assert_int_equal(bench->result.then, COMMAND_NOTHING);
}

static inline void note_offer(void *data, size_t from, size_t to, struct span text,
                              struct span label, struct span note)
{
	struct buf *out = data;

	(void)label;
	(void)note;
	buf_printf(out, "%zu-%zu:%.*s ", from, to, (int)text.len, text.data);
}

static inline void must_offer(struct bench *bench, const char *line, const char *wanted)
{
	buf_clear(&bench->said);
	command_complete(&bench->context, span_str(line), strlen(line), note_offer, &bench->said);
	if (!strstr(bench->said.data ? bench->said.data : "", wanted))
		fail_msg("%s offers %s", line, bench->said.data ? bench->said.data : "nothing");
}

static const char *const nothing[] = { NULL };

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)

#endif
