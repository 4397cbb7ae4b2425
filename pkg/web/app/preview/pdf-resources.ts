/** The parts of pdf.js that it loads only for files that need them, by name. The frame gets these and nothing else. */
const ADDRESSES: Readonly<Record<string, () => Promise<{ default: string }>>> = {
  'jbig2.wasm': () => import('pdfjs-dist/wasm/jbig2.wasm?url'),
  'openjpeg.wasm': () => import('pdfjs-dist/wasm/openjpeg.wasm?url'),
  'qcms_bg.wasm': () => import('pdfjs-dist/wasm/qcms_bg.wasm?url'),
};

/** Returns a part of pdf.js; null if it is none of them, or cannot be loaded now. */
export async function resourceOf(name: string): Promise<ArrayBuffer | null> {
  const address = Object.hasOwn(ADDRESSES, name) ? ADDRESSES[name] : undefined;
  if (!address) return null;
  try {
    const reply = await fetch((await address()).default, { credentials: 'omit' });
    return reply.ok ? await reply.arrayBuffer() : null;
  } catch {
    return null;
  }
}
