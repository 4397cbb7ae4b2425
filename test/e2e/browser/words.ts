import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../support/backends/backends.ts';

/** Gives what a page says in its language for an English text of the catalogues, as an expression for all of it. */
export type Say = (english: string, values?: Readonly<Record<string, string>>) => RegExp;

type Catalogue = Readonly<Record<string, string>>;
const TEXTS = join(ROOT, 'pkg/web/text');

/** The English texts of the pages with their German ones. Those of launches are not the app's. */
export async function catalogues(): Promise<readonly (readonly [english: string, german: string])[]> {
  const load = async (name: string, language: string): Promise<Catalogue> =>
    ((await import(join(TEXTS, `${name}.${language}.ts`))) as Readonly<Record<string, Catalogue>>)[language] ?? {};
  const names = readdirSync(TEXTS).flatMap((file) => /^(.+)\.en\.ts$/.exec(file)?.[1] ?? []);
  const pairs = await Promise.all(
    names
      .filter((name) => name !== 'lti')
      .map(async (name) => {
        const [english, german] = await Promise.all([load(name, 'en'), load(name, 'de')]);
        return Object.entries(english).map(([key, text]) => [text, german[key] ?? ''] as const);
      }),
  );
  return pairs.flat();
}

const literal = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
const filled = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
const anyOf = (texts: readonly string[]): RegExp => new RegExp(`^(?:${texts.map(literal).join('|')})$`);

export const inEnglish: Say = (english, values = {}) => anyOf([filled(english, values)]);

/** Throws for a text that no catalogue has. */
export async function inGerman(): Promise<Say> {
  const pairs = await catalogues();
  return (english, values = {}) => {
    const german = pairs.filter(([text]) => text === english).map(([, text]) => filled(text, values));
    if (german.length === 0) throw new Error(`no catalogue has ${english}`);
    return anyOf([...new Set(german)]);
  };
}
