import { retryAfterMs, retryDelayMs } from '../../api/retry-schedule.ts';
import { processor, TryLater, type WorkerServices } from '../../events/processor.ts';
import { EgressError } from '../../net/egress-error.ts';
import type { Clock } from '../../runtime/clock.ts';
import { SealError } from '../../runtime/sealing.ts';
import { answerText, isFinalEgress, mayPass, shownAnswer } from '../services/lms-answers.policy.ts';
import { findServiceRegistration, serviceClient } from '../services/service-client.ts';
import { type ServiceClient, ServiceTokenError, ServiceTokens } from '../services/service-tokens.ts';
import { NOTICE_SCOPE, NOTICE_TYPES } from './notice-types.ts';
import { REGISTER_HANDLER } from './notices.jobs.ts';
import { handlerAddress, noteHandler } from './handlers.sql.ts';

const TIMEOUT_MS = 15_000;
const REPLY_BYTES_MAX = 64 * 1024;
/** Waits, in seconds, if a platform does not answer: some hours, then the next day's launch asks again. */
const RETRY_SECONDS = [30, 300, 1_800, 7_200];

interface Handler {
  readonly url: string;
  readonly handler: string;
}

/** Why the platform does not have our address. `later`: it may accept it later, at least `afterMs` from now. */
interface Refused {
  readonly reason: string;
  readonly later: boolean;
  readonly afterMs?: number;
}

/**
 * Registers our address for notices with the platform of a deployment (Platform Notification Service 1.0: PUT of a notice handler
 * for each type). Putting it again changes nothing. A refusal is recorded in the row, and launches continue to work.
 */
export const registerHandler = processor({
  job: REGISTER_HANDLER,
  create: (services) => {
    const tokens = new ServiceTokens(services);
    return async (context, { tool, deployment, handler }) => {
      // In this order: a registration that changes to another LMS in between no longer has an address.
      const [registration, url] = await context.transaction(async (tx) => [
        await findServiceRegistration(tx, tool),
        await handlerAddress(tx, tool, deployment),
      ]);
      if (url === undefined || !registration?.isActive) return;
      const refused = await attempt(services.clock, async () => {
        const client = serviceClient(context.slug, registration, () => services.seals.of(context.slug));
        return register(services, tokens, client, { url, handler });
      });
      const { clock, random } = services;
      const attempts = await context.transaction((tx) =>
        noteHandler(tx, tool, deployment, { reason: refused?.reason ?? null, now: clock.now() }),
      );
      if (!refused?.later) return;
      const delayMs = retryDelayMs({ sent: attempts, retryAfterMs: refused.afterMs ?? 0 }, RETRY_SECONDS, random);
      if (delayMs !== null) throw new TryLater(refused.reason, delayMs);
    };
  },
});

async function register(
  { client: egress, clock }: WorkerServices,
  tokens: ServiceTokens,
  client: ServiceClient,
  { url, handler }: Handler,
): Promise<Refused | undefined> {
  for (const type of NOTICE_TYPES) {
    const put = async (): Promise<Refused | 'unauthorized' | undefined> => {
      const token = await tokens.of(client, NOTICE_SCOPE);
      const { status, statusText, headers, body } = await egress.request({
        url,
        method: 'PUT',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ notice_type: type, handler }),
        timeoutMs: TIMEOUT_MS,
        maxBytes: REPLY_BYTES_MAX,
        whenTooLarge: 'cut',
      });
      if (status >= 200 && status < 300) return undefined;
      if (status === 401 || status === 403) {
        tokens.drop(client, NOTICE_SCOPE, token);
        return 'unauthorized';
      }
      const words = shownAnswer({ status, statusText, text: body.toString('utf8') }, [token]);
      const afterMs = retryAfterMs(headers['retry-after'], clock.now());
      return { reason: `${type}: ${answerText(status, words)}`, later: mayPass(status), afterMs };
    };
    const first = await put();
    const outcome = first === 'unauthorized' ? await put() : first;
    if (outcome === 'unauthorized') return { reason: `${type}: the LMS refused the token, twice`, later: false };
    if (outcome) return outcome;
  }
  return undefined;
}

async function attempt(clock: Clock, work: () => Promise<Refused | undefined>): Promise<Refused | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SealError) return { reason: 'the private key of the registration cannot be opened', later: true };
    if (error instanceof ServiceTokenError)
      return { reason: error.message, later: !error.isFinal, afterMs: retryAfterMs(error.retryAfter, clock.now()) };
    if (error instanceof EgressError && error.code !== 'aborted') return { reason: error.message, later: !isFinalEgress(error) };
    throw error;
  }
}
