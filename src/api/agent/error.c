/* SPDX-License-Identifier: Apache-2.0 */
/* Codes and messages for programs. */
#include <stdarg.h>
#include <stdio.h>

#include "api/agent/internal.h"
#include "base/mem.h"

#ifndef HASP_VERSION
#error "the build defines HASP_VERSION"
#endif

static const char *const names[] = {
	[HASP_AGENT_NONE] = "none",
	[HASP_AGENT_INVALID_ARGUMENT] = "invalid_argument",
	[HASP_AGENT_NOT_FOUND] = "not_found",
	[HASP_AGENT_NOT_PERMITTED] = "not_permitted",
	[HASP_AGENT_BUSY] = "busy",
	[HASP_AGENT_WORKER_FAILED] = "worker_failed",
	[HASP_AGENT_AUTHENTICATION_FAILED] = "authentication_failed",
	[HASP_AGENT_QUOTA_EXCEEDED] = "quota_exceeded",
	[HASP_AGENT_OVERLOADED] = "overloaded",
	[HASP_AGENT_NETWORK_ERROR] = "network_error",
	[HASP_AGENT_CONTEXT_TOO_LARGE] = "context_too_large",
	[HASP_AGENT_MODEL_ERROR] = "model_error",
	[HASP_AGENT_IO_ERROR] = "io_error",
	[HASP_AGENT_CANCELLED] = "cancelled",
	[HASP_AGENT_STOPPED] = "stopped",
	[HASP_AGENT_TURN_LIMIT] = "turn_limit",
	[HASP_AGENT_LOOP] = "loop",
	[HASP_AGENT_INTERNAL] = "internal",
};

/* Others are INTERNAL: they are of tools, whose errors go to the model. */
static const struct {
	enum err_code inside;
	hasp_agent_code code;
} rows[] = {
	{ ERR_INVALID_ARGUMENT, HASP_AGENT_INVALID_ARGUMENT },
	{ ERR_FILE_NOT_FOUND, HASP_AGENT_NOT_FOUND },
	{ ERR_NOT_A_DIRECTORY, HASP_AGENT_NOT_FOUND },
	{ ERR_NOT_A_FILE, HASP_AGENT_NOT_FOUND },
	{ ERR_PERMISSION_DENIED, HASP_AGENT_NOT_PERMITTED },
	{ ERR_DENIED_BY_POLICY, HASP_AGENT_NOT_PERMITTED },
	{ ERR_OUTSIDE_WORKSPACE, HASP_AGENT_NOT_PERMITTED },
	{ ERR_BUSY, HASP_AGENT_BUSY },
	{ ERR_WORKER_LOST, HASP_AGENT_WORKER_FAILED },
	{ ERR_DENIED_BY_SANDBOX, HASP_AGENT_WORKER_FAILED },
	{ ERR_AUTHENTICATION_FAILED, HASP_AGENT_AUTHENTICATION_FAILED },
	{ ERR_QUOTA_EXCEEDED, HASP_AGENT_QUOTA_EXCEEDED },
	{ ERR_OVERLOADED, HASP_AGENT_OVERLOADED },
	{ ERR_NETWORK_ERROR, HASP_AGENT_NETWORK_ERROR },
	{ ERR_CONTEXT_TOO_LARGE, HASP_AGENT_CONTEXT_TOO_LARGE },
	{ ERR_MODEL_ERROR, HASP_AGENT_MODEL_ERROR },
	{ ERR_TOO_LARGE, HASP_AGENT_IO_ERROR },
	{ ERR_DISK_FULL, HASP_AGENT_IO_ERROR },
	{ ERR_IO_ERROR, HASP_AGENT_IO_ERROR },
	{ ERR_CANCELLED, HASP_AGENT_CANCELLED },
};

const char *hasp_agent_version(void)
{
	return HASP_VERSION;
}

const char *hasp_agent_code_name(hasp_agent_code code)
{
	return names[(size_t)code < ARRAY_LEN(names) ? code : HASP_AGENT_INTERNAL];
}

static hasp_agent_code code_of(enum err_code inside)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].inside == inside)
			return rows[i].code;
	return HASP_AGENT_INTERNAL;
}

bool embed_error(const struct err *err, hasp_agent_error *error)
{
	return embed_fail(error, code_of(err->code), "%s", err->message);
}

bool embed_fail(hasp_agent_error *error, hasp_agent_code code, const char *format, ...)
{
	va_list args;

	if (!error)
		return false;
	error->code = code;
	va_start(args, format);
	vsnprintf(error->message, sizeof(error->message), format, args);
	va_end(args);
	return false;
}
