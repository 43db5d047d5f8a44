/* SPDX-License-Identifier: Apache-2.0 */
/* Gemini CLI's settings for what an agent does. */
#include "config/schema_rows.h"

#define HOOK(EVENT, WHEN) \
	ARRAY("hooks." EVENT, "[]", "Hooks that run " WHEN ".", CONCAT CONTENT)

static const char rows[] =
	STRING("$schema", NONE, "The address of a JSON Schema for this file, for editors.")
	OBJECT("mcpServers", "{}", "MCP servers by name.", SHALLOW ASK)
	STRINGS("policyPaths", "[]", "Further policy files or folders, in place of the user's.",
	        UNION ASK)
	STRINGS("adminPolicyPaths", "[]", "Further policy files or folders of an administrator.",
	        UNION NEVER)
	BOOLEAN("useWriteTodos", "true", "Offer the tool write_todos.")

	STRING("model.name", NONE, "The model, or an alias of one.", PLAIN)
	INTEGER("model.maxSessionTurns", "-1", "Most turns of a session; -1: no limit.")
	OBJECT("model.summarizeToolOutput", NONE,
	       "Tools whose output is summarised, each with a tokenBudget.")
	NUMBER("model.compressionThreshold", "0.5",
	       "The part of the model's context that may be full before it is compressed.")
	BOOLEAN("model.disableLoopDetection", "false", "Do not look for a model that goes in circles.")
	BOOLEAN("model.skipNextSpeakerCheck", "true",
	        "Do not ask the model whether it wants to go on.")
	OBJECT("modelConfigs.aliases", "{}", "Named sets of parameters for models.")
	OBJECT("modelConfigs.customAliases", "{}", "The user's own, added to the built-in ones.")
	ARRAY("modelConfigs.customOverrides", "[]", "The user's own overrides, added to the built-in ones.")
	ARRAY("modelConfigs.overrides", "[]",
	      "Parameters for requests that match; the most specific match counts last.")
	OBJECT("modelConfigs.modelDefinitions", "{}", "Facts about models: tier, family, features.")
	OBJECT("modelConfigs.modelIdResolutions", "{}", "Which model a name stands for, and when.")
	OBJECT("modelConfigs.classifierIdResolutions", "{}",
	       "Which model a tier of the classifier stands for, and when.")
	OBJECT("modelConfigs.modelChains", "{}", "Models to fall back to, in order.")

	STRING_OR_STRINGS("context.fileName", NONE, "The name of context files, or several.",
	        TEXT_NAMES)
	CHOICE("context.importFormat", NONE, "tree|flat", "How imports of context files are put in.")
	BOOLEAN("context.includeDirectoryTree", "true",
	        "Tell the model the folder's tree in its first message.")
	INTEGER("context.discoveryMaxDirs", "200", "Most folders that are searched for context files.")
	STRINGS("context.memoryBoundaryMarkers", "[\".git\"]",
	        "Names that mark the folder at which the upward search for context files ends.",
	        ASK)
	STRINGS("context.includeDirectories", "[]", "Further folders of the workspace.", CONCAT INSIDE)
	BOOLEAN("context.loadMemoryFromIncludeDirectories", "false",
	        "Read context files of the further folders too.")
	BOOLEAN("context.fileFiltering.respectGitIgnore", "true", "Leave out what git ignores.")
	BOOLEAN("context.fileFiltering.respectGeminiIgnore", "true",
	        "Leave out what .geminiignore names.")
	BOOLEAN("context.fileFiltering.enableFileWatcher", "false",
	        "Keep suggestions for @ up to date by watching the folders.")
	BOOLEAN("context.fileFiltering.enableRecursiveFileSearch", "true",
	        "Search below the folder for suggestions for @.")
	BOOLEAN("context.fileFiltering.enableFuzzySearch", "true",
	        "Suggest names for @ that are like what was typed.")
	STRINGS("context.fileFiltering.customIgnoreFilePaths", "[]",
	        "Further ignore files; they count before the others.", UNION INSIDE)

	SWITCH("tools.sandbox", NONE,
	       "Gemini CLI's confinement of the whole process: on or off, a command, or an object "
	       "with command and image.", ASK)
	STRINGS("tools.sandboxAllowedPaths", "[]", "Further paths that confined tools may write.",
	        ASK)
	BOOLEAN("tools.sandboxNetworkAccess", "false", "Leave the network on for confined commands.",
	        ASK)
	BOOLEAN("tools.shell.enableInteractiveShell", "true", "Give commands a terminal of their own.")
	CHOICE("tools.shell.backgroundCompletionBehavior", "\"silent\"", "silent|inject|notify",
	       "What happens when a command in the background ends.")
	STRING("tools.shell.pager", "\"cat\"", "PAGER for commands.", ASK)
	BOOLEAN("tools.shell.showColor", "true", "Let commands print in colour.")
	NUMBER("tools.shell.inactivityTimeout", "300",
	       "Seconds without output after which a command is ended.")
	BOOLEAN("tools.shell.enableShellOutputEfficiency", "true",
	        "Advise the model to keep the output of commands short.")
	STRINGS("tools.core", NONE, "The only built-in tools to offer.", ASK)
	STRINGS("tools.allowed", NONE, "Tools that need no confirmation.", ASK)
	STRINGS("tools.confirmationRequired", NONE, "Tools that always need confirmation.", UNION)
	STRINGS("tools.exclude", NONE, "Tools that are not offered.", UNION)
	STRING("tools.discoveryCommand", NONE, "A command that prints declarations of further tools.",
	        ASK)
	STRING("tools.callCommand", NONE, "The command that calls a discovered tool.", ASK)
	BOOLEAN("tools.useRipgrep", "true", "Search with ripgrep.")
	INTEGER("tools.truncateToolOutputThreshold", "40000",
	        "Characters above which a tool's output is cut, and kept whole in a file.")
	BOOLEAN("tools.disableLLMCorrection", "true", "Do not ask a model to repair failed edits.")

	STRING("mcp.serverCommand", NONE, "A command that starts an MCP server.", ASK)
	STRINGS("mcp.allowed", NONE, "The only MCP servers that count.", INTERSECT ASK)
	STRINGS("mcp.excluded", NONE, "MCP servers that do not count.", UNION)

	BOOLEAN("security.toolSandboxing", "false", "Confine each tool by itself.", ONLY_TRUE)
	BOOLEAN("security.disableYoloMode", "false", "Forbid the mode yolo, whatever flags say.",
	        ONLY_TRUE)
	BOOLEAN("security.disableAlwaysAllow", "false", "Offer no \"always\" in confirmations.",
	        ONLY_TRUE)
	BOOLEAN("security.enablePermanentToolApproval", "false",
	        "Offer to allow a call in all sessions to come.", ONLY_FALSE)
	BOOLEAN("security.autoAddToPolicyByDefault", "false",
	        "Make that offer the first one for calls of low risk.", ONLY_FALSE)
	BOOLEAN("security.blockGitExtensions", "false", "Take no extensions from git.", ONLY_TRUE)
	STRINGS("security.allowedExtensions", "[]",
	        "Regular expressions for the sources of extensions; with any, no others are taken.",
	        NEVER)
	BOOLEAN("security.folderTrust.enabled", "true",
	        "Let a project's own settings count only in trusted folders.", NEVER)
	BOOLEAN("security.environmentVariableRedaction.enabled", "false",
	        "Keep variables that may be secrets from commands.", ONLY_TRUE)
	STRINGS("security.environmentVariableRedaction.allowed", "[]",
	        "Variables that commands always get.", UNION ASK)
	STRINGS("security.environmentVariableRedaction.blocked", "[]",
	        "Variables that commands never get.", UNION)
	STRING("security.auth.selectedType", NONE, "How to sign in at the model's provider.", ASK)
	STRING("security.auth.enforcedType", NONE, "The only way to sign in that is allowed.", NEVER)
	BOOLEAN("security.auth.useExternal", NONE, "Signing in is somebody else's work.", ASK)
	BOOLEAN("security.enableConseca", "false",
	        "Let a model check calls against a policy made for the prompt.", ONLY_TRUE)

	BOOLEAN("hooksConfig.enabled", "true", "Run hooks.", ASK)
	STRINGS("hooksConfig.disabled", "[]", "Names of hooks, or commands, that do not run.", UNION ASK)
	BOOLEAN("hooksConfig.notifications", "true", "Show that hooks run.")
	HOOK("BeforeTool", "before a call of a tool")
	HOOK("AfterTool", "after a call of a tool")
	HOOK("BeforeAgent", "before a prompt is answered")
	HOOK("AfterAgent", "after a prompt was answered")
	HOOK("Notification", "when the user is told something")
	HOOK("SessionStart", "when a session begins")
	HOOK("SessionEnd", "when a session ends")
	HOOK("PreCompress", "before the conversation is compressed")
	HOOK("BeforeModel", "before a request to the model")
	HOOK("AfterModel", "for each piece of a model's answer")
	HOOK("BeforeToolSelection", "before the model may choose a tool")
	HOOK("*", "at an event of another name")

	BOOLEAN("general.checkpointing.enabled", "false", "Keep the state of files before each edit.",
	        ONLY_TRUE)
	CHOICE("general.defaultApprovalMode", "\"default\"", "default|auto_edit|plan",
	       "What needs confirmation, unless --approval-mode says otherwise.", ASK)
	BOOLEAN("general.plan.enabled", "true", "Whether there is the mode plan.")
	STRING("general.plan.directory", NONE, "Where plans are written.", INSIDE)
	BOOLEAN("general.plan.modelRouting", "true", "Use another model for planning than for the work.")
	BOOLEAN("general.retryFetchErrors", "true", "Try again when a connection fails.")
	INTEGER("general.maxAttempts", "10", "Most attempts for one request to the model.")
	BOOLEAN("general.sessionRetention.enabled", "true", "Delete old sessions.", ASK)
	STRING("general.sessionRetention.maxAge", "\"30d\"",
	       "Sessions older than this are deleted: 24h, 7d, 4w, 2m.", ASK)
	INTEGER("general.sessionRetention.maxCount", NONE, "Most sessions that are kept.", ASK)
	STRING("general.sessionRetention.minRetention", "\"1d\"",
	       "Sessions younger than this are never deleted.", ASK)
	BOOLEAN("general.topicUpdateNarration", "true",
	        "Ask the model to tell its progress by topics.")
	BOOLEAN("general.logRagSnippets", "false", "Write retrieved snippets of code to a log.",
	        ONLY_FALSE)
	CHOICE("output.format", "\"text\"", "text|json|stream-json",
	       "How the result of a run without a terminal is printed, unless --output-format says "
	       "otherwise.")

	INTEGER("contextManagement.historyWindow.maxTokens", "150000",
	        "Tokens of the conversation above which it is compressed.")
	INTEGER("contextManagement.historyWindow.retainedTokens", "40000",
	        "Tokens at its end that always stay.")
	INTEGER("contextManagement.messageLimits.normalMaxTokens", "2500",
	        "Tokens that a usual message is cut to.")
	INTEGER("contextManagement.messageLimits.retainedMaxTokens", "12000",
	        "Tokens that a recent message is cut to.")
	NUMBER("contextManagement.messageLimits.normalizationHeadRatio", "0.25",
	       "The part of a cut message that is its beginning.")
	INTEGER("contextManagement.tools.distillation.maxOutputTokens", "10000",
	        "Tokens of a tool's output that the model is shown.")
	INTEGER("contextManagement.tools.distillation.summarizationThresholdTokens", "20000",
	        "Tokens above which a cut output is summarised.")
	INTEGER("contextManagement.tools.outputMasking.protectionThresholdTokens", "50000",
	        "Tokens of the newest outputs that are never masked.")
	INTEGER("contextManagement.tools.outputMasking.minPrunableThresholdTokens", "30000",
	        "Tokens that masking must win, or it is not done.")
	BOOLEAN("contextManagement.tools.outputMasking.protectLatestTurn", "true",
	        "Never mask outputs of the latest turn.")

	BOOLEAN("advanced.autoConfigureMemory", "true", "Node's memory; hasp needs none of it.")
	STRING("advanced.dnsResolutionOrder", NONE, "Which addresses of a host are tried first.")
	STRINGS("advanced.excludedEnvVars", "[\"DEBUG\",\"DEBUG_MODE\"]",
	        "Variables that a project's .env file does not set.", UNION)
	BOOLEAN("advanced.ignoreLocalEnv", "false", "Do not read files called .env of a project.",
	        ONLY_TRUE)
	STRING("advanced.bugCommand.urlTemplate", NONE, "Where reports of defects go.", ASK);

const struct setting_group schema_core = { rows, sizeof(rows) - 1 };
