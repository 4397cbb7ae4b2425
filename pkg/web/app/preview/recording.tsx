import { useRef, useState } from 'preact/hooks';
import { isAbort } from '../../api/problem.ts';
import { FileIcon } from '../../design/file-icon.tsx';
import { Spinner } from '../../design/progress.tsx';
import { t } from '../../text/preview.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useClient } from '../services.ts';
import type { ViewerProps } from './viewer-props.ts';
import { useTicket } from './use-ticket.ts';

interface Props extends ViewerProps {
  readonly kind: 'audio' | 'video';
}

/**
 * A recording, with the browser's own controls: it asks for the ranges that it plays. It may play longer than its address works.
 * If the browser then cannot get a further part, it continues from that position with a new address. A recording that fails
 * twice at the same position, or before it has begun, cannot be played.
 */
export function Recording({ entry, kind: Media, onRefuse }: Props) {
  const client = useClient();
  const { value: first, problem, reload } = useTicket(entry.id);
  const [renewed, setRenewed] = useState<string>();
  /** Whether it played when it failed: by then the browser has paused it, without an event. */
  const plays = useRef(false);
  const failed = useRef<{ readonly at: number; readonly plays: boolean } | undefined>(undefined);
  const renew = ({ currentTarget: media }: { readonly currentTarget: HTMLMediaElement }): void => {
    const { currentTime: at, readyState } = media;
    const refuse = (): void => onRefuse(t('brokenRecording'));
    if (readyState === HTMLMediaElement.HAVE_NOTHING || at === failed.current?.at) return refuse();
    failed.current = { at, plays: plays.current };
    media.defaultPlaybackRate = media.playbackRate; // a new address would set it to 1
    client.post('/files/{id}/ticket', { path: { id: entry.id } }).then(
      ({ url }) => setRenewed(url),
      (error: unknown) => isAbort(error) || refuse(),
    );
  };
  const goOn = ({ currentTarget: media }: { readonly currentTarget: HTMLMediaElement }): void => {
    if (!failed.current) return;
    media.currentTime = failed.current.at;
    if (failed.current.plays) void media.play().catch(() => undefined);
  };

  if (problem) return <ProblemNote problem={problem} onRetry={reload} />;
  const url = renewed ?? first;
  if (url === undefined) return <Spinner label={t('loading')} />;
  return (
    <div class={`preview-recording preview-${Media}`}>
      {Media === 'audio' && <FileIcon mimeType={entry.mimeType} name={entry.name} size="xl" />}
      <Media
        src={url}
        controls
        playsInline
        aria-label={entry.name}
        onPlay={() => void (plays.current = true)}
        onPause={() => void (plays.current = false)}
        onError={renew}
        onLoadedMetadata={goOn}
      />
    </div>
  );
}
