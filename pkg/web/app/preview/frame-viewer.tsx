import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { classes } from '../../design/classes.ts';
import { IconButton } from '../../design/icon-button.tsx';
import { Spinner } from '../../design/progress.tsx';
import { currentLanguage } from '../../text/language.ts';
import { t } from '../../text/preview.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useClient } from '../services.ts';
import { useLoaded } from '../use-loaded.ts';
import { type FrameKind, messageOf, type ToFrame } from './frame/protocol.ts';
import { resourceOf } from './pdf-resources.ts';
import type { ViewerProps } from './viewer-props.ts';

interface Props extends ViewerProps {
  readonly kind: FrameKind;
  /** Shows the text of which this is made. */
  readonly onSource?: (() => void) | undefined;
}

/**
 * A file that a script draws, in a frame that has no origin and no network: whatever a file makes that script do, it reaches
 * neither the page, nor its session and storage, nor any server. The frame gets the file's bytes by a message.
 */
export function FrameViewer({ entry, kind, stage, keys, onKey, onSource, onRefuse }: Props) {
  const client = useClient();
  const frame = useRef<HTMLIFrameElement>(null);
  const [isReady, setReady] = useState(false);
  const [isShown, setShown] = useState(false);
  const [link, setLink] = useState<string>();
  const { value, problem, reload } = useLoaded(
    async (signal) => {
      const reply = await client.send('GET', '/files/{id}/download', { path: { id: entry.id }, signal });
      return { bytes: await reply.arrayBuffer() };
    },
    [entry.id],
  );
  // An opaque origin has no name, so a message to it goes to whoever is in the frame: the page's policy lets no other site in.
  const send = (message: ToFrame): void => frame.current?.contentWindow?.postMessage(message, '*');
  const latest = useRef(onKey);
  latest.current = onKey;

  useEffect(() => {
    const receive = ({ source, data }: MessageEvent<unknown>): void => {
      const said = source === frame.current?.contentWindow ? messageOf(data) : undefined;
      switch (said?.type) {
        case 'ready':
          return setReady(true);
        case 'shown':
          setShown(true);
          // Keys scroll what is in the frame.
          if (document.activeElement === stage.current) frame.current?.focus();
          return undefined;
        case 'broken':
          return onRefuse(t('brokenFile'));
        case 'needs':
          return void resourceOf(said.name).then((bytes) => send({ type: 'resource', name: said.name, bytes }));
        case 'key':
          return latest.current(said.key);
        case 'link':
          return setLink(said.href);
        case undefined:
          return undefined;
      }
    };
    addEventListener('message', receive);
    return () => removeEventListener('message', receive);
  }, []);
  useLayoutEffect(() => {
    // Until then the keys are the browser's: there is nothing to find.
    if (kind !== 'pdf' || !isShown) return undefined;
    const find = (): void => {
      frame.current?.focus();
      send({ type: 'find' });
    };
    keys.current = { 'Mod+f': find };
    return () => void (keys.current = {});
  }, [isShown]);
  useEffect(() => {
    if (!isReady || !value) return;
    const { theme, contrast } = document.documentElement.dataset;
    send({ type: 'file', kind, name: entry.name, bytes: value.bytes, language: currentLanguage(), theme, contrast });
  }, [isReady, value]);

  if (problem) return <ProblemNote problem={problem} onRetry={reload} />;
  return (
    <>
      {!isShown && <Spinner label={t('loading')} />}
      {link !== undefined && <LinkQuestion href={link} onEnd={() => setLink(undefined)} />}
      {isShown && onSource && (
        <div class="preview-tools">
          <IconButton icon="code" label={t('source')} onClick={onSource} />
        </div>
      )}
      <iframe
        ref={frame}
        class={classes('preview-frame', !isShown && 'preview-frame-waiting')}
        title={t('content', { name: entry.name })}
        src="/preview-frame"
        sandbox="allow-scripts"
        referrerPolicy="no-referrer"
      />
    </>
  );
}

/** Asks before a link of a file is opened: it may say anything of where it leads. */
function LinkQuestion({ href, onEnd }: { readonly href: string; readonly onEnd: () => void }) {
  return (
    <div class="preview-link" role="alertdialog" aria-label={t('openLink')}>
      <p>
        {t('openLink')} <strong>{href}</strong>
      </p>
      <a class="c-button c-button-primary" href={href} target="_blank" rel="noopener noreferrer" onClick={onEnd}>
        {t('open')}
      </a>
      <Button onClick={onEnd}>{t('cancel')}</Button>
    </div>
  );
}
