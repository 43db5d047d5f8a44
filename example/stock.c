/* SPDX-License-Identifier: Apache-2.0 */
/* stock: an agent with two tools of this program, one that counts and one that takes.
 *
 *     cc -o stock stock.c $(pkg-config --cflags --libs hasp-agent) -lpthread
 *     ./stock stock.txt "Take six screws for order 12, if there are enough."
 *
 * A line of the file is an item and how many there are: "screw 40".  Counting is a tool that reads,
 * and needs no question; taking is one that edits, and is asked about on the terminal.  Exit status
 * 0, 1 when there is no answer, 2 for wrong usage or a file that cannot be read or written.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <hasp_agent.h>

enum { ITEMS = 1000 };

struct item {
	char name[64];
	long long count;
};

struct stock {
	const char *path;
	struct item items[ITEMS];
	size_t item_count;
	bool changed;
	pthread_mutex_t lock; /* of the items: calls of one turn come on several threads */
	hasp_agent *agent;
};

/* ---- the file ------------------------------------------------------------ */

static bool load(struct stock *stock)
{
	FILE *file = fopen(stock->path, "r");
	struct item *item = stock->items;

	if (!file) {
		perror(stock->path);
		return false;
	}
	while (stock->item_count < ITEMS && fscanf(file, "%63s %lld", item->name, &item->count) == 2)
		item = &stock->items[++stock->item_count];
	fclose(file);
	return true;
}

static bool save(const struct stock *stock)
{
	FILE *file = fopen(stock->path, "w");
	bool ok = file != NULL;

	for (size_t i = 0; ok && i < stock->item_count; i++)
		ok = fprintf(file, "%s %lld\n", stock->items[i].name, stock->items[i].count) > 0;
	if (file)
		ok = fclose(file) == 0 && ok;
	if (!ok)
		perror(stock->path);
	return ok;
}

/* ---- the tools ----------------------------------------------------------- */

/* The item that the arguments name; NULL, and the call has failed: there is none. */
static struct item *find(struct stock *stock, const char *arguments, hasp_tool_answer *answer)
{
	char *name = hasp_json_text(arguments, "/item");
	struct item *found = NULL;

	for (size_t i = 0; name && !found && i < stock->item_count; i++)
		if (strcmp(stock->items[i].name, name) == 0)
			found = &stock->items[i];
	if (!found)
		hasp_tool_answer_fail(answer, "There is no such item.");
	hasp_agent_text_free(name);
	return found;
}

static void count_stock(void *data, const char *arguments, hasp_tool_answer *answer)
{
	struct stock *stock = data;
	struct item *item;
	char text[32];

	pthread_mutex_lock(&stock->lock);
	item = find(stock, arguments, answer);
	snprintf(text, sizeof(text), "%lld", item ? item->count : 0);
	pthread_mutex_unlock(&stock->lock);
	hasp_tool_answer_text(answer, text);
}

static void take_stock(void *data, const char *arguments, hasp_tool_answer *answer)
{
	const long long wanted = hasp_json_integer(arguments, "/count", 0);
	struct stock *stock = data;
	struct item *item;
	char text[80];

	pthread_mutex_lock(&stock->lock);
	item = find(stock, arguments, answer);
	if (item && item->count >= wanted) {
		item->count -= wanted;
		stock->changed = true;
		snprintf(text, sizeof(text), "Taken; %lld are left.", item->count);
		hasp_tool_answer_text(answer, text);
	} else if (item) {
		snprintf(text, sizeof(text), "There are only %lld; none were taken.", item->count);
		hasp_tool_answer_fail(answer, text);
	}
	pthread_mutex_unlock(&stock->lock);
}

/* ---- questions ------------------------------------------------------------ */

/* The agent waits for this function, and what it asks about waits for an answer. */
static void ask_at_the_terminal(void *data, const char *topic, const char *message)
{
	const struct stock *stock = data;
	char answer[256], reply[64] = "";
	char *id, *tool, *arguments;

	if (strcmp(topic, "tool-confirmation-request") != 0)
		return;
	id = hasp_json_text(message, "/correlationId");
	tool = hasp_json_text(message, "/toolName");
	arguments = hasp_json_text(message, "/arguments");
	fprintf(stderr, "%s %s? [y/N] ", tool ? tool : "", arguments ? arguments : "");
	if (!fgets(reply, sizeof(reply), stdin))
		reply[0] = 'n';
	snprintf(answer, sizeof(answer), "{\"correlationId\": \"%.100s\", \"outcome\": \"%s\"}",
	         id ? id : "", reply[0] == 'y' ? "proceed_once" : "cancel");
	hasp_agent_answer(stock->agent, "tool-confirmation-response", answer, NULL);
	hasp_agent_text_free(id);
	hasp_agent_text_free(tool);
	hasp_agent_text_free(arguments);
}

/* ---- the agent ------------------------------------------------------------ */

static bool ask(struct stock *stock, const char *prompt)
{
	const hasp_agent_tool tools[] = {
		{ sizeof(tools[0]), "count_stock", "Returns how many of an item are in stock.",
		  "{\"type\": \"object\", \"required\": [\"item\"], \"properties\": {"
		  "\"item\": {\"type\": \"string\"}}}", HASP_TOOL_READ, count_stock, stock },
		{ sizeof(tools[0]), "take_stock", "Takes pieces of an item out of the stock.",
		  "{\"type\": \"object\", \"required\": [\"item\", \"count\"], \"properties\": {"
		  "\"item\": {\"type\": \"string\"}, \"count\": {\"type\": \"integer\", \"minimum\": 1}}}",
		  HASP_TOOL_EDIT, take_stock, stock },
	};
	const hasp_agent_tool *offered[] = { &tools[0], &tools[1] };
	const char *folder = ".";
	hasp_agent_options options = HASP_AGENT_OPTIONS_INIT;
	hasp_agent_error error;
	char *answer = NULL;
	bool ok;

	options.folders = &folder;
	options.folder_count = 1;
	options.interactive = true;
	options.tools = offered;
	options.tool_count = 2;
	stock->agent = hasp_agent_open(&options, &error);
	ok = stock->agent && hasp_agent_listen(stock->agent, ask_at_the_terminal, stock, &error) &&
	     hasp_agent_prompt(stock->agent, prompt, &answer, &error);
	fprintf(ok ? stdout : stderr, "%s\n", ok ? answer : error.message);
	hasp_agent_text_free(answer);
	hasp_agent_close(stock->agent);
	return ok;
}

int main(int argc, char **argv)
{
	static struct stock stock = { .lock = PTHREAD_MUTEX_INITIALIZER };
	bool answered;

	if (argc != 3) {
		fprintf(stderr, "usage: stock FILE PROMPT\n");
		return 2;
	}
	stock.path = argv[1];
	if (!load(&stock))
		return 2;
	answered = ask(&stock, argv[2]);
	if (stock.changed && !save(&stock))
		return 2;
	return answered ? 0 : 1;
}
