import { useEffect, useRef } from 'preact/hooks';
import { t } from '../../text/uploads.ts';
import { DropZone } from '../../uploads/drop-zone.tsx';
import { droppedOf, walk } from '../../uploads/walk.ts';
import { useMe, useServices } from '../services.ts';
import { useObserved } from '../use-observed.ts';
import { dropTarget, uploads } from './current.ts';
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
  // What is stored, and whether there are files at all, is shown elsewhere: it is asked for when the last one has arrived.
  useEffect(() => {
    let seen = 0;
    return uploader?.subscribe(() => {
      if (uploader.queue.isUnderWay) return;
      const { done } = uploader.queue.summary().count;
      if (done > seen) latest.current();
      seen = done;
    });
  }, [uploader]);
  const drop = (items: DataTransferItemList): void => {
    const stop = new AbortController();
    if (target) void uploader?.add(target.folderId, walk(droppedOf(items), stop.signal), stop);
  };
  return (
    <>
      {uploader && <Panel uploader={uploader} />}
      <DropZone
        onDrop={target && uploader ? drop : undefined}
        text={target ? t('dropHere', { folder: target.name }) : t('dropNowhere')}
        hint={target && t('dropHint')}
      />
    </>
  );
}
