import { deflateSync } from 'node:zlib';

/** Indirect objects by their numbers; 1 is the catalog. */
type Objects = Readonly<Record<number, string>>;

const stream = (content: string, dict = ''): string =>
  `<< ${dict} /Length ${Buffer.byteLength(content, 'latin1')} >>\nstream\n${content}\nendstream`;
const packed = (content: string, dict = ''): string =>
  stream(deflateSync(Buffer.from(content, 'latin1')).toString('latin1'), `${dict} /Filter /FlateDecode`);

const PLAIN: Objects = {
  1: '<< /Type /Catalog /Pages 2 0 R >>',
  2: '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
  3: '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
  4: stream('BT /F1 14 Tf 60 700 Td (The teacher reads a book.) Tj ET'),
  5: '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
};

/** A PDF written by hand, as no library would write it. */
function written(changed: Objects, { trailer = '', end = (xref: number) => `startxref\n${xref}\n%%EOF\n` } = {}): Buffer {
  const objects = { ...PLAIN, ...changed };
  let text = '%PDF-1.7\n';
  const offsets = new Map<number, number>();
  for (const [number, body] of Object.entries(objects)) {
    offsets.set(Number(number), text.length);
    text += `${number} 0 obj\n${body}\nendobj\n`;
  }
  const size = ([...offsets.keys()].at(-1) ?? 0) + 1; // numbers are in their order
  const xref = text.length;
  text += `xref\n0 ${size}\n`;
  for (let number = 0; number < size; number += 1) {
    const at = offsets.get(number);
    text += at === undefined ? '0000000000 65535 f \n' : `${String(at).padStart(10, '0')} 00000 n \n`;
  }
  return Buffer.from(
    `${text}trailer\n<< /Size ${size} /Root 1 0 R ${trailer.replaceAll('XREF', String(xref))} >>\n${end(xref)}`,
    'latin1',
  );
}

const withFont = (font: string, more: Objects = {}): Buffer => written({ 5: font, ...more });
const withContent = (content: string, more: Objects = {}): Buffer => written({ 4: packed(content), ...more });
const catalog = (more: string): string => `<< /Type /Catalog /Pages 2 0 R ${more} >>`;
const page = (more: string): string => `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R ${more} >>`;
const DESCENDANT =
  '<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >>';
const composite = (descendant: string): Objects => ({
  5: '<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [6 0 R] >>',
  6: `${DESCENDANT} ${descendant} >>`,
});
const FILE = '<< /Type /FontDescriptor /FontName /X /Flags 4 /FontFile2 8 0 R >>';
const manyPages = (count: number): Buffer =>
  written({
    2: `<< /Type /Pages /Count ${count} /Kids [${Array.from({ length: count }, (_, at) => `${at + 10} 0 R`).join(' ')}] >>`,
    ...Object.fromEntries(Array.from({ length: count }, (_, at) => [at + 10, '<< /Type /Page /Parent 2 0 R >>'])),
  });

/** Hostile PDFs, each with its sentence and, where it must be refused, its refusal. */
export const HOSTILE_PDFS: readonly (readonly [what: string, make: () => Buffer, refusal?: string])[] = [
  ['has a cross-reference table whose former one is itself', () => written({}, { trailer: '/Prev XREF' })],
  ['has a cross-reference table that begins at its own end', () => written({}, { end: () => 'startxref\n99999999\n%%EOF\n' })],
  [
    'has a cross-reference stream for two billion objects of no width',
    () => written({ 7: packed('0'.repeat(64), '/Type /XRef /Size 2147483647 /W [0 0 0] /Index [0 2147483647] /Root 1 0 R') }),
  ],
  [
    'has an object stream that extends itself',
    () => written({ 7: packed('8 0 <<>>', '/Type /ObjStm /N 1 /First 4 /Extends 7 0 R') }),
  ],
  [
    'has an object stream of two billion objects',
    () => written({ 7: packed('8 0 <<>>', '/Type /ObjStm /N 2147483647 /First 4') }),
  ],
  ['has objects that are references to each other', () => written({ 4: '7 0 R', 7: '8 0 R', 8: '7 0 R' })],
  [
    'has a stream whose length is a reference to the stream',
    () => written({ 4: '<< /Length 4 0 R >>\nstream\nBT ET\nendstream' }),
  ],
  ['has 150,000 pages', () => manyPages(150_000), 'pdf_too_complex'],
  ['says that it has two billion pages', () => written({ 2: '<< /Type /Pages /Kids [3 0 R] /Count 2147483647 >>' })],
  ['nests dictionaries a hundred thousand deep', () => written({ 7: '<</A'.repeat(100_000) })],
  ['nests arrays in its content two hundred thousand deep', () => withContent(`BT /F1 9 Tf ${'['.repeat(200_000)} TJ ET`)],
  ['saves its graphics state two hundred thousand times', () => withContent('q '.repeat(200_000))],
  ['nests marked content a hundred thousand deep', () => withContent('/P <</MCID 0>> BDC '.repeat(100_000))],
  ['nests strings a hundred thousand deep', () => written({ 7: '('.repeat(100_000) })],
  ['writes a number of two hundred thousand digits', () => withContent(`BT /F1 ${'9'.repeat(200_000)} Tf 60 700 Td (a) Tj ET`)],
  ['draws two hundred thousand letters one by one', () => withContent(`BT /F1 9 Tf ${'(a) Tj '.repeat(200_000)} ET`)],
  ['has a parent of pages that is the page', () => written({ 3: page('/Parent 3 0 R') })],
  [
    'has a form that draws itself',
    () =>
      withContent('/X Do', {
        3: page('/Resources << /XObject << /X 7 0 R >> >>'),
        7: stream('/X Do', '/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 7 0 R >> >>'),
      }),
  ],
  [
    'has a pattern that paints with itself',
    () =>
      withContent('/Pattern cs /P scn 0 0 500 500 re f', {
        3: page('/Resources << /Pattern << /P 7 0 R >> >>'),
        7: stream(
          '/Pattern cs /P scn 0 0 1 1 re f',
          '/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 1 1] /XStep 0.0001 /YStep 0.0001 ' +
            '/Resources << /Pattern << /P 7 0 R >> >>',
        ),
      }),
  ],
  [
    'has an image whose soft mask is itself',
    () =>
      withContent('/I Do', {
        3: page('/Resources << /XObject << /I 7 0 R >> >>'),
        7: stream(
          'abc',
          '/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceRGB /SMask 7 0 R',
        ),
      }),
  ],
  [
    'has a JPEG 2000 and a JBIG2 of huge sizes',
    () =>
      withContent('/I Do /J Do', {
        3: page('/Resources << /XObject << /I 7 0 R /J 8 0 R >> >>'),
        7: stream('\0\0\0\u000cjP  ', '/Type /XObject /Subtype /Image /Width 2000000000 /Height 2000000000 /Filter /JPXDecode'),
        8: stream(
          '\0\0\0\0',
          '/Type /XObject /Subtype /Image /Width 2000000000 /Height 2000000000 /BitsPerComponent 1 /ColorSpace ' +
            '/DeviceGray /Filter /JBIG2Decode',
        ),
      }),
  ],
  [
    'has outlines, names and fields that go in circles',
    () =>
      written({
        1: catalog('/Outlines 7 0 R /Names << /Dests 8 0 R /JavaScript 8 0 R >> /AcroForm << /Fields [9 0 R] >>'),
        7: '<< /First 7 0 R /Next 7 0 R /Prev 7 0 R /Last 7 0 R /Title (a) >>',
        8: '<< /Kids [8 0 R 8 0 R] >>',
        9: '<< /T (a) /FT /Tx /V (a) /Kids [9 0 R] /Parent 9 0 R >>',
      }),
  ],
  [
    'has a structure that goes in a circle',
    () =>
      written({
        1: catalog('/StructTreeRoot 7 0 R /MarkInfo << /Marked true >>'),
        7: '<< /Type /StructTreeRoot /K 8 0 R /ParentTree 9 0 R >>',
        8: '<< /Type /StructElem /S /P /K 8 0 R /P 8 0 R /Pg 3 0 R >>',
        9: '<< /Kids [9 0 R] >>',
      }),
  ],
  [
    'has a font whose descendant is itself',
    () => withFont('<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [5 0 R] >>'),
  ],
  [
    'has a font that maps four billion codes to texts',
    () =>
      withFont('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 7 0 R >>', {
        7: packed(
          'begincmap 1 begincodespacerange <00000000> <FFFFFFFF> endcodespacerange 1 beginbfrange <00000000> ' +
            '<FFFFFFFF> <0041> endbfrange endcmap',
        ),
      }),
  ],
  [
    'has a font that uses its own map of codes',
    () =>
      withFont('<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding 7 0 R /DescendantFonts [6 0 R] /ToUnicode 7 0 R >>', {
        6: `${DESCENDANT} >>`,
        7: packed('begincmap endcmap', '/Type /CMap /CMapName /X /UseCMap 7 0 R'),
      }),
  ],
  ['has a font with widths of two billion codes', () => written(composite('/W [0 2147483647 500] /DW 500'))],
  [
    'has a font with widths from below zero',
    () => withFont('<< /Type /Font /Subtype /TrueType /BaseFont /X /FirstChar -2147483648 /LastChar 2147483647 /Widths [500] >>'),
  ],
  [
    'has a font file that is garbage',
    () => written({ ...composite('/FontDescriptor 7 0 R'), 7: FILE, 8: packed(`\0\u0001\0\0\xff\xff${'glyf'.repeat(20_000)}`) }),
  ],
  [
    'has a font file that is hundreds of megabytes',
    () => written({ ...composite('/FontDescriptor 7 0 R'), 7: FILE, 8: packed('\0'.repeat(100 << 20)) }),
  ],
  [
    'has a font whose letters draw texts in it',
    () =>
      withFont(
        '<< /Type /Font /Subtype /Type3 /FontBBox [0 0 9 9] /FontMatrix [1 0 0 1 0 0] /FirstChar 97 /LastChar 97 ' +
          '/Widths [9] /Encoding << /Differences [97 /a] >> /CharProcs << /a 7 0 R >> /Resources << /Font << /F1 5 0 R ' +
          '>> >> >>',
        { 4: stream('BT /F1 14 Tf (aaaa) Tj ET'), 7: stream('9 0 d0 BT /F1 1 Tf (aaaa) Tj ET') },
      ),
  ],
  [
    'has a function of a billion samples',
    () =>
      withContent('/S sh', {
        3: page(
          '/Resources << /Shading << /S << /ShadingType 2 /ColorSpace /DeviceGray /Coords [0 0 1 1] /Function 7 0 R >> >> >>',
        ),
        7: stream('a', '/FunctionType 0 /Domain [0 1 0 1 0 1] /Range [0 1] /Size [1000 1000 1000] /BitsPerSample 32'),
      }),
  ],
  [
    'has functions of functions that go in a circle',
    () =>
      withContent('/S sh', {
        3: page(
          '/Resources << /Shading << /S << /ShadingType 2 /ColorSpace /DeviceGray /Coords [0 0 1 1] /Function 7 0 R >> >> >>',
        ),
        7: '<< /FunctionType 3 /Domain [0 1] /Functions [7 0 R 7 0 R] /Bounds [0.5] /Encode [0 1 0 1] >>',
      }),
  ],
  [
    'runs scripts when it opens, prints and closes',
    () =>
      written({
        1: catalog(
          '/OpenAction << /S /JavaScript /JS (while \\(true\\) {}) >> /AA << /WP << /S /JavaScript /JS 7 0 R >> /WC ' +
            '<< /S /Launch /F (/bin/sh) >> >>',
        ),
        7: packed('for(;;);'.repeat(100_000)),
      }),
  ],
  [
    'says that it is encrypted in a way that nobody knows',
    () =>
      written(
        { 7: '<< /Filter /Nobody /V 99 /R 99 /Length 2147483647 /O (o) /U (u) /P -1 >>' },
        { trailer: '/Encrypt 7 0 R /ID [(a) (b)]' },
      ),
    'pdf_encrypted',
  ],
  [
    'is encrypted for readers without a password',
    () =>
      written(
        { 7: `<< /Filter /Standard /V 1 /R 2 /O (${'o'.repeat(32)}) /U (${'u'.repeat(32)}) /P -4 >>` },
        { trailer: '/Encrypt 7 0 R /ID [(a) (b)]' },
      ),
    'pdf_encrypted',
  ],
  ['has a content of twenty filters', () => written({ 4: stream('a', `/Filter [${'/FlateDecode '.repeat(20)}]`) })],
  [
    'has a content of two hundred thousand filters',
    () => written({ 4: stream('a', `/Filter [${'/ASCIIHexDecode '.repeat(200_000)}]`) }),
  ],
  ['has an LZW content that never ends', () => written({ 4: stream('\x80\x00'.repeat(50_000), '/Filter /LZWDecode') })],
  [
    'has a predictor of two billion columns',
    () =>
      written({
        4: packed(
          'a'.repeat(100),
          '/DecodeParms << /Predictor 12 /Columns 2147483647 /Colors 2147483647 /BitsPerComponent 16 >>',
        ),
      }),
  ],
];
