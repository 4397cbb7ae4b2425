import { randomUUID } from 'node:crypto';
import type { ProblemCode } from '../../../pkg/api/error-catalogue.ts';
import type { Api } from '../clients/api.ts';
import type { Body, World } from './world.ts';

/** A request of an operation. */
export interface Request {
  /** Left out: ada. */
  readonly by?: Api;
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** In place of `body`: bytes of a media type. */
  readonly bytes?: { readonly type: string; readonly text: string };
  /** In place of `body`: a form with a file. */
  readonly form?: { readonly name: string; readonly text: string; readonly fields?: Readonly<Record<string, string>> };
}

export type Make = (world: World) => Promise<Request> | Request;

/** The requests of an operation: one that succeeds, and one for each of its own errors. */
export interface Cases {
  readonly success: Make;
  /**
   * A stranger's request, and one for an id that does not exist, are made from the success. What more can be wrong stands here.
   */
  readonly errors?: Readonly<Partial<Record<ProblemCode, Make>>>;
  /** The reply to a user without access to the resource; left out: they do not find it. `same`: everybody may. */
  readonly stranger?: 'forbidden' | 'same';
  /** Everybody who is signed in may ask for it: `forbidden` is about something in the request. */
  readonly isOpen?: boolean;
  /** The errors that none of these requests causes, each with its reason. */
  readonly unseen?: Readonly<Partial<Record<ProblemCode, string>>>;
}

export const NOBODY = randomUUID();
export const of = ({ id }: Body): Request => ({ params: { id } });
export const byBob = (world: World, request: Request): Request => ({ by: world.bob.api, ...request });
export const byAdmin = (world: World, request: Request = {}): Request => ({ by: world.tenant.admin, ...request });

/** Returns the case with more in its request. */
export const plus =
  (make: Make, more: Request): Make =>
  async (world) => ({ ...(await make(world)), ...more });

export const file: Make = async (w) => of(await w.file());
export const folder: Make = async (w) => of(await w.folder());
export const versions: Make = async (w) => ({ params: { id: (await w.versions()).id, number: 1 } });
/** Requests by bob, who may read the item. */
export const readFile: Make = async (w) => byBob(w, of(await w.shared('file')));
export const readFolder: Make = async (w) => byBob(w, of(await w.shared('folder')));
/** Administrators alone. */
export const administrators = (success: Make, errors: Cases['errors'] = {}): Cases => ({
  success: async (w) => byAdmin(w, await success(w)),
  stranger: 'forbidden',
  errors,
});
export const DELETED_MEANWHILE = 'the caller would have to be deleted between the check of the token and the read of the user';
export const TOO_LARGE = 'of a folder with more files and folders than a test of all operations makes';
