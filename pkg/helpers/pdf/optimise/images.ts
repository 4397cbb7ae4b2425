import { PDFArray, PDFDict, PDFName, PDFNumber, type PDFObject, PDFRawStream, type PDFRef } from '@cantoo/pdf-lib';
import { name } from '../document.ts';
import { decoded, filtersOf } from '../streams.ts';
import { jpegHeader, jpegOf, type Pixels, pixelsOfJpeg, shrunk } from './jpeg.ts';
import type { Size } from './placements.ts';

export interface ImageRules {
  /** 1 to 100. */
  readonly jpegQuality: number;
  /** Pixels per inch at which an image is printed; finer ones are reduced. */
  readonly dpi: number;
}

const MIN_BYTES = 4_096;
const MAX_PIXELS = 64_000_000;
/** An image that is hardly finer than requested keeps its resolution. */
const TOLERANCE = 1.25;
/** Required size of a lossy image, relative to the original: otherwise the loss is not justified. */
const WORTH = { jpeg: 0.85, lossless: 0.6 };

/** Returns a smaller image, or undefined if the image is of another kind or would hardly be smaller. */
export async function smallerImage(
  image: PDFRawStream,
  size: Size | undefined,
  rules: ImageRules,
): Promise<PDFRawStream | undefined> {
  const { dict } = image;
  if (!isPlainImage(dict) || image.contents.length < MIN_BYTES) return undefined;
  const filters = filtersOf(dict).map((filter) => filter.name);
  const source =
    filters.at(-1) === 'DCTDecode'
      ? await readJpeg(image, filters)
      : filters.includes('FlateDecode')
        ? readLossless(image)
        : undefined;
  if (!source) return undefined;
  const pixels = atResolution(source.pixels, size, rules.dpi);
  const bytes = await jpegOf(pixels, { quality: rules.jpegQuality, isGray: source.isGray });
  if (bytes.length > image.contents.length * source.worth) return undefined;
  const smaller = dict.clone();
  smaller.set(name('Width'), PDFNumber.of(pixels.width));
  smaller.set(name('Height'), PDFNumber.of(pixels.height));
  smaller.set(name('BitsPerComponent'), PDFNumber.of(8));
  smaller.set(name('Filter'), name('DCTDecode'));
  smaller.delete(name('DecodeParms'));
  return PDFRawStream.of(smaller, bytes);
}

interface Source {
  readonly pixels: Pixels;
  readonly isGray: boolean;
  readonly worth: number;
}

/** Masks, colour keys, inverted samples and matted transparency depend on exact values. */
function isPlainImage(dict: PDFDict): boolean {
  const mask = dict.lookup(name('SMask'));
  const isMatted = mask instanceof PDFRawStream && mask.dict.has(name('Matte'));
  const isInverted = dict.has(name('Decode'));
  return (
    !isMatted &&
    !isInverted &&
    !(dict.lookup(name('Mask')) instanceof PDFArray) &&
    dict.lookup(name('ImageMask'))?.toString() !== 'true'
  );
}

const numberOf = (value: PDFObject | undefined): number => (value instanceof PDFNumber ? value.asNumber() : 0);

async function readJpeg(image: PDFRawStream, filters: readonly string[]): Promise<Source | undefined> {
  // Another filter around the JPEG, or parameters of its colours, are rare in practice.
  if (filters.length !== 1 || image.dict.has(name('DecodeParms'))) return undefined;
  const header = jpegHeader(image.contents);
  if (
    !header ||
    header.width * header.height > MAX_PIXELS ||
    header.components !== componentsOf(image.dict.lookup(name('ColorSpace')))
  )
    return undefined;
  return { pixels: await pixelsOfJpeg(image.contents), isGray: header.components === 1, worth: WORTH.jpeg };
}

/** Returns 1 for gray and 3 for colours that JPEG supports; 0 for everything else: CMYK, palettes, Lab, spot colours. */
function componentsOf(space: PDFObject | undefined): 0 | 1 | 3 {
  if (space === PDFName.of('DeviceGray')) return 1;
  if (space === PDFName.of('DeviceRGB')) return 3;
  if (!(space instanceof PDFArray)) return 0;
  const kind = space.lookup(0);
  if (kind === PDFName.of('CalGray')) return 1;
  if (kind === PDFName.of('CalRGB')) return 3;
  const profile = kind === PDFName.of('ICCBased') ? space.lookup(1) : undefined;
  const components = profile instanceof PDFRawStream ? numberOf(profile.dict.lookup(name('N'))) : 0;
  return components === 1 || components === 3 ? components : 0;
}

function readLossless(image: PDFRawStream): Source | undefined {
  const { dict } = image;
  const components = componentsOf(dict.lookup(name('ColorSpace')));
  const [width, height] = [numberOf(dict.lookup(name('Width'))), numberOf(dict.lookup(name('Height')))];
  const isReadable =
    Number.isInteger(width) && Number.isInteger(height) && width > 0 && height > 0 && width * height <= MAX_PIXELS;
  if (components === 0 || !isReadable || numberOf(dict.lookup(name('BitsPerComponent'))) !== 8) return undefined;
  const samples = decoded(image, width * height * components + height + 1_024);
  if (!samples || samples.length < width * height * components || isGraphic(samples, components)) return undefined;
  const data = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let pixel = 0; pixel < width * height; pixel += 1)
    for (let band = 0; band < 3; band += 1)
      data[pixel * 4 + band] = samples[pixel * components + Math.min(band, components - 1)] as number;
  return { pixels: { data, width, height }, isGray: components === 1, worth: WORTH.lossless };
}

/** Few colours indicate a chart or a screenshot, whose edges JPEG blurs. */
function isGraphic(samples: Uint8Array, components: number): boolean {
  const pixels = Math.floor(samples.length / components);
  const step = Math.max(1, Math.floor(pixels / 5_000));
  const colours = new Set<string>();
  for (let pixel = 0; pixel < pixels; pixel += step)
    colours.add(samples.subarray(pixel * components, (pixel + 1) * components).join());
  return colours.size < 96;
}

function atResolution(pixels: Pixels, size: Size | undefined, dpi: number): Pixels {
  if (!size) return pixels;
  const most = { width: (size.width / 72) * dpi, height: (size.height / 72) * dpi };
  const scale = Math.max(most.width / pixels.width, most.height / pixels.height);
  if (!(scale > 0) || scale * TOLERANCE >= 1) return pixels;
  return shrunk(pixels, Math.max(1, Math.round(pixels.width * scale)), Math.max(1, Math.round(pixels.height * scale)));
}

/** Returns the images among the objects, the largest first, so that a time limit costs the least. */
export function imagesAmong(objects: ReadonlyMap<PDFRef, PDFObject>): [PDFRef, PDFRawStream][] {
  const isImage = (entry: [PDFRef, PDFObject]): entry is [PDFRef, PDFRawStream] =>
    entry[1] instanceof PDFRawStream && entry[1].dict.lookup(name('Subtype')) === PDFName.of('Image');
  return [...objects].filter(isImage).toSorted(([, one], [, other]) => other.contents.length - one.contents.length);
}

/** Returns the soft masks: technically gray images, but transparency reveals the artefacts of JPEG. */
export function masksAmong(images: readonly [PDFRef, PDFRawStream][]): Set<PDFObject> {
  return new Set(images.flatMap(([, { dict }]) => ['SMask', 'Mask'].flatMap((key) => dict.get(name(key)) ?? [])));
}
