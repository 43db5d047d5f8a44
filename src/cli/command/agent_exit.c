/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command/agent_exit.h"

#include "base/mem.h"

static const struct {
	enum agent_exit code;
	const char *type, *sentence;
} rows[] = {
#define AGENT_EXIT_ROW(symbol, code, type, sentence) { AGENT_EXIT_##symbol, type, sentence },
	AGENT_EXIT_TABLE(AGENT_EXIT_ROW)
#undef AGENT_EXIT_ROW
};

const char *agent_exit_type(enum agent_exit code)
{
	for (size_t i = 1; i < ARRAY_LEN(rows); i++)
		if (rows[i].code == code)
			return rows[i].type;
	return NULL;
}

const char *agent_exit_sentence(enum agent_exit code)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].code == code)
			return rows[i].sentence;
	return "";
}

static enum agent_exit of_error(enum err_code code)
{
	switch (code) {
	case ERR_AUTHENTICATION_FAILED:
		return AGENT_EXIT_AUTH;
	case ERR_INVALID_ARGUMENT:
	case ERR_BUSY:
	case ERR_FILE_NOT_FOUND:
		return AGENT_EXIT_INPUT;
	case ERR_DISK_FULL:
		return AGENT_EXIT_TOOL;
	case ERR_CANCELLED:
		return AGENT_EXIT_CANCELLED;
	default:
		return AGENT_EXIT_GENERAL;
	}
}

enum agent_exit agent_exit_of(enum agent_end end, const struct err *err)
{
	switch (end) {
	case AGENT_ANSWERED:
	case AGENT_HOOK_STOPPED:
		return AGENT_EXIT_OK;
	case AGENT_CANCELLED:
		return AGENT_EXIT_CANCELLED;
	case AGENT_TURN_LIMIT:
		return AGENT_EXIT_TURNS;
	case AGENT_FATAL_TOOL:
		return AGENT_EXIT_TOOL;
	case AGENT_LOOP:
		return AGENT_EXIT_GENERAL;
	default:
		return err ? of_error(err->code) : AGENT_EXIT_GENERAL;
	}
}
