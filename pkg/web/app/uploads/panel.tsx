import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { Confirm } from '../../design/confirm.tsx';
import { IconButton } from '../../design/icon-button.tsx';
import { announce } from '../../design/live-region.tsx';
import { count, t } from '../../text/uploads.ts';
import { Announcer } from '../../uploads/announce.ts';
import { summaryInWords } from '../../uploads/in-words.ts';
import { Notices } from '../../uploads/notices.tsx';
import { Rows } from '../../uploads/rows.tsx';
import type { Uploader } from '../../uploads/uploader.ts';
import { useChanges } from '../../uploads/use-changes.ts';
import './panel.css';

/** The uploads, seen from every page: a summary that opens to a list. It is there while the list is not empty. */
export function Panel({ uploader }: { readonly uploader: Uploader }) {
  useChanges(uploader);
  const [isOpen, setOpen] = useState(true);
  const [isFiltered, setFiltered] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const announcer = useRef(new Announcer()).current;
  const id = useId();
  const { queue, search, reload } = uploader;
  const summary = queue.summary();
  const { count: number, total } = summary;
  useEffect(() => {
    const text = announcer.next(summary, search.isRunning, reload);
    if (text !== undefined) announce(text);
  });

  const isRestoring = reload.restoring > 0;
  const isShown = total > 0 || isRestoring || search.isRunning || search.leftOut > 0 || search.unreadable.length > 0;
  if (!isShown) return null;
  const isFailedOnly = isFiltered && number.failed > 0;
  const inWords = summaryInWords(summary, search.isRunning ? search.files : undefined);
  const { title, detail } = isRestoring ? { title: count('restoring', reload.restoring), detail: '' } : inWords;
  const isUnderWay = queue.isUnderWay || search.isRunning;
  const close = (): void => {
    if (isUnderWay || isRestoring || number.paused + number.conflict + number.interrupted > 0) setAsking(true);
    else uploader.close();
  };

  return (
    <section class="upload-panel" aria-label={t('title')}>
      <header class="upload-head">
        <div class="upload-summary">
          <h2 class="upload-title">{title}</h2>
          {detail !== '' && <p class="upload-detail">{detail}</p>}
        </div>
        <IconButton
          icon={isOpen ? 'chevron-down' : 'chevron-up'}
          label={t(isOpen ? 'collapse' : 'expand')}
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
        />
        <IconButton icon="close" label={t(isUnderWay ? 'cancelAll' : 'close')} onClick={close} />
      </header>
      {(isUnderWay || number.paused > 0) && (
        <progress class="upload-bar upload-bar-all" max={1} value={summary.part} aria-label={t('progressBar')} />
      )}
      <div id={id} hidden={!isOpen}>
        {isOpen && (
          <>
            <Notices uploader={uploader} summary={summary} isFiltered={isFailedOnly} onFilter={setFiltered} />
            {(queue.isUnderWay || number.paused > 0) && (
              <div class="upload-actions">
                {queue.isUnderWay && (
                  <Button size="s" icon="pause" onClick={() => uploader.pauseAll()}>
                    {t('pauseAll')}
                  </Button>
                )}
                {number.paused > 0 && (
                  <Button size="s" icon="play" onClick={() => uploader.resumeAll()}>
                    {t('resumeAll')}
                  </Button>
                )}
              </div>
            )}
            {total > 0 && <Rows uploader={uploader} ids={isFailedOnly ? queue.in('failed') : queue.ids} />}
          </>
        )}
      </div>
      {isAsking && (
        <Confirm
          title={t('cancelQuestion')}
          confirmLabel={t('cancelAll')}
          cancelLabel={t('keepUploading')}
          isDanger
          onConfirm={() => {
            setAsking(false);
            uploader.close();
          }}
          onCancel={() => setAsking(false)}
        >
          {t('cancelExplained')}
        </Confirm>
      )}
    </section>
  );
}
