import { t } from '../../text/sharing.ts';
import type { Level } from './access-rows.ts';

/** What a grant lets people do, in the language of the page. */
export const levelInWords = (level: Level): string => t(`level.${level}`);

export const levelOptions = (): { readonly value: Level; readonly label: string }[] =>
  (['read', 'write', 'admin'] as const).map((value) => ({ value, label: levelInWords(value) }));
