/* SPDX-License-Identifier: Apache-2.0 */
/* A front over libhasp-agent's public header that answers questions:
 *
 *     front FOLDER MODEL MODE PROMPT [ANSWER...]
 *
 * Each ANSWER is for one ask-user-request, in order: its text, or "-", which cancels it; behind the
 * last each is cancelled.  Calls are confirmed, logins are opened in a browser.  Prints "TOPIC MESSAGE" for whatever is published,
 * and at the end "answer TEXT". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hasp_agent.h"

struct front {
	hasp_agent *agent;
	char **answers;
};

/* Ids are plain: nothing in them is escaped. */
static void read_id(const char *message, char *id, size_t size)
{
	const char *at = strstr(message, "\"correlationId\":");
	size_t len;

	at = at ? strchr(at + strlen("\"correlationId\":"), '"') : NULL;
	if (!at)
		exit(3);
	len = strcspn(at + 1, "\"");
	if (len >= size)
		exit(3);
	memcpy(id, at + 1, len);
	id[len] = '\0';
}

static void give(struct front *front, const char *topic, const char *message)
{
	hasp_agent_error error;

	if (!hasp_agent_answer(front->agent, topic, message, &error))
		printf("refused %s\n", error.message);
}

static void hear(void *data, const char *topic, const char *message)
{
	struct front *front = data;
	char id[100], answer[1000];

	printf("%s %s\n", topic, message);
	fflush(stdout);
	if (strcmp(topic, "tool-confirmation-request") == 0) {
		read_id(message, id, sizeof(id));
		snprintf(answer, sizeof(answer),
		         "{\"correlationId\": \"%s\", \"outcome\": \"proceed_once\"}", id);
		give(front, "tool-confirmation-response", answer);
	} else if (strcmp(topic, "elicitation-request") == 0) {
		read_id(message, id, sizeof(id));
		snprintf(answer, sizeof(answer),
		         "{\"correlationId\": \"%s\", \"action\": \"accept\", \"open\": true}", id);
		if (strstr(message, "\"opened\":false") || strstr(message, "\"opened\": false"))
			give(front, "elicitation-response", answer);
	} else if (strcmp(topic, "ask-user-request") == 0) {
		const char *text = *front->answers ? *front->answers++ : "-";

		read_id(message, id, sizeof(id));
		if (strcmp(text, "-") == 0)
			snprintf(answer, sizeof(answer),
			         "{\"correlationId\": \"%s\", \"cancelled\": true}", id);
		else
			snprintf(answer, sizeof(answer),
			         "{\"correlationId\": \"%s\", \"answers\": {\"0\": \"%s\"}}", id,
			         text);
		give(front, "ask-user-response", answer);
	}
}

int main(int argc, char **argv)
{
	const char *folders[1] = { argc > 1 ? argv[1] : "" };
	hasp_agent_options options = HASP_AGENT_OPTIONS_INIT;
	hasp_agent_error error;
	struct front front;
	char *answer;

	if (argc < 5)
		return 2;
	front.answers = argv + 5;
	options.folders = folders;
	options.folder_count = 1;
	options.model = argv[2];
	options.approval_mode = argv[3];
	options.trust = options.interactive = true;
	options.program = getenv("HASP");
	front.agent = hasp_agent_open(&options, &error);
	if (!front.agent || !hasp_agent_listen(front.agent, hear, &front, &error)) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	if (!hasp_agent_prompt(front.agent, argv[4], &answer, &error))
		fprintf(stderr, "%s\n", error.message);
	printf("answer %s\n", answer);
	hasp_agent_text_free(answer);
	hasp_agent_close(front.agent);
	return 0;
}
