import { createHash } from 'node:crypto';
import type { Deployment } from '../../../kube/kinds.ts';
import { RELEASE_ANNOTATION } from '../../names.ts';
import type { OperatorSettings } from '../../settings.ts';

/** The settings of the operator that every tenant's pods get, beside the image. */
const POD_SETTINGS = ['trustedProxies', 'logLevel', 'egressAllow', 'trustedCertificates', 'traces', 'platformKeys'] as const;
export type PodSettings = Pick<OperatorSettings, (typeof POD_SETTINGS)[number]>;
export type ReleaseSettings = PodSettings & Pick<OperatorSettings, 'image'>;

/** What this operator gives to the pods of all tenants, hashed. A Tenant that names its own image gets the settings alone. */
export const releaseOf = ({ spec }: { readonly spec: { readonly image?: string } }, settings: ReleaseSettings): string =>
  createHash('sha256')
    .update(
      JSON.stringify([spec.image === undefined ? settings.image : null, ...POD_SETTINGS.map((name) => settings[name] ?? null)]),
    )
    .digest('hex')
    .slice(0, 16);

/** What a Deployment's pods are started with; undefined: by an operator that did not write it down. */
export const releaseIn = ({ spec }: Deployment): string | undefined => spec?.template.metadata?.annotations?.[RELEASE_ANNOTATION];
