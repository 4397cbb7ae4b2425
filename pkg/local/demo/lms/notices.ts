import { LTI } from './claims.ts';
import type { Fault } from './faults.ts';
import { Refusal } from './refusal.ts';
import { SCOPE } from './scopes.ts';
import { type Call, Service } from './service.ts';
import type { TokenEndpoint } from './token.ts';

const TYPES = ['LtiHelloWorldNotice', 'LtiAssetProcessorSubmissionNotice', 'LtiContextCopyNotice'];

/**
 * Registers tools' addresses for notices (Platform Notification Service 1.0): `PUT /pns/{deployment}`. Each tool, deployment and
 * type has one address.
 */
export class NoticeHandlers {
  readonly service: Service;
  /** Addresses by `<client id> <deployment> <type>`. */
  readonly addresses = new Map<string, string>();

  constructor(issuer: string, tokens: TokenEndpoint) {
    this.service = new Service(issuer, tokens, ({ pathname }) => {
      const deployment = /^\/pns\/([^/]+)$/.exec(pathname)?.[1];
      const put = {
        scopes: [SCOPE.notices],
        takes: 'application/json',
        run: (call: Call) => this.#put(decodeURIComponent(deployment ?? ''), call),
      };
      return deployment === undefined ? undefined : { PUT: put };
    });
  }

  of(clientId: string, deployment = '1'): Record<string, string> {
    const prefix = `${clientId} ${deployment} `;
    const own = [...this.addresses].filter(([key]) => key.startsWith(prefix));
    return Object.fromEntries(own.map(([key, address]) => [key.slice(prefix.length), address]));
  }

  #put(deployment: string, { clientId, body }: Call) {
    const { notice_type: type, handler } = JSON.parse(body) as Record<string, unknown>;
    if (typeof type !== 'string' || !TYPES.includes(type)) throw new Refusal(400, `notice_type is one of ${TYPES.join(', ')}`);
    if (typeof handler !== 'string' || (handler !== '' && !URL.canParse(handler)))
      throw new Refusal(400, 'handler must be an address, or empty');
    this.addresses.set(`${clientId} ${deployment} ${type}`, handler);
    return { body: { notice_type: type, handler } };
  }
}

/** Makes a launch whose platform sends notices of these types. */
export const offersNotices = (issuer: string, types: readonly string[] = TYPES, deployment = '1'): Fault => ({
  claims: (claims) => {
    claims[`${LTI}/platformnotificationservice`] = {
      service_versions: ['1.0'],
      platform_notification_service_url: `${issuer}/pns/${deployment}`,
      scope: [SCOPE.notices],
      notice_types_supported: types,
    };
  },
});
