import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Button } from '../design/button.tsx';
import { Icon } from '../design/icon.tsx';
import { announce } from '../design/live-region.tsx';
import { DateTime, FileSize, pageLocale } from '../design/measures.tsx';
import { sizeIn } from '../design/format.ts';
import { TextField } from '../design/text-field.tsx';
import { count, t } from '../text/share.ts';
import { Announcer } from '../uploads/announce.ts';
import { canChooseFolders, chooseFiles, chooseFolder } from '../uploads/choose.ts';
import { DropZone } from '../uploads/drop-zone.tsx';
import { summaryInWords } from '../uploads/in-words.ts';
import { Notices } from '../uploads/notices.tsx';
import { Rows } from '../uploads/rows.tsx';
import { useChanges } from '../uploads/use-changes.ts';
import { type Batch, droppedOf, walk } from '../uploads/walk.ts';
import { holdInWords } from './hold-in-words.ts';
import type { Link, SharedFolder } from './link.ts';
import { uploadsBy } from './link-uploads.ts';
import { storedName, storeName, UNNAMED } from './sender-name.ts';
import { useOpen } from './use-open.ts';
import './send-files.css';

interface Props {
  readonly link: Link;
  readonly folder: SharedFolder;
  /** Called when files have arrived and no others are on their way. */
  readonly onSent?: () => void;
  /** False: files can be dropped, and the rest appears with them. Default: true. */
  readonly isShown?: boolean;
  readonly onShow?: () => void;
}

const NAME_MAX = 100;

/** Sends files into the folder of a link: the sender's name, what is dropped or chosen, and what became of it. */
export function SendFiles({ link, folder, onSent, isShown = true, onShow }: Props) {
  const { uploader, sender } = uploadsBy(link, folder);
  useChanges(uploader);
  const [name, setName] = useState(storedName);
  const [isAsked, setAsked] = useState(false);
  const [isFiltered, setFiltered] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const announcer = useRef(new Announcer(holdInWords)).current;
  const id = useId();
  const { queue, search } = uploader;
  const summary = queue.summary();
  const { count: number, hold } = summary;
  const { sentCount } = sender;
  const sent = sender.sent.value;
  const isNamed = name.trim() !== '';
  sender.sender = name.trim();

  useEffect(() => {
    const text = announcer.next(summary, search.isRunning, uploader.reload);
    if (text !== undefined) announce(text);
  });
  const shownSent = useRef(sent);
  useEffect(() => {
    if (queue.isUnderWay || sent === shownSent.current) return;
    shownSent.current = sent;
    onSent?.();
  });
  const refusal = hold?.reason === 'stopped' ? hold.problem?.code : undefined;
  useEffect(() => {
    // What was opened by a button or a drop begins with the name.
    if (isShown && onShow && !isNamed) field.current?.focus();
  }, [isShown]);
  const isOpen = useOpen(link);
  useEffect(() => {
    if (isOpen && refusal === 'share_password_required') queue.release('stopped');
  }, [isOpen]);
  // A list that a reload interrupted, or that was added without a name, waits for it.
  useEffect(() => {
    if (!isNamed && number.waiting > 0 && !hold) queue.hold = UNNAMED;
  });

  const add = (batches: AsyncIterable<Batch> | Iterable<Batch>, stop?: AbortController): void => {
    if (!isNamed) {
      queue.hold = UNNAMED;
      askForName();
    }
    void uploader.add(null, withoutFolders(batches), stop);
  };
  const askForName = (): void => {
    setAsked(true);
    field.current?.focus();
  };
  const goOn = (): void => {
    if (!isNamed) return askForName();
    queue.release('stopped');
  };
  const drop = (items: DataTransferItemList): void => {
    onShow?.();
    const stop = new AbortController();
    add(walk(droppedOf(items), stop.signal), stop);
  };
  const rename = (next: string): void => {
    setName(next);
    storeName(next);
  };

  const dropZone = <DropZone onDrop={drop} text={t('dropToSend')} hint={t('dropFolders')} />;
  if (!isShown) return dropZone;
  const open = queue.ids.filter((one) => queue.get(one)?.state !== 'done');
  const isFailedOnly = isFiltered && number.failed > 0;
  const { title, detail } = summaryInWords(summary, search.isRunning ? search.files : undefined);
  const isUnderWay = queue.isUnderWay || search.isRunning || number.paused > 0;
  return (
    <section class="send" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`} class={folder.mode === 'both' ? 'send-title' : 'c-hidden'}>
        {t('send')}
      </h2>
      <TextField
        label={t('yourName')}
        hint={t('yourNameHint')}
        error={isAsked && !isNamed ? t('yourNameMissing') : undefined}
        autocomplete="name"
        maxLength={NAME_MAX}
        required
        inputRef={field}
        value={name}
        onValue={rename}
        onBlur={() => isNamed && refusal === 'sender_missing' && queue.release('stopped')}
        onKeyDown={({ key }) => key === 'Enter' && goOn()}
      />
      <div class="send-drop">
        <Icon name="upload" size="l" />
        <p class="send-drop-text">{t('dropHere')}</p>
        <div class="send-choose">
          <Button kind="primary" onClick={() => void chooseFiles().then((batch) => add([batch]))}>
            {t('chooseFiles')}
          </Button>
          {canChooseFolders() && (
            <Button onClick={() => void chooseFolder().then((batch) => add([batch]))}>{t('chooseFolder')}</Button>
          )}
        </div>
        {folder.max_upload_size !== null && (
          <p class="send-limit">
            {folder.max_upload_size === 0 ? t('hold.full') : t('maxSize', { size: sizeIn(pageLocale(), folder.max_upload_size) })}
          </p>
        )}
      </div>
      {(open.length > 0 || isUnderWay || search.leftOut > 0 || search.unreadable.length > 0) && (
        <div class="send-list">
          <div class="send-summary">
            <div>
              <h3 class="send-list-title">{title}</h3>
              {detail !== '' && <p class="share-facts">{detail}</p>}
            </div>
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
          {isUnderWay && <progress class="upload-bar" max={1} value={summary.part} aria-label={t('progressBar')} />}
          <Notices
            uploader={uploader}
            summary={summary}
            isFiltered={isFailedOnly}
            onFilter={setFiltered}
            holdText={holdInWords}
            onContinue={goOn}
          />
          {open.length > 0 && <Rows uploader={uploader} ids={isFailedOnly ? queue.in('failed') : open} />}
        </div>
      )}
      {sent.length > 0 && (
        <div class="send-sent">
          <h3 class="send-list-title">
            {sentCount === undefined ? t('sentLast', { count: sent.length }) : count('sent', sentCount)}
          </h3>
          {sentCount !== undefined && sentCount > sent.length && (
            <p class="share-facts">{t('sentListed', { count: sent.length })}</p>
          )}
          <ul role="list">
            {sent.map((file, index) => (
              <li key={sent.length - index}>
                <Icon name="check" />
                <bdi class="send-name" title={file.name}>
                  {file.name}
                </bdi>
                <span class="send-fact">
                  <FileSize bytes={file.size} />
                </span>
                <span class="send-fact send-time">
                  <DateTime value={file.sent_at} />
                </span>
              </li>
            ))}
          </ul>
        </div>
      )}
      {dropZone}
    </section>
  );
}

/** A link makes no folders: empty ones are left out. */
async function* withoutFolders(batches: AsyncIterable<Batch> | Iterable<Batch>): AsyncGenerator<Batch> {
  for await (const batch of batches) yield { ...batch, emptyFolders: [] };
}
