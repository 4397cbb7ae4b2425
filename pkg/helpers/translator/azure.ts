import { z } from 'zod';
import { ask } from './ask.ts';
import type { Provider } from './provider.ts';

const Translations = z.array(
  z.object({
    detectedLanguage: z.object({ language: z.string() }).optional(),
    translations: z.tuple([z.object({ text: z.string() })]),
  }),
);
const Known = z.object({ translation: z.record(z.string(), z.unknown()) });

/** Azure Translator, v3.0: at most 1,000 texts and 50,000 characters. A key of one region needs the region's name. */
export function azure({ key, region, url }: { key: string; region: string | undefined; url: string }): Provider {
  const headers = {
    'ocp-apim-subscription-key': key,
    ...(region === undefined ? {} : { 'ocp-apim-subscription-region': region }),
  };
  return {
    name: 'azure',
    most: { texts: 1_000, characters: 50_000 },
    async languages(signal) {
      const { translation } = await ask(`${url}/languages?api-version=3.0&scope=translation`, Known, { signal });
      const known = Object.keys(translation);
      return { sources: known, targets: known, detects: true };
    },
    async translate(texts, source, target, signal) {
      const query = new URLSearchParams({ 'api-version': '3.0', to: target, ...(source === null ? {} : { from: source }) });
      const body = texts.map((text) => ({ Text: text }));
      const results = await ask(`${url}/translate?${query.toString()}`, Translations, { signal, headers, body });
      return {
        texts: results.map(({ translations: [{ text }] }) => text),
        source: results[0]?.detectedLanguage?.language ?? source,
      };
    },
  };
}
