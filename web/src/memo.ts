// SPDX-License-Identifier: Apache-2.0
// Components that are drawn again only when a property has changed.

import { Component, h, type ComponentChildren, type FunctionComponent } from "preact";

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
