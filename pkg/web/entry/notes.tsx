import { refusalInWords, type Refusal } from './messages.ts';

/** A refusal in words, with its code, and what to do about it. */
export function RefusalNote({ refusal, onRetry }: { refusal: Refusal; onRetry?: () => void }) {
  return (
    <div class="note" role="alert">
      <p>
        {refusalInWords(refusal)}{' '}
        <span class="code">
          Code: <code>{refusal.code}</code>
        </span>
      </p>
      {onRetry && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Back to the LMS, instead of the page that frames this one. */
export const WayBack = ({ url }: { url: string }) => (
  <footer>
    <a href={url} target="_top">
      Back to the course
    </a>
  </footer>
);

/** The whole page, once nothing more can be asked; or from the start, where the browser did not keep the session over a reload. */
export function Ended({ returnUrl }: { returnUrl?: string | null | undefined }) {
  return (
    <main>
      <h1>Open the link again</h1>
      <p role="alert">
        This session has ended, or your browser did not keep it. Open the link in your course again.{' '}
        <span class="code">
          Code: <code>session_ended</code>
        </span>
      </p>
      {returnUrl && <WayBack url={returnUrl} />}
    </main>
  );
}
