import { newId } from '../api/new-id.ts';

const NAME = 'carrel-uploads';
/** Other tabs have this time to say that they are open, if the browser has no locks. */
const ANSWER_MS = 500;

interface Said {
  readonly from: string;
  /** True: the others answer. */
  readonly isQuestion: boolean;
}

/**
 * Tells open tabs from those that are gone. A lock of each tab says so, which the browser releases with the tab. On pages that
 * came by plain http from another machine there are no locks: open tabs answer a question there, and a frozen one counts as gone.
 */
export class Tab {
  readonly id = newId();
  /** Other tabs may take over from now on what this one left. */
  close = (): void => undefined;
  readonly #isHeld: Promise<boolean>;
  readonly #channel: BroadcastChannel | undefined;
  #heard = new Set<string>();

  constructor() {
    const { promise: closed, resolve: close } = Promise.withResolvers<void>();
    const { promise: isHeld, resolve: held } = Promise.withResolvers<boolean>();
    this.#isHeld = isHeld;
    this.close = () => {
      close();
      this.#channel?.close();
    };
    if (navigator.locks) {
      const hold = (): Promise<void> => {
        held(true);
        return closed;
      };
      navigator.locks.request(lockOf(this.id), hold).catch(() => held(false));
      return;
    }
    held(true);
    this.#channel = new BroadcastChannel(NAME);
    this.#channel.addEventListener('message', ({ data }: MessageEvent<Said>) => {
      this.#heard.add(data.from);
      if (data.isQuestion) this.#say({ from: this.id, isQuestion: false });
    });
  }

  /**
   * Runs a task with what says whether a tab is open; of two tabs that begin at once, the second knows of the first. Returns
   * undefined where the browser lets nobody know.
   */
  async knowing<T>(task: (isOpen: (tab: string) => boolean) => Promise<T>): Promise<T | undefined> {
    if (!(await this.#isHeld)) return undefined;
    if (this.#channel) {
      this.#heard = new Set([this.id]);
      this.#say({ from: this.id, isQuestion: true });
      await new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
      return task((tab) => this.#heard.has(tab));
    }
    return navigator.locks.request(NAME, async () => {
      const { held = [] } = await navigator.locks.query();
      const names = new Set(held.map(({ name }) => name));
      return task((tab) => names.has(lockOf(tab)));
    });
  }

  #say(said: Said): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
    this.#channel?.postMessage(said);
  }
}

const lockOf = (tab: string): string => `${NAME}:${tab}`;
