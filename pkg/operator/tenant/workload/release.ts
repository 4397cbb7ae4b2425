import { createHash } from 'node:crypto';
import type { Deployment } from '../../../kube/kinds.ts';
import { RELEASE_ANNOTATION } from '../../names.ts';
import type { OperatorSettings } from '../../settings.ts';

/** The operator's settings that every tenant's pods get, beside the image. */
const POD_SETTINGS = ['trustedProxies', 'logLevel', 'egressAllow', 'trustedCertificates', 'traces', 'platformKeys'] as const;
export type PodSettings = Pick<OperatorSettings, (typeof POD_SETTINGS)[number]>;
export type ReleaseSettings = PodSettings & Pick<OperatorSettings, 'image'>;

/**
 * Returns a hash of the settings and the image that all tenants' pods share. A Tenant with its own image shares only the
 * settings.
 */
export const releaseOf = ({ spec }: { readonly spec: { readonly image?: string } }, settings: ReleaseSettings): string =>
  createHash('sha256')
    .update(
      JSON.stringify([spec.image === undefined ? settings.image : null, ...POD_SETTINGS.map((name) => settings[name] ?? null)]),
    )
    .digest('hex')
    .slice(0, 16);

/** Returns the release with which a Deployment's pods start, or undefined if the operator that wrote it did not record one. */
export const releaseIn = ({ spec }: Deployment): string | undefined => spec?.template.metadata?.annotations?.[RELEASE_ANNOTATION];
