import type { Actor, PermissionSet } from '../../../api/actor.ts';

/** An actor who asks for something, with the permission set that decides it. */
export interface Caller {
  readonly actor: Actor;
  readonly granted: PermissionSet;
}
