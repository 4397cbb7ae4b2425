import { bigint, boolean, filled, integer, nullable, oneOf, table, text, texts, timestamp, uuid } from '../columns.ts';

/** docs/design/records.md, LTI: platform; `tokenAudience` and `frameAncestors` come from the registration. */
export const ltiPlatforms = table('lti_platforms', ['id'], {
  id: filled(integer),
  issuer: text,
  authEndpoint: text,
  tokenEndpoint: text,
  jwksEndpoint: text,
  platformName: nullable(text),
  tokenAudience: nullable(text),
  frameAncestors: filled(texts),
  isActive: filled(boolean),
  revision: filled(bigint),
  createdAt: filled(timestamp),
  updatedAt: filled(timestamp),
});

/**
 * docs/design/records.md, LTI: registration. `privateKey` is sealed. Only `managedBy` may change it, if set; `managedRef` is its
 * resource there.
 */
export const ltiTools = table('lti_tools', ['id'], {
  id: filled(integer),
  clientId: text,
  consumerKey: text,
  toolUrl: text,
  publicKey: nullable(text),
  privateKey: nullable(text),
  keyId: nullable(text),
  scope: filled(text),
  platformId: nullable(integer),
  deepLinkingResponseMode: filled(oneOf('Query', 'FormPost')),
  /** The handling of deployments that are not listed. */
  deploymentPolicy: filled(oneOf('Listed', 'Confirm')),
  isActive: filled(boolean),
  managedBy: nullable(text),
  managedRef: nullable(text),
  /** The id that clients see. */
  uuid: filled(uuid),
  revision: filled(bigint),
  createdAt: filled(timestamp),
  updatedAt: filled(timestamp),
});

/** The user of a platform's `sub`, and the data that the platform sent about them last. */
export const ltiIdentities = table('lti_identities', ['platformId', 'subject'], {
  platformId: integer,
  subject: text,
  userId: bigint,
  lmsName: nullable(text),
  lmsEmail: nullable(text),
  createdAt: filled(timestamp),
});

/** docs/design/records.md, LTI: launch. State and nonce are unique, so that one insert decides that they are used once. */
export const ltiLaunches = table('lti_launches', ['id'], {
  id: filled(integer),
  launchId: text,
  toolId: integer,
  platformId: integer,
  userId: nullable(text),
  contextId: nullable(text),
  contextLabel: nullable(text),
  resourceLinkId: nullable(text),
  deploymentId: nullable(text),
  launchToken: nullable(text),
  stateToken: nullable(text),
  nonce: nullable(text),
  roles: filled(texts),
  agsLineitemsUrl: nullable(text),
  agsLineitemUrl: nullable(text),
  agsScopes: filled(texts),
  nrpsUrl: nullable(text),
  returnUrl: nullable(text),
  platformUrl: nullable(text),
  launchedAt: filled(timestamp),
  expiresAt: nullable(timestamp),
  /** The user whose submission the launch reviews. */
  forUser: nullable(text),
  /** The time when a deep linking request was answered. */
  answeredAt: nullable(timestamp),
});
