import { deflateSync } from 'node:zlib';
import { PDFDocument, PDFName, PDFRawStream, StandardFonts } from '@cantoo/pdf-lib';
import { jpegOf } from '../../../pkg/helpers/pdf/optimise/jpeg.ts';

/** A picture as a camera makes it: soft shapes, and noise. The same for each seed. */
export function photo(width: number, height: number, seed = 1): { data: Uint8ClampedArray; width: number; height: number } {
  let state = seed;
  const random = (): number => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
  const data = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const at = (y * width + x) * 4;
      const noise = random() * 12;
      data[at] = 128 + 90 * Math.sin(x / 90 + seed) + noise;
      data[at + 1] = 128 + 90 * Math.sin(y / 70) + noise;
      data[at + 2] = 128 + 90 * Math.sin((x + y) / 130) + noise;
    }
  return { data, width, height };
}

const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
};

/** Photos at 300 dpi, as a scanner or a word processor leaves them. */
export const imageHeavyPdf = once(async (): Promise<Uint8Array> => {
  const document = await PDFDocument.create();
  for (const seed of [1, 2]) {
    const page = document.addPage([595, 842]);
    const image = await document.embedJpg(await jpegOf(photo(720, 480, seed), { quality: 95, isGray: false }));
    page.drawImage(image, { x: 60, y: 400, width: 172.8, height: 115.2 });
    page.drawText(`Photo ${seed}`, { x: 60, y: 360 });
  }
  return document.save({ useObjectStreams: false });
});

/** Hundreds of small objects, none compressed, and many of them twice. */
export async function objectHeavyPdf(): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  for (let number = 1; number <= 60; number += 1) {
    const page = document.addPage([595, 842]);
    page.drawText(`Page ${number} of the handbook`, { x: 60, y: 760, font });
    const logo = document.context.stream('0 0 1 rg 0 0 40 40 re f '.repeat(20), {
      Type: 'XObject',
      Subtype: 'Form',
      BBox: [0, 0, 40, 40],
    });
    page.node.setXObject(PDFName.of('Logo'), document.context.register(logo));
    const links = Array.from({ length: 4 }, (_, index) =>
      document.context.register(
        document.context.obj({
          Type: 'Annot',
          Subtype: 'Link',
          Rect: [60, 100 + 20 * index, 200, 115 + 20 * index],
          Border: [0, 0, 0],
          A: { Type: 'Action', S: 'URI' },
        }),
      ),
    );
    page.node.set(PDFName.of('Annots'), document.context.obj(links));
  }
  return document.save({ useObjectStreams: false });
}

export async function textPdf(text = 'The teacher reads a book.', pages = 1): Promise<PDFDocument> {
  const document = await PDFDocument.create();
  for (let number = 0; number < pages; number += 1) document.addPage([595, 842]).drawText(text, { x: 60, y: 700, size: 14 });
  return document;
}

export async function signedPdf(): Promise<Uint8Array> {
  const document = await textPdf();
  const { context, catalog } = document;
  const signature = context.register(
    context.obj({
      Type: 'Sig',
      Filter: 'Adobe.PPKLite',
      SubFilter: 'adbe.pkcs7.detached',
      ByteRange: [0, 10, 20, 10],
      Contents: 'signature',
    }),
  );
  const field = context.register(context.obj({ FT: 'Sig', T: 'name', V: signature }));
  catalog.set(PDFName.of('AcroForm'), context.obj({ Fields: [field], SigFlags: 3 }));
  return document.save({ useObjectStreams: false });
}

export async function encryptedPdf(): Promise<Uint8Array> {
  const document = await textPdf();
  document.encrypt({ ownerPassword: 'owner', userPassword: 'user', permissions: {} });
  return document.save();
}

const save = (document: PDFDocument): Promise<Uint8Array> => document.save({ useObjectStreams: false });

async function withContent(content: Uint8Array, dict: Record<string, string | string[]>): Promise<Uint8Array> {
  const document = await textPdf();
  const stream = document.context.register(document.context.stream(content, dict));
  document.getPage(0).node.set(PDFName.of('Contents'), stream);
  return save(document);
}

const zeros = (mib: number): Uint8Array => new Uint8Array(mib << 20);

/** PDFs that want more of a machine than they give, or are none. */
export const HOSTILE: readonly (readonly [string, () => Promise<Uint8Array>])[] = [
  ['is garbage behind its header', async () => Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(50_000, 'garbage<<[(')])],
  ['is cut off in the middle', async () => (await imageHeavyPdf()).subarray(0, 30_000)],
  [
    'has a tree of pages that is a circle',
    async () => {
      const document = await textPdf();
      const pages = document.catalog.get(PDFName.of('Pages'));
      const kids = document.catalog.Pages().Kids();
      if (pages) kids.set(0, pages);
      return save(document);
    },
  ],
  [
    'has a tree of pages that never ends',
    async () => {
      const document = await textPdf();
      const { context } = document;
      const leaf = context.register(context.obj({ Type: 'Page' }));
      let node = leaf;
      for (let level = 0; level < 40; level += 1)
        node = context.register(context.obj({ Type: 'Pages', Kids: [node, node], Count: 2 ** 31 }));
      document.catalog.set(PDFName.of('Pages'), node);
      return save(document);
    },
  ],
  [
    'has a page whose content is hundreds of megabytes',
    async () => withContent(deflateSync(zeros(150), { level: 1 }), { Filter: 'FlateDecode' }),
  ],
  [
    'has a page whose content is a bomb in a bomb',
    async () => withContent(deflateSync(deflateSync(zeros(150), { level: 1 })), { Filter: ['FlateDecode', 'FlateDecode'] }),
  ],
  [
    'has an object stream that is a bomb',
    async () => {
      const document = await textPdf();
      const stream = document.context.stream(deflateSync(zeros(300), { level: 1 }), { Filter: 'FlateDecode', Type: 'ObjStm' });
      stream.dict.set(PDFName.of('N'), document.context.obj(100_000));
      stream.dict.set(PDFName.of('First'), document.context.obj(10));
      const bytes = Buffer.from(await save(document)).toString('latin1');
      const bomb = Buffer.concat([Buffer.from('99 0 obj\n'), bytesOf(stream), Buffer.from('\nendobj\n')]).toString('latin1');
      return Buffer.from(bytes.replace('1 0 obj', `${bomb}1 0 obj`), 'latin1');
    },
  ],
  ['has an image of 10⁹ × 10⁹ pixels', async () => withImage(1_000_000_000, 'FlateDecode')],
  ['has a JPEG of 65,535 × 65,535 pixels', async () => withImage(65_535, 'DCTDecode')],
  [
    'has forms that draw each other a billion times',
    async () => {
      const document = await textPdf();
      const { context } = document;
      let inner = context.register(context.stream('0 0 9 9 re f', { Type: 'XObject', Subtype: 'Form', BBox: [0, 0, 9, 9] }));
      for (let level = 0; level < 9; level += 1) {
        const form = context.stream('/F Do '.repeat(10), { Type: 'XObject', Subtype: 'Form', BBox: [0, 0, 9, 9] });
        form.dict.set(PDFName.of('Resources'), context.obj({ XObject: { F: inner } }));
        inner = context.register(form);
      }
      const page = document.getPage(0).node;
      page.setXObject(PDFName.of('F'), inner);
      page.set(PDFName.of('Contents'), context.register(context.stream('/F Do')));
      return save(document);
    },
  ],
  [
    'nests arrays a million deep',
    async () => {
      const bytes = Buffer.from(await save(await textPdf())).toString('latin1');
      return Buffer.from(bytes.replace('1 0 obj', `98 0 obj\n${'['.repeat(1_000_000)}\nendobj\n1 0 obj`), 'latin1');
    },
  ],
];

function bytesOf(stream: PDFRawStream): Uint8Array {
  const bytes = new Uint8Array(stream.sizeInBytes());
  stream.copyBytesInto(bytes, 0);
  return bytes;
}

async function withImage(side: number, filter: string): Promise<Uint8Array> {
  const document = await textPdf();
  const { context } = document;
  const size = [0xff, 0xd8, 0xff, 0xc0, 0, 17, 8, 255, 255, 255, 255, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1];
  const bytes =
    filter === 'DCTDecode' ? Buffer.concat([Buffer.from(size), Buffer.alloc(100_000, 7)]) : deflateSync(zeros(100), { level: 1 });
  const image = context.stream(bytes, { Type: 'XObject', Subtype: 'Image', ColorSpace: 'DeviceRGB', Filter: filter });
  for (const key of ['Width', 'Height']) image.dict.set(PDFName.of(key), context.obj(side));
  image.dict.set(PDFName.of('BitsPerComponent'), context.obj(8));
  const page = document.getPage(0).node;
  page.setXObject(PDFName.of('Im'), context.register(image));
  page.set(PDFName.of('Contents'), context.register(context.stream('500 0 0 500 0 0 cm /Im Do')));
  return save(document);
}

/** The images of a document, for looking into. */
export function imagesOf(document: PDFDocument): PDFRawStream[] {
  return document.context
    .enumerateIndirectObjects()
    .flatMap(([, object]) =>
      object instanceof PDFRawStream && object.dict.lookup(PDFName.of('Subtype')) === PDFName.of('Image') ? [object] : [],
    );
}
