export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: 'neutral' | 'success' | 'danger';
  readonly action?: { readonly label: string; readonly onSelect: () => void };
  /** Of the request that failed. */
  readonly requestId?: string | undefined;
}

export type NewToast = Omit<Toast, 'id' | 'tone'> & { readonly tone?: Toast['tone'] };

/** More at once would hide the page; the oldest goes that nobody holds. */
const MAX = 3;

/** What the page has just done or failed to do. The area of toasts (toast.tsx) shows it. */
export class Toasts {
  #shown: readonly Toast[] = [];
  #last = 0;
  readonly #held = new Set<number>();
  readonly #readers = new Set<() => void>();

  get shown(): readonly Toast[] {
    return this.#shown;
  }

  /**
   * Shows a toast; returns its number. The same text is not shown twice: the new one takes its place, unless it is held, or
   * either has an action: that is another one.
   */
  show({ tone = 'neutral', ...toast }: NewToast): number {
    const id = (this.#last += 1);
    const isSame = (shown: Toast): boolean => shown.text === toast.text && !shown.action && !toast.action;
    const others = this.#shown.filter((shown) => !isSame(shown) || this.#held.has(shown.id));
    const surplus = others.length + 1 - MAX;
    const leaving = new Set(others.filter((shown) => !this.#held.has(shown.id)).slice(0, Math.max(surplus, 0)));
    this.#change([...others.filter((shown) => !leaving.has(shown)), { ...toast, tone, id }]);
    return id;
  }

  /** Somebody points at it, or has the focus in it: no other toast takes its place meanwhile. */
  hold(id: number, isHeld: boolean): void {
    if (isHeld) this.#held.add(id);
    else this.#held.delete(id);
  }

  close(id: number): void {
    this.#held.delete(id);
    this.#change(this.#shown.filter((toast) => toast.id !== id));
  }

  /** Closes all of them, and takes back what their buttons offer. */
  clear(): void {
    this.#held.clear();
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
