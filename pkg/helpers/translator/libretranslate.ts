import { z } from 'zod';
import { ask } from './ask.ts';
import type { Provider } from './provider.ts';

const Detected = z.object({ language: z.string() });
const Translations = z.object({
  translatedText: z.array(z.string()),
  detectedLanguage: z.union([Detected, z.array(Detected)]).nullish(),
});
const Known = z.array(z.object({ code: z.string(), targets: z.array(z.string()).optional() }));

/** A self-hosted LibreTranslate, or the public one with a key. */
export function libretranslate({ key, url }: { key: string | undefined; url: string }): Provider {
  return {
    name: 'libretranslate',
    most: { texts: 50, characters: 5_000 },
    async languages(signal) {
      const known = await ask(`${url}/languages`, Known, { signal });
      const codes = known.map(({ code }) => code);
      const targets = new Map(known.map(({ code, targets: each = codes }) => [code, new Set(each)]));
      return { sources: codes, targets: codes, detects: true, allows: (from, to) => targets.get(from)?.has(to) ?? false };
    },
    async translate(texts, source, target, signal) {
      const body = { q: texts, source: source ?? 'auto', target, format: 'text', ...(key === undefined ? {} : { api_key: key }) };
      const { translatedText, detectedLanguage } = await ask(`${url}/translate`, Translations, { signal, body });
      const [detected] = [detectedLanguage ?? []].flat();
      return { texts: translatedText, source: detected?.language ?? source };
    },
  };
}
