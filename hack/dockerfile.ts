/** The instructions of a Dockerfile, as far as ours uses them. Pure; the text comes in. */

export interface Instruction {
  /** In capitals: `COPY`. */
  readonly name: string;
  readonly rest: string;
}

export interface Stage {
  /** The image or stage that it begins with, with arguments filled in. */
  readonly base: string;
  readonly name: string | undefined;
  readonly instructions: readonly Instruction[];
}

/** Returns the stages in their order. Arguments have their defaults. Throws if the first instruction is neither ARG nor FROM. */
export function stagesOf(text: string): Stage[] {
  const values = new Map<string, string>();
  const fill = (words: string): string => words.replaceAll(/\$\{(\w+)\}/g, (whole, name: string) => values.get(name) ?? whole);
  const stages: { base: string; name: string | undefined; instructions: Instruction[] }[] = [];
  for (const instruction of instructionsOf(text)) {
    const { name, rest } = instruction;
    if (name === 'ARG') {
      // Without a default, ARG brings the earlier argument into its stage.
      const [argument = '', preset] = rest.split('=', 2);
      if (preset !== undefined) values.set(argument, preset);
    } else if (name === 'FROM') {
      const [base = '', , alias] = rest.split(/\s+/);
      stages.push({ base: fill(base), name: alias, instructions: [] });
    } else {
      const stage = stages.at(-1);
      if (!stage) throw new Error(`Dockerfile: ${name} stands before FROM`);
      stage.instructions.push({ name, rest: fill(rest) });
    }
  }
  return stages;
}

const instructionsOf = (text: string): Instruction[] =>
  text
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .flatMap((line) => {
      const [, name = '', rest = ''] = /^\s*([A-Za-z]+)\s+(.*?)\s*$/.exec(line) ?? [];
      return name === '' ? [] : [{ name: name.toUpperCase(), rest: rest.replaceAll(/\s{2,}/g, ' ') }];
    });

/** Returns the stage, the sources and the target of a COPY instruction. */
export function copyOf(rest: string): { from: string | undefined; sources: string[]; target: string } {
  const words = rest.split(' ');
  const from = words[0]?.startsWith('--from=') ? words.shift()?.slice('--from='.length) : undefined;
  const target = words.pop() ?? '';
  return { from, sources: words, target };
}
