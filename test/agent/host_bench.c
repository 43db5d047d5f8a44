/* SPDX-License-Identifier: Apache-2.0 */
#include "host_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "../tool/workspace_fixture.h"
#include "base/file.h"
#include "base/mem.h"
#include "data/json.h"
#include "worker/inside/inprocess.h"

void host_bench_write(const struct host_bench *bench, const char *name, const char *text)
{
	_cleanup_free_ char *path = mem_printf("%s/%s", bench->top, name);
	struct err err = ERR_INIT;

	assert_true(file_replace(path, span_str(text), 0600, &err));
}

char *host_bench_read(const struct host_bench *bench, const char *name)
{
	_cleanup_free_ char *path = mem_printf("%s/%s", bench->top, name);
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err err = ERR_INIT;

	assert_true(file_read(path, 1 << 20, &text, &err));
	return text.data ? mem_dup(text.data, text.len) : NULL;
}

static void write_replies(struct host_bench *bench, const char *const *replies)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);

	for (size_t i = 0; replies[i]; i++) {
		const char *quote = *replies[i] == '{' ? "" : "\"";

		buf_printf(&out, "{\"method\": \"generateContentStream\", \"response\": "
		           "[{\"candidates\": [{\"content\": {\"role\": \"model\", \"parts\": "
		           "[{\"%s\": %s%s%s}]}, \"finishReason\": \"STOP\"}]}]}\n",
		           *quote ? "text" : "functionCall", quote, replies[i], quote);
	}
	host_bench_write(bench, "replay", out.data ? out.data : "");
}

void host_bench_start(struct host_bench *bench, const char *const *replies)
{
	static char path[] = "PATH=/usr/bin:/bin";
	static char *const environment[] = { path, NULL };
	_cleanup_free_ char *model = mem_printf("replay:%s/replay", bench->top);
	struct settings_options settings = { .project = bench->root, .skip_trust = true,
		                             .overrides = bench->overrides };
	struct host_options options = {
		.provider = bench->provider, .local = true, .model = model,
		.mode = bench->mode, .interactive = true, .environment = environment,
	};
	struct err err = ERR_INIT;

	write_replies(bench, replies);
	if (!settings_load(&settings, &bench->settings, &err))
		fail_msg("%s", err.message);
	bench->policy = policy_new();
	policy_add_defaults(bench->policy);
	options.settings = bench->settings;
	options.policy = bench->policy;
	if (!host_open(&options, &bench->host, &err))
		fail_msg("%s", err.message);
}

void host_bench_open(struct host_bench *bench)
{
	_cleanup_free_ char *home = NULL;
	const char *roots[1];
	struct inprocess_options options = { .roots = roots, .root_count = 1,
		                             .durability = DURABILITY_RENAME };
	json_auto_t *files = json_pack("{s:{s:b}, s:{s:b}}", "user/.gemini", "folder", 1,
	                               "project", "folder", 1);
	struct err err = ERR_INIT;

	*bench = (struct host_bench){ .top = fixture_make(), .mode = MODE_DEFAULT };
	fixture_files(bench->top, files);
	home = mem_printf("%s/user", bench->top);
	bench->root = mem_printf("%s/project", bench->top);
	setenv("HOME", home, 1);
	roots[0] = bench->root;
	assert_true(inprocess_provider(&options, &bench->provider, &err));
}

void host_bench_close(struct host_bench *bench)
{
	host_close(bench->host, "exit");
	provider_free(bench->provider);
	policy_free(bench->policy);
	settings_free(bench->settings);
	json_decref(bench->overrides);
	fixture_remove(bench->top);
	free(bench->root);
	free(bench->top);
}

void host_bench_prompt(struct host_bench *bench, const char *text)
{
	struct agent_outcome outcome;
	struct err err = ERR_INIT;

	if (!host_prompt(bench->host, SPAN(""), span_str(text), &outcome, &err))
		fail_msg("%s", err.message);
	agent_outcome_release(&outcome);
}
