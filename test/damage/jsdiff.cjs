// SPDX-License-Identifier: Apache-2.0
// Answers patch cases with npm's `diff` on one pipe, in the frames of driver.c.
// argv: the folder of the installed package, the fuzz factor.
const { applyPatch } = require(process.argv[2]);
const fuzzFactor = Number(process.argv[3] || 0);

function answer(code, text) {
	const head = Buffer.alloc(12);
	head.writeUInt32LE(code, 0);
	head.writeUInt32LE(text.length, 4);
	process.stdout.write(Buffer.concat([head, text]));
}

function applyCase(base, diff) {
	// latin1 keeps every byte as it is, so that texts in any encoding compare fairly.
	let text = false;
	try {
		text = applyPatch(base.toString('latin1'), diff.toString('latin1'), { fuzzFactor });
	} catch (error) {
		text = false;
	}
	if (text === false)
		answer(1, Buffer.alloc(0));
	else
		answer(0, Buffer.from(text, 'latin1'));
}

let pending = Buffer.alloc(0);
process.stdin.on('data', (chunk) => {
	pending = Buffer.concat([pending, chunk]);
	while (pending.length >= 8) {
		const baseEnd = 8 + pending.readUInt32LE(0);
		const end = baseEnd + pending.readUInt32LE(4);
		if (pending.length < end)
			return;
		applyCase(pending.subarray(8, baseEnd), pending.subarray(baseEnd, end));
		pending = pending.subarray(end);
	}
});
