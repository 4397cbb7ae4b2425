import { Refusal } from '../refusal.ts';

/**
 * The main function of a child process: converts `argv[2]` to `argv[3]` with the options in `argv[4]`, and prints one line of
 * JSON: `{ result }`, `{ refused: { code, message } }`, or `{ failed }` with a stack.
 */
export async function runConversion(convert: (input: string, output: string, options: never) => Promise<unknown>): Promise<void> {
  const [, , input = '', output = '', options = '{}'] = process.argv;
  // The libraries print warnings to standard output, which is reserved for the reply.
  for (const level of ['log', 'info', 'warn', 'error'] as const) console[level] = () => {};
  const reply = await convert(input, output, JSON.parse(options) as never).then(
    (result) => ({ result }),
    (error: unknown) =>
      error instanceof Refusal
        ? { refused: { code: error.code, message: error.message } }
        : { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) },
  );
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
