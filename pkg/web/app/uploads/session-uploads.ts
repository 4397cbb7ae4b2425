import { ApiProblem } from '../../api/problem.ts';
import type { Session } from '../../api/session.ts';
import { uploads } from './current.ts';
import { Folders } from './folders.ts';
import { KeptUploads } from '../../uploads/kept.ts';
import { type Access, asking, pauseFor, Refused } from '../../uploads/request.ts';
import { Uploader } from '../../uploads/uploader.ts';
import { FileSender } from './file-sender.ts';

const started = new WeakSet<Session>();

/** Makes the uploads of whoever signs in, and ends them with a sign-out. Further calls do nothing. */
export function startUploads(session: Session): void {
  if (started.has(session)) return;
  started.add(session);
  let person: string | undefined;
  let end = (): void => undefined;
  const follow = (): void => {
    const { value } = session.state;
    const next = 'user' in value ? value.user.id : undefined;
    if (next !== person) {
      end();
      person = next;
      end = next === undefined ? () => undefined : begin(session, next);
    }
    const queue = uploads.value?.queue;
    if (value.name === 'ended' && queue) queue.hold = { reason: 'signed-out' };
    else queue?.release('signed-out');
  };
  session.state.subscribe(follow);
  follow();
}

/** Returns how to end them; what is kept of them continues at the next sign-in. */
function begin(session: Session, person: string): () => void {
  const ended = new AbortController();
  const { signal } = ended;
  const ask = asking(accessOf(session), (allowance) => {
    const pause = pauseFor(allowance, Date.now());
    if (pause > 0) uploader.queue.hold = { reason: 'busy', until: Date.now() + pause };
  });
  const kept = new KeptUploads(person);
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
  return () => {
    ended.abort();
    uploads.set(undefined);
    uploader.leave();
    kept.release();
  };
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
