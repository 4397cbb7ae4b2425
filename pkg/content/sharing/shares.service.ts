import type { Passwords } from '../../accounts/passwords.ts';
import type { Actor } from '../../api/actor.ts';
import type { RequestInfo } from '../../api/endpoint.ts';
import { requireMatch } from '../../api/etag.ts';
import { listPage, type Page } from '../../api/paging.ts';
import { invalid, Problem } from '../../api/problem.ts';
import type { Uuid } from '../../api/schemas.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { Parameters } from '../../store/postgres/keyset.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import type { Caller } from '../model/access/caller.ts';
import { type AuthorizedTransactions, authorizedTransactions } from '../model/access/authorized-transactions.ts';
import { levelOn } from '../model/access/inherited-access.policy.ts';
import { requireShared } from './grants.service.ts';
import type { Resource } from '../model/access/grants.sql.ts';
import { nameContains } from '../model/names/names.sql.ts';
import {
  findShare,
  FOLDED_NAME,
  insertShare,
  IS_LIVE,
  makerIsAdmin,
  SHARE_COLUMNS,
  SHARE_JOINS,
  type ShareRow,
  SHARES,
} from './shares.sql.ts';
import { requireLawfulChange } from './link-rules.policy.ts';
import { presentShare, shareEtag } from './shares.view.ts';
import type {
  AllSharesQuery,
  NewFolderShare,
  NewShare,
  ShareChanges,
  ShareMode,
  ShareQuery,
  ShareView,
} from './shares.schema.ts';

const TOKEN_BYTES = 32;
const NO_DOWNLOADS = 'must not be set: this link is for uploads only';

export type HashedShare = Omit<NewShare, 'password'> & { readonly passwordHash: string | null; readonly mode?: ShareMode };

/**
 * Share links: a token of 64 characters opens one file or folder to anybody who has it.
 *
 * Invariants:
 * - Creating, seeing and changing the links of a file or folder requires the level admin on it and the permission to share files.
 *   For everybody else a link does not exist (404), with two exceptions. Administrators see every link without its token, and may
 *   delete it. The maker of a link who has lost the permission may still see it, switch it off and delete it.
 * - No link is created or changed against the tenant's policy. A link that breaks a later policy says so, and works for nobody.
 * - Passwords are stored as argon2id hashes, and hashed outside transactions.
 */
export class Shares {
  readonly #db: Database;
  readonly #transactions: AuthorizedTransactions;
  readonly #passwords: () => Passwords;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #appUrl: string;

  constructor(deps: {
    db: Database;
    cache: TaggedCache;
    passwords: () => Passwords;
    clock: Clock;
    random: Random;
    appUrl: string;
  }) {
    this.#db = deps.db;
    this.#transactions = authorizedTransactions(deps);
    this.#passwords = deps.passwords;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#appUrl = deps.appUrl;
  }

  /** Runs two statements. Throws `not_found`, `forbidden`, `share_policy`, and `validation_failed` for impossible terms. */
  async create(actor: Actor, resource: Resource, { password, ...input }: NewShare | NewFolderShare): Promise<ShareView> {
    return this.createHashed(actor, resource, { ...input, passwordHash: (await this.#hash(password)) ?? null });
  }

  /** Like `create`, but takes the hash of a password; null means no password. */
  async createHashed(actor: Actor, resource: Resource, input: HashedShare): Promise<ShareView> {
    const { mode = 'download', passwordHash, max_downloads: maxDownloads = null } = input;
    const expiresAt = this.#end(input.expires_at);
    if (mode === 'upload' && maxDownloads !== null) throw invalid('max_downloads', NO_DOWNLOADS);
    return this.#transactions.run(actor, async (tx, caller) => {
      const { id: resourceId } = await requireShared(tx, caller, resource, true);
      const row = await insertShare(tx, {
        uuid: this.#random.uuid(),
        token: this.#random.hex(TOKEN_BYTES),
        kind: resource.kind,
        resourceId,
        mode,
        createdBy: actor.userId,
        passwordHash,
        expiresAt,
        maxDownloads,
        now: this.#clock.now(),
      });
      if (!row) throw new Problem('not_found');
      return presentShare(row, true, this.#appUrl);
    });
  }

  /** Lists the links of a file or folder, but not those of its content. Runs two statements. Throws `not_found`, `forbidden`. */
  async listOf(actor: Actor, resource: Resource, query: ShareQuery): Promise<Page<ShareView>> {
    const caller = { actor, granted: await actor.permissionSet() };
    const { id } = await requireShared(this.#db.tables, caller, resource);
    return this.#page(query, caller, (params) => [`s.${resource.kind}_id = ${params.add(id)}`]);
  }

  /**
   * Lists the links that the actor made, if they are still admin of the file or folder; for an administrator, all links. `owner`
   * selects the links that this user made. Runs one statement.
   */
  async list(actor: Actor, { owner, q, ...query }: AllSharesQuery): Promise<Page<ShareView>> {
    const caller = { actor, granted: await actor.permissionSet() };
    return this.#page(query, caller, (params) => [
      ...(isAdministrator(actor)
        ? []
        : [`s.created_by = ${params.add(actor.userId)}`, makerIsAdmin(params.add(this.#clock.now()))]),
      ...(owner === undefined ? [] : [`s.created_by = (SELECT u.id FROM users u WHERE u.uuid = ${params.add(owner)})`]),
      ...(q === undefined ? [] : [nameContains(FOLDED_NAME, params.add(q))]),
    ]);
  }

  /** Runs one statement. Throws `not_found`. */
  async get(actor: Actor, id: Uuid): Promise<ShareView> {
    const caller = { actor, granted: await actor.permissionSet() };
    const row = await findShare(this.#db.tables, id);
    return presentShare(required(caller, row), isOpenTo(caller, row), this.#appUrl);
  }

  /**
   * Serves PUT and PATCH. Runs three statements. Throws `not_found`, `forbidden`, `precondition_failed`, `share_policy`, and
   * `validation_failed` for an end in the past.
   */
  async change(actor: Actor, id: Uuid, changes: ShareChanges, ifMatch: RequestInfo['ifMatch']): Promise<ShareView> {
    const expiresAt = this.#end(changes.expires_at);
    const passwordHash = await this.#hash(changes.password);
    return this.#transactions.run(actor, async (tx, caller) => {
      const row = required(caller, await findShare(tx, id, true));
      if (!isOpenTo(caller, row))
        throw new Problem('forbidden', `Only an admin of the ${row.kind} can change its links; you can delete this one.`);
      if (!mayShare(actor) && !isSwitchingOff(changes))
        throw new Problem('forbidden', 'You may no longer share files; you can only switch this link off or delete it.');
      requireMatch(ifMatch, shareEtag(row, true));
      const { max_downloads: maxDownloads, is_active: isActive } = changes;
      if (row.mode === 'upload' && typeof maxDownloads === 'number') throw invalid('max_downloads', NO_DOWNLOADS);
      await tx.shares.update({ id: row.id }, { passwordHash, expiresAt, maxDownloads, isActive });
      const changed = required(caller, await findShare(tx, id));
      requireLawfulChange(changed.policy, row, changed, changes);
      return presentShare(changed, true, this.#appUrl);
    });
  }

  /** Runs two statements. Throws `not_found`, `precondition_failed`. */
  async remove(actor: Actor, id: Uuid, ifMatch: RequestInfo['ifMatch']): Promise<void> {
    await this.#transactions.run(actor, async (tx, caller) => {
      const row = required(caller, await findShare(tx, id, true));
      requireMatch(ifMatch, shareEtag(row, isOpenTo(caller, row)));
      await tx.shares.delete({ id: row.id });
    });
  }

  #page(query: ShareQuery, caller: Caller, where: (params: Parameters) => readonly string[]): Promise<Page<ShareView>> {
    return listPage(this.#db, query, {
      keyset: SHARES,
      columns: SHARE_COLUMNS,
      from: `shares ${SHARE_JOINS}`,
      where: (params) => [IS_LIVE, ...where(params)],
      present: (row) => presentShare(row, isOpenTo(caller, row), this.#appUrl),
    });
  }

  /** Returns undefined and null unchanged. */
  async #hash(password: string | null | undefined): Promise<string | null | undefined> {
    return typeof password === 'string' ? this.#passwords().hash(password) : password;
  }

  #end(named: string | null | undefined): Date | null | undefined {
    if (typeof named !== 'string') return named;
    const end = new Date(named);
    if (end <= this.#clock.now()) throw invalid('expires_at', 'must be in the future');
    return end;
  }
}

const isOpenTo = (caller: Caller, row: ShareRow | null): boolean =>
  row !== null &&
  (mayShare(caller.actor) || row.creatorUuid === caller.actor.userUuid) &&
  levelOn(row.kind, caller, { ...row, uuid: row.resourceUuid }) === 'admin';

const mayShare = (actor: Actor): boolean => actor.permissions.has('share:files');

const isSwitchingOff = ({ is_active, ...others }: ShareChanges): boolean =>
  is_active === false && Object.values(others).every((value) => value === undefined);

/** Administrators are those who manage users. */
const isAdministrator = (actor: Actor): boolean => actor.permissions.has('write:users');

/** Throws `not_found` if the actor may not see the link. */
function required(caller: Caller, row: ShareRow | null): ShareRow {
  if (!row || !(isAdministrator(caller.actor) || isOpenTo(caller, row))) throw new Problem('not_found');
  return row;
}
