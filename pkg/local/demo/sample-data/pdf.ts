/** A page of text: a heading, a picture across the page, and paragraphs. */
export interface PdfPage {
  readonly heading: string;
  /** A PNG of `pngOf`. */
  readonly picture?: Buffer | undefined;
  readonly paragraphs: readonly string[];
}

/** Points: A4 with margins of 2.5 cm. */
const PAGE = { width: 595, height: 842, margin: 71 } as const;
const SIZE = { title: 24, heading: 15, text: 11 } as const;
const LEADING = 1.45;
/** Characters of a line of Helvetica at the size of text, on average. */
const LINE_LENGTH = 84;

/** Writes a PDF 1.7 (ISO 32000-1) with a font that every viewer has. The text is of Latin-1. */
export function pdfOf(title: string, author: string, pages: readonly PdfPage[]): Buffer {
  const kids = pages.map((_, at) => `${4 + at * 3} 0 R`).join(' ');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R /Lang (en) >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${kids}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    ...pages.flatMap((page, at) => {
      const content = contentOf(page, at === 0 ? { title, author } : undefined, at + 1);
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${PAGE.width} ${PAGE.height}] /Contents ${5 + at * 3} 0 R ` +
          `/Resources << /Font << /F1 3 0 R >>${page.picture ? ` /XObject << /Im1 ${6 + at * 3} 0 R >>` : ''} >> >>`,
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
        page.picture ? imageOf(page.picture) : 'null',
      ];
    }),
    `<< /Title (${escaped(title)}) /Author (${escaped(author)}) >>`,
  ];
  let text = '%PDF-1.7\n';
  const offsets = objects.map((object, at) => {
    const offset = text.length;
    text += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const count = objects.length + 1;
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  text += `xref\n0 ${count}\n0000000000 65535 f \n${table}`.concat(
    `trailer\n<< /Size ${count} /Root 1 0 R /Info ${objects.length} 0 R >>\nstartxref\n${text.length}\n%%EOF\n`,
  );
  return Buffer.from(text, 'latin1');
}

function contentOf(
  { heading, picture, paragraphs }: PdfPage,
  cover: { title: string; author: string } | undefined,
  number: number,
): string {
  let y = PAGE.height - PAGE.margin;
  const shown: string[] = [];
  const line = (text: string, size: number, colour = '0.11 0.11 0.13'): void => {
    y -= size * LEADING;
    shown.push(`BT ${colour} rg /F1 ${size} Tf ${PAGE.margin} ${y.toFixed(1)} Td (${escaped(text)}) Tj ET`);
  };
  if (cover) {
    line(cover.title, SIZE.title);
    line(cover.author, SIZE.text, '0.38 0.36 0.42');
    y -= SIZE.text;
    shown.push(`0.27 0.31 0.78 RG 2 w ${PAGE.margin} ${y} m ${PAGE.width - PAGE.margin} ${y} l S`);
  }
  y -= SIZE.heading;
  line(heading, SIZE.heading, '0.27 0.31 0.78');
  if (picture) {
    const width = PAGE.width - 2 * PAGE.margin;
    const height = (width * picture.readUInt32BE(HEIGHT_AT)) / picture.readUInt32BE(WIDTH_AT);
    y -= height + SIZE.text;
    shown.push(`q ${width} 0 0 ${height.toFixed(1)} ${PAGE.margin} ${y.toFixed(1)} cm /Im1 Do Q`);
    y -= SIZE.text;
  }
  for (const paragraph of paragraphs) {
    y -= SIZE.text * 0.8;
    for (const one of linesOf(paragraph)) line(one, SIZE.text);
  }
  shown.push(`BT 0.38 0.36 0.42 rg /F1 9 Tf ${PAGE.width / 2} 40 Td (${number}) Tj ET`);
  return shown.join('\n');
}

/** Where a PNG has its size and its pixels, which a PDF takes as they are (ISO 32000-1 §7.4.4.4). */
const [WIDTH_AT, HEIGHT_AT, PIXELS_AT] = [16, 20, 41];

function imageOf(png: Buffer): string {
  const [width, height] = [png.readUInt32BE(WIDTH_AT), png.readUInt32BE(HEIGHT_AT)];
  const pixels = png.subarray(PIXELS_AT, PIXELS_AT + png.readUInt32BE(PIXELS_AT - 8));
  return (
    `<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceRGB /BitsPerComponent 8 ` +
    `/Filter /FlateDecode /DecodeParms << /Predictor 15 /Colors 3 /BitsPerComponent 8 /Columns ${width} >> ` +
    `/Length ${pixels.length} >>\nstream\n${pixels.toString('latin1')}\nendstream`
  );
}

function linesOf(paragraph: string): string[] {
  const lines: string[] = [''];
  for (const word of paragraph.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + word.length >= LINE_LENGTH) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}

const escaped = (text: string): string => text.replaceAll(/[\\()]/g, String.raw`\$&`);
