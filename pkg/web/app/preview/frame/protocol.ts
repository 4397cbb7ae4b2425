import { safeAddress } from './safe-address.ts';

/**
 * What a page and the frame of its preview send to each other. The frame has no origin: it gets the file's bytes and nothing
 * else, and the page believes nothing that it says.
 */
export type FrameKind = 'markdown' | 'pdf';

/** To the frame: the file, once the frame is ready. */
export interface FileMessage {
  readonly type: 'file';
  readonly kind: FrameKind;
  readonly name: string;
  readonly bytes: ArrayBuffer;
  /** Language and looks of the page, by the attributes of its `<html>`. */
  readonly language: string;
  readonly theme: string | undefined;
  readonly contrast: string | undefined;
}

/** To the frame: what it asked for by `needs`; null if there is no such thing. */
export interface ResourceMessage {
  readonly type: 'resource';
  readonly name: string;
  readonly bytes: ArrayBuffer | null;
}

/** To the frame: the reader wants to find words. */
export interface FindMessage {
  readonly type: 'find';
}

export type ToFrame = FileMessage | ResourceMessage | FindMessage;

export type ToPage =
  /** It has loaded and waits for the file. */
  | { readonly type: 'ready' }
  /** The file is on the screen. */
  | { readonly type: 'shown' }
  /** The file cannot be shown. */
  | { readonly type: 'broken' }
  /** A part of pdf.js that it loads only where a file needs it: the frame itself has no network. */
  | { readonly type: 'needs'; readonly name: string }
  /** A key that is the page's. */
  | { readonly type: 'key'; readonly key: string }
  /** A link that somebody followed. */
  | { readonly type: 'link'; readonly href: string };

/** The keys that the page gets from the frame. */
export const PAGE_KEYS: ReadonlySet<string> = new Set(['Escape', 'ArrowLeft', 'ArrowRight', '?']);

/** The event in the frame by which it asks for the field to find words. */
export const FIND = 'preview-find';

/** Returns a message of the frame, or undefined for whatever else it sends. */
export function messageOf(data: unknown): ToPage | undefined {
  if (typeof data !== 'object' || data === null || !('type' in data)) return undefined;
  const { type, name, key, href } = data as Readonly<Record<string, unknown>>;
  if (type === 'ready' || type === 'shown' || type === 'broken') return { type };
  if (type === 'needs' && typeof name === 'string') return { type, name };
  if (type === 'key' && typeof key === 'string' && PAGE_KEYS.has(key)) return { type, key };
  const address = type === 'link' && typeof href === 'string' ? safeAddress(href) : undefined;
  return address === undefined ? undefined : { type: 'link', href: address };
}
