/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/offer/serve.h"

#include <stdlib.h>

#include "base/mem.h"
#include "mcp/offer/calls.h"
#include "mcp/offer/conversation.h"
#include "mcp/offer/offer.h"
#include "mcp/offer/opened.h"

static void declare_all(struct serve *serve)
{
	serve->offered = mem_alloc(serve->names.count, sizeof(*serve->offered));
	serve->tools = mem_alloc(serve->names.count, sizeof(*serve->tools));
	for (size_t i = 0; i < serve->names.count; i++) {
		struct offered *offered = &serve->offered[i];

		offered->serve = serve;
		offered->item = &serve->names.items[i];
		offer_declare_tool(&serve->names, offered);
		serve->tools[i] = (struct mcp_tool){
			.name = offered->item->name,
			.title = offered->item->tool->title,
			.description = offered->description,
			.input_schema = offered->input_schema,
			.output_schema = offered->output_schema,
			.annotations = offered->annotations,
			.quick = true, /* call.c hands over what is not */
			.run = call_tool,
			.data = offered,
		};
	}
	serve->instructions = prompts_instructions(&serve->names, serve->options.confinement);
	serve->prompts = prompts_declare(&serve->names);
}

static void make_offer(struct serve *serve)
{
	serve->offer = (struct mcp_offer){
		.name = "hasp",
		.title = "hasp: state-verified file tools",
		.version = HASP_VERSION,
		.instructions = serve->instructions,
		.tools = serve->tools,
		.tool_count = serve->names.count,
		.data = serve,
		.list_resources = resources_list,
		.list_templates = resources_templates,
		.read_resource = resources_read,
		.subscribe = conversation_subscribe,
		.unsubscribe = conversation_unsubscribe,
		.no_list_changes = true,
		.output_schemas_asked = !serve->options.output_schemas,
		.prompts = serve->prompts,
		.get_prompt = prompts_get,
		.complete = prompts_complete_argument,
		.begin = conversation_begin,
		.ready = conversation_ready,
		.roots_changed = conversation_roots_changed,
		.end = conversation_end,
	};
}

bool serve_new(const struct serve_options *options, struct serve **ret, struct err *err)
{
	struct serve *serve = mem_alloc(1, sizeof(*serve));

	serve->options = *options;
	serve->paper = (struct paper)PAPER_INIT;
	serve->table = opened_table_new(&serve->options);
	serve->turns = turns_new();
	serve->edits = call_started_new(options->loop);
	serve->watches = offer_watches_new();
	if (!names_make(&options->names, &serve->names, err) ||
	    (options->root_count && !opened_get(serve->table, options->roots, options->root_count,
	                                        &serve->kept, NULL, err))) {
		serve_free(serve);
		return false;
	}
	declare_all(serve);
	make_offer(serve);
	*ret = serve;
	return true;
}

const struct mcp_offer *serve_offer(const struct serve *serve)
{
	return &serve->offer;
}

void serve_stop(struct serve *serve)
{
	while (serve->unsettled)
		conversation_give_up(serve->unsettled);
	call_started_stop(serve->edits);
}

void serve_free(struct serve *serve)
{
	if (!serve)
		return;
	opened_put(serve->kept);
	opened_table_free(serve->table);
	offer_watches_free(serve->watches);
	turns_free(serve->turns);
	call_started_free(serve->edits);
	for (size_t i = 0; serve->offered && i < serve->names.count; i++)
		offer_declare_release(&serve->offered[i]);
	free(serve->offered);
	free(serve->tools);
	free(serve->instructions);
	free(serve->prompts);
	names_release(&serve->names);
	paper_clear(&serve->paper, 0);
	free(serve);
}
