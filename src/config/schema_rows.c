/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the table of settings. */
#include "config/schema.h"

/* The format of rows: a group is one text of fields rather than an array of pointers, which would
 * need relocation at every start, although most commands read few settings.  schema.c parses it on
 * demand.
 */

#define ROW(TYPE, PATH, DEFAULT, CHOICES, HELP, FLAGS) \
	PATH "\0" TYPE "\0" DEFAULT "\0" CHOICES "\0" HELP "\0" FLAGS "\0"

/* The default of a setting that has none. */
#define NONE ""

/* Flags that follow a row's help: how files are merged (schema.h), a project's authority
 * (authority.h; by default a trusted project may set any value), whether the setting restricts,
 * which ONLY_TRUE and ONLY_FALSE imply, and whether it holds for calls without a session as well
 * (CALLS; all others are for sessions, or for the command that their help names). */
#define RESTRICTS "!"
#define CONCAT "c"
#define UNION "u"
#define SHALLOW "s"
#define INTERSECT "i"
#define NEVER "n"
#define ONLY_TRUE "t"
#define ONLY_FALSE "f"
#define REMOTE "r"
#define ASK "a"
#define PLAIN "p"
#define TEXT_NAMES "m"
#define INSIDE "d"
#define CONTENT "k"
#define CALLS "C"

#define BOOLEAN(PATH, DEFAULT, HELP, ...) ROW("b", PATH, DEFAULT, "", HELP, "" __VA_ARGS__)
#define INTEGER(PATH, DEFAULT, HELP, ...) ROW("i", PATH, DEFAULT, "", HELP, "" __VA_ARGS__)
#define NUMBER(PATH, DEFAULT, HELP, ...) ROW("n", PATH, DEFAULT, "", HELP, "" __VA_ARGS__)
#define STRING(PATH, DEFAULT, HELP, ...) ROW("s", PATH, DEFAULT, "", HELP, "" __VA_ARGS__)
#define CHOICE(PATH, DEFAULT, CHOICES, HELP, ...) \
	ROW("c", PATH, DEFAULT, CHOICES, HELP, "" __VA_ARGS__)
#define STRINGS(PATH, DEFAULT, HELP, ...) ROW("S", PATH, DEFAULT, "", HELP, "" __VA_ARGS__)
#define STRING_OR_STRINGS(PATH, DEFAULT, HELP, ...) \
	ROW("e", PATH, DEFAULT, "", HELP, "" __VA_ARGS__)
#define ARRAY(PATH, DEFAULT, HELP, ...) ROW("a", PATH, DEFAULT, "", HELP, "" __VA_ARGS__)
#define OBJECT(PATH, DEFAULT, HELP, ...) ROW("o", PATH, DEFAULT, "", HELP, "" __VA_ARGS__)
#define SWITCH(PATH, DEFAULT, HELP, ...) ROW("w", PATH, DEFAULT, "", HELP, "" __VA_ARGS__)

/* ---- Gemini CLI's settings for what an agent does ---- */

#define HOOK(EVENT, WHEN, ...) \
	ARRAY("hooks." EVENT, "[]", "Hooks that run " WHEN ".", CONCAT CONTENT __VA_ARGS__)

static const char schema_core_rows[] =
	STRING("$schema", NONE, "The address of a JSON Schema for this file, for editors.")
	OBJECT("mcpServers", "{}", "MCP servers by name.", SHALLOW ASK RESTRICTS)
	STRINGS("policyPaths", "[]", "Policy files or folders, used instead of the user's.",
	        UNION ASK RESTRICTS)
	STRINGS("adminPolicyPaths", "[]", "Further policy files or folders of an administrator.",
	        UNION NEVER RESTRICTS)
	BOOLEAN("useWriteTodos", "true", "Offer the tool write_todos.")
	OBJECT("statusLine", NONE,
	       "A command whose output is the status line: {\"type\": \"command\", \"command\": "
	       "...}. See docs/terminal.md.",
	       ASK)

	STRING("model.name", NONE, "The model, or an alias of one.", PLAIN)
	INTEGER("model.maxSessionTurns", "-1", "Turn limit of a session; -1: no limit.", RESTRICTS)
	OBJECT("model.summarizeToolOutput", NONE,
	       "Tools whose output is summarised, each with a tokenBudget.")
	NUMBER("model.compressionThreshold", "0.5",
	       "The fraction of the model's context that may be full before it is compressed.")
	BOOLEAN("model.disableLoopDetection", "false",
	        "Do not detect loops.")
	BOOLEAN("model.skipNextSpeakerCheck", "true",
	        "Do not ask the model whether it should continue.")
	OBJECT("modelConfigs.aliases", "{}", "Named sets of parameters for models.")
	OBJECT("modelConfigs.customAliases", "{}", "The user's own, added to the built-in ones.")
	ARRAY("modelConfigs.customOverrides", "[]",
	      "The user's own overrides, added to the built-in ones.")
	ARRAY("modelConfigs.overrides", "[]",
	      "Parameters for requests that match; the most specific match counts last.")
	OBJECT("modelConfigs.modelDefinitions", "{}", "Facts about models: tier, family, features.")
	OBJECT("modelConfigs.modelIdResolutions", "{}", "Which model a name stands for, and when.")
	OBJECT("modelConfigs.classifierIdResolutions", "{}",
	       "Which model a tier of the classifier stands for, and when.")
	OBJECT("modelConfigs.modelChains", "{}", "Models to fall back to, in order.")

	STRING_OR_STRINGS("context.fileName", NONE, "The name of context files, or several.",
	        TEXT_NAMES)
	CHOICE("context.importFormat", NONE, "tree|flat",
	       "Format of imported context files.")
	BOOLEAN("context.includeDirectoryTree", "true",
	        "Show the model the folder's tree in its first message.")
	INTEGER("context.discoveryMaxDirs", "200",
	        "Maximum number of folders searched for context files.")
	STRINGS("context.memoryBoundaryMarkers", "[\".git\"]",
	        "Names that mark the folder at which the upward search for context files ends.",
	        ASK)
	STRINGS("context.includeDirectories", "[]", "More workspace folders.",
	        CONCAT INSIDE)
	BOOLEAN("context.loadMemoryFromIncludeDirectories", "false",
	        "Also read context files in the additional folders.")
	BOOLEAN("context.fileFiltering.respectGitIgnore", "true", "Skip files that git ignores.",
	        RESTRICTS CALLS)
	BOOLEAN("context.fileFiltering.respectGeminiIgnore", "true",
	        "Skip files listed in .geminiignore.", RESTRICTS CALLS)
	BOOLEAN("context.fileFiltering.enableFileWatcher", "false",
	        "Keep suggestions for @ up to date by watching the folders.")
	BOOLEAN("context.fileFiltering.enableRecursiveFileSearch", "true",
	        "Search below the folder for suggestions for @.")
	BOOLEAN("context.fileFiltering.enableFuzzySearch", "true",
	        "Fuzzy matching for @ suggestions.")
	STRINGS("context.fileFiltering.customIgnoreFilePaths", "[]",
	        "More ignore files; they take precedence over the others.",
	        UNION INSIDE RESTRICTS CALLS)

	SWITCH("tools.sandbox", NONE,
	       "Gemini CLI's confinement of the whole process: on or off, a command, or an object "
	       "with command and image.", ASK)
	STRINGS("tools.sandboxAllowedPaths", "[]", "More paths that confined tools may write.",
	        ASK)
	BOOLEAN("tools.sandboxNetworkAccess", "false",
	        "Leave the network on for confined commands.",
	        ASK RESTRICTS)
	BOOLEAN("tools.shell.enableInteractiveShell", "true",
	        "Run commands in a pseudo-terminal.")
	CHOICE("tools.shell.backgroundCompletionBehavior", "\"silent\"", "silent|inject|notify",
	       "What happens when a background command ends.")
	STRING("tools.shell.pager", "\"cat\"", "PAGER for commands.", ASK CALLS)
	BOOLEAN("tools.shell.showColor", "true", "Let commands print in colour.")
	NUMBER("tools.shell.inactivityTimeout", "300",
	       "Seconds without output after which a command is ended.", CALLS)
	BOOLEAN("tools.shell.enableShellOutputEfficiency", "true",
	        "Advise the model to keep the output of commands short.")
	STRINGS("tools.core", NONE, "The only built-in tools to offer.", ASK RESTRICTS)
	STRINGS("tools.allowed", NONE, "Tools that need no confirmation.", ASK)
	STRINGS("tools.confirmationRequired", NONE, "Tools that always need confirmation.",
	        UNION RESTRICTS)
	STRINGS("tools.exclude", NONE, "Tools that are not offered.", UNION RESTRICTS)
	STRING("tools.discoveryCommand", NONE,
	       "A command that prints declarations of more tools.",
	        ASK)
	STRING("tools.callCommand", NONE, "The command that calls a discovered tool.", ASK)
	BOOLEAN("tools.useRipgrep", "true", "Search with ripgrep.")
	INTEGER("tools.truncateToolOutputThreshold", "40000",
	        "Characters after which a tool's output is truncated; the whole output is saved to "
	        "a file.")
	BOOLEAN("tools.disableLLMCorrection", "true", "Do not ask a model to repair failed edits.")

	STRING("mcp.serverCommand", NONE, "A command that starts an MCP server.", ASK)
	STRINGS("mcp.allowed", NONE, "The only MCP servers to use.", INTERSECT ASK RESTRICTS)
	STRINGS("mcp.excluded", NONE, "MCP servers not to use.", UNION RESTRICTS)

	BOOLEAN("security.toolSandboxing", "false", "Confine each tool separately.", ONLY_TRUE)
	BOOLEAN("security.disableYoloMode", "false", "Forbid the mode yolo, whatever flags say.",
	        ONLY_TRUE)
	BOOLEAN("security.disableAlwaysAllow", "false", "Do not offer \"always\" in confirmations.",
	        ONLY_TRUE)
	BOOLEAN("security.enablePermanentToolApproval", "false",
	        "Offer to allow a call permanently.", ONLY_FALSE)
	BOOLEAN("security.autoAddToPolicyByDefault", "false",
	        "Make that the default choice for low-risk calls.", ONLY_FALSE)
	BOOLEAN("security.blockGitExtensions", "false", "Do not install extensions from "
		"git.", ONLY_TRUE)
	STRINGS("security.allowedExtensions", "[]",
	        "Regular expressions for allowed extension sources; if set, all others are "
	        "refused.",
	        NEVER RESTRICTS)
	BOOLEAN("security.folderTrust.enabled", "true",
	        "Use a project's own settings only in trusted folders.", NEVER RESTRICTS)
	BOOLEAN("security.environmentVariableRedaction.enabled", "false",
	        "Keep variables that may be secrets from commands.", ONLY_TRUE)
	STRINGS("security.environmentVariableRedaction.allowed", "[]",
	        "Variables that commands always get.", UNION ASK CALLS)
	STRINGS("security.environmentVariableRedaction.blocked", "[]",
	        "Variables that commands never get.", UNION RESTRICTS CALLS)
	STRING("security.auth.selectedType", NONE, "How to authenticate with the model "
	                                           "provider.", ASK)
	STRING("security.auth.enforcedType", NONE, "The only authentication type allowed.",
	       NEVER RESTRICTS)
	BOOLEAN("security.auth.useExternal", NONE, "Authentication is handled externally.", ASK)
	BOOLEAN("security.enableConseca", "false",
	        "Let a model check tool calls against a policy generated for the "
	        "prompt.", ONLY_TRUE)

	BOOLEAN("hooksConfig.enabled", "true", "Run hooks.", ASK RESTRICTS)
	STRINGS("hooksConfig.disabled", "[]", "Names or commands of hooks that do not run.",
	        UNION ASK)
	BOOLEAN("hooksConfig.notifications", "true", "Show when hooks run.")
	HOOK("BeforeTool", "before a call of a tool", RESTRICTS)
	HOOK("AfterTool", "after a call of a tool", RESTRICTS)
	HOOK("BeforeAgent", "before a prompt is answered", RESTRICTS)
	HOOK("AfterAgent", "after a prompt was answered")
	HOOK("Notification", "when the user is notified")
	HOOK("SessionStart", "when a session begins")
	HOOK("SessionEnd", "when a session ends")
	HOOK("PreCompress", "before the conversation is compressed")
	HOOK("BeforeModel", "before a request to the model", RESTRICTS)
	HOOK("AfterModel", "for each piece of a model's answer", RESTRICTS)
	HOOK("BeforeToolSelection", "before the model may choose a tool", RESTRICTS)
	HOOK("*", "at an event of another name", RESTRICTS)

	BOOLEAN("general.checkpointing.enabled", NONE,
	        "Save files before each edit. In the terminal this is on unless set to false.",
	        ONLY_TRUE)
	CHOICE("general.defaultApprovalMode", "\"default\"", "default|auto_edit|plan",
	       "What requires confirmation; --approval-mode overrides it.", ASK RESTRICTS)
	BOOLEAN("general.plan.enabled", "true", "Allow the mode plan.")
	STRING("general.plan.directory", NONE, "Where plans are written.", INSIDE)
	BOOLEAN("general.plan.modelRouting", "true",
	        "Use a different model for planning.")
	BOOLEAN("general.retryFetchErrors", "true", "Retry failed connections.")
	INTEGER("general.maxAttempts", "10", "Maximum attempts per model request.")
	BOOLEAN("general.sessionRetention.enabled", "true", "Delete old sessions.", ASK)
	STRING("general.sessionRetention.maxAge", "\"30d\"",
	       "Sessions older than this are deleted: 24h, 7d, 4w, 2m.", ASK)
	INTEGER("general.sessionRetention.maxCount", NONE, "Maximum number of sessions kept.", ASK)
	STRING("general.sessionRetention.minRetention", "\"1d\"",
	       "Sessions younger than this are never deleted.", ASK)
	BOOLEAN("general.topicUpdateNarration", "true",
	        "Offer the tool update_topic in interactive sessions.")
	BOOLEAN("general.logRagSnippets", "false", "Write retrieved snippets of code to a log.",
	        ONLY_FALSE)
	CHOICE("output.format", "\"text\"", "text|json|stream-json",
	       "Output format of headless runs; --output-format overrides it.")

	INTEGER("contextManagement.historyWindow.maxTokens", "150000",
	        "Conversation size in tokens at which it is compressed.")
	INTEGER("contextManagement.historyWindow.retainedTokens", "40000",
	        "Tokens at its end that are never compressed.")
	INTEGER("contextManagement.messageLimits.normalMaxTokens", "2500",
	        "Tokens that a message is truncated to.")
	INTEGER("contextManagement.messageLimits.retainedMaxTokens", "12000",
	        "Tokens that a recent message is truncated to.")
	NUMBER("contextManagement.messageLimits.normalizationHeadRatio", "0.25",
	       "Fraction of a truncated message taken from its start.")
	INTEGER("contextManagement.tools.distillation.maxOutputTokens", "10000",
	        "Maximum tokens of a tool's output shown to the model.")
	INTEGER("contextManagement.tools.distillation.summarizationThresholdTokens", "20000",
	        "Tokens above which a truncated output is summarised.")
	INTEGER("contextManagement.tools.outputMasking.protectionThresholdTokens", "50000",
	        "Tokens of the newest outputs that are never masked.")
	INTEGER("contextManagement.tools.outputMasking.minPrunableThresholdTokens", "30000",
	        "Mask only if that saves at least this many tokens.")
	BOOLEAN("contextManagement.tools.outputMasking.protectLatestTurn", "true",
	        "Never mask outputs of the latest turn.")

	BOOLEAN("advanced.autoConfigureMemory", "true", "Node.js memory limit; not used by hasp.")
	STRING("advanced.dnsResolutionOrder", NONE, "DNS address order.")
	STRINGS("advanced.excludedEnvVars", "[\"DEBUG\",\"DEBUG_MODE\"]",
	        "Variables ignored in a project's .env file.", UNION RESTRICTS)
	BOOLEAN("advanced.ignoreLocalEnv", "false", "Do not read files called .env of a project.",
	        ONLY_TRUE)
	STRING("advanced.bugCommand.urlTemplate", NONE, "Address for bug reports.", ASK);

const struct setting_group schema_core = { schema_core_rows, sizeof(schema_core_rows) - 1 };

/* ---- Gemini CLI's settings for what a person sees ---- */

#define EDITORS                                                                       \
	"vscode|vscodium|windsurf|cursor|zed|antigravity|sublimetext|lapce|nova|bbedit|" \
	"vim|neovim|emacs|hx|emacsclient|micro"

static const char schema_ui_rows[] =
	CHOICE("general.preferredEditor", NONE, EDITORS, "The editor in which to open files.", ASK)
	BOOLEAN("general.openEditorInNewWindow", "false", "Open it in a new window.")
	BOOLEAN("general.vimMode", "false", "Edit prompts with the keys of vim.")
	BOOLEAN("general.devtools", "false", "Open the inspector at start.")
	BOOLEAN("general.enableAutoUpdate", "true", "Install new versions.")
	BOOLEAN("general.enableAutoUpdateNotification", "true", "Notify about new versions.")
	BOOLEAN("general.enableNotifications", "false",
	        "Send a terminal notification when a question is asked or work is done.")
	CHOICE("general.notificationMethod", "\"auto\"", "auto|osc9|osc777|bell", "How to notify.")
	BOOLEAN("general.debugKeystrokeLogging", "false", "Log keys for debugging.", ONLY_FALSE)

	STRING("ui.theme", NONE, "Colour theme.")
	BOOLEAN("ui.autoThemeSwitching", "true",
	        "Follow the terminal's background between the default themes.")
	NUMBER("ui.terminalBackgroundPollingInterval", "60",
	       "Seconds between looks at the terminal's background.")
	OBJECT("ui.customThemes", "{}", "The user's own themes by name.")
	BOOLEAN("ui.debugRainbow", "false", "Show what is redrawn.")
	BOOLEAN("ui.hideWindowTitle", "false", "Do not change the window title.")
	CHOICE("ui.inlineThinkingMode", "\"off\"", "off|full", "Show the model's thoughts.")
	BOOLEAN("ui.showStatusInTitle", "false", "Show the model's thoughts in the window's title.")
	BOOLEAN("ui.dynamicWindowTitle", "true", "Show the state in the window's title.")
	BOOLEAN("ui.showHomeDirectoryWarning", "true", "Warn when started in the home folder.")
	BOOLEAN("ui.showCompatibilityWarnings", "true", "Warn about the terminal and the system.")
	BOOLEAN("ui.hideTips", "false", "Show no tips.")
	BOOLEAN("ui.escapePastedAtSymbols", "false", "Escape @ in pasted text.")
	BOOLEAN("ui.showShortcutsHint", "true", "Show the hint about keys above the prompt.")
	BOOLEAN("ui.compactToolOutput", "true", "Compact display of tool calls.")
	BOOLEAN("ui.hideBanner", "false", "Show no banner.")
	BOOLEAN("ui.hideContextSummary", "false", "Show no summary of the context.")
	STRINGS("ui.footer.items", NONE, "Footer items, in order.")
	BOOLEAN("ui.footer.showLabels", "true", "Show labels above the footer items.")
	BOOLEAN("ui.footer.hideCWD", "false", "Hide the working directory in the footer.")
	BOOLEAN("ui.footer.hideSandboxStatus", "false", "Hide the sandbox status in the footer.")
	BOOLEAN("ui.footer.hideModelInfo", "false", "Hide the model in the footer.")
	BOOLEAN("ui.footer.hideContextPercentage", "true", "Hide the context usage in the footer.")
	BOOLEAN("ui.hideFooter", "false", "Show no footer.")
	BOOLEAN("ui.collapseDrawerDuringApproval", "true", "Collapse other content while a "
		"question is open.")
	BOOLEAN("ui.showMemoryUsage", "false", "Show how much memory is used.")
	BOOLEAN("ui.showLineNumbers", "true", "Number the lines of code.")
	BOOLEAN("ui.showCitations", "false", "Show the sources of what the model cites.")
	BOOLEAN("ui.showModelInfoInChat", "false", "Show the model of each turn.")
	BOOLEAN("ui.showUserIdentity", "true", "Show who is signed in.")
	BOOLEAN("ui.useAlternateBuffer", "false", "Use the terminal's alternate screen.")
	BOOLEAN("ui.renderProcess", "true", "Draw in a separate process.")
	BOOLEAN("ui.terminalBuffer", "false", "Draw by the newer method.")
	BOOLEAN("ui.useBackgroundColor", "true", "Use background colours.")
	BOOLEAN("ui.incrementalRendering", "true", "Draw only what changed.")
	BOOLEAN("ui.showSpinner", "true", "Show a spinner while working.")
	CHOICE("ui.loadingPhrases", "\"off\"", "tips|witty|all|off", "What to show while waiting.")
	CHOICE("ui.errorVerbosity", "\"low\"", "low|full", "Whether recoverable errors are shown.")
	STRINGS("ui.customWittyPhrases", "[]", "Phrases to show while waiting.")
	BOOLEAN("ui.accessibility.enableLoadingPhrases", "true",
	        "Deprecated: use ui.loadingPhrases.")
	BOOLEAN("ui.accessibility.screenReader", "false", "Print plain text for screen readers.")

	BOOLEAN("ide.enabled", "false", "Connect to the editor in whose terminal hasp runs.", ASK)
	BOOLEAN("ide.hasSeenNudge", "false", "The IDE hint was shown.")
	BOOLEAN("privacy.usageStatisticsEnabled", "true",
	        "Gemini CLI's statistics about its use; hasp sends none.", ONLY_FALSE)
	BOOLEAN("telemetry.enabled", NONE, "Write or send telemetry.", ONLY_FALSE)
	STRING("telemetry.target", NONE, "Telemetry target; only `local` is supported.", NEVER)
	STRING("telemetry.otlpEndpoint", NONE, "URL of the OTLP collector.", NEVER)
	CHOICE("telemetry.otlpProtocol", NONE, "grpc|http",
	       "OTLP protocol; only `http` is supported.", NEVER)
	BOOLEAN("telemetry.traces", NONE, "Emit detailed traces.", ONLY_FALSE)
	BOOLEAN("telemetry.logPrompts", NONE, "Include prompts in telemetry.",
	        ONLY_FALSE)
	STRING("telemetry.outfile", NONE, "File to write telemetry to.", NEVER)
	BOOLEAN("telemetry.useCollector", NONE, "Send telemetry to an OpenTelemetry collector.",
	        NEVER)
	BOOLEAN("telemetry.useCliAuth", NONE, "Authenticate to the collector with the CLI's "
	                                      "credentials.",
	        NEVER)
	CHOICE("billing.overageStrategy", "\"ask\"", "ask|always|never",
	       "Whether to spend credits when the quota is exhausted.", NEVER)
	CHOICE("billing.vertexAi.requestType", NONE, "dedicated|shared",
	       "Vertex AI throughput type.")
	CHOICE("billing.vertexAi.sharedRequestType", NONE, "priority|flex",
	       "Vertex AI shared throughput type.");

const struct setting_group schema_ui = { schema_ui_rows, sizeof(schema_ui_rows) - 1 };

/* ---- sub-agents, extensions, experiments ------------------------------------- */

/* Gemini CLI's settings for sub-agents, extensions, skills, experiments and remote
 * administration. */

static const char schema_experimental_rows[] =
	OBJECT("agents.overrides", "{}", "Settings for individual agents, by name.", ASK RESTRICTS)
	CHOICE("agents.browser.sessionMode", "\"persistent\"", "persistent|isolated|existing",
	       "Lifetime of the browser's state.")
	BOOLEAN("agents.browser.headless", "false", "Run the browser without a window.")
	STRING("agents.browser.profilePath", NONE, "The folder of the browser's profile.", ASK)
	STRING("agents.browser.visualModel", NONE, "The model that looks at screenshots.")
	STRINGS("agents.browser.allowedDomains", "[\"github.com\",\"*.google.com\",\"localhost\"]",
	        "The domains that the browser may visit.", ASK)
	BOOLEAN("agents.browser.disableUserInput", "true",
	        "Block user input to the browser while the agent works.", ONLY_TRUE)
	INTEGER("agents.browser.maxActionsPerTask", "100", "Maximum actions per browser task.")
	BOOLEAN("agents.browser.confirmSensitiveActions", "false", "Ask before sensitive actions.",
	        ONLY_TRUE)
	BOOLEAN("agents.browser.blockFileUploads", "false", "Upload no files.", ONLY_TRUE)

	STRINGS("extensions.disabled", "[]", "Disabled extensions.", UNION RESTRICTS)
	STRINGS("extensions.workspacesWithMigrationNudge", "[]",
	        "Workspaces in which the hint about migration was shown.", UNION)
	BOOLEAN("skills.enabled", "true", "Offer skills.", RESTRICTS)
	STRINGS("skills.disabled", "[]", "Disabled skills.", UNION RESTRICTS)

	BOOLEAN("experimental.gemma", "true", "Offer Gemma models.")
	BOOLEAN("experimental.voiceMode", "false", "Dictate prompts.")
	CHOICE("experimental.voice.activationMode", "\"push-to-talk\"", "push-to-talk|toggle",
	       "How the space bar activates dictation.")
	CHOICE("experimental.voice.backend", "\"gemini-live\"", "gemini-live|whisper",
	       "Speech recognition backend.")
	STRING("experimental.voice.whisperModel", "\"ggml-base.en.bin\"", "Whisper's model.")
	NUMBER("experimental.voice.stopGracePeriodMs", "4000",
	       "Milliseconds to keep recording after release.")
	BOOLEAN("experimental.adk.agentSessionNoninteractiveEnabled", "false",
	        "Gemini CLI's newer sessions without a terminal.")
	BOOLEAN("experimental.adk.agentSessionInteractiveEnabled", "false",
	        "Gemini CLI's newer sessions on a terminal.")
	BOOLEAN("experimental.adk.agentSessionSubagentEnabled", "false",
	        "Gemini CLI's newer sub-agents.")
	BOOLEAN("experimental.enableAgents", "true", "Offer sub-agents.", RESTRICTS)
	BOOLEAN("experimental.worktrees", "false", "Offer git worktrees for parallel work.")
	BOOLEAN("experimental.extensionManagement", "true", "Offer to manage extensions.")
	BOOLEAN("experimental.extensionConfig", "true", "Ask for settings of extensions.")
	BOOLEAN("experimental.extensionRegistry", "false", "Offer the registry of extensions.")
	STRING("experimental.extensionRegistryURI", "\"https://geminicli.com/extensions.json\"",
	       "URL of the extension registry.", NEVER)
	BOOLEAN("experimental.extensionReloading", "false", "Load extensions while running.")
	BOOLEAN("experimental.useOSC52Paste", "false", "Paste through the terminal.")
	BOOLEAN("experimental.useOSC52Copy", "false", "Copy through the terminal.")
	BOOLEAN("experimental.taskTracker", "false", "Offer tools that track tasks.")
	BOOLEAN("experimental.modelSteering", "false", "Accept steering hints while the model "
	                                               "works.")
	BOOLEAN("experimental.directWebFetch", "false", "Fetch pages directly, without a model.",
	        ASK)
	BOOLEAN("experimental.dynamicModelConfiguration", "false",
	        "Use modelConfigs to choose models.")
	BOOLEAN("experimental.gemmaModelRouter.enabled", "false",
	        "Route prompts to models with a local model.")
	BOOLEAN("experimental.gemmaModelRouter.autoStartServer", "false", "Start the local model "
		"server.", ASK)
	STRING("experimental.gemmaModelRouter.binaryPath", "\"\"", "Path of the local model "
		"server.",
	       NEVER)
	STRING("experimental.gemmaModelRouter.classifier.host", "\"http://localhost:9379\"",
	       "The server's address.", ASK)
	STRING("experimental.gemmaModelRouter.classifier.model", "\"gemma3-1b-gpu-custom\"",
	       "The local model.")
	BOOLEAN("experimental.stressTestProfile", "false", "Compress very early, for tests.")
	BOOLEAN("experimental.autoMemory", "false", "Learn from past sessions.", ASK)
	BOOLEAN("experimental.generalistProfile", "false", "Context settings for general work.")
	BOOLEAN("experimental.powerUserProfile", "false", "Context settings for long sessions.")
	BOOLEAN("experimental.contextManagement", "false", "Enable the contextManagement settings.")
	BOOLEAN("experimental.topicUpdateNarration", "false",
	        "Deprecated: use general.topicUpdateNarration.")

	BOOLEAN("admin.secureModeEnabled", "false", "Forbid the mode yolo and \"always\".", REMOTE)
	BOOLEAN("admin.extensions.enabled", "true", "Allow extensions.", REMOTE)
	BOOLEAN("admin.mcp.enabled", "true", "Allow MCP servers.", REMOTE)
	OBJECT("admin.mcp.config", "{}", "The only MCP servers that are allowed.", REMOTE)
	OBJECT("admin.mcp.requiredConfig", "{}", "MCP servers that are always there.", REMOTE)
	BOOLEAN("admin.skills.enabled", "true", "Allow skills.", REMOTE);

const struct setting_group schema_experimental =
	{ schema_experimental_rows, sizeof(schema_experimental_rows) - 1 };

/* ---- settings that are hasp's own ---- */

static const char schema_hasp_rows[] =
	OBJECT("hasp.a2a.callers", "{}",
	       "Other agents that may send tasks to \"hasp serve a2a\", by name, with what proves "
	       "who they are. See docs/a2a.md.",
	       SHALLOW NEVER RESTRICTS)
	STRING("hasp.a2a.cardKey", NONE,
	       "The file of the private key (PEM, P-256 or RSA) that signs the agent card.", NEVER)
	STRINGS("hasp.a2a.push.allow", "[]",
	        "Hosts that push notifications may go to although they are private, or by http: "
	        "\"localhost\", \"10.0.0.7:8080\".",
	        NEVER)
	INTEGER("hasp.answerTokens", "12000",
	        "Maximum tokens of a tool's answer, about 4 bytes each; what does not fit is "
	        "omitted, and the answer says how to get it. 0: no limit.")
	STRING("hasp.audit.allowedSigners", NONE,
	       "A file of the keys that reviewers sign with (ssh-keygen(1), ALLOWED SIGNERS), for "
	       "hasp audit verify. See docs/audit.md.",
	       NEVER)
	BOOLEAN("hasp.audit.enabled", "true",
	        "Record every question, vote and answer in ~/.gemini/hasp-audit. See "
	        "docs/audit.md.",
	        ONLY_TRUE)
	INTEGER("hasp.checkpoints.keepDays", "0",
	        "Remove checkpoints older than this many days when a session begins; 0: never. See "
	        "docs/checkpoints.md.",
	        NEVER)
	BOOLEAN("hasp.clearScrollback", "true",
	        "Let /clear remove what the terminal's scrollback holds, as well as the window.")
	INTEGER("hasp.contextTokens", "0",
	        "Maximum tokens of a conversation, overriding the provider's limit; 0: see "
	        "docs/models.md.")
	CHOICE("hasp.durability", "\"full\"", "full|rename",
	       "Sync a written file to the disk before the call returns (full), or leave that to "
	       "the kernel (rename).", CALLS)
	CHOICE("hasp.effort", "\"default\"", "default|off|low|medium|high",
	       "How much the model thinks; default: as modelConfigs or the provider say.")
	INTEGER("hasp.endSeconds", "30",
	        "Seconds after SIGINT, SIGTERM or SIGHUP to end commands, run SessionEnd hooks and "
	        "finish the record; then hasp exits. 1 to 600.",
	        NEVER)
	STRINGS("hasp.fallbacks", "[]",
	        "Models that answer, in this order, when the quota of the chosen one is used up or "
	        "it stays overloaded. See docs/models.md.",
	        ASK)
	BOOLEAN("hasp.hooks.claude", "true",
	        "Run the hooks of Claude Code's settings too (~/.claude/settings.json; a project's "
	        ".claude/settings.json and settings.local.json once they are trusted).",
	        ONLY_FALSE)
	CHOICE("hasp.hooks.onError", "\"deny\"", "deny|allow",
	       "What a hook that fails, or whose answer hasp does not understand, means where it "
	       "could have refused; a hook's own onError overrides it.",
	       NEVER RESTRICTS)
	CHOICE("hasp.hooks.onTimeout", "\"deny\"", "deny|allow",
	       "The same for a hook that runs out of time; a hook's own onTimeout overrides it.",
	       NEVER RESTRICTS)
	BOOLEAN("hasp.ide.diffs", "true",
	        "Show an edit in the editor, too, when it is asked about (ide.enabled).")
	INTEGER("hasp.ide.problemsMs", "500",
	        "The longest wait, in milliseconds, after an edit for problems that the editor "
	        "finds in it; new ones are added to the result. 0 to 10000; 0 turns this off.")
	BOOLEAN("hasp.ignoreUnknownRules", "false",
	        "Start although a rule that restricts names a tool, server, agent, level or mode "
	        "that does not exist, or a policy file cannot be used. See docs/policy.md.",
	        NEVER)
	BOOLEAN("hasp.keyStore", "true",
	        "Ask the system's key store for a key that no variable holds.",
	        ONLY_FALSE)
	OBJECT("hasp.providers", "{}",
	       "Providers of models by name, for --model NAME/MODEL. See docs/models.md.",
	       ASK)
	CHOICE("hasp.returnContent", "\"new\"", "new|full|diff|none",
	       "What the answer to an edit carries of the file's new state: what the model does "
	       "not have yet (new), all of it, a diff, or nothing. See docs/tools.md.")
	OBJECT("hasp.reviewers.groups", "{}",
	       "Groups of reviewers by name, for policy rules: {\"security\": [\"anna\", "
	       "\"ben\"]}. See docs/policy.md.",
	       SHALLOW NEVER RESTRICTS)
	STRINGS("hasp.sandbox.keepPaths", "[]",
	        "Files and folders that nothing may change: no tool, command or server. See "
	        "docs/policy.md.",
	        UNION RESTRICTS CALLS)
	CHOICE("hasp.sandbox.level", "\"auto\"", "auto|full|landlock|paths",
	       "How tools and commands are confined: at the strongest level that the machine "
	       "allows (auto), or at exactly this one.",
	       NEVER RESTRICTS CALLS)
	STRINGS("hasp.sandbox.readPaths", "[]",
	        "Folders outside the workspace that tools can read, and files too that commands "
	        "can read although they are hidden by default.",
	        CONCAT ASK)
	STRINGS("hasp.sandbox.syscalls", "[]",
	        "System calls that commands cannot make, on top of those that hasp refuses: names, "
	        "or groups such as @clock. See docs/sandbox.md.",
	        CONCAT RESTRICTS CALLS)
	BOOLEAN("hasp.servers.claude", "true",
	        "Use Claude Code's MCP servers too (~/.claude.json).", ONLY_FALSE)
	BOOLEAN("hasp.servers.codex", "true",
	        "Use Codex's MCP servers too (~/.codex/config.toml), and ask about those of a "
	        "project's .codex/config.toml.",
	        ONLY_FALSE)
	CHOICE("hasp.servers.logLevel", "\"warning\"",
	       "off|debug|info|notice|warning|error|critical|alert|emergency",
	       "The least level of MCP servers' log messages that hasp asks for and keeps; off: it "
	       "asks for none.")
	BOOLEAN("hasp.servers.mcpJson", "true",
	        "Ask about the MCP servers of a project's .mcp.json, and use those that are "
	        "allowed.",
	        ONLY_FALSE)
	STRINGS("hasp.servers.sampling", "[]",
	        "MCP servers that may have the model answer them (sampling) without a question. "
	        "See docs/mcp.md.",
	        NEVER)
	OBJECT("hasp.prices", "{}",
	       "Prices of a million tokens in US dollars, in place of the list prices that hasp "
	       "has: {\"gpt-5*\": {\"input\": 1.25, \"cached\": 0.125, \"output\": 10}}. See "
	       "docs/stats.md.",
	       NEVER)
	BOOLEAN("hasp.formats.enabled", "true",
	        "Read PDF, office files, archives and the like as text.", ONLY_FALSE CALLS)
	INTEGER("hasp.formats.memoryMb", "512",
	        "Memory for reading one such file, in MiB.", ASK CALLS)
	BOOLEAN("hasp.formats.schemas", "true",
	        "Let update_data refuse what makes a file invalid by its JSON Schema. See "
	        "docs/data-updates.md.",
	        CALLS)
	INTEGER("hasp.formats.timeoutMs", "10000",
	        "Milliseconds for reading one such file.", ASK CALLS)
	STRINGS("hasp.instructions",
	        "[\"gemini\", \"agents\", \"claude\", \"copilot\", \"cursor\"]",
	        "Whose files of instructions are read. See docs/memory.md.", ASK)
	BOOLEAN("hasp.python.enabled", "false",
	        "Offer run_python, which runs Python code in the sandbox and keeps its variables.",
	        ASK)
	STRING("hasp.python.program", NONE,
	       "The Python of run_python. Without it .venv of a trusted folder, then python3.", ASK)
	INTEGER("hasp.python.memoryMb", "0",
	        "Memory of run_python, in MiB; 0: as much as a command may use.", ASK)
	INTEGER("hasp.python.timeoutSeconds", "300",
	        "Seconds after which run_python interrupts code, unless the call says otherwise.")
	BOOLEAN("hasp.trimSuperseded", "true",
	        "At a compaction, keep only the newest full content of each file; a note replaces "
	        "older ones.")
	CHOICE("hasp.tools.defer", "\"auto\"", "auto|on|off",
	       "Announce rare tools, and those of MCP servers, by name and load them on demand; "
	       "auto: those of servers only when their declarations are longer than "
	       "hasp.tools.deferTokens.")
	CHOICE("hasp.tools.deferBy", "\"auto\"", "auto|own|provider",
	       "Who loads such tools; auto: the provider's own tool search, if it has one for the "
	       "model at its own address; own: search_tools and call_tool; provider: the "
	       "provider's own at any address.")
	CHOICE("hasp.tools.dialect", "\"auto\"", "auto|hasp|gemini|openai|anthropic",
	       "Which editor a model is offered; auto: the one that its family was trained on. "
	       "See docs/dialects.md.")
	INTEGER("hasp.tools.deferTokens", "8000",
	        "The tokens, estimated, that all declarations of MCP servers' tools may have.")
	BOOLEAN("hasp.telemetry.logDetails", "false",
	        "With telemetry.logPrompts: put commands, what hooks are given and say, and texts "
	        "of errors into it.", ONLY_FALSE)
	INTEGER("hasp.waits.connectSeconds", "30",
	        "The longest that a connection to a model's server may take. 1 to 300.")
	INTEGER("hasp.waits.idleSeconds", "300",
	        "The longest silence of a model's server, before and in its reply. 10 to 3,600.")
	INTEGER("hasp.waits.lockSeconds", "10",
	        "The longest wait for a file of the home folder that another hasp has locked. 1 to "
	        "300.")
	INTEGER("hasp.waits.pingSeconds", "900",
	        "The longest that a model's server may send only comments and pings. 10 to 7,200.")
	INTEGER("hasp.waits.replySeconds", "3600",
	        "The longest time from a request to the end of its reply. 60 to 86,400.")
	INTEGER("hasp.waits.serversSeconds", "10",
	        "The longest that a prompt waits for MCP servers that have not listed their tools "
	        "yet. 0 to 600.")
	BOOLEAN("hasp.web.proxyResolves", "false",
	        "Where a proxy is set: let web_fetch reach hosts whose names only the proxy can "
	        "resolve. Whether they are of the public internet is not checked then.",
	        ONLY_FALSE)
	ARRAY("hasp.worker", "[]",
	      "Where work runs: places in the order in which they are tried, each with the weakest "
	      "sandbox level that will do. See docs/providers.md.",
	      NEVER RESTRICTS CALLS)
	STRINGS("hasp.withoutParameters", "[]",
	        "Parameters never sent to models, such as reasoning.summary. docs/models.md lists "
	        "them.");

const struct setting_group schema_hasp = { schema_hasp_rows, sizeof(schema_hasp_rows) - 1 };
