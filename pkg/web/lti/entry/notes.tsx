import type { ComponentChildren } from 'preact';
import { Button } from '../../design/button.tsx';
import { Notice } from '../../design/badge.tsx';
import { RequestId } from '../../design/request-id.tsx';
import { refusalInWords, type Refusal } from './messages.ts';
import { t } from '../../text/lti.ts';

/** A refusal in words, with its code, the id of its request, and a remedy. */
export function RefusalNote({ refusal, onRetry }: { refusal: Refusal; onRetry?: () => void }) {
  return (
    <div class="note">
      <Notice tone="danger" actions={onRetry && <Again onRetry={onRetry} />}>
        <p>
          {refusalInWords(refusal)} <Code code={refusal.code} />
        </p>
      </Notice>
      <RequestId id={refusal.requestId} />
    </div>
  );
}

const Again = ({ onRetry }: { onRetry: () => void }) => (
  <Button size="s" onClick={onRetry}>
    {t('tryAgain')}
  </Button>
);

/** What to tell somebody who helps. It has the colour of the text around it. */
const Code = ({ code }: { code: string }) => (
  <small>
    {t('code')} <code>{code}</code>
  </small>
);

/** Leads back to the LMS, in place of the page that frames this one. */
export const WayBack = ({ url }: { url: string }) => (
  <footer>
    <a href={url} target="_top">
      {t('backToCourse')}
    </a>
  </footer>
);

/**
 * Replaces the whole page once the session has ended, or from the start if the browser did not keep the session over a reload.
 */
export function Ended({ returnUrl }: { returnUrl?: string | null | undefined }) {
  return (
    <main class="card">
      <div class="card-body">
        <h1>{t('ended.title')}</h1>
        <p role="alert">
          {t('ended.text')} <Code code="session_ended" />
        </p>
        {returnUrl && <WayBack url={returnUrl} />}
      </div>
    </main>
  );
}

/** A text whose `{time}` is an element. */
export function Filled({ text, value }: { text: string; value: ComponentChildren }) {
  const [before, after] = text.split('{time}');
  return (
    <>
      {before}
      {value}
      {after}
    </>
  );
}
