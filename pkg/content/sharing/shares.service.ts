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
import {
  findShare,
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

export type HashedShare = Omit<NewShare, 'password'> & { readonly passwordHash: string | null; readonly mode?: ShareMode };

/**
 * Share links: a token of 64 characters opens one file or folder to anybody who has it.
 *
 * Invariants:
 * - Making, seeing and changing the links of a file or folder requires the level admin on it and the permission to share files.
 *   To others a link does not exist (404), but for administrators, who see every link without its token and may delete it, and
 *   for whoever made it: without that permission they see it, switch it off and delete it.
 * - No link is made or changed against the tenant's policy; one that breaks it since shows so, and works for nobody.
 * - Passwords are stored as argon2id hashes, and hashed outside of transactions.
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

  /** Two statements. Throws `not_found`, `forbidden`, `share_policy`, and `validation_failed` for terms that cannot be. */
  async create(actor: Actor, resource: Resource, { password, ...input }: NewShare | NewFolderShare): Promise<ShareView> {
    return this.createHashed(actor, resource, { ...input, passwordHash: (await this.#hash(password)) ?? null });
  }

  /** Like `create`, but takes the hash of a password; null means no password. */
  async createHashed(actor: Actor, resource: Resource, input: HashedShare): Promise<ShareView> {
    const { mode = 'download', passwordHash, max_downloads: maxDownloads = null } = input;
    const expiresAt = this.#end(input.expires_at);
    if (mode === 'upload' && maxDownloads !== null) throw invalid('max_downloads', 'is not for a link of uploads alone');
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

  /** All links of a file or folder, not of what is in it. Two statements. Throws `not_found`, `forbidden`. */
  async of(actor: Actor, resource: Resource, query: ShareQuery): Promise<Page<ShareView>> {
    const caller = { actor, granted: await actor.permissionSet() };
    const { id } = await requireShared(this.#db.tables, caller, resource);
    return this.#page(query, caller, (params) => [`s.${resource.kind}_id = ${params.add(id)}`]);
  }

  /**
   * The actor's own, of what they may still share; all of them for an administrator. `owner`: of these those that this user made.
   * One statement.
   */
  async list(actor: Actor, { owner, ...query }: AllSharesQuery): Promise<Page<ShareView>> {
    const caller = { actor, granted: await actor.permissionSet() };
    return this.#page(query, caller, (params) => [
      ...(isAdministrator(actor)
        ? []
        : [`s.created_by = ${params.add(actor.userId)}`, makerIsAdmin(params.add(this.#clock.now()))]),
      ...(owner === undefined ? [] : [`s.created_by = (SELECT u.id FROM users u WHERE u.uuid = ${params.add(owner)})`]),
    ]);
  }

  /** One statement. Throws `not_found`. */
  async get(actor: Actor, id: Uuid): Promise<ShareView> {
    const caller = { actor, granted: await actor.permissionSet() };
    const row = await findShare(this.#db.tables, id);
    return presentShare(required(caller, row), isOpenTo(caller, row), this.#appUrl);
  }

  /**
   * PUT and PATCH. Three statements. Throws `not_found`, `forbidden`, `precondition_failed`, `share_policy`, and
   * `validation_failed` for an end that is past.
   */
  async change(actor: Actor, id: Uuid, changes: ShareChanges, ifMatch: RequestInfo['ifMatch']): Promise<ShareView> {
    const expiresAt = this.#end(changes.expires_at);
    const passwordHash = await this.#hash(changes.password);
    return this.#transactions.run(actor, async (tx, caller) => {
      const row = required(caller, await findShare(tx, id, true));
      if (!isOpenTo(caller, row))
        throw new Problem('forbidden', `Only an admin of the ${row.kind} changes its links; you may delete this one.`);
      if (!mayShare(actor) && !isSwitchingOff(changes))
        throw new Problem('forbidden', 'You may no longer share files; switch this link off or delete it.');
      requireMatch(ifMatch, shareEtag(row, true));
      const { max_downloads: maxDownloads, is_active: isActive } = changes;
      if (row.mode === 'upload' && typeof maxDownloads === 'number')
        throw invalid('max_downloads', 'is not for a link of uploads alone');
      await tx.shares.update({ id: row.id }, { passwordHash, expiresAt, maxDownloads, isActive });
      const changed = required(caller, await findShare(tx, id));
      requireLawfulChange(changed.policy, row, changed, changes);
      return presentShare(changed, true, this.#appUrl);
    });
  }

  /** Two statements. Throws `not_found`, `precondition_failed`. */
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

/** Throws `not_found` where the actor may not know of the link. */
function required(caller: Caller, row: ShareRow | null): ShareRow {
  if (!row || !(isAdministrator(caller.actor) || isOpenTo(caller, row))) throw new Problem('not_found');
  return row;
}
