/* SPDX-License-Identifier: Apache-2.0 */
/* What settings say of calls of tools. */
#include "agent/host/session_settings.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"

enum {
	DERIVE_MS_MAX = 3600000,
	DERIVE_MB_MAX = 1 << 20,
	SILENT_SECONDS = 300, /* the default of tools.shell.inactivityTimeout */
	SILENT_SECONDS_MAX = 86400,
};

/* Gemini CLI lets the earlier of the user's ignore files decide, a walk the later. */
static void take_ignores(struct session_settings *own, const struct settings *settings)
{
	const json_t *names = settings_get(settings, "context.fileFiltering.customIgnoreFilePaths");
	const size_t count = json_array_size(names);

	if (count > 0)
		own->ignore_files = mem_alloc(count, sizeof(*own->ignore_files));
	for (size_t i = 0; i < count; i++)
		own->ignore_files[i] = json_string_value(json_array_get(names, count - 1 - i));
	own->ignores = (struct walk_rules){
		.no_git_ignore = !settings_bool(settings,
		                                "context.fileFiltering.respectGitIgnore", true),
		.no_gemini_ignore = !settings_bool(
			settings, "context.fileFiltering.respectGeminiIgnore", true),
		.ignore_files = own->ignore_files,
		.ignore_file_count = count,
	};
}

static void take_formats(struct session_settings *own, const struct settings *settings)
{
	const double ms = settings_number(settings, "hasp.formats.timeoutMs", LIMIT_DERIVE_MS);
	const double mb = settings_number(settings, "hasp.formats.memoryMb", LIMIT_DERIVE_MB);

	own->formats.no_schemas = !settings_bool(settings, "hasp.formats.schemas", true);
	own->formats.allow_schema_errors =
		!strcmp(settings_string(settings, "hasp.formats.onSchemaError", "deny"), "allow");
	own->formats.off = !settings_bool(settings, "hasp.formats.enabled", true);
	if (ms >= 1 && ms <= DERIVE_MS_MAX)
		own->formats.timeout_ms = (unsigned)ms;
	if (mb >= 1 && mb <= DERIVE_MB_MAX)
		own->formats.memory_bytes = (size_t)mb << 20;
}

bool session_settings_check(const struct settings *settings, struct err *err)
{
	static const char *const restricting[] = { "hasp.formats", "context.fileFiltering",
		                                   "security.environmentVariableRedaction" };

	for (size_t i = 0; i < ARRAY_LEN(restricting); i++)
		if (!prepare_is_read(settings, restricting[i], err))
			return false;
	return true;
}

void session_settings_init(struct session_settings *ret, const struct settings *settings,
                           bool local)
{
	double silent;

	*ret = (struct session_settings){ .any = settings != NULL, .local = local };
	if (!settings)
		return;
	silent = settings_number(settings, "tools.shell.inactivityTimeout", SILENT_SECONDS);
	if (silent < 0 || silent > SILENT_SECONDS_MAX)
		silent = SILENT_SECONDS;
	ret->inactivity_ms = (unsigned)(silent * 1000);
	setup_command_env_init(&ret->env, settings);
	take_ignores(ret, settings);
	take_formats(ret, settings);
}

/* Variables of this machine do not go to another. */
void session_settings_put(const struct session_settings *own, struct session *session)
{
	if (!own->any)
		return;
	session->ignores = own->ignores;
	session->formats = own->formats;
	session->inactivity_ms = own->inactivity_ms;
	if (own->local && !own->env.usual)
		session->environment = &own->env.options;
}

void session_settings_release(struct session_settings *own)
{
	setup_command_env_release(&own->env);
	free(own->ignore_files);
	*own = (struct session_settings){ 0 };
}
