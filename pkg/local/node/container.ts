import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { V1ContainerState, V1ContainerStatus } from '@kubernetes/client-node';
import type { Occurrence } from '../../kube/events.ts';
import type { Pod } from '../../kube/kinds.ts';
import type { Json } from '../../kube/object.ts';
import { backOffMs } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Random } from '../../runtime/random.ts';
import { messageOf } from '../../runtime/command-error.ts';
import { marks } from '../processes.ts';
import { type PodAddress, withPorts } from './addresses.ts';
import { ContainerProcess, execBeside, type Launch } from './container-process.ts';
import { compileCache } from '../programs/carrel.ts';
import { type Container, NotStartable, resolveEnvironment, type Settings } from './environment.ts';
import { commandOf, requireImage } from './image.ts';
import { type ProbeTarget, tryProbe, watchProbe } from './probes.ts';
import { mountVolumes } from './volumes.ts';

type ContainerState = Json<V1ContainerState>;
export type ContainerStatus = Json<V1ContainerStatus>;

/** The context that all containers of a node share. */
export interface NodeContext {
  readonly stateDirectory: string;
  /** The checkout that `carrel:*` stands for. */
  readonly root: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  settings(namespace: string): Settings;
  /** Aborted when the node itself stops: from then on nothing waits for the API server. */
  readonly stopping: AbortSignal;
  /** Records an Event for the pod. */
  recordEvent(pod: Pod, occurrence: Occurrence): void;
}

/** A process with the launch that started it. */
interface Begun {
  readonly launch: Launch;
  readonly process: ContainerProcess;
}

/** Shorter than a kubelet's 10 s to 5 min, since a developer waits here. */
const CRASH_BACK_OFF = { baseMs: 1_000, maxMs: 60_000, jitter: 0 };
/** A run of this length resets the back-off. */
const STEADY_MS = 60_000;
/** Time until a missing Secret is looked for again; a person is about to create it. */
const CONFIG_RETRY_MS = 1_000;
const EAGER_PROBE_MS = 200;

/**
 * Keeps one container of a pod running according to its restart policy.
 *
 * Invariants:
 * - Never two processes at once. To end a process, the node runs preStop, sends SIGTERM and, after the grace period, SIGKILL to
 *   it and its children.
 * - `status` is always what a kubelet would write; `onChange` is called for each change.
 */
export class ContainerRunner {
  readonly #context: NodeContext;
  readonly #name: string;
  readonly #pod: () => Pod;
  readonly #address: () => PodAddress;
  readonly #folder: string;
  readonly #isInit: boolean;
  readonly #onChange: () => void;
  readonly #stop = new AbortController();
  #graceMs = 0;
  #status: ContainerStatus;
  #restart: ((why: string) => void) | undefined;

  /** `previous` is the API server's last status of it, so that counts continue after a restart of the node. */
  constructor(options: {
    context: NodeContext;
    container: Container;
    pod: () => Pod;
    address: () => PodAddress;
    folder: string;
    isInit: boolean;
    previous?: ContainerStatus | undefined;
    onChange: () => void;
  }) {
    const { context, container, previous } = options;
    this.#context = context;
    this.#name = container.name;
    this.#pod = options.pod;
    this.#address = options.address;
    this.#folder = options.folder;
    this.#isInit = options.isInit;
    this.#onChange = options.onChange;
    const ranBefore = previous?.state?.running !== undefined || previous?.state?.terminated !== undefined;
    this.#status = {
      name: container.name,
      image: container.image ?? '',
      imageID: '',
      restartCount: (previous?.restartCount ?? 0) + (ranBefore ? 1 : 0),
      ready: false,
      started: false,
      state: { waiting: { reason: 'ContainerCreating' } },
      lastState: previous?.lastState ?? {},
    };
  }

  get status(): ContainerStatus {
    return this.#status;
  }

  /** Returns the file with the output of the current process, or of the previous one. */
  logFile(options: { previous: boolean }): string {
    return join(this.#folder, 'logs', this.#name, `${this.#status.restartCount - (options.previous ? 1 : 0)}.log`);
  }

  /** Ends it for good: preStop and SIGTERM now, SIGKILL after `graceMs`. A second call may shorten the grace period. */
  stop(graceMs: number): void {
    this.#graceMs = graceMs;
    this.#stop.abort(new Error('the pod ends'));
  }

  /** Ends the process and starts the next: its image was changed in place. */
  restart(why: string): void {
    this.#restart?.(why);
  }

  /** Resolves when it has ended for good. */
  async run(): Promise<void> {
    const { clock, random } = this.#context;
    for (let crashes = 0; !this.#stop.signal.aborted;) {
      const begun = await this.#begin();
      if (!begun) continue;
      const began = clock.monotonic();
      const terminated = await this.#live(begun);
      if (this.#stop.signal.aborted || !this.#runsAgain(terminated.exitCode)) {
        this.#set({ state: { terminated }, ready: this.#isInit && terminated.exitCode === 0, started: false });
        return;
      }
      crashes = clock.monotonic() - began > STEADY_MS ? 1 : crashes + 1;
      const waitMs = backOffMs(CRASH_BACK_OFF, crashes, random);
      const pod = this.#pod().metadata?.name;
      const message = `back-off ${Math.round(waitMs / 1000)}s restarting failed container=${this.#name} pod=${pod}`;
      this.#set({
        state: { waiting: { reason: 'CrashLoopBackOff', message } },
        lastState: { terminated },
        ready: false,
        started: false,
      });
      this.#recordEvent('Warning', 'BackOff', `Back-off restarting failed container ${this.#name}`);
      await clock.sleep(waitMs, this.#stop.signal).catch(() => {});
      if (!this.#stop.signal.aborted) this.#set({ restartCount: this.#status.restartCount + 1 });
    }
  }

  get #container(): Container {
    const spec = this.#pod().spec;
    const found = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].find(({ name }) => name === this.#name);
    if (!found) throw new Error(`the pod has no container ${this.#name}`);
    return found;
  }

  #runsAgain(exitCode: number): boolean {
    const policy = this.#pod().spec?.restartPolicy ?? 'Always';
    if (policy === 'Never') return false;
    return exitCode !== 0 || (policy === 'Always' && !this.#isInit);
  }

  /** Starts the next process. If that fails, records why, waits a while, and returns undefined. */
  async #begin(): Promise<Begun | undefined> {
    const { clock } = this.#context;
    const container = this.#container;
    try {
      const launch = await this.#prepare(container);
      if (this.#stop.signal.aborted) return undefined;
      rmSync(join(this.#folder, 'logs', this.#name, `${this.#status.restartCount - 2}.log`), { force: true });
      return { launch, process: new ContainerProcess(launch, this.logFile({ previous: false })) };
    } catch (error) {
      const reason = error instanceof NotStartable ? error.reason : 'CreateContainerError';
      this.#set({ image: container.image ?? '', state: { waiting: { reason, message: messageOf(error) } } });
      this.#recordEvent('Warning', 'Failed', `Error: ${reason}: ${messageOf(error)}`);
      await clock.sleep(CONFIG_RETRY_MS, this.#stop.signal).catch(() => {});
      return undefined;
    }
  }

  async #prepare(container: Container): Promise<Launch> {
    const { root, stateDirectory, settings } = this.#context;
    const pod = this.#pod();
    requireImage(container);
    const own = await resolveEnvironment(container, pod, settings(pod.metadata?.namespace ?? ''));
    const command = commandOf(container, own, root);
    const environment = {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '/',
      HOSTNAME: pod.metadata?.name ?? '',
      ...compileCache(root),
      ...mountVolumes(container, this.#folder),
      ...withPorts(own, this.#address()),
      CARREL_LISTEN_HOST: this.#address().ip,
      ...marks(stateDirectory, 'container'),
      CARREL_POD: `${pod.metadata?.namespace}/${pod.metadata?.name}`,
      CARREL_POD_UID: pod.metadata?.uid ?? '',
    };
    return { command, environment, cwd: root };
  }

  /** Runs one process from its start to its end. */
  async #live({ launch, process }: Begun): Promise<NonNullable<ContainerState['terminated']>> {
    const { clock } = this.#context;
    const startedAt = clock.now().toISOString();
    const containerID = `process://${process.pid ?? 0}`;
    const container = this.#container;
    this.#set({
      image: container.image ?? '',
      imageID: `checkout:${this.#context.root}`,
      containerID,
      state: { running: { startedAt } },
      started: !container.startupProbe,
      ready: !container.startupProbe && !container.readinessProbe,
    });
    this.#recordEvent('Normal', 'Started', `Started container ${this.#name}`);
    let killed: string | undefined;
    const ending = this.#endWhenAsked(process, launch, (why) => {
      killed ??= why;
      this.#recordEvent('Normal', 'Killing', why);
    });
    void this.#watch(launch, process.over);
    const { code, signal, error } = await process.ended;
    await ending;
    const message = error ?? killed;
    return {
      containerID,
      exitCode: code,
      ...(signal === null ? {} : { signal }),
      reason: error === undefined ? (code === 0 ? 'Completed' : 'Error') : 'StartError',
      ...(message === undefined ? {} : { message }),
      startedAt,
      finishedAt: clock.now().toISOString(),
    };
  }

  /** Waits until the pod stops, or a probe or a new image requests a restart; then ends the process. */
  async #endWhenAsked(process: ContainerProcess, launch: Launch, onEnding: (why: string) => void): Promise<void> {
    const asked = Promise.withResolvers<void>();
    this.#restart = (why) => {
      onEnding(why);
      this.#graceMs = (this.#pod().spec?.terminationGracePeriodSeconds ?? 30) * 1000;
      asked.resolve();
    };
    const either = AbortSignal.any([this.#stop.signal, process.over]);
    either.addEventListener('abort', () => asked.resolve(), { once: true });
    if (either.aborted) asked.resolve();
    await asked.promise;
    this.#restart = undefined;
    if (process.over.aborted) return;
    this.#set({ ready: false });
    await process.end(
      this.#context.clock,
      () => this.#graceMs,
      () => this.#preStop(launch),
    );
  }

  async #preStop(launch: Launch): Promise<void> {
    const hook = this.#container.lifecycle?.preStop;
    try {
      if (hook?.sleep) await this.#context.clock.sleep(hook.sleep.seconds * 1000);
      else if (hook) await tryProbe({ ...hook, timeoutSeconds: this.#graceMs / 1000 }, this.#target(launch));
    } catch (error) {
      this.#recordEvent('Warning', 'FailedPreStopHook', messageOf(error));
    }
  }

  /** Runs the startup probe first, then the liveness and readiness probes in parallel. */
  async #watch(launch: Launch, over: AbortSignal): Promise<void> {
    const { startupProbe, livenessProbe, readinessProbe } = this.#container;
    const loop = { target: this.#target(launch), clock: this.#context.clock };
    const fail = (kind: string) => (why: string) =>
      this.restart(`Container ${this.#name} failed ${kind} probe, will be restarted: ${why}`);
    if (startupProbe) {
      const started = new AbortController();
      const signal = AbortSignal.any([over, started.signal]);
      await watchProbe({
        ...loop,
        probe: startupProbe,
        signal,
        eagerMs: EAGER_PROBE_MS,
        onSuccess: () => started.abort(),
        onFailure: fail('startup'),
      });
      if (over.aborted) return;
      this.#set({ started: true, ready: !readinessProbe });
    }
    const readiness = (ready: boolean) => () => {
      if (!over.aborted && this.#restart) this.#set({ ready });
    };
    await Promise.all([
      livenessProbe &&
        watchProbe({ ...loop, probe: livenessProbe, signal: over, onSuccess: () => {}, onFailure: fail('liveness') }),
      readinessProbe &&
        watchProbe({
          ...loop,
          probe: readinessProbe,
          signal: over,
          eagerMs: EAGER_PROBE_MS,
          onSuccess: readiness(true),
          onFailure: readiness(false),
        }),
    ]);
  }

  #target(launch: Launch): ProbeTarget {
    return {
      container: this.#container,
      address: this.#address(),
      exec: (command, timeoutMs) => execBeside(launch, command, timeoutMs),
    };
  }

  #recordEvent(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#context.recordEvent(this.#pod(), { type, reason, message, action: 'Run' });
  }

  #set(change: Partial<ContainerStatus>): void {
    this.#status = { ...this.#status, ...change };
    this.#onChange();
  }
}
