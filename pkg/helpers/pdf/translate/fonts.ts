import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import fontkit from '@cantoo/fontkit';
import type { PDFDocument, PDFFont } from '@cantoo/pdf-lib';

/** Noto Sans; only the glyphs that a document uses are embedded. */
export class Fonts {
  readonly regular: PDFFont;
  readonly bold: PDFFont;
  readonly #known: ReadonlySet<number>;

  private constructor(regular: PDFFont, bold: PDFFont) {
    this.regular = regular;
    this.bold = bold;
    this.#known = new Set(regular.getCharacterSet());
  }

  static async embed(document: PDFDocument): Promise<Fonts> {
    document.registerFontkit(fontkit as never);
    const { resolve } = createRequire(import.meta.url);
    const embed = async (weight: string): Promise<PDFFont> =>
      document.embedFont(await readFile(resolve(`@expo-google-fonts/noto-sans/${weight}/NotoSans_${weight}.ttf`)), {
        subset: true,
      });
    return new Fonts(await embed('400Regular'), await embed('700Bold'));
  }

  /** Returns the text without signs that the font lacks, such as emoji; undefined if it lacks letters or mathematical signs. */
  writable(text: string): string | undefined {
    const signs = Array.from(text.normalize('NFC').replaceAll(/\s+/g, ' '));
    const isMissing = (sign: string): boolean => !this.#known.has(sign.codePointAt(0) ?? 0);
    if (signs.some((sign) => isMissing(sign) && /[\p{L}\p{M}\p{Sm}]/u.test(sign))) return undefined;
    return signs
      .filter((sign) => !isMissing(sign))
      .join('')
      .trim();
  }
}
