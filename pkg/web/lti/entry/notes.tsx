import type { ComponentChildren } from 'preact';
import { RequestId } from '../../design/request-id.tsx';
import { refusalInWords, type Refusal } from './messages.ts';
import { t } from '../../text/lti.ts';

/** A refusal in words, with its code, the id of its request, and a remedy. */
export function RefusalNote({ refusal, onRetry }: { refusal: Refusal; onRetry?: () => void }) {
  return (
    <div class="note">
      <div role="alert">
        <p>
          {refusalInWords(refusal)}{' '}
          <span class="code">
            {t('code')} <code>{refusal.code}</code>
          </span>
        </p>
      </div>
      <RequestId id={refusal.requestId} />
      {onRetry && (
        <button type="button" onClick={onRetry}>
          {t('tryAgain')}
        </button>
      )}
    </div>
  );
}

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
    <main>
      <h1>{t('ended.title')}</h1>
      <p role="alert">
        {t('ended.text')}{' '}
        <span class="code">
          {t('code')} <code>session_ended</code>
        </span>
      </p>
      {returnUrl && <WayBack url={returnUrl} />}
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
