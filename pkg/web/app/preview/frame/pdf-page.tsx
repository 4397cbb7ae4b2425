import { type PageViewport, type PDFDocumentProxy, type PDFPageProxy, TextLayer } from 'pdfjs-dist';
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../../text/preview.ts';
import { safeAddress } from './protocol.ts';

/** In points of 1/72 inch. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

interface Props {
  readonly pdf: PDFDocumentProxy;
  readonly number: number;
  readonly label: string;
  /** The size until the page itself is known. */
  readonly usual: Size;
  /** CSS pixels of a point. */
  readonly scale: number;
  readonly scroller: RefObject<HTMLElement | null>;
  readonly onLink: (href: string) => void;
  readonly onGo: (page: number) => void;
}

/** Points of a canvas: a page may claim any size, and phones refuse larger ones. */
const CANVAS_MAX = 16_000_000;

/** A page: what is drawn, its text above it for selecting and reading aloud, and its links. */
export function PdfPage({ pdf, number, label, usual, scale, scroller, onLink, onGo }: Props) {
  const box = useRef<HTMLElement>(null);
  const drawing = useRef<HTMLDivElement>(null);
  const words = useRef<HTMLDivElement>(null);
  const [isNear, setNear] = useState(false);
  const [page, setPage] = useState<PDFPageProxy>();

  useEffect(() => {
    const observer = new IntersectionObserver(([seen]) => setNear(seen?.isIntersecting ?? false), {
      root: scroller.current,
      rootMargin: '60% 0px',
    });
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (isNear && !page) void pdf.getPage(number).then(setPage, () => undefined);
  }, [isNear]);
  useEffect(() => {
    if (!page || !isNear || !drawing.current || !words.current) return undefined;
    return draw(page, page.getViewport({ scale }), drawing.current, words.current);
  }, [page, isNear, scale]);
  // What is decoded for a page, such as a scan, takes as much memory as what is drawn.
  useEffect(() => void (isNear || page?.cleanup()), [page, isNear]);

  const { width, height } = page?.getViewport({ scale: 1 }) ?? usual;
  const size = { inlineSize: `${width * scale}px`, blockSize: `${height * scale}px`, '--total-scale-factor': scale };
  return (
    <section ref={box} class="pdf-page" data-page={number} aria-label={label} style={size}>
      <div ref={drawing} aria-hidden="true" />
      <div ref={words} class="textLayer" />
      {page && isNear && <Links pdf={pdf} page={page} scale={scale} onLink={onLink} onGo={onGo} />}
    </section>
  );
}

/** Draws a page and lays its text above it. Returns the function that removes both and frees their memory. */
function draw(page: PDFPageProxy, viewport: PageViewport, drawing: HTMLElement, words: HTMLElement): () => void {
  const canvas = document.createElement('canvas');
  const sharpness = Math.min(devicePixelRatio, Math.sqrt(CANVAS_MAX / Math.max(1, viewport.width * viewport.height)));
  canvas.width = Math.max(1, Math.floor(viewport.width * sharpness));
  canvas.height = Math.max(1, Math.floor(viewport.height * sharpness));
  drawing.append(canvas);
  const task = page.render({ canvas, viewport, transform: [sharpness, 0, 0, sharpness, 0, 0] });
  const text = new TextLayer({ textContentSource: page.streamTextContent(), container: words, viewport });
  // A page that cannot be drawn stays white; the others are shown.
  task.promise.catch(() => undefined);
  text.render().catch(() => undefined);
  return () => {
    task.cancel();
    text.cancel();
    canvas.width = 0;
    canvas.remove();
    words.replaceChildren();
  };
}

interface LinksProps extends Pick<Props, 'pdf' | 'scale' | 'onLink' | 'onGo'> {
  readonly page: PDFPageProxy;
}

interface Annotation {
  readonly id: string;
  readonly subtype: string;
  readonly rect: readonly [number, number, number, number];
  readonly url?: string;
  readonly dest?: string | readonly unknown[];
}

/** The links of a page, where they are on it: to other pages, or to the web. */
function Links({ pdf, page, scale, onLink, onGo }: LinksProps) {
  const [links, setLinks] = useState<readonly Annotation[]>([]);
  useEffect(() => {
    void page.getAnnotations({ intent: 'display' }).then(
      (all: readonly Annotation[]) => setLinks(all.filter(({ subtype }) => subtype === 'Link')),
      () => undefined,
    );
  }, [page]);
  const viewport = page.getViewport({ scale });
  const go = async (dest: string | readonly unknown[]): Promise<void> => {
    const place = typeof dest === 'string' ? await pdf.getDestination(dest) : dest;
    const index = await pdf.getPageIndex(place?.[0] as Parameters<PDFDocumentProxy['getPageIndex']>[0]);
    onGo(index + 1);
  };
  return links.map(({ id, rect, url, dest }) => {
    const [x1 = 0, y1 = 0] = viewport.convertToViewportPoint(rect[0], rect[1]) as number[];
    const [x2 = 0, y2 = 0] = viewport.convertToViewportPoint(rect[2], rect[3]) as number[];
    const place = {
      insetInlineStart: `${Math.min(x1, x2)}px`,
      insetBlockStart: `${Math.min(y1, y2)}px`,
      inlineSize: `${Math.abs(x2 - x1)}px`,
      blockSize: `${Math.abs(y2 - y1)}px`,
    };
    const address = url === undefined ? undefined : safeAddress(url);
    if (address !== undefined)
      return (
        <a
          key={id}
          class="pdf-link"
          style={place}
          href={address}
          title={address}
          aria-label={address}
          onClick={(event) => {
            event.preventDefault();
            onLink(address);
          }}
        />
      );
    if (dest === undefined || dest === null) return null;
    const follow = (): void => void go(dest).catch(() => undefined);
    return <button key={id} type="button" class="pdf-link" style={place} aria-label={t('goToPage')} onClick={follow} />;
  });
}
