/* SPDX-License-Identifier: Apache-2.0 */
/* The tools as they are declared to the model, and as a session's file names them. */
#include <string.h>

#include "agent/call/gate.h"
#include "agent/private.h"
#include "agent/session/record.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "config/settings.h"
#include "data/json.h"
#include "model/model.h"
#include "tool/dialect.h"
#include "tool/set.h"

/* The same in every mode of the session, because sent requests must not change. A call of a tool
 * that is off is refused. */
bool agent_declares(void *data, const struct tool *tool)
{
	const struct agent *agent = data;

	return !(tool->absent && tool->absent(agent->options.session)) &&
	       !gate_hides_always(data, tool);
}

/* Where a tool's effect is not known, the model may say that a call needs those before it. */
static void declare_wait(const struct tool *tool, json_t *declaration)
{
	json_t *parameters = json_object_get(declaration, "parameters");
	json_t *properties, *own;

	if (!tool || !json_is_object(parameters) ||
	    (tool_kind_of(tool) != TOOL_KIND_EXECUTE && tool_kind_of(tool) != TOOL_KIND_AGENT &&
	     (tool_kind_of(tool) != TOOL_KIND_OTHER || !tool->run_as)))
		return;
	own = json_copy(parameters);
	properties = json_copy(json_object_get(parameters, "properties"));
	properties = properties ? properties : json_object();
	json_object_set_new(properties, "wait_for_previous",
	                    json_pack("{s:s}", "type", "boolean"));
	json_object_set_new(own, "properties", properties);
	json_object_set_new(declaration, "parameters", own);
}

const json_t *agent_tools(struct agent *agent)
{
	const struct tool_set *set = agent->options.session->tools;
	const struct settings *settings = agent->options.settings;
	const char *wanted = settings ? settings_string(settings, "hasp.tools.dialect", "auto") :
	                                NULL;
	enum dialect dialect;
	size_t i;
	json_t *declaration;

	if (agent->declared)
		return agent->declared;
	agent->declared = tool_set_declare(set, agent_declares, agent);
	dialect = dialect_choose(wanted, model_id(agent->options.model));
	agent->options.session->dialect = dialect_declare(dialect, agent->declared);
	if (model_loads(agent->options.model) == MODEL_LOADS_DECLARED)
		tool_set_declare_deferred(set, agent_declares, agent, agent->declared);
	json_array_foreach(agent->declared, i, declaration)
		declare_wait(tool_set_find(set, json_string_value(
			json_object_get(declaration, "name"))), declaration);
	return agent->declared;
}

json_t *agent_tools_hash(struct agent *agent)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MODEL_REQUEST_BYTES);
	json_auto_t *tools = model_tools_before(agent_tools(agent));
	char hex[SHA256_HEX_SIZE];
	struct sha256 sum;

	json_print(&text, tools, 0);
	sum = sha256_of(buf_view(&text));
	sha256_hex(&sum, hex);
	return json_string(hex);
}

void agent_record_beginning(struct agent *agent)
{
	json_auto_t *beginning = mem_steal(&agent->beginning);

	if (!beginning)
		return;
	json_object_set_new(beginning, "tools", agent_tools_hash(agent));
	record_sent(agent->options.record, beginning);
}
