import { LinkButton } from '../design/button.tsx';

interface Answered {
  readonly status: number;
  /** Method and address. */
  readonly request: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** What came back of a request: a reply with a text or a file, or no reply. */
export type Received =
  | ({ readonly kind: 'text'; readonly text: string } & Answered)
  | ({ readonly kind: 'file'; readonly name: string; readonly size: number; readonly address: string } & Answered)
  | { readonly kind: 'failed'; readonly message: string };

export function Reply({ received }: { received: Received }) {
  if (received.kind === 'failed') return <p class="r-status r-refused">No reply: {received.message}</p>;
  const { status, request, headers } = received;
  return (
    <section class="r-reply" aria-label="Reply">
      <p class={status < 400 ? 'r-status' : 'r-status r-refused'}>
        <strong>{status}</strong> <code>{request}</code>
      </p>
      {received.kind === 'file' ? (
        <p class="r-send">
          <span>{received.size.toLocaleString('en')} bytes</span>
          <LinkButton href={received.address} isDownload fileName={received.name}>
            Save the body
          </LinkButton>
        </p>
      ) : (
        received.text !== '' && (
          // A region that scrolls takes the focus, so that the keyboard can scroll it.
          <pre tabIndex={0} role="region" aria-label="Body of the reply">
            {received.text}
          </pre>
        )
      )}
      <details>
        <summary>Headers</summary>
        <pre tabIndex={0} role="region" aria-label="Headers of the reply">
          {headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
        </pre>
      </details>
    </section>
  );
}
