import { Client } from './client.ts';
import { Session } from './session.ts';

const AUTH = '/api/v1/auth';

/** What a tab says to the other tabs of this browser. */
type Message = 'signed-out' | { readonly signedIn: string };

/** Creates the session of this tab and the client that uses it. Tabs renew one after the other, and sign in and out together. */
export function connect(): { readonly session: Session; readonly client: Client } {
  const channel = new BroadcastChannel('carrel:session');
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
  const say = (message: Message): void => channel.postMessage(message);
  const session = new Session({
    send: (path, body, token) =>
      fetch(`${AUTH}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
        body: JSON.stringify(body),
        credentials: 'same-origin',
        // A page that is left meanwhile would lose the new cookie, and the old one works once.
        keepalive: true,
      }),
    alone: async (task) => {
      if (navigator.locks) return navigator.locks.request('carrel:refresh', task);
      // Browsers have no locks on pages that came by plain http from another machine.
      const { aloneByLease } = await import('./lease.ts');
      return aloneByLease(task);
    },
    onSignIn: (userId) => say({ signedIn: userId }),
    onSignOut: () => say('signed-out'),
    onOtherPerson: () => location.reload(),
    now: () => performance.now(),
  });
  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    if (data === 'signed-out') session.endedElsewhere();
    else session.signedInElsewhere(data.signedIn);
  });
  return { session, client: new Client(session) };
}
