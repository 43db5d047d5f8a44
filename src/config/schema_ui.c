/* SPDX-License-Identifier: Apache-2.0 */
/* Gemini CLI's settings for what a person sees. */
#include "config/schema_rows.h"

#define EDITORS                                                                       \
	"vscode|vscodium|windsurf|cursor|zed|antigravity|sublimetext|lapce|nova|bbedit|" \
	"vim|neovim|emacs|hx|emacsclient|micro"

static const char rows[] =
	CHOICE("general.preferredEditor", NONE, EDITORS, "The editor in which to open files.", ASK)
	BOOLEAN("general.openEditorInNewWindow", "false", "Open it in a window of its own.")
	BOOLEAN("general.vimMode", "false", "Edit prompts with the keys of vim.")
	BOOLEAN("general.devtools", "false", "Open the inspector at start.")
	BOOLEAN("general.enableAutoUpdate", "true", "Install new versions.")
	BOOLEAN("general.enableAutoUpdateNotification", "true", "Tell about new versions.")
	BOOLEAN("general.enableNotifications", "false",
	        "Notify through the terminal when something is asked or done.")
	CHOICE("general.notificationMethod", "\"auto\"", "auto|osc9|osc777|bell", "How to notify.")
	BOOLEAN("general.debugKeystrokeLogging", "false", "Log keys for debugging.", ONLY_FALSE)

	STRING("ui.theme", NONE, "The theme of colours.")
	BOOLEAN("ui.autoThemeSwitching", "true",
	        "Follow the terminal's background between the default themes.")
	NUMBER("ui.terminalBackgroundPollingInterval", "60",
	       "Seconds between looks at the terminal's background.")
	OBJECT("ui.customThemes", "{}", "The user's own themes by name.")
	BOOLEAN("ui.debugRainbow", "false", "Show what is drawn anew.")
	BOOLEAN("ui.hideWindowTitle", "false", "Leave the window's title alone.")
	CHOICE("ui.inlineThinkingMode", "\"off\"", "off|full", "Show the model's thoughts.")
	BOOLEAN("ui.showStatusInTitle", "false", "Show the model's thoughts in the window's title.")
	BOOLEAN("ui.dynamicWindowTitle", "true", "Show the state in the window's title.")
	BOOLEAN("ui.showHomeDirectoryWarning", "true", "Warn in the home folder.")
	BOOLEAN("ui.showCompatibilityWarnings", "true", "Warn about the terminal and the system.")
	BOOLEAN("ui.hideTips", "false", "Show no tips.")
	BOOLEAN("ui.escapePastedAtSymbols", "false", "Escape @ in pasted text.")
	BOOLEAN("ui.showShortcutsHint", "true", "Show the hint about keys above the prompt.")
	BOOLEAN("ui.compactToolOutput", "true", "Show calls of tools short.")
	BOOLEAN("ui.hideBanner", "false", "Show no banner.")
	BOOLEAN("ui.hideContextSummary", "false", "Show no summary of the context.")
	STRINGS("ui.footer.items", NONE, "What the footer shows, in order.")
	BOOLEAN("ui.footer.showLabels", "true", "Show labels above it.")
	BOOLEAN("ui.footer.hideCWD", "false", "Leave the folder out of it.")
	BOOLEAN("ui.footer.hideSandboxStatus", "false", "Leave the sandbox out of it.")
	BOOLEAN("ui.footer.hideModelInfo", "false", "Leave the model out of it.")
	BOOLEAN("ui.footer.hideContextPercentage", "true", "Leave the context's use out of it.")
	BOOLEAN("ui.hideFooter", "false", "Show no footer.")
	BOOLEAN("ui.collapseDrawerDuringApproval", "true", "Make room while something is asked.")
	BOOLEAN("ui.showMemoryUsage", "false", "Show how much memory is used.")
	BOOLEAN("ui.showLineNumbers", "true", "Number the lines of code.")
	BOOLEAN("ui.showCitations", "false", "Show the sources of what the model cites.")
	BOOLEAN("ui.showModelInfoInChat", "false", "Show the model of each turn.")
	BOOLEAN("ui.showUserIdentity", "true", "Show who is signed in.")
	BOOLEAN("ui.useAlternateBuffer", "false", "Use the terminal's alternate screen.")
	BOOLEAN("ui.renderProcess", "true", "Draw in a process of its own.")
	BOOLEAN("ui.terminalBuffer", "false", "Draw by the newer method.")
	BOOLEAN("ui.useBackgroundColor", "true", "Use background colours.")
	BOOLEAN("ui.incrementalRendering", "true", "Draw only what changed.")
	BOOLEAN("ui.showSpinner", "true", "Show that something is going on.")
	CHOICE("ui.loadingPhrases", "\"off\"", "tips|witty|all|off", "What to show while waiting.")
	CHOICE("ui.errorVerbosity", "\"low\"", "low|full", "Whether errors that heal are shown.")
	STRINGS("ui.customWittyPhrases", "[]", "Phrases to show while waiting.")
	BOOLEAN("ui.accessibility.enableLoadingPhrases", "true",
	        "Deprecated: ui.loadingPhrases says it.")
	BOOLEAN("ui.accessibility.screenReader", "false", "Print plain text for screen readers.")

	BOOLEAN("ide.enabled", "false", "Talk to the editor.", ASK)
	BOOLEAN("ide.hasSeenNudge", "false", "The hint about it was shown.")
	BOOLEAN("privacy.usageStatisticsEnabled", "true",
	        "Gemini CLI's statistics about its use; hasp sends none.", ONLY_FALSE)
	BOOLEAN("telemetry.enabled", NONE, "Emit telemetry.", ONLY_FALSE)
	STRING("telemetry.target", NONE, "Where it goes.", NEVER)
	STRING("telemetry.otlpEndpoint", NONE, "The address of the collector.",
	       NEVER)
	CHOICE("telemetry.otlpProtocol", NONE, "grpc|http", "How it is spoken to.",
	       NEVER)
	BOOLEAN("telemetry.traces", NONE, "Emit detailed traces.", ONLY_FALSE)
	BOOLEAN("telemetry.logPrompts", NONE, "Put prompts into it.",
	        ONLY_FALSE)
	STRING("telemetry.outfile", NONE, "The file it is written to.", NEVER)
	BOOLEAN("telemetry.useCollector", NONE, "Send it to a collector of OpenTelemetry.",
	        NEVER)
	BOOLEAN("telemetry.useCliAuth", NONE, "Sign in there as at the model's provider.",
	        NEVER)
	CHOICE("billing.overageStrategy", "\"ask\"", "ask|always|never",
	       "Whether credits are spent when the quota is used up.", NEVER)
	CHOICE("billing.vertexAi.requestType", NONE, "dedicated|shared",
	       "The kind of throughput at Vertex AI.")
	CHOICE("billing.vertexAi.sharedRequestType", NONE, "priority|flex",
	       "The kind of shared throughput there.");

const struct setting_group schema_ui = { rows, sizeof(rows) - 1 };
