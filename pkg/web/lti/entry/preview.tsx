import { useEffect, useRef, useState } from 'preact/hooks';
import { LinkButton } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import type { Api, FileItem } from './api.ts';
import type { Failed } from './loaded.ts';
import { type Refusal, sizeInWords } from './messages.ts';
import { RefusalNote } from './notes.tsx';
import { t } from '../../text/lti.ts';
import './preview.css';

/** Maximum of shown bytes of a text. */
const TEXT_MAX = 20_000;

interface Props {
  readonly api: Api;
  readonly file: FileItem;
  readonly failed: Failed;
  readonly onClose: () => void;
}

/**
 * Shows a file in a dialog: pictures, recordings and texts; for others only the facts. Nothing in a file runs: a text is shown as
 * plain text, whatever it contains.
 */
export function Preview({ api, file, failed, onClose }: Props) {
  const [url, setUrl] = useState<string>();
  const [refusal, setRefusal] = useState<Refusal>();
  useEffect(() => void api.ticket(file.id).then(setUrl, (error: unknown) => setRefusal(failed(error))), [api, file.id, failed]);

  return (
    <Dialog
      title={file.name}
      size="l"
      closeLabel={t('preview.close')}
      onClose={onClose}
      actions={
        url && (
          <LinkButton href={url} icon="download" isDownload>
            {t('download')}
          </LinkButton>
        )
      }
    >
      <div class="file-preview">
        <p class="facts">
          {file.mime_type ?? t('preview.unknownType')}, {sizeInWords(file.size)}
        </p>
        {refusal && <RefusalNote refusal={refusal} />}
        {url && <Content api={api} file={file} url={url} />}
      </div>
    </Dialog>
  );
}

function Content({ api, file, url }: { api: Api; file: FileItem; url: string }) {
  const type = file.mime_type ?? '';
  if (type.startsWith('image/')) return <img src={url} alt={t('preview.picture', { name: file.name })} />;
  if (type.startsWith('audio/')) return <Recording kind="audio" api={api} file={file} url={url} />;
  if (type.startsWith('video/')) return <Recording kind="video" api={api} file={file} url={url} />;
  if (type.startsWith('text/') || type === 'application/json') return <Text api={api} url={url} />;
  return <p>{t('preview.none')}</p>;
}

/**
 * A recording may play longer than its address works. If the browser then cannot get a further part, the recording continues from
 * that position with a new address. A recording that fails twice at the same position, or before it has begun, cannot be played.
 */
function Recording({ kind: Media, api, file, url: first }: { kind: 'audio' | 'video'; api: Api; file: FileItem; url: string }) {
  const [url, setUrl] = useState(first);
  const failedAt = useRef<{ readonly at: number; readonly plays: boolean } | undefined>(undefined);
  const renew = ({ currentTarget: media }: { readonly currentTarget: HTMLMediaElement }): void => {
    const { currentTime: at, paused, readyState } = media;
    if (readyState === HTMLMediaElement.HAVE_NOTHING || at === failedAt.current?.at) return;
    failedAt.current = { at, plays: !paused };
    void api.ticket(file.id).then(setUrl, () => undefined);
  };
  const goOn = ({ currentTarget: media }: { readonly currentTarget: HTMLMediaElement }): void => {
    if (!failedAt.current) return;
    media.currentTime = failedAt.current.at;
    if (failedAt.current.plays) void media.play().catch(() => undefined);
  };
  return <Media src={url} controls aria-label={file.name} onError={renew} onLoadedMetadata={goOn} />;
}

function Text({ api, url }: { api: Api; url: string }) {
  const [text, setText] = useState<string>();
  useEffect(() => void api.beginning(url, TEXT_MAX).then(setText, () => setText('')), [api, url]);
  // A text that is longer than its box must scroll by keyboard.
  return <pre tabIndex={0}>{text ?? t('loading')}</pre>;
}
