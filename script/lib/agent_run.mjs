// SPDX-License-Identifier: Apache-2.0
// One prompt by an agent that a program holds: NAME MODULES PROMPT.  For bench_python.py; the endpoint and the key are in the
// environment, as each SDK's documentation names them.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [name, modules, prompt] = process.argv.slice(2);
const require = createRequire(join(modules, "node_modules", "x.js"));
const load = (what) => import(pathToFileURL(require.resolve(what)));

const RUNS = {
	async "claude-agent-sdk"() {
		const { query } = await import(pathToFileURL(join(modules, "node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs")));
		for await (const message of query({ prompt, options: { settingSources: [], permissionMode: "default" } }))
			if (message.type === "result")
				return message.result;
	},
	async "openai-agents"() {
		const { Agent, run, setTracingDisabled } = await load("@openai/agents");
		setTracingDisabled(true);
		const result = await run(new Agent({ name: "one", instructions: "Answer.", model: "gpt-5" }), prompt, { stream: true });
		await result.completed;
		return result.finalOutput;
	},
	async adk() {
		const { InMemoryRunner, LlmAgent } = await load("@google/adk");
		const agent = new LlmAgent({ name: "one", instruction: "Answer.", model: "gemini-2.5-flash" });
		const runner = new InMemoryRunner({ agent, appName: "one" });
		const session = await runner.sessionService.createSession({ appName: "one", userId: "me" });
		let said = "";
		const newMessage = { role: "user", parts: [{ text: prompt }] };
		for await (const event of runner.runAsync({ userId: "me", sessionId: session.id, newMessage, runConfig: { streamingMode: "sse" } }))
			if (!event.partial)
				said = event.content?.parts?.map((part) => part.text ?? "").join("") || said;
		return said;
	},
	// No agent: a conversation, which calls no tool.
	async genai() {
		const { GoogleGenAI } = await load("@google/genai");
		const chat = new GoogleGenAI({ apiKey: process.env.GEMINI_API_KEY }).chats.create({ model: "gemini-2.5-flash" });
		let said = "";
		for await (const piece of await chat.sendMessageStream({ message: prompt }))
			said += piece.text ?? "";
		return said;
	},
};

console.log(await RUNS[name]());
