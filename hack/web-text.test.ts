import { afterEach, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LINK_PROBLEM_CODES } from '../pkg/lti/links/link-problems.policy.ts';

const web = join(import.meta.dirname, '../pkg/web');

/** A file of pkg/web, which nothing else imports: here it is what is looked at. */
const textFile = <T>(name: string): Promise<T> => import(join(web, 'text', name)) as Promise<T>;

type Values = Readonly<Record<string, string>>;
const { en } = await textFile<{ en: Values }>('en.ts');
const { de } = await textFile<{ de: Values }>('de.ts');
const { count, speak, t, timeInWords } = await textFile<{
  count: (key: string, number: number) => string;
  speak: (language: string) => Promise<void>;
  t: (key: string, values?: Values) => string;
  timeInWords: (iso: string) => string;
}>('text.ts');

/** The pages' sources, the catalogues left out. */
const sources = readdirSync(web, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !/^dist|^text\/|\.test\.ts$/.test(file))
  .map((file) => readFileSync(join(web, file), 'utf8'))
  .join('\n');

const valuesIn = (text: string): string[] => [...text.matchAll(/\{\w+\}/g)].map(String).sort();

afterEach(() => speak('en'));

test('both languages have the same keys, with the same values put in, and no text is empty', () => {
  expect(Object.keys(de)).toEqual(Object.keys(en));
  for (const [key, text] of Object.entries(en)) {
    const other = de[key] ?? '';
    expect([key, valuesIn(other)]).toEqual([key, valuesIn(text)]);
    expect([key, other.trim() === other && other !== '']).toEqual([key, true]);
  }
});

test('each text is used by a page', () => {
  const isUsed = (key: string): boolean => {
    if (key.startsWith('refused.')) return true; // by the code of a refusal
    if (key.startsWith('type.')) return sources.includes('`type.${');
    const stem = key.replace(/\.(one|other)$/, '').replace(/^(picker\..+)For$/, '$1');
    return sources.includes(`'${stem}'`);
  };

  expect(Object.keys(en).filter((key) => !isUsed(key))).toEqual([]);
});

test('each problem of a placed link is said in the language of the page', () => {
  expect(LINK_PROBLEM_CODES.filter((code) => !Object.hasOwn(en, `refused.${code}`))).toEqual([]);
});

test('what a page says follows its language: texts, plurals, numbers and times', async () => {
  const all = (): string[] => [
    t('previewOf', { name: 'Plan {name}' }),
    count('files', 1),
    count('files', 1234),
    timeInWords('2026-03-04T12:06:07Z').replace(/\d\d:\d\d/, 'hh:mm'),
  ];
  const english = all();
  await speak('de');
  const german = all();
  await speak('xx');

  expect(german).toEqual(['Vorschau von Plan {name}', '1 Datei', '1.234 Dateien', '04.03.2026, hh:mm']);
  expect([english[0], english[1], english[2]]).toEqual(['Preview Plan {name}', '1 file', '1,234 files']);
  expect(t('loading')).toBe('Loading …');
});
