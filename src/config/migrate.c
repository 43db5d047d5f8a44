/* SPDX-License-Identifier: Apache-2.0 */
#include "config/migrate.h"

#include <string.h>

#include "base/mem.h"
#include "config/json_path.h"

static json_t *opposite(const json_t *value)
{
	return json_is_boolean(value) ? json_boolean(!json_is_true(value)) : NULL;
}

/* chatCompression was an object of one. */
static json_t *compression(const json_t *value)
{
	return json_incref(json_object_get(value, "contextPercentageThreshold"));
}

static json_t *off(const json_t *value)
{
	return json_is_false(value) ? json_string("off") : NULL;
}

/* Objects at names that are groups today are today's. */
static json_t *unless_object(const json_t *value)
{
	return json_is_object(value) ? NULL : json_incref((json_t *)value);
}

/* First version 1, where all names were flat; then later changes. In this order. */
static const struct move {
	const char *from, *to;
	json_t *(*change)(const json_t *value); /* NULL: as it is. It returns NULL to leave it alone */
} moves[] = {
	{ "model", "model.name", unless_object },
	{ "accessibility", "ui.accessibility", NULL },
	{ "allowedTools", "tools.allowed", NULL },
	{ "allowMCPServers", "mcp.allowed", NULL },
	{ "approvalMode", "general.defaultApprovalMode", NULL },
	{ "autoConfigureMaxOldSpaceSize", "advanced.autoConfigureMemory", NULL },
	{ "bugCommand", "advanced.bugCommand", NULL },
	{ "chatCompression", "model.compressionThreshold", compression },
	{ "checkpointing", "general.checkpointing", NULL },
	{ "coreTools", "tools.core", NULL },
	{ "contextFileName", "context.fileName", NULL },
	{ "customThemes", "ui.customThemes", NULL },
	{ "customWittyPhrases", "ui.customWittyPhrases", NULL },
	{ "debugKeystrokeLogging", "general.debugKeystrokeLogging", NULL },
	{ "disableAutoUpdate", "general.enableAutoUpdate", opposite },
	{ "disableUpdateNag", "general.enableAutoUpdateNotification", opposite },
	{ "dnsResolutionOrder", "advanced.dnsResolutionOrder", NULL },
	{ "enableHooks", "hooksConfig.enabled", NULL },
	{ "enforcedAuthType", "security.auth.enforcedType", NULL },
	{ "excludeTools", "tools.exclude", NULL },
	{ "excludeMCPServers", "mcp.excluded", NULL },
	{ "excludedProjectEnvVars", "advanced.excludedEnvVars", NULL },
	{ "experimentalSkills", "skills.enabled", NULL },
	{ "extensionManagement", "experimental.extensionManagement", NULL },
	{ "fileFiltering", "context.fileFiltering", NULL },
	{ "folderTrust", "security.folderTrust.enabled", NULL },
	{ "hasSeenIdeIntegrationNudge", "ide.hasSeenNudge", NULL },
	{ "hideWindowTitle", "ui.hideWindowTitle", NULL },
	{ "showStatusInTitle", "ui.showStatusInTitle", NULL },
	{ "hideTips", "ui.hideTips", NULL },
	{ "hideBanner", "ui.hideBanner", NULL },
	{ "hideFooter", "ui.hideFooter", NULL },
	{ "hideCWD", "ui.footer.hideCWD", NULL },
	{ "hideSandboxStatus", "ui.footer.hideSandboxStatus", NULL },
	{ "hideModelInfo", "ui.footer.hideModelInfo", NULL },
	{ "hideContextSummary", "ui.hideContextSummary", NULL },
	{ "showMemoryUsage", "ui.showMemoryUsage", NULL },
	{ "showLineNumbers", "ui.showLineNumbers", NULL },
	{ "showCitations", "ui.showCitations", NULL },
	{ "ideMode", "ide.enabled", NULL },
	{ "includeDirectories", "context.includeDirectories", NULL },
	{ "loadMemoryFromIncludeDirectories", "context.loadMemoryFromIncludeDirectories", NULL },
	{ "maxSessionTurns", "model.maxSessionTurns", NULL },
	{ "mcpServerCommand", "mcp.serverCommand", NULL },
	{ "memoryImportFormat", "context.importFormat", NULL },
	{ "memoryDiscoveryMaxDirs", "context.discoveryMaxDirs", NULL },
	{ "preferredEditor", "general.preferredEditor", NULL },
	{ "retryFetchErrors", "general.retryFetchErrors", NULL },
	{ "sandbox", "tools.sandbox", NULL },
	{ "selectedAuthType", "security.auth.selectedType", NULL },
	{ "enableInteractiveShell", "tools.shell.enableInteractiveShell", NULL },
	{ "shellPager", "tools.shell.pager", NULL },
	{ "shellShowColor", "tools.shell.showColor", NULL },
	{ "shellInactivityTimeout", "tools.shell.inactivityTimeout", NULL },
	{ "skipNextSpeakerCheck", "model.skipNextSpeakerCheck", NULL },
	{ "summarizeToolOutput", "model.summarizeToolOutput", NULL },
	{ "theme", "ui.theme", NULL },
	{ "toolDiscoveryCommand", "tools.discoveryCommand", NULL },
	{ "toolCallCommand", "tools.callCommand", NULL },
	{ "usageStatisticsEnabled", "privacy.usageStatisticsEnabled", NULL },
	{ "useExternalAuth", "security.auth.useExternal", NULL },
	{ "useRipgrep", "tools.useRipgrep", NULL },
	{ "vimMode", "general.vimMode", NULL },

	{ "general.disableAutoUpdate", "general.enableAutoUpdate", opposite },
	{ "general.disableUpdateNag", "general.enableAutoUpdateNotification", opposite },
	{ "ui.accessibility.disableLoadingPhrases", "ui.accessibility.enableLoadingPhrases", opposite },
	{ "ui.accessibility.enableLoadingPhrases", "ui.loadingPhrases", off },
	{ "context.fileFiltering.disableFuzzySearch", "context.fileFiltering.enableFuzzySearch",
	  opposite },
	{ "context.loadFromIncludeDirectories", "context.loadMemoryFromIncludeDirectories", NULL },
	{ "tools.approvalMode", "general.defaultApprovalMode", NULL },
	{ "tools.enableHooks", "hooksConfig.enabled", NULL },
	{ "experimental.skills", "skills.enabled", NULL },
	{ "experimental.plan", "general.plan.enabled", NULL },
};

/* Where the value really stands: names were moved more than once. */
static const char *first_name(const json_t *moved, const char *path)
{
	const char *earlier = json_string_value(json_object_get(moved, path));

	return earlier ? earlier : path;
}

static void move(json_t *value, json_t *moved, const struct move *row)
{
	json_t *old = json_path_get(value, row->from);
	json_t *new = old && row->change ? row->change(old) : json_incref(old);

	if (!new)
		return;
	json_path_delete(value, row->from);
	if (json_is_object(new) && json_is_object(json_path_get(value, row->to))) {
		json_object_update_missing(json_path_get(value, row->to), new);
		json_decref(new);
	} else if (json_path_get(value, row->to)) {
		json_decref(new);
	} else {
		json_path_set(value, row->to, new);
	}
	json_object_set_new(moved, row->to, json_string(first_name(moved, row->from)));
}

void migrate(json_t *value, json_t *moved)
{
	for (size_t i = 0; i < ARRAY_LEN(moves); i++)
		move(value, moved, &moves[i]);
}
