import { type PageViewport, type PDFDocumentProxy, type PDFPageProxy, TextLayer } from 'pdfjs-dist';
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../../text/preview.ts';
import { highlight, rangeOf } from './pdf-hits.ts';
import { safeAddress } from './safe-address.ts';
import type { Find, Hit } from './use-find.ts';

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
  /** What was found on the page, and which of it is to be in view. */
  readonly hits: readonly Hit[];
  readonly now: Hit | undefined;
  readonly textOfPage: Find['textOfPage'];
  readonly onLink: (href: string) => void;
  readonly onGo: (page: number) => void;
}

/** Points of a canvas: a page may claim any size, and phones refuse larger ones. */
const CANVAS_MAX = 16_000_000;

/** A page: what is drawn, its text above it for selecting and reading aloud, and its links. */
export function PdfPage(props: Props) {
  const { pdf, number, label, usual, scale, scroller, onLink, onGo } = props;
  const box = useRef<HTMLElement>(null);
  const drawing = useRef<HTMLDivElement>(null);
  const words = useRef<HTMLDivElement>(null);
  const [isNear, setNear] = useState(false);
  const [page, setPage] = useState<PDFPageProxy>();
  const [runs, setRuns] = useState<readonly HTMLElement[]>();

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
    return draw(page, page.getViewport({ scale }), { drawing: drawing.current, words: words.current, onText: setRuns });
  }, [page, isNear, scale]);
  // What is decoded for a page, such as a scan, takes as much memory as what is drawn.
  useEffect(() => void (isNear || page?.cleanup()), [page, isNear]);

  useHits(props, runs);

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

/** Colours what was found on the page, and scrolls to the hit at which the reader is, once. `runs`: of its text. */
function useHits({ number, hits, now, textOfPage, scroller }: Props, runs: readonly HTMLElement[] | undefined): void {
  const reached = useRef<Hit | undefined>(undefined);
  useEffect(() => {
    if (!runs || hits.length === 0) return undefined;
    let end = (): void => undefined;
    let isOver = false;
    void textOfPage(number).then((text) => {
      if (isOver) return;
      const rangesOf = (found: readonly Hit[]): Range[] => found.flatMap((hit) => rangeOf(text, runs, hit) ?? []);
      const current = rangesOf(now ? [now] : []);
      const endAll = highlight('pdf-hit', rangesOf(hits));
      const endCurrent = highlight('pdf-hit-now', current);
      end = () => (endAll(), endCurrent());
      const [range] = current;
      if (range && scroller.current && reached.current !== now) bringIntoView(scroller.current, range.getBoundingClientRect());
      reached.current = now;
    });
    return () => {
      isOver = true;
      end();
    };
  }, [runs, hits, now]);
}

/** Pixels at the upper and lower edge on which the field and the tools lie. */
const COVERED = 72;

function bringIntoView(box: HTMLElement, { top, bottom, left, right }: DOMRect): void {
  const { clientHeight, clientWidth } = box;
  if (top < COVERED || bottom > clientHeight - COVERED) box.scrollTop += top - clientHeight / 3;
  if (left < 0 || right > clientWidth) box.scrollLeft += left - clientWidth / 3;
}

interface Layers {
  readonly drawing: HTMLElement;
  readonly words: HTMLElement;
  /** Gets the elements of the page's runs of text once they are laid out, and undefined when they are removed. */
  readonly onText: (runs: readonly HTMLElement[] | undefined) => void;
}

/** Draws a page and lays its text above it. Returns the function that removes both and frees their memory. */
function draw(page: PDFPageProxy, viewport: PageViewport, { drawing, words, onText }: Layers): () => void {
  const canvas = document.createElement('canvas');
  const sharpness = Math.min(devicePixelRatio, Math.sqrt(CANVAS_MAX / Math.max(1, viewport.width * viewport.height)));
  canvas.width = Math.max(1, Math.floor(viewport.width * sharpness));
  canvas.height = Math.max(1, Math.floor(viewport.height * sharpness));
  drawing.append(canvas);
  const task = page.render({ canvas, viewport, transform: [sharpness, 0, 0, sharpness, 0, 0] });
  const text = new TextLayer({ textContentSource: page.streamTextContent(), container: words, viewport });
  // A page that cannot be drawn stays white; the others are shown.
  task.promise.catch(() => undefined);
  text.render().then(
    () => onText(text.textDivs as HTMLElement[]),
    () => undefined,
  );
  return () => {
    onText(undefined);
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
