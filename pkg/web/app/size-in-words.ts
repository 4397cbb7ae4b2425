import { sizeIn } from '../design/format.ts';
import { locale } from '../text/language.ts';

/** Returns a size in bytes in the notation of the page's language, where `<FileSize>` cannot stand: inside of a text. */
export const sizeInWords = (bytes: number): string => sizeIn(locale(), bytes);
