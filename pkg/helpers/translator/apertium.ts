import { type ChildLimits, runChild } from '../child.ts';
import { knownTag } from '../languages.ts';
import { Refusal } from '../refusal.ts';
import { TextRefused } from './ask.ts';
import { detect } from './detect.ts';
import type { Provider } from './provider.ts';

const LIMITS: ChildLimits = { ms: 30_000, memoryBytes: 1 << 30, outputBytes: 4 << 20 };
/** Separates texts: Apertium leaves the control character unchanged, and the empty lines end a sentence. */
const SEPARATOR = '\u001E';
const BETWEEN = `\n\n${SEPARATOR}\n\n`;

interface Pair {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

/** Apertium on this machine, with the installed pairs of languages. */
export const apertium: Provider = {
  name: 'apertium',
  most: { texts: 1_000, characters: 50_000 },
  async languages(signal) {
    const pairs = await installedPairs(signal);
    return {
      sources: [...new Set(pairs.map(({ from }) => from))],
      targets: [...new Set(pairs.map(({ to }) => to))],
      detects: true,
      allows: (source, target) => pairs.some(({ from, to }) => from === source && to === target),
    };
  },
  async translate(texts, source, target, signal) {
    const from = source ?? detect(texts.join(' '));
    if (from === target) return { texts, source: from };
    const pair = (await installedPairs(signal)).find((each) => each.from === from && each.to === target);
    if (!pair)
      throw new Refusal(
        'language_unknown',
        `No pair translates from ${from} into ${target}. Name source_language if the text has another language.`,
      );
    const sent = texts.map((text) => text.replaceAll(SEPARATOR, ' '));
    const output = await runChild(['apertium', '-u', '-f', 'txt', pair.name], sent.join(BETWEEN), LIMITS, signal);
    if (output.trim() === '') throw new TextRefused('apertium wrote nothing');
    return {
      texts: output.split(SEPARATOR).map((text, index) => beginningAs(sent[index] ?? '', text.replace(/^\n+|\n+$/g, ''))),
      source: from,
    };
  },
};

/** When Spanish omits a pronoun, Apertium leaves its space at the beginning of the line. */
function beginningAs(original: string, translated: string): string {
  const before = original.split('\n');
  const lines = translated.split('\n');
  if (lines.length !== before.length) return translated;
  return lines.map((line, index) => (/^\s/.test(before[index] ?? '') ? line : line.trimStart())).join('\n');
}

/** `eng-spa` is a pair; a name with a variant, such as `spa-eng_US`, is one of its modes. */
async function installedPairs(signal: AbortSignal): Promise<Pair[]> {
  const list = await runChild(['apertium', '-l'], '', LIMITS, signal);
  return [...list.matchAll(/^\s*(\w{2,3})-(\w{2,3})$/gm)].map(([name, from = '', to = '']) => ({
    name: name.trim(),
    from: knownTag(from, 'apertium'),
    to: knownTag(to, 'apertium'),
  }));
}
