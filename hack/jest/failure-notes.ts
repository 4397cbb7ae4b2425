type Note = () => Promise<string>;

/** The runner of the tests and what they import share this module (native-modules.mjs). */
const notes = new Set<Note>();

/**
 * Adds a text to the message of each test that fails from now on: what a reader of the log cannot see. Returns how to end that.
 */
export function noteOnFailure(note: Note): () => void {
  notes.add(note);
  return () => void notes.delete(note);
}

/** Adds the notes to the error of a test. Anything but an Error stays as it is. */
export async function addNotes(error: unknown): Promise<void> {
  if (!(error instanceof Error)) return;
  for (const note of notes) {
    const text = await note().catch((failure: unknown) => `no note: ${String(failure)}`);
    // Jest prints the stack, which begins with the message.
    if (text !== '') error.stack = (error.stack ?? '').replace(error.message, (message) => `${message}\n\n${text}`);
  }
}
