import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { type Answer, type Hostile, hostile, json, refusal } from '../../test/support/fakes/hostile.ts';
import { waitFor } from '../../test/support/wait.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import { silentLogger } from '../runtime/log.ts';
import { systemRandom } from '../runtime/random.ts';
import type { Lease } from './kinds.ts';
import { LEASE_TIMES, LeaderElector, microTime } from './leader.ts';

/** Long enough that a busy machine's pauses do not look like a lost lease. */
const TIMES = { leaseMs: 4_000, renewDeadlineMs: 2_400, retryMs: 100, standbyMs: 100 };

/** The server's side of one Lease: creation, optimistic locking, and a switch for failures. */
class LeaseServer {
  lease: (Lease & { metadata: { resourceVersion: string } }) | undefined;
  trouble: Answer | undefined;
  readonly holders: string[] = [];
  /** On the monotonic clock. */
  writtenAt = 0;
  #version = 0;

  readonly answer: Answer = (request, response, body) => {
    if (this.trouble) return this.trouble(request, response, body);
    if (request.method === 'GET') return (this.lease ? json(this.lease) : refusal(404, 'NotFound'))(request, response, body);
    const written = JSON.parse(body) as Lease;
    if (request.method === 'POST' && this.lease) return refusal(409, 'AlreadyExists')(request, response, body);
    const isStale = written.metadata?.resourceVersion !== this.lease?.metadata.resourceVersion;
    if (request.method === 'PUT' && isStale) return refusal(409, 'Conflict')(request, response, body);
    const holder = written.spec?.holderIdentity ?? '';
    if (this.holders.at(-1) !== holder) this.holders.push(holder);
    this.writtenAt = performance.now();
    this.lease = { ...written, metadata: { ...written.metadata, resourceVersion: String(++this.#version) } };
    return json(this.lease)(request, response, body);
  };
}

/** The current leader, and a fault for each moment with two leaders. */
class Leadership {
  readonly current = new Set<string>();
  readonly history: string[] = [];
  most = 0;

  readonly lead =
    (identity: string) =>
    async (signal: AbortSignal): Promise<void> => {
      this.current.add(identity);
      this.history.push(identity);
      this.most = Math.max(this.most, this.current.size);
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      this.current.delete(identity);
    };
}

interface Election {
  readonly leases: LeaseServer;
  readonly server: Hostile;
  elect(
    leadership: Pick<Leadership, 'lead'>,
    identity: string,
    clock?: Clock,
    times?: typeof TIMES,
  ): { stop: AbortController; elector: LeaderElector; run: Promise<void> };
}

/** A Lease, a server and electors for one test: tests that mostly wait run concurrently. */
async function withLease(run: (election: Election) => Promise<void>): Promise<void> {
  const leases = new LeaseServer();
  const server = await hostile(leases.answer);
  const stops: AbortController[] = [];
  const runs: Promise<unknown>[] = [];
  const elect: Election['elect'] = (leadership, identity, clock = systemClock, times = TIMES) => {
    const stop = new AbortController();
    const elector = new LeaderElector({
      client: server.client,
      namespace: 'n',
      name: 'operator',
      identity,
      times,
      clock,
      random: systemRandom,
      log: silentLogger,
      metrics: new Registry(),
    });
    const run = elector.run(leadership.lead(identity), stop.signal);
    stops.push(stop);
    runs.push(run);
    return { stop, elector, run };
  };
  try {
    await run({ leases, server, elect });
  } finally {
    leases.trouble = undefined;
    for (const stop of stops) stop.abort();
    await Promise.allSettled(runs);
    await server.close();
  }
}

const leads = (leadership: Leadership, identity: string): Promise<unknown> =>
  waitFor(`${identity} leads`, () => leadership.current.has(identity));
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test.concurrent('one instance leads and renews, the other waits and takes over at once when the lease is released', () =>
  withLease(async ({ leases, elect }) => {
    const leadership = new Leadership();
    const first = elect(leadership, 'a');
    await leads(leadership, 'a');
    const second = elect(leadership, 'b');
    await pause(TIMES.leaseMs * 1.5);
    expect([...leadership.current]).toEqual(['a']);
    expect([first.elector.isLeader, second.elector.isLeader]).toEqual([true, false]);

    const startedAt = performance.now();
    first.stop.abort();
    await leads(leadership, 'b');

    expect(performance.now() - startedAt).toBeLessThan(TIMES.leaseMs);
    expect(leadership.most).toBe(1);
    expect(leases.holders).toEqual(['a', '', 'b']);
    expect(leases.lease?.spec?.leaseTransitions).toBe(1);
  }));

test.concurrent('a standby looks often enough to lead within 2 s of a busy leader that stops', () =>
  withLease(async ({ elect }) => {
    const leadership = new Leadership();
    elect(leadership, 'a');
    await leads(leadership, 'a');
    const pauses: number[] = [];
    const looking: Clock = { ...systemClock, sleep: (ms, signal) => (pauses.push(ms), systemClock.sleep(10, signal)) };
    elect(leadership, 'b', looking, LEASE_TIMES);
    await waitFor('some looks', () => pauses.length > 5);

    // What is at work in the leader takes up to 1 s to end.
    expect(Math.max(...pauses)).toBeLessThan(1_000);
  }));

test.concurrent('a killed leader is succeeded after its lease, not before', () =>
  withLease(async ({ leases, elect }) => {
    const leadership = new Leadership();
    leases.lease = {
      metadata: { name: 'operator', namespace: 'n', resourceVersion: '0' },
      spec: { holderIdentity: 'killed', leaseDurationSeconds: 1, renewTime: '2001-01-01T00:00:00.000000Z' },
    };

    const startedAt = performance.now();
    elect(leadership, 'b');
    await leads(leadership, 'b');

    expect(performance.now() - startedAt).toBeGreaterThan(1_000);
    expect(performance.now() - startedAt).toBeLessThan(1_000 + TIMES.leaseMs);
  }));

const silent: Answer = () => undefined;

test.concurrent.each<[string, Answer]>([
  ['refuses', refusal(500, 'InternalError')],
  ['hangs', silent],
  ['throttles', refusal(429, 'TooManyRequests', { 'retry-after': '5' })],
  ['resets', (request) => void request.socket.destroy()],
])('when the server %s, the leader stops before its lease ends, and leads again afterwards', (_how, trouble) =>
  withLease(async ({ leases, elect }) => {
    const leadership = new Leadership();
    elect(leadership, 'a');
    await leads(leadership, 'a');
    await pause(150);

    leases.trouble = trouble;
    await waitFor('it stops leading', () => leadership.current.size === 0);
    const tookMs = performance.now() - leases.writtenAt;
    leases.trouble = undefined;
    await leads(leadership, 'a');

    expect(tookMs).toBeGreaterThan(TIMES.renewDeadlineMs / 2); // not at the first failure
    expect(tookMs).toBeLessThan(TIMES.leaseMs);
  }),
);

test.concurrent('a short outage does not end leadership', () =>
  withLease(async ({ leases, elect }) => {
    const leadership = new Leadership();
    elect(leadership, 'a');
    await leads(leadership, 'a');

    leases.trouble = refusal(503, 'ServiceUnavailable');
    await pause(TIMES.renewDeadlineMs / 3);
    leases.trouble = undefined;
    await pause(TIMES.leaseMs);

    expect(leadership.history).toEqual(['a']);
  }));

test.concurrent('a leader whose lease was taken stops at once', () =>
  withLease(async ({ leases, server, elect }) => {
    const leadership = new Leadership();
    let callsAtEnd = 0;
    const lead = (identity: string) => async (signal: AbortSignal) => {
      await leadership.lead(identity)(signal);
      callsAtEnd = server.calls.length;
    };
    elect({ lead }, 'a');
    await leads(leadership, 'a');

    leases.lease = {
      metadata: { name: 'operator', namespace: 'n', resourceVersion: '999' },
      spec: { holderIdentity: 'thief', leaseDurationSeconds: 1 },
    };
    const calls = server.calls.length;

    await waitFor('it stops leading', () => callsAtEnd > 0);
    expect(callsAtEnd - calls).toBeLessThanOrEqual(3); // a renewal in flight, and the look after it
  }));

test.concurrent('wall clocks that jump hours forward and back neither gain nor lose leadership', () =>
  withLease(async ({ elect }) => {
    const leadership = new Leadership();
    let offsetMs = 0;
    const jumping: Clock = { ...systemClock, now: () => new Date(Date.now() + offsetMs) };
    elect(leadership, 'a', jumping);
    await leads(leadership, 'a');
    elect(leadership, 'b', jumping);

    for (const hours of [5, -10, 3]) {
      offsetMs += hours * 3_600_000;
      await pause(TIMES.leaseMs / 2);
    }

    expect(leadership.history).toEqual(['a']);
  }));

test.concurrent('leading ends before the lease is released, and its error is reported', () =>
  withLease(async ({ leases, elect }) => {
    const holdersAtEnd: (string | undefined)[] = [];
    const lead = () => async (): Promise<void> => {
      await pause(TIMES.leaseMs * 1.5);
      holdersAtEnd.push(leases.lease?.spec?.holderIdentity);
      throw new Error('the work failed');
    };

    const { run } = elect({ lead }, 'failing');

    await expect(run).rejects.toThrow('the work failed');
    expect(holdersAtEnd).toEqual(['failing']);
    expect(leases.lease?.spec?.holderIdentity).toBe('');
  }));

test('micro times have six digits', () => {
  expect(microTime(new Date('2026-01-02T03:04:05.678Z'))).toBe('2026-01-02T03:04:05.678000Z');
});
