// SPDX-License-Identifier: Apache-2.0
// What stands between the lines of a diff: comments, below the lines that they are about.

import { StateEffect, StateField, type EditorState, type Extension } from "@codemirror/state";
import { Decoration, EditorView, WidgetType, type DecorationSet } from "@codemirror/view";
import { visible } from "../terminal";

export interface Note {
	id: string;
	side: "old" | "new";
	startLine: number; // from 1
	endLine: number;
	text: string;
	by?: string;
}

export function noteTitle(note: Note): string {
	const lines = note.startLine === note.endLine ? `line ${note.startLine}` :
		`lines ${note.startLine}–${note.endLine}`;
	return `${note.by ?? "You"}, ${lines}${note.side === "old" ? " before the edit" : ""}`;
}

class NoteWidget extends WidgetType {
	constructor(readonly note: Note) {
		super();
	}

	eq(other: NoteWidget): boolean {
		return other.note.text === this.note.text && other.note.id === this.note.id;
	}

	toDOM(): HTMLElement {
		const box = document.createElement("div");
		const title = document.createElement("strong");
		const text = document.createElement("p");
		box.className = "note";
		title.textContent = noteTitle(this.note);
		text.textContent = visible(this.note.text);
		box.append(title, text);
		return box;
	}

	get estimatedHeight(): number {
		return 60;
	}
}

export const setNotes = StateEffect.define<Note[]>();

// `place`: where the line after which a note stands ends, or undefined: it is not shown here.
export function notesField(place: (state: EditorState, note: Note) => number | undefined): Extension {
	const draw = (state: EditorState, notes: Note[]): DecorationSet => Decoration.set(notes.flatMap((note) => {
		const at = place(state, note);
		return at === undefined ? [] : [Decoration.widget({ widget: new NoteWidget(note), block: true, side: 1 }).range(at)];
	}), true);
	return StateField.define<DecorationSet>({
		create: () => Decoration.none,
		update(value, transaction) {
			for (const effect of transaction.effects)
				if (effect.is(setNotes))
					value = draw(transaction.state, effect.value);
			return value;
		},
		provide: (field) => EditorView.decorations.from(field),
	});
}
