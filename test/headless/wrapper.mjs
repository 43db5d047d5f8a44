// SPDX-License-Identifier: Apache-2.0
// Lets a wrapper of Gemini CLI do one prompt, and prints its messages as lines of JSON.
//     node wrapper.mjs SERVER_CJS PROMPT [abort]
import { pathToFileURL } from "node:url";

const [file, prompt, abort] = process.argv.slice(2);
globalThis.fetch = () => Promise.reject(new Error("no network here")); // it asks for its newest version
const { createServer, runAgent } = await import(pathToFileURL(file).href);
for await (const message of runAgent(prompt, { cwd: process.cwd(), sessionId: "one" })) {
  console.log(JSON.stringify(message));
  if (abort && message.content === abort)
    await createServer().request("/abort/one", { method: "POST" });
}
process.exit(0);
