import { z } from 'zod';
import { ask } from './ask.ts';
import type { Provider } from './provider.ts';

const Translations = z.object({
  data: z.object({
    translations: z.array(z.object({ translatedText: z.string(), detectedSourceLanguage: z.string().optional() })),
  }),
});
const Known = z.object({ data: z.object({ languages: z.array(z.object({ language: z.string() })) }) });

/** Google Cloud Translation, Basic (v2): at most 128 texts; requests longer than 5,000 characters are discouraged. */
export function google({ key, url }: { key: string; url: string }): Provider {
  const headers = { 'x-goog-api-key': key };
  return {
    name: 'google',
    most: { texts: 128, characters: 5_000 },
    async languages(signal) {
      const { data } = await ask(`${url}/language/translate/v2/languages`, Known, { signal, headers });
      const known = data.languages.map(({ language }) => language);
      return { sources: known, targets: known, detects: true };
    },
    async translate(texts, source, target, signal) {
      const body = { q: texts, target, format: 'text', ...(source === null ? {} : { source }) };
      const { translations } = (await ask(`${url}/language/translate/v2`, Translations, { signal, headers, body })).data;
      return {
        texts: translations.map(({ translatedText }) => translatedText),
        source: translations[0]?.detectedSourceLanguage ?? source,
      };
    },
  };
}
