import type { Migration } from '../migration.ts';
import { tenants } from './0001-tenants.ts';
import { adopting } from './0002-adopting.ts';
import { storageLocations } from './0003-storage-locations.ts';
import { adoptionTokens } from './0004-adoption-tokens.ts';
import { connections } from './0005-connections.ts';
import { leftHosts } from './0006-left-hosts.ts';
import { knownConnections } from './0007-known-connections.ts';
import { sharedLocations } from './0008-shared-locations.ts';
import { credentials } from './0009-credentials.ts';
import { pausedRollouts } from './0010-paused-rollouts.ts';
import { moves } from './0011-moves.ts';
import { dataKeys } from './0012-data-keys.ts';

/** In their order. */
export const registryMigrations: readonly Migration<object>[] = [
  tenants,
  adopting,
  storageLocations,
  adoptionTokens,
  connections,
  leftHosts,
  knownConnections,
  sharedLocations,
  credentials,
  pausedRollouts,
  moves,
  dataKeys,
];
