import { ReplyMalformed } from './errors.ts';

/** The limits of a reply: no reply of S3 comes close, and a store that a tenant named may send anything. */
const DEPTH_MAX = 8;
const TAG_MAX_CHARS = 2_048;
const TEXT_MAX_CHARS = 8_192;

/** Receives the elements that an XmlReader finds. `depth` is that of the element; the root's is 1. */
export interface XmlHandler {
  /** An element without child elements has ended. */
  leaf(name: string, text: string, depth: number): void;
  /** An element with child elements has ended. */
  end(name: string, depth: number): void;
}

interface Element {
  readonly name: string;
  isLeaf: boolean;
}

/**
 * Reads the XML of an S3 reply as it arrives: elements, text, and the entities of XML itself. It ignores attributes. It holds one
 * tag or one text. Anything else (DOCTYPE, custom entities, CDATA, comments, deep nesting, a long tag or text) is ReplyMalformed,
 * as is XML that is not well formed.
 */
export class XmlReader {
  readonly #handler: XmlHandler;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  readonly #open: Element[] = [];
  /** The beginning of a tag that is not read yet. */
  #rest = '';
  #text = '';
  #hasRoot = false;

  constructor(handler: XmlHandler) {
    this.#handler = handler;
  }

  write(chunk: Buffer): void {
    this.#read(this.#rest + this.#decoded(chunk));
  }

  /** The reply has ended. */
  end(): void {
    this.#read(this.#rest + this.#decoded());
    const unclosed = this.#open.at(-1);
    if (unclosed) throw new ReplyMalformed(`it ends within <${unclosed.name}>`);
    if (this.#rest !== '' || !this.#hasRoot) throw new ReplyMalformed('it is not a complete document');
  }

  #decoded(chunk?: Buffer): string {
    try {
      return chunk ? this.#decoder.decode(chunk, { stream: true }) : this.#decoder.decode();
    } catch {
      throw new ReplyMalformed('it is not UTF-8');
    }
  }

  #read(input: string): void {
    let at = 0;
    for (;;) {
      const begin = input.indexOf('<', at);
      this.#addText(input.slice(at, begin === -1 ? undefined : begin));
      if (begin === -1) break;
      const end = input.indexOf('>', begin);
      if ((end === -1 ? input.length : end) - begin > TAG_MAX_CHARS) throw new ReplyMalformed('a tag is too long');
      if (end === -1) {
        this.#rest = input.slice(begin);
        return;
      }
      this.#tag(input.slice(begin + 1, end));
      at = end + 1;
    }
    this.#rest = '';
  }

  #addText(text: string): void {
    if (text === '') return;
    this.#text += text;
    if (this.#text.length > TEXT_MAX_CHARS) throw new ReplyMalformed('a text is too long');
    if (this.#open.length === 0 && this.#text.trim() !== '') throw new ReplyMalformed('it has text outside of its root');
  }

  #tag(tag: string): void {
    if (tag.startsWith('?')) return;
    if (tag.startsWith('!')) throw new ReplyMalformed('it has a declaration, a comment or CDATA');
    if (tag.startsWith('/')) return this.#close(tag.slice(1).trimEnd());
    const name = /^[A-Za-z_][\w.:-]*(?=[\s/]|$)/.exec(tag)?.[0];
    if (name === undefined) throw new ReplyMalformed('a tag has no name');
    if (this.#open.length === 0 && this.#hasRoot) throw new ReplyMalformed('it has two roots');
    if (this.#open.length === DEPTH_MAX) throw new ReplyMalformed('it is nested too deeply');
    const parent = this.#open.at(-1);
    if (parent) parent.isLeaf = false;
    this.#hasRoot = true;
    this.#text = '';
    this.#open.push({ name, isLeaf: true });
    if (tag.endsWith('/')) this.#close(name);
  }

  #close(name: string): void {
    const element = this.#open.pop();
    if (element?.name !== name) throw new ReplyMalformed(`</${name.slice(0, 64)}> ends nothing`);
    const depth = this.#open.length + 1;
    if (element.isLeaf) this.#handler.leaf(name, unescaped(this.#text), depth);
    else this.#handler.end(name, depth);
    this.#text = '';
  }
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const unescaped = (text: string): string =>
  text.includes('&')
    ? text.replaceAll(/&([^;&]*);?/g, (_whole, entity: string) => {
        const [, hex, decimal] = /^#(?:x([0-9a-f]{1,6})|(\d{1,7}))$/i.exec(entity) ?? [];
        const code = hex === undefined ? Number(decimal ?? NaN) : parseInt(hex, 16);
        const found = ENTITIES[entity] ?? (code <= 0x10ffff ? String.fromCodePoint(code) : undefined);
        if (found === undefined) throw new ReplyMalformed(`there is no entity ${entity.slice(0, 64)}`);
        return found;
      })
    : text;
