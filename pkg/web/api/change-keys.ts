import { newId } from './new-id.ts';
import type { ApiProblem } from './problem.ts';

/** Returns the Idempotency-Key for what a request says. */
export type KeyOfContent = (content: string) => string;

/**
 * The Idempotency-Keys of one form. The same content has the same key, so that the API makes the change once, however often it is
 * sent. Other content is another change and has a key of its own.
 */
export class ChangeKeys {
  readonly #keys = new Map<string, string>();

  readonly keyOf: KeyOfContent = (content) => {
    const key = this.#keys.get(content) ?? newId();
    this.#keys.set(content, key);
    return key;
  };

  /** The change is made, or refused: sending the same once more is a new change. */
  clear(): void {
    this.#keys.clear();
  }
}

/** Says whether the change may have been made, or may be in progress: its reply was lost, or its key is in use. */
export const isUndecided = ({ status, code, retryAfter }: ApiProblem): boolean =>
  status === 0 || (code === 'conflict' && retryAfter !== undefined);
