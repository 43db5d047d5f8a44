/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of hooks share: a folder, its hooks, and one event with one command. */
#ifndef HASP_TEST_HOOKS_BENCH_H
#define HASP_TEST_HOOKS_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "data/json.h"
#include "hooks/hooks.h"

static char folder[] = "/tmp/hasp hooks XXXXXX";
static char last_notice[2048];

static inline void remember(void *data, enum severity severity, const char *message)
{
	(void)data;
	snprintf(last_notice, sizeof(last_notice), "%s: %s", notices_severity_name(severity),
	         message);
}

static inline struct hooks *open_hooks(void)
{
	static char *environment[] = { (char *)"PATH=/usr/local/bin:/usr/bin:/bin",
		                       (char *)"KEPT=yes", NULL };
	static char trust[96];
	struct hooks_options options = {
		.project = folder, .cwd = folder, .session_id = "s-1",
		.transcript_path = "/t.jsonl", .environment = environment, .trust_file = trust,
		.project_trusted = true, .enabled = true, .notices = { remember, NULL },
	};

	snprintf(trust, sizeof(trust), "%s/trusted_hooks.json", folder);
	last_notice[0] = '\0';
	return hooks_new(&options);
}

static inline json_t *parse(const char *text)
{
	struct err err = ERR_INIT;
	json_t *value = NULL;

	if (!json_parse(span_str(text), &value, &err))
		fail_msg("%s: %s", text, err.message);
	return value;
}

static inline void add(struct hooks *hooks, enum hook_source source, const char *text)
{
	json_auto_t *config = parse(text);
	json_auto_t *problems = json_array();

	hooks_add(hooks, source, config, "settings.json", problems);
	assert_int_equal(json_array_size(problems), 0);
}

/* One event with one command. */
static inline struct hook_outcome fire_one(const char *event_name, enum hook_event event,
                                    const char *command, const char *input_text)
{
	struct hooks *hooks = open_hooks();
	json_auto_t *config = json_pack("{s:[{s:[{s:s,s:s}]}]}", event_name, "hooks", "type",
	                                "command", "command", command);
	json_auto_t *input = parse(input_text);
	struct hook_outcome outcome;

	hooks_add(hooks, HOOK_SOURCE_USER, config, "settings.json", NULL);
	hooks_fire(hooks, event, "write_file", input, NULL, &outcome);
	hooks_free(hooks);
	return outcome;
}

static inline int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static inline int temp_remove_folder(void **state)
{
	_cleanup_free_ char *command = mem_printf("rm -rf '%s'", folder);

	(void)state;
	return system(command);
}

#endif
