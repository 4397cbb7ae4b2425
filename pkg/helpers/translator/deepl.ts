import { z } from 'zod';
import { ask } from './ask.ts';
import type { Provider } from './provider.ts';

const Translations = z.object({
  translations: z.array(z.object({ text: z.string(), detected_source_language: z.string().optional() })),
});
const Known = z.array(z.object({ language: z.string() }));
/** DeepL translates into a variant; these are the variants for clients that name none. */
const VARIANTS = { en: 'EN-US', pt: 'PT-PT' };

/**
 * DeepL, v2: at most 50 texts, and 128 KiB per request, in which a character may take four bytes. Keys of the free plan end with
 * `:fx` and use a different address.
 */
export function deepl({ key, url }: { key: string; url: string | undefined }): Provider {
  const base = url ?? (key.endsWith(':fx') ? 'https://api-free.deepl.com' : 'https://api.deepl.com');
  const headers = { authorization: `DeepL-Auth-Key ${key}` };
  return {
    name: 'deepl',
    most: { texts: 50, characters: 20_000 },
    async languages(signal) {
      const [sources, targets] = await Promise.all(
        ['source', 'target'].map(async (type) => {
          const known = await ask(`${base}/v2/languages?type=${type}`, Known, { signal, headers });
          return known.map(({ language }) => language);
        }),
      );
      return { sources: sources ?? [], targets: [...(targets ?? []), ...Object.keys(VARIANTS)], detects: true };
    },
    async translate(texts, source, target, signal) {
      const variant = VARIANTS[target as keyof typeof VARIANTS] ?? target;
      const body = { text: texts, target_lang: variant, ...(source === null ? {} : { source_lang: source }) };
      const { translations } = await ask(`${base}/v2/translate`, Translations, { signal, headers, body });
      return { texts: translations.map(({ text }) => text), source: translations[0]?.detected_source_language ?? source };
    },
  };
}
