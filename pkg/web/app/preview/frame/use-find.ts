import type { PDFDocumentProxy } from 'pdfjs-dist';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type PageText, type Part, partsIn, patternOf, textOf } from './pdf-text.ts';

/** What was found, on which page. */
export interface Hit extends Part {
  readonly page: number;
}

export interface Find {
  readonly words: string;
  readonly setWords: (words: string) => void;
  /** In the order of the pages, from the page on which the reader was. */
  readonly hits: readonly Hit[];
  readonly hitsOn: (page: number) => readonly Hit[];
  /** The hit at which the reader is. */
  readonly now: Hit | undefined;
  /** Goes to the next (1) or the former (−1) hit, around the end. */
  readonly step: (by: 1 | -1) => void;
  readonly isSearching: boolean;
  readonly textOfPage: (page: number) => Promise<PageText>;
}

/** A letter alone may be in a document a million times. */
export const HITS_MAX = 1_000;

/** Between two reports of what was found so far: each draws all of it anew. */
const REPORT_MS = 200;

export const NO_HITS: readonly Hit[] = [];

/** Finds words in a PDF, page by page, beginning with the page `current`, and then from the first page on. */
export function useFind(pdf: PDFDocumentProxy, { current, count }: { readonly current: number; readonly count: number }): Find {
  const [words, setWords] = useState('');
  const [found, setFound] = useState({ hits: NO_HITS, isSearching: false });
  const [at, setAt] = useState(0);
  const texts = useRef(new Map<number, Promise<PageText>>());

  const textOfPage = (page: number): Promise<PageText> => {
    const known = texts.current.get(page) ?? readPage(pdf, page);
    texts.current.set(page, known);
    return known;
  };

  useEffect(() => {
    const pattern = patternOf(words);
    setAt(0);
    setFound({ hits: NO_HITS, isSearching: pattern !== undefined });
    if (!pattern) return undefined;
    let isOver = false;
    const search = async (): Promise<void> => {
      let hits = NO_HITS;
      let reportedAt = -REPORT_MS;
      for (let step = 0; step < count && hits.length < HITS_MAX; step += 1) {
        const page = ((current - 1 + step) % count) + 1;
        const { text } = await textOfPage(page);
        if (isOver) return;
        const parts = partsIn(text, pattern, HITS_MAX - hits.length);
        if (parts.length === 0) continue;
        hits = [...hits, ...parts.map((part) => ({ ...part, page }))];
        if (performance.now() - reportedAt < REPORT_MS) continue;
        reportedAt = performance.now();
        setFound({ hits, isSearching: true });
      }
      setFound({ hits, isSearching: false });
    };
    void search();
    return () => void (isOver = true);
  }, [words]);

  const byPage = useMemo(() => Map.groupBy(found.hits, ({ page }) => page), [found.hits]);
  const total = found.hits.length;
  return {
    words,
    setWords,
    ...found,
    hitsOn: (page) => byPage.get(page) ?? NO_HITS,
    now: found.hits[at],
    step: (by) => setAt((before) => (total === 0 ? 0 : (before + by + total) % total)),
    textOfPage,
  };
}

/** A page that cannot be read has no text. */
async function readPage(pdf: PDFDocumentProxy, number: number): Promise<PageText> {
  try {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    return textOf(items.filter((item) => 'str' in item));
  } catch {
    return textOf([]);
  }
}
