import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../../text/uploads.ts';
import { DropZone } from '../../uploads/drop-zone.tsx';
import { type Dropped, droppedOf, walk } from '../../uploads/walk.ts';
import { useMe, useServices } from '../services.ts';
import { useObserved } from '../use-observed.ts';
import { dropTarget, uploads } from './current.ts';
import { takeEarlyDrops } from './early-drops.ts';
import { Panel } from './panel.tsx';
import { startUploads } from './session-uploads.ts';

/** Uploads for all pages: the panel, and the drop zone for the folder that a page shows. */
export function Uploads() {
  const { session } = useServices();
  const uploader = useObserved(uploads);
  const target = useObserved(dropTarget);
  const { reload } = useMe();
  const latest = useRef(reload);
  latest.current = reload;
  useEffect(() => startUploads(session), [session]);
  // What is stored, and whether there are files at all, is shown elsewhere: it is asked for when the last one has arrived, and
  // when a full storage stops them.
  useEffect(() => {
    let seen = 0;
    let wasStopped = false;
    return uploader?.subscribe(() => {
      const isStopped = uploader.queue.hold?.reason === 'stopped';
      const hasStopped = isStopped && !wasStopped;
      wasStopped = isStopped;
      if (uploader.queue.isUnderWay && !isStopped) return;
      const { done } = uploader.queue.summary().count;
      if (done > seen || hasStopped) latest.current();
      seen = done;
    });
  }, [uploader]);
  const add = (dropped: readonly Dropped[]): void => {
    const stop = new AbortController();
    if (target) void uploader?.add(target.folderId, walk(dropped, stop.signal), stop);
  };
  const canDrop = target !== undefined && uploader !== undefined;
  // Before anything is painted: DropZone takes what is dropped from then on.
  useLayoutEffect(() => {
    if (!canDrop) return;
    const early = takeEarlyDrops();
    if (early.length > 0) add(early);
  }, [canDrop]);
  return (
    <>
      {uploader && <Panel uploader={uploader} />}
      <DropZone
        onDrop={canDrop ? (items) => add(droppedOf(items)) : undefined}
        text={target ? t('dropHere', { folder: target.name }) : t('dropNowhere')}
        hint={target && t('dropHint')}
      />
    </>
  );
}
