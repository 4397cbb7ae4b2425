import { useEffect, useRef } from 'preact/hooks';
import { Observed } from '../../api/observed.ts';
import { ApiProblem } from '../../api/problem.ts';
import type { Session } from '../../api/session.ts';
import { useObserved } from '../use-observed.ts';
import { Folders } from './folders.ts';
import { KeptUploads } from './kept.ts';
import { type Access, asking, pauseFor, Refused } from './request.ts';
import { Sender } from './sender.ts';
import { Uploader } from './uploader.ts';

/** The folder that dropped files go to. */
export interface DropTarget {
  /** null: the person's own root. */
  readonly folderId: string | null;
  readonly name: string;
}

/** The uploads of the person who is signed in. They outlive the page that started them. */
export const uploads = new Observed<Uploader | undefined>(undefined);

/** The target of what is dropped; undefined where the page shows no folder. */
export const dropTarget = new Observed<DropTarget | undefined>(undefined);

/** So often a list of files is read again at most while files arrive in it. */
const RELOAD_MS = 3_000;

/** Calls back, now and then, while uploads arrive in a folder or below it, and after the last of them. */
export function useArrivals(folderId: string | null, onArrival: () => void): void {
  const uploader = useObserved(uploads);
  const latest = useRef(onArrival);
  latest.current = onArrival;
  useEffect(() => {
    if (!uploader) return undefined;
    let seen = uploader.doneIn(folderId);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = uploader.subscribe(() => {
      if (uploader.doneIn(folderId) === seen) return;
      timer ??= setTimeout(
        () => {
          timer = undefined;
          seen = uploader.doneIn(folderId);
          latest.current();
        },
        uploader.queue.isUnderWay ? RELOAD_MS : 0,
      );
    });
    return () => {
      end();
      clearTimeout(timer);
    };
  }, [uploader, folderId]);
}

/** Makes a folder the target of what is dropped, while the calling component is shown. */
export function useDropTarget(target: DropTarget | undefined): void {
  useEffect(() => {
    dropTarget.set(target);
    return () => dropTarget.set(undefined);
  }, [target?.folderId, target?.name]);
}

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
  const sender = new Sender({ ask, folders: new Folders(ask) });
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
    async token(signal) {
      const done = new AbortController();
      try {
        const token = await Promise.race([
          refused === undefined ? session.current() : session.renewed(refused, signal),
          sessionEnd(session, AbortSignal.any([signal, done.signal])),
        ]);
        if (token === undefined) throw new Refused({ code: 'unauthenticated', message: '' });
        refused = undefined;
        return token;
      } catch (error) {
        throw error instanceof ApiProblem ? new Refused(error) : error;
      } finally {
        done.abort();
      }
    },
    refused(token) {
      refused = token;
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
