import type { NewOf, RowOf } from './columns.ts';
import * as content from './models/content.ts';
import * as events from './models/events.ts';
import * as identity from './models/identity.ts';
import * as lti from './models/lti.ts';

/** Every table of a tenant's schema, by the name that code uses. */
export const definitions = { ...identity, ...content, ...lti, ...events } as const;
export type Definitions = typeof definitions;

export type User = RowOf<Definitions['users']>;
export type NewUser = NewOf<Definitions['users']>;
export type Session = RowOf<Definitions['sessions']>;
export type NewSession = NewOf<Definitions['sessions']>;
export type RefreshToken = RowOf<Definitions['refreshTokens']>;
export type Group = RowOf<Definitions['groups']>;
export type GroupMember = RowOf<Definitions['groupMembers']>;
export type Folder = RowOf<Definitions['folders']>;
export type NewFolder = NewOf<Definitions['folders']>;
export type File = RowOf<Definitions['files']>;
export type NewFile = NewOf<Definitions['files']>;
export type FileVersion = RowOf<Definitions['fileVersions']>;
export type NewFileVersion = NewOf<Definitions['fileVersions']>;
export type Permission = RowOf<Definitions['permissions']>;
export type NewPermission = NewOf<Definitions['permissions']>;
export type Share = RowOf<Definitions['shares']>;
export type NewShare = NewOf<Definitions['shares']>;
export type Tag = RowOf<Definitions['tags']>;
export type FileTag = RowOf<Definitions['fileTags']>;
export type FileMetadata = RowOf<Definitions['fileMetadata']>;
export type LtiPlatform = RowOf<Definitions['ltiPlatforms']>;
export type LtiTool = RowOf<Definitions['ltiTools']>;
export type LtiDeployment = RowOf<Definitions['ltiDeployments']>;
export type LtiIdentity = RowOf<Definitions['ltiIdentities']>;
export type LtiLaunch = RowOf<Definitions['ltiLaunches']>;
export type LtiGrade = RowOf<Definitions['ltiGrades']>;
export type Webhook = RowOf<Definitions['webhooks']>;
export type NewWebhook = NewOf<Definitions['webhooks']>;
export type IdempotencyKey = RowOf<Definitions['idempotencyKeys']>;
