// SPDX-License-Identifier: Apache-2.0
// When components are drawn: those that are drawn again only when a property has changed, and changes that are drawn
// immediately.

import { Component, h, options, type ComponentChildren, type FunctionComponent } from "preact";

export function memo<P extends object>(draw: (properties: P) => ComponentChildren): FunctionComponent<P> {
	class Memo extends Component<P> {
		shouldComponentUpdate(next: Readonly<P>): boolean {
			const [a, b] = [this.props as Record<string, unknown>, next as Record<string, unknown>];
			for (const name in { ...a, ...b })
				if (a[name] !== b[name])
					return true;
			return false;
		}

		render() {
			return h(draw as FunctionComponent<P>, this.props as any);
		}
	}
	return Memo as unknown as FunctionComponent<P>;
}

// Makes a change whose outcome must be on the page when this returns: a field that gets the next key, for example.
export function drawNow(change: () => void): void {
	const usual = options.debounceRendering;
	options.debounceRendering = (draw) => draw();
	try {
		change();
	} finally {
		options.debounceRendering = usual;
	}
}
