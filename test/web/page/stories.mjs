// SPDX-License-Identifier: Apache-2.0
// Events that tests of the page and its pictures are made of.

export const OLD = Array.from({ length: 60 }, (_, i) => `int value_${i} = ${i};\n`).join("");
export const NEW = OLD.replace("int value_5 = 5;\n", "int value_5 = 50; // five\n").replace("int value_30 = 30;\n", "")
	.replace("int value_50 = 50;\n", "int value_50 = 50;\nint more = 1;\n");
export const DIFF = `--- a/src/values.c
+++ b/src/values.c
@@ -3,7 +3,7 @@
 int value_2 = 2;
 int value_3 = 3;
 int value_4 = 4;
-int value_5 = 5;
+int value_5 = 50; // five
 int value_6 = 6;
 int value_7 = 7;
 int value_8 = 8;
@@ -28,7 +28,6 @@
 int value_27 = 27;
 int value_28 = 28;
 int value_29 = 29;
-int value_30 = 30;
 int value_31 = 31;
 int value_32 = 32;
 int value_33 = 33;
@@ -49,5 +48,6 @@
 int value_48 = 48;
 int value_49 = 49;
 int value_50 = 50;
+int more = 1;
 int value_51 = 51;
 int value_52 = 52;
`;

export function conversation(server) {
	server.event("opened", { message: { session: "x", model: "gemini-3-pro", level: "full", window: 1000000, branch: "main" } });
	server.event("started", { by: "terminal" });
	server.bus("prompt", { text: "Make five fifty." }, { by: "terminal" });
	server.bus("thought", { text: "The value stands in src/values.c.", subject: "Looking" });
	server.bus("content", { text: "I will change **`value_5`**:\n\n1. read the file\n2. edit it\n\n```c\nint value_5 = 50;\n```\n\n| name | value |\n|---|---|\n| five | 50 |\n" });
	server.bus("tool-call", { callId: "c1", toolName: "run_shell_command", title: "Shell", arguments: { command: "make" }, description: "make" });
	server.bus("tool-output", { callId: "c1", text: "cc -c values.c\n" });
	server.bus("tool-result", { callId: "c1", toolName: "run_shell_command", status: "success", result: { output: "cc -c values.c" }, display: "cc -c values.c", durationMs: 1234 });
	server.bus("todos", { todos: [{ description: "Change the value", status: "in_progress" }, { description: "Run the tests", status: "pending" }] });
}

export function edit(server, more = {}, details = {}) {
	const id = more.correlationId ?? "q1";
	server.bus("tool-confirmation-request", { correlationId: id, callId: "c2", toolName: "update_file", arguments: {},
		outcomes: ["proceed_once", "proceed_always", "modify_with_editor", "cancel"], scope: "edits of any file",
		details: { type: "edit", title: "Edit src/values.c", filePath: "/home/me/project/src/values.c", fileName: "values.c",
			fileDiff: DIFF, originalContent: OLD, newContent: NEW, ...details }, ...more });
	return id;
}

export function command(server, more = {}) {
	server.bus("tool-confirmation-request", { correlationId: "q2", callId: "c3", toolName: "run_shell_command", arguments: {},
		outcomes: ["proceed_once", "proceed_always", "cancel"], scope: "make",
		details: { type: "exec", title: "Run a command", command: "make && rm -rf build", rootCommand: "make", rootCommands: ["make", "rm"],
			summary: "make, rm", problems: [], commandPrefixes: ["make"], denials: [{ kind: "network", what: "curl" }] }, ...more });
}

export function answered(server, id, outcome, by) {
	server.bus("question-answered", { correlationId: id, question: "tool-confirmation-request", outcome, ...(by ? { by } : {}) });
}
