/** A program of ours as a child process. */
export interface Program {
  /** Its exit code; null by a signal. */
  readonly ended: Promise<number | null>;
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>;
}

/** A program that is started again at once whenever it ends, as Kubernetes would. */
export class Kept {
  /** A sentence for each time that it ended and nobody had killed it. */
  readonly crashes: string[] = [];
  /** How often it was killed. */
  kills = 0;
  readonly #name: string;
  readonly #start: () => Promise<Program>;
  #now: Program;
  #ending = false;

  private constructor(name: string, start: () => Promise<Program>, first: Program) {
    this.#name = name;
    this.#start = start;
    this.#now = first;
    this.#watch();
  }

  static async start(name: string, start: () => Promise<Program>): Promise<Kept> {
    return new Kept(name, start, await start());
  }

  /** As the kernel would; resolves once its successor is ready. */
  async kill(): Promise<void> {
    this.kills += 1;
    this.#ending = true;
    await this.#now.end('SIGKILL');
    this.#now = await this.#start();
    this.#ending = false;
    this.#watch();
  }

  async stop(): Promise<void> {
    this.#ending = true;
    await this.#now.end('SIGTERM');
  }

  #watch(): void {
    const watched = this.#now;
    void watched.ended.then(async (code) => {
      if (this.#ending) return;
      this.crashes.push(`the ${this.#name} ended by itself, with ${code}`);
      this.#now = await this.#start();
      this.#watch();
    });
  }
}
