import { ApiProblem } from '../../api/problem.ts';
import type { Session } from '../../api/session.ts';
import { uploads } from './current.ts';
import { Folders } from './folders.ts';
import { KeptUploads } from '../../uploads/kept.ts';
import { type Access, asking, pauseFor, Refused } from '../../uploads/request.ts';
import { Uploader } from '../../uploads/uploader.ts';
import { FileSender } from './file-sender.ts';

const started = new WeakSet<Session>();

/** The uploads of the person who is signed in. */
interface Begun {
  readonly uploader: Uploader;
  readonly kept: KeptUploads;
  /** `isForgotten`: nothing of them continues, in no tab. */
  readonly end: (options: { readonly isForgotten: boolean }) => void;
}

/**
 * Makes the uploads of whoever signs in, and ends them with a sign-out, which forgets them. Those of a session that has only
 * ended continue when the same person comes back. Further calls do nothing.
 */
export function startUploads(session: Session): void {
  if (started.has(session)) return;
  started.add(session);
  let person: string | undefined;
  let begun: Begun | undefined;
  const follow = (): void => {
    const { value } = session.state;
    const next = 'user' in value ? value.user.id : undefined;
    if (next !== person) {
      begun?.end({ isForgotten: session.isSignOutWished });
      person = next;
      begun = next === undefined ? undefined : begin(session, next);
    }
    if (!begun) return;
    const { uploader, kept } = begun;
    if (value.name === 'ended') {
      uploader.queue.hold = { reason: 'signed-out' };
      kept.hold();
    } else {
      uploader.queue.release('signed-out');
      if (kept.resume()) uploader.keepAgain();
    }
  };
  session.state.subscribe(follow);
  follow();
}

function begin(session: Session, person: string): Begun {
  const ended = new AbortController();
  const { signal } = ended;
  const ask = asking(accessOf(session), (allowance) => {
    const pause = pauseFor(allowance, Date.now());
    if (pause > 0) uploader.queue.hold = { reason: 'busy', until: Date.now() + pause };
  });
  const kept = new KeptUploads(person, () => uploader.cannotKeep());
  const sender = new FileSender({ ask, folders: new Folders(ask) });
  const uploader = new Uploader({ sender, kept, now: () => Date.now() });
  const offline = (): void => void (uploader.queue.hold = { reason: 'offline' });
  if (!navigator.onLine) offline();
  addEventListener('offline', offline, { signal });
  addEventListener('online', () => uploader.queue.release('offline'), { signal });
  addEventListener('beforeunload', (event) => uploader.queue.isUnderWay && event.preventDefault(), { signal });
  uploads.set(uploader);
  // Without what it kept, the page still uploads.
  void uploader.restore().catch(() => undefined);
  const end: Begun['end'] = (options) => {
    ended.abort();
    uploads.set(undefined);
    uploader.leave();
    void kept.close(options);
  };
  return { uploader, kept, end };
}

/** Requests of uploads do not wait for a sign-in, as others do: the list shows that it waits. */
function accessOf(session: Session): Access {
  let refused: string | undefined;
  return {
    async headers(signal) {
      const done = new AbortController();
      try {
        const token = await Promise.race([
          refused === undefined ? session.current() : session.renewed(refused, signal),
          sessionEnd(session, AbortSignal.any([signal, done.signal])),
        ]);
        if (token === undefined) throw new Refused({ code: 'unauthenticated', message: '' });
        refused = undefined;
        return { Authorization: `Bearer ${token}` };
      } catch (error) {
        throw error instanceof ApiProblem ? new Refused(error) : error;
      } finally {
        done.abort();
      }
    },
    refused({ Authorization: header }) {
      refused = header?.slice('Bearer '.length);
    },
  };
}

/** Resolves when nobody is signed in, or the signal aborts. */
function sessionEnd({ state }: Session, signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (state.value.name === 'signed-in' && !signal.aborted) return;
      stop();
      resolve(undefined);
    };
    const stop = state.subscribe(look);
    signal.addEventListener('abort', look);
    look();
  });
}
