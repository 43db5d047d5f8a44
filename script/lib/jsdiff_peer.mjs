// SPDX-License-Identifier: Apache-2.0
// Applies a unified diff with npm's `diff`: node jsdiff_peer.mjs PACKAGE FILE DIFF
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const [, , home, file, diff] = process.argv;
const { applyPatch } = createRequire(home + "/")("diff");
const result = applyPatch(readFileSync(file, "utf8"), readFileSync(diff, "utf8"));
if (result === false) process.exit(1);
writeFileSync(file, result);
