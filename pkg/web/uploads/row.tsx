import { useRef } from 'preact/hooks';
import { Icon, type IconName } from '../design/icon.tsx';
import { IconButton } from '../design/icon-button.tsx';
import { Menu } from '../design/menu.tsx';
import { RequestIdButton } from '../design/request-id.tsx';
import { t } from '../text/uploads.ts';
import { stateInWords } from './in-words.ts';
import type { State, Upload } from './queue.ts';
import type { Uploader } from './uploader.ts';

interface Props {
  readonly upload: Upload;
  readonly uploader: Uploader;
  /** Its place in the list, from 1. */
  readonly at: number;
  readonly of: number;
}

const ICONS: Readonly<Record<State, IconName>> = {
  waiting: 'upload',
  preparing: 'upload',
  sending: 'upload',
  paused: 'pause',
  conflict: 'alert',
  interrupted: 'alert',
  done: 'check',
  skipped: 'close',
  failed: 'alert',
};

const CAN_PAUSE: readonly State[] = ['waiting', 'preparing', 'sending'];

export function Row({ upload, uploader, at, of }: Props) {
  const { id, state, path, size, sent } = upload;
  const row = useRef<HTMLLIElement>(null);
  const name = path.at(-1) ?? '';
  const parents = path.slice(0, -1).join(' / ');
  const words = stateInWords(upload, uploader.queue);
  /** The pressed button disappears; without this the keyboard focus would move to the top of the page. */
  const then = (act: () => void) => (): void => {
    row.current?.focus();
    act();
  };
  return (
    <li ref={row} class={`upload upload-${state}`} tabIndex={-1} aria-setsize={of} aria-posinset={at}>
      <span class="upload-icon">
        <Icon name={upload.state === 'done' && upload.fileId === undefined ? 'folder' : ICONS[state]} />
      </span>
      <div class="upload-text">
        <p class="upload-name" title={path.join(' / ')}>
          <bdi>{name}</bdi>
          {parents !== '' && (
            <span class="upload-parents">
              {' '}
              <bdi>{parents}</bdi>
            </span>
          )}
        </p>
        <p class="upload-state" title={words}>
          {words}
        </p>
        {(state === 'sending' || state === 'paused') && size > 0 && (
          <progress class="upload-bar" max={size} value={sent} aria-label={name} />
        )}
      </div>
      {state === 'conflict' && (
        <Menu
          label={t('decide', { name })}
          align="end"
          items={[
            { label: t('replaceExplained'), icon: 'versions', onSelect: () => uploader.answer('replace', id) },
            { label: t('keepBoth'), icon: 'copy', onSelect: () => uploader.answer('rename', id) },
            { label: t('skip'), icon: 'close', onSelect: () => uploader.answer('skip', id) },
          ]}
          trigger={(props) => <IconButton icon="more" size="s" label={t('decide', { name })} {...props} />}
        />
      )}
      {CAN_PAUSE.includes(state) && (
        <IconButton icon="pause" size="s" label={t('pause', { name })} onClick={then(() => uploader.pause(id))} />
      )}
      {state === 'paused' && (
        <IconButton icon="play" size="s" label={t('resume', { name })} onClick={then(() => uploader.queue.resume(id))} />
      )}
      {state === 'failed' && <RequestIdButton id={upload.problem?.requestId} />}
      {state === 'failed' && (
        <IconButton icon="refresh" size="s" label={t('retry', { name })} onClick={then(() => uploader.queue.resume(id))} />
      )}
      {state !== 'done' && (
        <IconButton icon="close" size="s" label={t('cancel', { name })} onClick={then(() => uploader.cancel(id))} />
      )}
    </li>
  );
}
