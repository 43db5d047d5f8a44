// SPDX-License-Identifier: Apache-2.0
// Reads replies through the providers' own SDKs, which are in the folder that is named: for each line
// {"provider", "url"} of standard input one line {"text", "calls": [{"name", "args"}], "usage"?} or {"error"}.
// "usage" is {"input", "cached", "output", "thoughts"} as the SDK hands the provider's counts on: "output" with
// the thoughts but for Gemini's, "input" with what came from a cache but for Anthropic's, which has
// "written" too.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(process.argv[2] + "/from-here.js");
const { OpenAI } = require("openai");
const { Anthropic } = require("@anthropic-ai/sdk");
const { GoogleGenAI } = require("@google/genai");

const options = (url) => ({ apiKey: "test-key", baseURL: url, maxRetries: 0 });
const parsed = (name, args) => ({ name, args: JSON.parse(args || "{}") ?? {} });

const openaiUsage = (usage) => usage && {
  input: usage.prompt_tokens ?? usage.input_tokens,
  cached: (usage.prompt_tokens_details ?? usage.input_tokens_details)?.cached_tokens,
  output: usage.completion_tokens ?? usage.output_tokens,
  thoughts: (usage.completion_tokens_details ?? usage.output_tokens_details)?.reasoning_tokens,
};

// The SDK puts message_start and message_delta together itself.
async function anthropicUsage(client) {
  try {
    const { usage } = await client.messages.stream({
      model: "m", messages: [], max_tokens: 5 }).finalMessage();
    return { input: usage.input_tokens, cached: usage.cache_read_input_tokens,
             written: usage.cache_creation_input_tokens, output: usage.output_tokens,
             thoughts: usage.output_tokens_details?.thinking_tokens };
  } catch {
    return undefined; // what it cannot accumulate it has no counts of
  }
}

const readers = {
  async gemini(url) {
    const client = new GoogleGenAI({ apiKey: "test-key", httpOptions: { baseUrl: url } });
    const stream = await client.models.generateContentStream({ model: "m", contents: "x" });
    const read = { text: "", calls: [] };
    for await (const chunk of stream) {
      const usage = chunk.usageMetadata;
      if (usage)
        read.usage = { input: usage.promptTokenCount, cached: usage.cachedContentTokenCount,
                       output: usage.candidatesTokenCount, thoughts: usage.thoughtsTokenCount };
      for (const part of chunk.candidates?.[0]?.content?.parts ?? []) {
        if (part.text && !part.thought) read.text += part.text;
        if (part.functionCall)
          read.calls.push({ name: part.functionCall.name, args: part.functionCall.args ?? {} });
      }
    }
    return read;
  },

  async openai(url) {
    const client = new OpenAI(options(url + "/v1"));
    const stream = await client.chat.completions.create({ model: "m", messages: [], stream: true });
    const read = { text: "", calls: [] }, calls = [];
    for await (const chunk of stream) {
      const delta = chunk.choices?.[0]?.delta;
      read.usage = openaiUsage(chunk.usage) ?? read.usage;
      if (typeof delta?.content === "string") read.text += delta.content;
      if (typeof delta?.refusal === "string") read.text += delta.refusal;
      for (const piece of delta?.tool_calls ?? []) {
        const call = (calls[piece.index] ??= { name: "", args: "" });
        call.name ||= piece.function?.name ?? "";
        call.args += piece.function?.arguments ?? "";
      }
    }
    read.calls = Object.values(calls).map((call) => parsed(call.name, call.args));
    return read;
  },

  async "openai-responses"(url) {
    const client = new OpenAI(options(url + "/v1"));
    const stream = await client.responses.create({ model: "m", input: "x", stream: true });
    const read = { text: "", calls: [] };
    for await (const event of stream) {
      if (event.type === "response.output_text.delta" || event.type === "response.refusal.delta")
        read.text += event.delta;
      if (event.type === "response.output_item.done" && event.item.type === "function_call")
        read.calls.push(parsed(event.item.name, event.item.arguments));
      read.usage = openaiUsage(event.response?.usage) ?? read.usage;
    }
    return read;
  },

  async anthropic(url) {
    const client = new Anthropic(options(url));
    const stream = await client.messages.create({
      model: "m", messages: [], max_tokens: 5, stream: true });
    const read = { text: "", calls: [] };
    let block, json;
    for await (const event of stream) {
      if (event.type === "content_block_start") {
        block = event.content_block;
        json = "";
        if (block.type === "text") read.text += block.text ?? "";
      } else if (event.type === "content_block_delta") {
        if (event.delta.type === "text_delta") read.text += event.delta.text;
        if (event.delta.type === "input_json_delta") json += event.delta.partial_json;
      } else if (event.type === "content_block_stop" && block?.type === "tool_use") {
        read.calls.push(json ? parsed(block.name, json) : { name: block.name, args: block.input });
      }
    }
    read.usage = await anthropicUsage(client);
    return read;
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { provider, url } = JSON.parse(line);
  let read;
  try {
    read = await readers[provider](url);
  } catch (error) {
    read = { error: String(error?.message ?? error) };
  }
  process.stdout.write(JSON.stringify(read) + "\n");
}
