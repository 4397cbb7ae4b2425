import type { Session } from '../../api/session.ts';
import { forgetKept } from '../../uploads/kept-store.ts';
import { uploads } from './current.ts';

/**
 * Forgets what this browser keeps of the uploads of a person who signs out before the page can upload. On a slow line its script
 * comes late, or not at all; once it is there, the uploads themselves end with the sign-out.
 */
export function forgetAtEarlySignOut(session: Pick<Session, 'state' | 'isSignOutWished'>, forget = forgetKept): void {
  let person: string | undefined;
  session.state.subscribe(() => {
    const { value } = session.state;
    const before = person;
    person = 'user' in value ? value.user.id : undefined;
    if (before === undefined || person !== undefined || !session.isSignOutWished || uploads.value) return;
    // Where the browser allows no storage, nothing is kept.
    forget(before).catch(() => undefined);
  });
}
