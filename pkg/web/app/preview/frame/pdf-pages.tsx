import type { PDFDocumentProxy } from 'pdfjs-dist';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { IconButton } from '../../../design/icon-button.tsx';
import { inDigits } from '../../../text/language.ts';
import { t } from '../../../text/preview.ts';
import { nextZoom } from '../zoom.ts';
import { FindBar } from './find-bar.tsx';
import { PdfPage, type Size } from './pdf-page.tsx';
import { FIND } from './protocol.ts';
import { NO_HITS, useFind } from './use-find.ts';

/** A file may say that it has two billion pages. */
const PAGES_MAX = 2_000;
/** Pages are at most this wide until somebody enlarges them, in CSS pixels. */
const FITTED_MAX = 1_000;
/** A point is 1/72 inch, a CSS pixel 1/96. */
const PIXELS_PER_POINT = 96 / 72;

interface Props {
  readonly name: string;
  readonly pdf: PDFDocumentProxy;
  readonly onLink: (href: string) => void;
}

/** The pages of a PDF, one below the other, of which those near the screen are drawn. */
export function PdfPages({ name, pdf, onLink }: Props) {
  const scroller = useRef<HTMLElement>(null);
  const [usual, setUsual] = useState<Size>();
  const [width, setWidth] = useState(innerWidth);
  const [zoom, setZoom] = useState<number>();
  const [current, setCurrent] = useState(1);
  const count = Math.min(pdf.numPages, PAGES_MAX);
  const fitted = usual ? Math.min(width - 2 * marginOf(width), FITTED_MAX) / (usual.width * PIXELS_PER_POINT) : 1;
  const shown = zoom ?? fitted;
  const find = useFind(pdf, { current, count });
  const [isFinding, setFinding] = useState(false);

  useEffect(() => {
    void pdf.getPage(1).then((page) => setUsual(page.getViewport({ scale: 1 })));
    const measure = (): void => setWidth(scroller.current?.clientWidth ?? innerWidth);
    measure();
    addEventListener('resize', measure);
    scroller.current?.focus({ preventScroll: true });
    return () => removeEventListener('resize', measure);
  }, []);

  // What is in the middle stays there while the pages grow.
  const middle = useRef(0);
  const change = (to: number | undefined): void => {
    const { scrollTop = 0, clientHeight = 0, scrollHeight = 1 } = scroller.current ?? {};
    middle.current = (scrollTop + clientHeight / 2) / scrollHeight;
    setZoom(to);
  };
  useLayoutEffect(() => {
    const { current: box } = scroller;
    if (box && middle.current > 0) box.scrollTop = middle.current * box.scrollHeight - box.clientHeight / 2;
  }, [zoom]);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || (event.target as Element).matches('input')) return;
      if (event.key === '+' || event.key === '=') change(nextZoom(shown, 1));
      else if (event.key === '-') change(nextZoom(shown, -1));
      else if (event.key === '0') change(undefined);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [shown]);
  useEffect(() => {
    const open = (): void => {
      setFinding(true);
      const field = scroller.current?.querySelector<HTMLInputElement>('[role=search] input');
      field?.focus();
      field?.select();
    };
    const press = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || event.key.toLowerCase() !== 'f') return;
      event.preventDefault();
      open();
    };
    addEventListener('keydown', press);
    addEventListener(FIND, open);
    return () => {
      removeEventListener('keydown', press);
      removeEventListener(FIND, open);
    };
  }, []);
  const scrolled = (): void => {
    const at = document.elementsFromPoint(innerWidth / 2, innerHeight / 3).find((element) => element.matches('[data-page]'));
    if (at) setCurrent(Number(at.getAttribute('data-page')));
  };
  const goTo = (number: number): void => {
    const { current: box } = scroller;
    const target = box?.querySelector<HTMLElement>(`[data-page="${number}"]`);
    if (box && target) box.scrollTop = target.offsetTop - 8;
  };
  // A page that comes near is drawn, and then scrolls to the hit itself.
  const hit = isFinding ? find.now : undefined;
  useEffect(() => {
    const { current: box } = scroller;
    const page = box?.querySelector<HTMLElement>(`[data-page="${hit?.page}"]`);
    if (!box || !page || !hit) return;
    const isInView = page.offsetTop < box.scrollTop + box.clientHeight && page.offsetTop + page.offsetHeight > box.scrollTop;
    if (!isInView) goTo(hit.page);
  }, [hit]);
  const endFinding = (): void => {
    setFinding(false);
    scroller.current?.focus({ preventScroll: true });
  };

  return (
    <main ref={scroller} class="pdf" tabIndex={0} aria-label={t('pages')} onScroll={scrolled}>
      <h1 class="c-hidden">{name}</h1>
      {usual &&
        Array.from({ length: count }, (_, index) => (
          <PdfPage
            key={index}
            pdf={pdf}
            number={index + 1}
            label={t('page', { number: index + 1, total: pdf.numPages })}
            usual={usual}
            scale={shown * PIXELS_PER_POINT}
            scroller={scroller}
            hits={isFinding ? find.hitsOn(index + 1) : NO_HITS}
            now={hit?.page === index + 1 ? hit : undefined}
            textOfPage={find.textOfPage}
            onLink={onLink}
            onGo={goTo}
          />
        ))}
      {count < pdf.numPages && <p class="pdf-more">{t('morePages', { count })}</p>}
      {isFinding && <FindBar find={find} onClose={endFinding} />}
      <div class="pdf-tools" role="toolbar" aria-label={t('zoom')}>
        <span class="pdf-position">{t('position', { number: current, total: pdf.numPages })}</span>
        <IconButton icon="zoom-out" label={t('zoomOut')} onClick={() => change(nextZoom(shown, -1))} />
        <button type="button" class="pdf-zoom" title={t('fullSize')} onClick={() => change(1)}>
          {`${inDigits(Math.round(shown * 100))} %`}
        </button>
        <IconButton icon="zoom-in" label={t('zoomIn')} onClick={() => change(nextZoom(shown, 1))} />
        <IconButton icon="fit" label={t('fit')} isPressed={zoom === undefined} onClick={() => change(undefined)} />
        <IconButton icon="search" label={t('find')} onClick={() => setFinding(true)} />
      </div>
    </main>
  );
}

/** Beside the pages there are the arrows to other files, but on a phone. */
const marginOf = (width: number): number => (width < 640 ? 0 : 72);
