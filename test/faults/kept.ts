/** A program of ours as a child process. */
export interface Program {
  /** Its exit code; null by a signal. */
  readonly ended: Promise<number | null>;
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>;
}

/** The most of a fatal line that is reported: the error's stack, not its whole context. */
const LAST_WORDS = 4_000;

/** Finds the line with which a program says why it ends, in what it writes to its log. */
export class LastWords {
  #line = '';
  #text = '';

  note(text: string): void {
    const lines = (this.#text + text).split('\n');
    this.#text = lines.pop() ?? '';
    this.#line = lines.findLast((line) => line.includes('"level":"fatal"')) ?? this.#line;
  }

  get text(): string {
    return this.#line.slice(0, LAST_WORDS);
  }
}

interface Running {
  readonly program: Program;
  readonly words: LastWords;
}

/** A program that is started again at once whenever it ends, as Kubernetes would. */
export class Kept {
  /** The number of times it was killed. */
  kills = 0;
  readonly #name: string;
  readonly #start: () => Promise<Running>;
  readonly #crashes: { readonly code: number | null; readonly words: LastWords }[] = [];
  #now: Running;
  #ending = false;

  private constructor(name: string, start: () => Promise<Running>, first: Running) {
    this.#name = name;
    this.#start = start;
    this.#now = first;
    this.#watch();
  }

  /** `start` starts the program, which writes its log to the function that `start` gets. */
  static async start(name: string, start: (log: (text: string) => void) => Promise<Program>): Promise<Kept> {
    const run = async (): Promise<Running> => {
      const words = new LastWords();
      return { program: await start((text) => words.note(text)), words };
    };
    return new Kept(name, run, await run());
  }

  /** A sentence for each time that it ended and nobody had killed it. */
  get crashes(): string[] {
    return this.#crashes.map(({ code, words }) => `the ${this.#name} ended by itself, with ${code}: ${words.text}`);
  }

  /** Kills the program as the kernel would. Resolves once its successor is ready. */
  async kill(): Promise<void> {
    this.kills += 1;
    this.#ending = true;
    await this.#now.program.end('SIGKILL');
    this.#now = await this.#start();
    this.#ending = false;
    this.#watch();
  }

  async stop(): Promise<void> {
    this.#ending = true;
    await this.#now.program.end('SIGTERM');
  }

  #watch(): void {
    const { program, words } = this.#now;
    void program.ended.then(async (code) => {
      if (this.#ending) return;
      this.#crashes.push({ code, words });
      this.#now = await this.#start();
      this.#watch();
    });
  }
}
