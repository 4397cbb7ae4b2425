import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t } from '../text/uploads.ts';
import type { Upload } from './queue.ts';
import { Row } from './row.tsx';
import type { Uploader } from './uploader.ts';
import './list.css';

/** Height of a row in rem; upload-list in list.css has the same. */
const ROW_REM = 3.5;
/** Rows above and below those that are seen, so that scrolling shows no gap. */
const SPARE = 4;

interface Props {
  readonly uploader: Uploader;
  readonly ids: readonly number[];
}

/** The rows that are seen, and a few more: the list may have 100,000. It follows what is being sent until somebody scrolls. */
export function Rows({ uploader, ids }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [scrolledTo, setScrolledTo] = useState<number>();
  const [height, setHeight] = useState(0);
  const followedTo = useRef(0);
  const row = ROW_REM * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  const current = scrolledTo === undefined ? ids.findIndex((id) => isOpen(uploader.queue.get(id))) : -1;
  // One that has ended stays in sight. Many end between two looks: once all have, that is the last one.
  const rest = followedTo.current > 0 && current < 0 ? ids.length * row : followedTo.current;
  const following = current > 0 ? (current - 1) * row : rest;
  const top = scrolledTo ?? Math.min(following, Math.max(0, ids.length * row - height));
  const first = Math.max(0, Math.floor(top / row) - SPARE);
  const last = Math.min(ids.length, Math.ceil((top + height) / row) + SPARE);

  useLayoutEffect(() => {
    const shown = box.current;
    if (!shown) return undefined;
    const observer = new ResizeObserver(() => setHeight(shown.clientHeight));
    observer.observe(shown);
    setHeight(shown.clientHeight);
    return () => observer.disconnect();
  }, []);

  useLayoutEffect(() => {
    const shown = box.current;
    // The browser lays the page out for it, which is too dear for a change that moves nothing.
    if (!shown || scrolledTo !== undefined || top === followedTo.current) return;
    shown.scrollTop = top;
    followedTo.current = shown.scrollTop;
  });

  const stopFollowing = (): void => setScrolledTo(box.current?.scrollTop ?? 0);
  return (
    <div
      ref={box}
      class="upload-list"
      tabIndex={0}
      role="group"
      aria-label={t('list')}
      onScroll={({ currentTarget }) => {
        const isFollowing = scrolledTo === undefined && Math.abs(currentTarget.scrollTop - followedTo.current) < 1;
        if (!isFollowing) setScrolledTo(currentTarget.scrollTop);
      }}
      onWheel={stopFollowing}
      onPointerDown={stopFollowing}
      onKeyDown={stopFollowing}
    >
      <ul role="list" style={{ paddingTop: `${first * row}px`, paddingBottom: `${(ids.length - last) * row}px` }}>
        {ids.slice(first, last).map((id, index) => {
          const upload = uploader.queue.get(id);
          return upload && <Row key={id} upload={upload} uploader={uploader} at={first + index + 1} of={ids.length} />;
        })}
      </ul>
    </div>
  );
}

const isOpen = (upload: Upload | undefined): boolean =>
  upload !== undefined && ['waiting', 'preparing', 'sending'].includes(upload.state);
