import type { Client } from '../../../api/client.ts';
import { inBackground } from '../../../api/slow-requests.ts';
import type { Entry } from '../entry.ts';

/** Larger pictures cost more than a thumbnail is worth. */
const BYTES_MAX = 12_000_000;
/** Each point takes four bytes while the picture is made small, and a small file may claim any number of them. */
const POINTS_MAX = 50_000_000;
const TYPES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'image/avif']);
const EDGE = 480;
const AT_ONCE = 3;
/** Each takes some 30 kB. */
const CACHED_MAX = 400;

/** Says whether a thumbnail can be made of an entry. */
export const hasThumbnail = ({ type, mimeType, size }: Entry): boolean =>
  type === 'file' && TYPES.has(mimeType ?? '') && (size ?? 0) > 0 && (size ?? 0) <= BYTES_MAX;

/**
 * Small pictures of image files, made in the browser: the server keeps none. Three are made at once, the one asked for last
 * first, since it is on the screen. An address (`blob:`) stays good until the thumbnail leaves the cache.
 */
export class Thumbnails {
  readonly #made = new Map<string, string>();
  #waiting: { readonly entry: Entry; readonly give: (url: string | undefined) => void; readonly signal: AbortSignal }[] = [];
  #running = 0;
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Resolves to undefined if the file is no picture after all, or too large to decode. */
  of(entry: Entry, signal: AbortSignal): Promise<string | undefined> {
    const known = this.#made.get(keyOf(entry));
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((give) => {
      this.#waiting.push({ entry, give, signal });
      this.#next();
    });
  }

  #next(): void {
    this.#waiting = this.#waiting.filter(({ signal }) => !signal.aborted);
    if (this.#running >= AT_ONCE) return;
    const wanted = this.#waiting.pop();
    if (!wanted) return;
    this.#running += 1;
    void this.#make(wanted.entry, wanted.signal)
      .catch(() => undefined)
      .then((url) => {
        this.#running -= 1;
        wanted.give(url);
        this.#next();
      });
  }

  async #make(entry: Entry, signal: AbortSignal): Promise<string | undefined> {
    // The icon of its kind stands for it meanwhile.
    const look = inBackground(AbortSignal.any([signal]));
    const reply = await this.#client.send('GET', '/files/{id}/download', { path: { id: entry.id }, signal: look });
    const picture = await decoded(await reply.blob());
    if (!picture) return undefined;
    const scale = Math.min(1, EDGE / Math.max(picture.width, picture.height));
    const canvas = new OffscreenCanvas(Math.max(1, picture.width * scale), Math.max(1, picture.height * scale));
    canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height);
    picture.close();
    const thumbnail = await canvas.convertToBlob({ type: 'image/webp', quality: 0.8 });
    // The same picture may be made for a card and for the details at once.
    const known = this.#made.get(keyOf(entry));
    if (known !== undefined) return known;
    const url = URL.createObjectURL(thumbnail);
    this.#made.set(keyOf(entry), url);
    const [oldest] = this.#made;
    if (this.#made.size > CACHED_MAX && oldest) {
      this.#made.delete(oldest[0]);
      URL.revokeObjectURL(oldest[1]);
    }
    return url;
  }
}

/** Returns the picture; undefined if it has too many points. The browser reads its size without decoding it. */
async function decoded(file: Blob): Promise<ImageBitmap | undefined> {
  const url = URL.createObjectURL(file);
  try {
    const image = new Image();
    const isLoaded = new Promise((resolve, reject) => {
      image.addEventListener('load', resolve);
      image.addEventListener('error', reject);
    });
    image.src = url;
    await isLoaded;
    return image.naturalWidth * image.naturalHeight > POINTS_MAX ? undefined : await createImageBitmap(file);
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Another version has another entity tag. */
const keyOf = ({ id, etag }: Entry): string => `${id} ${etag}`;
