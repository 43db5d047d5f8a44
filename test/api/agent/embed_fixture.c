/* SPDX-License-Identifier: Apache-2.0 */
#include "embed_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void hear(void *data, const char *topic, const char *message)
{
	struct heard *heard = data;
	size_t more = strlen(topic) + strlen(message) + 3;

	pthread_mutex_lock(&heard->lock);
	heard->text = realloc(heard->text, heard->len + more);
	assert_non_null(heard->text);
	heard->len += (size_t)snprintf(heard->text + heard->len, more, "%s %s\n", topic, message);
	pthread_mutex_unlock(&heard->lock);
}

int setup(void **state)
{
	static const char *folders[1];
	struct fixture *f = calloc(1, sizeof(*f));
	hasp_agent_options options = HASP_AGENT_OPTIONS_INIT;
	char home[48];

	assert_non_null(f);
	snprintf(f->top, sizeof(f->top), "/tmp/hasp-embed-XXXXXX");
	assert_non_null(mkdtemp(f->top));
	snprintf(home, sizeof(home), "%s/home", f->top);
	snprintf(f->project, sizeof(f->project), "%s/project", f->top);
	snprintf(f->model, sizeof(f->model), "replay:%s/model", f->top);
	assert_int_equal(mkdir(home, 0700), 0);
	assert_int_equal(mkdir(f->project, 0755), 0);
	setenv("HOME", home, 1);
	unsetenv("GEMINI_CLI_HOME");
	pthread_mutex_init(&f->heard.lock, NULL);
	folders[0] = f->project;
	f->options = options;
	f->options.folders = folders;
	f->options.folder_count = 1;
	f->options.model = f->model;
	f->options.trust = true;
	f->options.approval_mode = "yolo";
	f->options.program = getenv("HASP");
	assert_non_null(f->options.program);
	*state = f;
	return 0;
}

int teardown(void **state)
{
	struct fixture *f = *state;
	char command[64];

	hasp_agent_close(f->agent);
	snprintf(command, sizeof(command), "rm -rf '%s'", f->top);
	assert_int_equal(system(command), 0);
	free(f->heard.text);
	pthread_mutex_destroy(&f->heard.lock);
	free(f);
	return 0;
}

void model_says(const struct fixture *f, const char *const *parts)
{
	FILE *file = fopen(f->model + strlen("replay:"), "we");

	assert_non_null(file);
	for (; *parts; parts++)
		fprintf(file, "{\"method\": \"generateContentStream\", \"response\": [{\"candidates\": "
		              "[{\"content\": {\"role\": \"model\", \"parts\": [%s]}, "
		              "\"finishReason\": \"STOP\"}]}]}\n", *parts);
	assert_int_equal(fclose(file), 0);
}

void open_agent(struct fixture *f)
{
	hasp_agent_error error;

	f->agent = hasp_agent_open(&f->options, &error);
	if (!f->agent)
		fail_msg("%s: %s", hasp_agent_code_name(error.code), error.message);
	assert_true(hasp_agent_listen(f->agent, hear, &f->heard, &error));
}

void ask(struct fixture *f, const char *prompt, const char *expected)
{
	hasp_agent_error error;
	char *answer;

	if (!hasp_agent_prompt(f->agent, prompt, &answer, &error))
		fail_msg("%s: %s", hasp_agent_code_name(error.code), error.message);
	assert_string_equal(answer, expected);
	hasp_agent_text_free(answer);
}

const char *content(const struct fixture *f, const char *name)
{
	static char text[4096];
	char path[96];
	size_t len;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", f->project, name);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	len = fread(text, 1, sizeof(text) - 1, file);
	text[len] = '\0';
	fclose(file);
	return text;
}

/* How many messages of the topic have the text in them. */
static unsigned count(struct fixture *f, const char *topic, const char *text)
{
	size_t len = strlen(topic);
	unsigned found = 0;
	char *copy, *line, *rest;

	pthread_mutex_lock(&f->heard.lock);
	copy = strdup(f->heard.text ? f->heard.text : "");
	pthread_mutex_unlock(&f->heard.lock);
	for (rest = copy; (line = strsep(&rest, "\n"));)
		found += strncmp(line, topic, len) == 0 && line[len] == ' ' && strstr(line, text);
	free(copy);
	return found;
}

bool was_heard(struct fixture *f, const char *topic, const char *text)
{
	return count(f, topic, text) > 0;
}

unsigned count_heard(struct fixture *f, const char *topic)
{
	return count(f, topic, "");
}

bool member(const char *json, const char *name, char *ret, size_t size)
{
	char key[64];
	const char *at;
	size_t len;

	snprintf(key, sizeof(key), "\"%s\":", name);
	at = strstr(json, key);
	if (!at)
		return false;
	at += strlen(key);
	at += strspn(at, " \"");
	len = strcspn(at, "\"");
	if (len >= size)
		return false;
	memcpy(ret, at, len);
	ret[len] = '\0';
	return true;
}
