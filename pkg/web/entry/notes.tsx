import { refusalInWords, type Refusal } from './words.ts';

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

/** The whole page, once nothing more can be asked. */
export function Ended() {
  return (
    <main>
      <h1>This session has ended</h1>
      <p role="alert">
        Open it again from your course.{' '}
        <span class="code">
          Code: <code>session_ended</code>
        </span>
      </p>
    </main>
  );
}
