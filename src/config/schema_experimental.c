/* SPDX-License-Identifier: Apache-2.0 */
/* Gemini CLI's settings for sub-agents, extensions, skills, experiments and remote administration.
 * */
#include "config/schema_rows.h"


static const char rows[] =
	OBJECT("agents.overrides", "{}", "Settings of single agents by name.", ASK)
	CHOICE("agents.browser.sessionMode", "\"persistent\"", "persistent|isolated|existing",
	       "How long the browser's state lives.")
	BOOLEAN("agents.browser.headless", "false", "Run the browser without a window.")
	STRING("agents.browser.profilePath", NONE, "The folder of the browser's profile.", ASK)
	STRING("agents.browser.visualModel", NONE, "The model that looks at screenshots.")
	STRINGS("agents.browser.allowedDomains", "[\"github.com\",\"*.google.com\",\"localhost\"]",
	        "The domains that the browser may visit.", ASK)
	BOOLEAN("agents.browser.disableUserInput", "true",
	        "Keep the user's input from the browser while it works.", ONLY_TRUE)
	INTEGER("agents.browser.maxActionsPerTask", "100", "Most calls of one of its tasks.")
	BOOLEAN("agents.browser.confirmSensitiveActions", "false", "Ask before delicate actions.",
	        ONLY_TRUE)
	BOOLEAN("agents.browser.blockFileUploads", "false", "Upload no files.", ONLY_TRUE)

	STRINGS("extensions.disabled", "[]", "Extensions that do not count.", UNION)
	STRINGS("extensions.workspacesWithMigrationNudge", "[]",
	        "Workspaces in which the hint about migration was shown.", UNION)
	BOOLEAN("skills.enabled", "true", "Offer skills.")
	STRINGS("skills.disabled", "[]", "Skills that are not offered.", UNION)

	BOOLEAN("experimental.gemma", "true", "Offer Gemma models.")
	BOOLEAN("experimental.voiceMode", "false", "Dictate prompts.")
	CHOICE("experimental.voice.activationMode", "\"push-to-talk\"", "push-to-talk|toggle",
	       "How the space bar starts it.")
	CHOICE("experimental.voice.backend", "\"gemini-live\"", "gemini-live|whisper",
	       "What understands it.")
	STRING("experimental.voice.whisperModel", "\"ggml-base.en.bin\"", "Whisper's model.")
	NUMBER("experimental.voice.stopGracePeriodMs", "4000",
	       "Milliseconds to wait for the last words.")
	BOOLEAN("experimental.adk.agentSessionNoninteractiveEnabled", "false",
	        "Gemini CLI's newer sessions without a terminal.")
	BOOLEAN("experimental.adk.agentSessionInteractiveEnabled", "false",
	        "Gemini CLI's newer sessions on a terminal.")
	BOOLEAN("experimental.adk.agentSessionSubagentEnabled", "false",
	        "Gemini CLI's newer sub-agents.")
	BOOLEAN("experimental.enableAgents", "true", "Offer sub-agents.")
	BOOLEAN("experimental.worktrees", "false", "Offer git worktrees for parallel work.")
	BOOLEAN("experimental.extensionManagement", "true", "Offer to manage extensions.")
	BOOLEAN("experimental.extensionConfig", "true", "Ask for settings of extensions.")
	BOOLEAN("experimental.extensionRegistry", "false", "Offer the registry of extensions.")
	STRING("experimental.extensionRegistryURI", "\"https://geminicli.com/extensions.json\"",
	       "Where that registry is.", NEVER)
	BOOLEAN("experimental.extensionReloading", "false", "Load extensions while running.")
	BOOLEAN("experimental.useOSC52Paste", "false", "Paste through the terminal.")
	BOOLEAN("experimental.useOSC52Copy", "false", "Copy through the terminal.")
	BOOLEAN("experimental.taskTracker", "false", "Offer tools that track tasks.")
	BOOLEAN("experimental.modelSteering", "false", "Take hints while the model works.")
	BOOLEAN("experimental.directWebFetch", "false", "Fetch pages without a model in between.",
	        ASK)
	BOOLEAN("experimental.dynamicModelConfiguration", "false",
	        "Let modelConfigs decide about models.")
	BOOLEAN("experimental.gemmaModelRouter.enabled", "false", "Choose models with a local model.")
	BOOLEAN("experimental.gemmaModelRouter.autoStartServer", "false", "Start its server.", ASK)
	STRING("experimental.gemmaModelRouter.binaryPath", "\"\"", "The server's program.",
	       NEVER)
	STRING("experimental.gemmaModelRouter.classifier.host", "\"http://localhost:9379\"",
	       "The server's address.", ASK)
	STRING("experimental.gemmaModelRouter.classifier.model", "\"gemma3-1b-gpu-custom\"",
	       "The local model.")
	BOOLEAN("experimental.stressTestProfile", "false", "Compress very early, for tests.")
	BOOLEAN("experimental.autoMemory", "false", "Learn from past sessions.", ASK)
	BOOLEAN("experimental.generalistProfile", "false", "Context settings for any work.")
	BOOLEAN("experimental.powerUserProfile", "false", "Those for long work.")
	BOOLEAN("experimental.contextManagement", "false", "Let contextManagement count.")
	BOOLEAN("experimental.topicUpdateNarration", "false",
	        "Deprecated: general.topicUpdateNarration says it.")

	BOOLEAN("admin.secureModeEnabled", "false", "Forbid the mode yolo and \"always\".", REMOTE)
	BOOLEAN("admin.extensions.enabled", "true", "Allow extensions.", REMOTE)
	BOOLEAN("admin.mcp.enabled", "true", "Allow MCP servers.", REMOTE)
	OBJECT("admin.mcp.config", "{}", "The only MCP servers that are allowed.", REMOTE)
	OBJECT("admin.mcp.requiredConfig", "{}", "MCP servers that are always there.", REMOTE)
	BOOLEAN("admin.skills.enabled", "true", "Allow skills.", REMOTE);

const struct setting_group schema_experimental = { rows, sizeof(rows) - 1 };
