import { useEffect } from 'preact/hooks';
import { useServices } from '../services.ts';
import { useObserved } from '../use-observed.ts';
import { dropTarget, uploads } from './current.ts';
import { DropZone } from './drop-zone.tsx';
import { Panel } from './panel.tsx';
import { startUploads } from './session-uploads.ts';

/** Uploads for all pages: the panel, and the drop zone for the folder that a page shows. */
export function Uploads() {
  const { session } = useServices();
  const uploader = useObserved(uploads);
  const target = useObserved(dropTarget);
  useEffect(() => startUploads(session), [session]);
  return (
    <>
      {uploader && <Panel uploader={uploader} />}
      <DropZone uploader={uploader} target={target} />
    </>
  );
}
