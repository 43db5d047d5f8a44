/* SPDX-License-Identifier: Apache-2.0 */
/* A folder, a home and a recorded model for an agent that is embedded. */
#ifndef HASP_TEST_EMBED_FIXTURE_H
#define HASP_TEST_EMBED_FIXTURE_H

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>
#include <hasp_agent.h>

/* Messages as they came: "TOPIC JSON\n" for each. */
struct heard {
	pthread_mutex_t lock;
	char *text;
	size_t len;
};

struct fixture {
	char top[32];
	char project[48];
	char model[64];
	hasp_agent_options options;
	hasp_agent *agent;
	struct heard heard;
};

int setup(void **state);
int teardown(void **state);

/* What the model says, an answer each: {"functionCall": ...} or {"text": ...}; NULL-terminated. */
void model_says(const struct fixture *f, const char *const *parts);
/* Opens with f->options, and hears all messages. */
void open_agent(struct fixture *f);
/* An answer is expected. */
void ask(struct fixture *f, const char *prompt, const char *expected);

/* The content of a file of the project, in a static buffer; NULL: there is none. */
const char *content(const struct fixture *f, const char *name);
/* Whether a message of the topic has the text in it. */
bool was_heard(struct fixture *f, const char *topic, const char *text);
unsigned count_heard(struct fixture *f, const char *topic);
/* The string member of a flat JSON text, in `ret`; false if it is not there. */
bool member(const char *json, const char *name, char *ret, size_t size);

#define WITH_AGENT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

#define CALL(name, args) "{\"functionCall\": {\"name\": \"" name "\", \"args\": " args "}}"
#define SAYS(text) "{\"text\": \"" text "\"}"
#define WRITES(name, text) \
	CALL("write_file", "{\"file_path\": \"" name "\", \"content\": \"" text "\"}")

#endif
