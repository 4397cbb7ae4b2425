import { useEffect, useRef, useState } from 'preact/hooks';
import { IconButton } from '../../design/icon-button.tsx';
import { Spinner } from '../../design/progress.tsx';
import { t } from '../../text/preview.ts';
import { inDigits } from '../../text/language.ts';
import { ProblemNote } from '../problem-note.tsx';
import type { ViewerProps } from './viewer-props.ts';
import { usePanning } from './use-panning.ts';
import { useTicket } from './use-ticket.ts';
import { nextZoom } from './zoom.ts';

/**
 * Points of a picture that is drawn: each takes four bytes of the browser's memory. A small file may claim any number of points,
 * and a picture that is not drawn costs nothing.
 */
const POINTS_MAX = 100_000_000;

/** Undefined: the picture fits the window, and is never larger than it is. */
type Zoom = number | undefined;

/** A picture. The browser draws it as `<img>`, in which nothing of a file runs: an SVG has neither scripts nor network there. */
export function ImageViewer({ entry, stage, keys, onRefuse }: ViewerProps) {
  const { value: url, problem, reload } = useTicket(entry.id);
  const image = useRef<HTMLImageElement>(null);
  const [isChecked, setChecked] = useState(false);
  const [zoom, setZoom] = useState<Zoom>();
  const pan = usePanning(stage, zoom !== undefined);

  const check = (): void => {
    const { naturalWidth: width, naturalHeight: height } = image.current ?? { naturalWidth: 0, naturalHeight: 0 };
    if (width * height > POINTS_MAX) onRefuse(t('hugeImage', { width, height }));
    else setChecked(true);
  };
  const shownSize = (): number => {
    const { clientWidth = 0, naturalWidth = 0 } = image.current ?? {};
    return naturalWidth === 0 ? 1 : clientWidth / naturalWidth;
  };
  const step = (by: 1 | -1): void => setZoom((now) => nextZoom(now ?? shownSize(), by));
  useEffect(() => {
    keys.current = {
      '+': () => step(1),
      '=': () => step(1),
      '-': () => step(-1),
      0: () => setZoom(undefined),
      1: () => setZoom(1),
    };
    return () => void (keys.current = {});
  }, []);
  const turn = (event: WheelEvent): void => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    step(event.deltaY < 0 ? 1 : -1);
  };

  if (problem) return <ProblemNote problem={problem} onRetry={reload} />;
  const isZoomed = zoom !== undefined;
  const width = isZoomed ? `${(image.current?.naturalWidth ?? 0) * zoom}px` : '';
  return (
    <>
      {!isChecked && <Spinner label={t('loading')} />}
      <div class={isZoomed ? 'preview-image preview-image-zoomed' : 'preview-image'} onWheel={turn} {...pan}>
        {url !== undefined && (
          <img
            ref={image}
            src={url}
            alt={entry.name}
            // Not drawn, and so not decoded, before its size is known.
            hidden={!isChecked}
            draggable={false}
            style={{ inlineSize: width }}
            onLoad={check}
            onError={() => onRefuse(t('brokenImage'))}
            onDblClick={() => setZoom(isZoomed ? undefined : 1)}
          />
        )}
      </div>
      {isChecked && (
        <div class="preview-tools" role="toolbar" aria-label={t('zoom')}>
          <IconButton icon="zoom-out" label={t('zoomOut')} onClick={() => step(-1)} />
          <button type="button" class="preview-zoom" title={t('fullSize')} onClick={() => setZoom(1)}>
            {isZoomed ? `${inDigits(Math.round(zoom * 100))} %` : t('fullSize')}
          </button>
          <IconButton icon="zoom-in" label={t('zoomIn')} onClick={() => step(1)} />
          <IconButton icon="fit" label={t('fit')} isPressed={!isZoomed} onClick={() => setZoom(undefined)} />
        </div>
      )}
    </>
  );
}
