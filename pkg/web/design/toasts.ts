export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: 'neutral' | 'success' | 'danger';
  readonly action?: { readonly label: string; readonly onSelect: () => void };
}

export type NewToast = Omit<Toast, 'id' | 'tone'> & { readonly tone?: Toast['tone'] };

/** More at once would hide the page; the oldest goes. */
const MAX = 3;

/** What the page has just done or failed to do. The area of toasts (toast.tsx) shows it. */
export class Toasts {
  #shown: readonly Toast[] = [];
  #last = 0;
  readonly #readers = new Set<() => void>();

  get shown(): readonly Toast[] {
    return this.#shown;
  }

  /** Shows a toast; returns its number. The same text is not shown twice: the new one takes its place. */
  show({ tone = 'neutral', ...toast }: NewToast): number {
    const id = (this.#last += 1);
    const others = this.#shown.filter(({ text }) => text !== toast.text);
    this.#change([...others, { ...toast, tone, id }].slice(-MAX));
    return id;
  }

  close(id: number): void {
    this.#change(this.#shown.filter((toast) => toast.id !== id));
  }

  /** Closes all of them, and takes back what their buttons offer. */
  clear(): void {
    this.#change([]);
  }

  /** Calls `reader` after each change; returns how to end that. */
  subscribe(reader: () => void): () => void {
    this.#readers.add(reader);
    return () => this.#readers.delete(reader);
  }

  #change(shown: readonly Toast[]): void {
    this.#shown = shown;
    for (const reader of this.#readers) reader();
  }
}

/** The toasts of this page. */
export const toasts = new Toasts();
