import {
  concatTransformationMatrix,
  drawObject,
  PDFDocument,
  PDFName,
  PDFRawStream,
  popGraphicsState,
  pushGraphicsState,
} from '@cantoo/pdf-lib';

const EDGE = 64;

/** A segment of JBIG2 (ITU-T T.88 §7.2) of page 1 that refers to no other. */
function segment(number: number, type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(11);
  head.writeUInt32BE(number, 0);
  head.set([type, 0, 1], 4);
  head.writeUInt32BE(data.length, 7);
  return Buffer.concat([head, data]);
}

/** Black and white points as arithmetic decoding makes them of any bytes: what a scanner writes, as far as a decoder can tell. */
function jbig2(): Buffer {
  const page = Buffer.alloc(19);
  page.writeUInt32BE(EDGE, 0);
  page.writeUInt32BE(EDGE, 4);
  const region = Buffer.alloc(17);
  region.writeUInt32BE(EDGE, 0);
  region.writeUInt32BE(EDGE, 4);
  const template = Buffer.from([0, 3, 0xff, 0xfd, 0xff, 2, 0xfe, 0xfe, 0xfe]);
  const points = Buffer.from(Array.from({ length: 600 }, (_, at) => (at * 73 + 41) % 255));
  return Buffer.concat([segment(0, 48, page), segment(1, 38, Buffer.concat([region, template, points]))]);
}

/** Pages with nothing but a scan in JBIG2, which pdf.js decodes in WebAssembly. */
export async function scannedPdf(pages = 1): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  for (let number = 0; number < pages; number += 1) addScan(document);
  return document.save();
}

function addScan(document: PDFDocument): void {
  const page = document.addPage([200, 200]);
  const dict = {
    Type: 'XObject',
    Subtype: 'Image',
    Width: EDGE,
    Height: EDGE,
    BitsPerComponent: 1,
    ColorSpace: 'DeviceGray',
    Filter: 'JBIG2Decode',
  };
  const scan = document.context.register(PDFRawStream.of(document.context.obj(dict), jbig2()));
  page.node.setXObject(PDFName.of('Scan'), scan);
  page.pushOperators(
    pushGraphicsState(),
    concatTransformationMatrix(180, 0, 0, 180, 10, 10),
    drawObject('Scan'),
    popGraphicsState(),
  );
}
