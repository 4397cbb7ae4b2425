import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import type { V1HTTPGetAction, V1Probe } from '@kubernetes/client-node';
import type { Json } from '../../kube/object.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/command-error.ts';
import { portOf, type PodAddress } from './addresses.ts';
import type { Container } from './environment.ts';

export type Probe = Json<V1Probe>;

/** The container that a probe tests. */
export interface ProbeTarget {
  readonly container: Container;
  readonly address: PodAddress;
  /** Runs a command beside the container, with its environment; resolves with the exit code. */
  exec(command: readonly string[], timeoutMs: number): Promise<number>;
}

/** Makes one try. Resolves if the container passes; throws an error that says why it does not. */
export async function tryProbe(probe: Probe, target: ProbeTarget): Promise<void> {
  const timeoutMs = (probe.timeoutSeconds ?? 1) * 1000;
  if (probe.httpGet) return httpGet(probe.httpGet, target, timeoutMs);
  if (probe.tcpSocket) return dial(probe.tcpSocket.host ?? target.address.ip, numberOf(probe.tcpSocket.port, target), timeoutMs);
  if (probe.exec) {
    const code = await target.exec(probe.exec.command ?? [], timeoutMs);
    if (code !== 0) throw new Error(`command exited with ${code}`);
    return;
  }
  throw new Error('the process node supports only probes by httpGet, tcpSocket and exec');
}

interface ProbeLoop {
  readonly probe: Probe;
  readonly target: ProbeTarget;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onSuccess: () => void;
  readonly onFailure: (why: string) => void;
  /** Try this often instead of every `periodSeconds` until the container has passed once. */
  readonly eagerMs?: number;
}

/**
 * Probes until the signal, by the rules of a kubelet. `successThreshold` consecutive passes are a success, `failureThreshold`
 * consecutive failures a failure; each is reported whenever its threshold is reached again. Before the first success it may probe
 * more often (`eagerMs`); failures then count by the time that the thresholds imply, so nothing fails sooner.
 */
export async function watchProbe(loop: ProbeLoop): Promise<void> {
  const { probe, target, clock, signal, eagerMs } = loop;
  const periodMs = (probe.periodSeconds ?? 10) * 1000;
  let passes = 0;
  let failing: { since: number; count: number } | undefined;
  let everPassed = false;
  await clock.sleep((probe.initialDelaySeconds ?? 0) * 1000, signal).catch(() => {});
  while (!signal.aborted) {
    try {
      await tryProbe(probe, target);
      if (signal.aborted) return;
      failing = undefined;
      passes++;
      everPassed ||= passes >= (probe.successThreshold ?? 1);
      if (passes === (probe.successThreshold ?? 1)) loop.onSuccess();
    } catch (error) {
      if (signal.aborted) return;
      passes = 0;
      failing = { since: failing?.since ?? clock.monotonic(), count: (failing?.count ?? 0) + 1 };
      if (hasFailed(failing, probe, clock, everPassed || eagerMs === undefined)) {
        failing = undefined;
        loop.onFailure(messageOf(error));
      }
    }
    await clock.sleep(everPassed ? periodMs : Math.min(periodMs, eagerMs ?? periodMs), signal).catch(() => {});
  }
}

function hasFailed(failing: { since: number; count: number }, probe: Probe, clock: Clock, byCount: boolean): boolean {
  const threshold = probe.failureThreshold ?? 3;
  if (byCount) return failing.count >= threshold;
  return clock.monotonic() - failing.since >= threshold * (probe.periodSeconds ?? 10) * 1000;
}

function numberOf(port: string | number, { container, address }: ProbeTarget): number {
  const number = typeof port === 'number' ? port : container.ports?.find(({ name }) => name === port)?.containerPort;
  if (number === undefined) throw new Error(`container ${container.name} has no port named ${port}`);
  return portOf(address, number);
}

function httpGet(action: Json<V1HTTPGetAction>, target: ProbeTarget, timeoutMs: number): Promise<void> {
  const port = numberOf(action.port as string | number, target);
  const headers = Object.fromEntries((action.httpHeaders ?? []).map(({ name, value }) => [name, value]));
  const options = {
    host: action.host ?? target.address.ip,
    port,
    path: action.path ?? '/',
    headers,
    agent: false as const,
    timeout: timeoutMs,
  };
  return new Promise((resolve, reject) => {
    const request = action.scheme === 'HTTPS' ? httpsRequest({ ...options, rejectUnauthorized: false }) : httpRequest(options);
    request.once('response', (response) => {
      response.resume();
      const status = response.statusCode ?? 0;
      if (status >= 200 && status < 400) resolve();
      else reject(new Error(`HTTP probe failed with statuscode: ${status}`));
    });
    request.once('timeout', () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    request.once('error', reject);
    request.end();
  });
}

function dial(host: string, port: number, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: timeoutMs });
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
    socket.once('timeout', () => socket.destroy(new Error(`no connection within ${timeoutMs} ms`)));
    socket.once('error', reject);
  });
}
