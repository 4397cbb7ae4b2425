import { etagOf } from '../api/etag.ts';
import { type GroupOrigin, kindOf, managerOf } from './groups.policy.ts';
import type { GroupView } from './groups.schema.ts';

export interface GroupRow extends GroupOrigin {
  readonly id: number;
  readonly uuid: string;
  readonly name: string;
  readonly description: string | null;
  readonly memberCount: number;
  readonly revision: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Covers everything that is shown: a 304 must not hide a new member. */
export const groupEtag = (group: GroupRow): string =>
  etagOf('group', group.uuid, JSON.stringify([group.revision, group.memberCount, managerOf(group)]));

export const presentGroup = (group: GroupRow): GroupView => ({
  id: group.uuid,
  name: group.name,
  description: group.description,
  kind: kindOf(group),
  member_count: group.memberCount,
  managed_by: managerOf(group),
  created_at: group.createdAt.toISOString(),
  updated_at: group.updatedAt.toISOString(),
  etag: groupEtag(group),
});
