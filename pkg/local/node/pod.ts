import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Pod } from '../../kube/kinds.ts';
import { isConflict, isNotFound } from '../../kube/errors.ts';
import { isDeleting, keyOf, type Observed } from '../../kube/object.ts';
import type { ResourceApi } from '../../kube/resource.ts';
import { messageOf } from '../../runtime/command-error.ts';
import { paths } from '../state-directory.ts';
import { PORTS_ANNOTATION, type PodAddress, type PodAddresses } from './addresses.ts';
import { ContainerRunner, type NodeContext } from './container.ts';
import { NotStartable } from './environment.ts';
import { podStatus, toSeconds, type PodStatus } from './status.ts';
import { makeVolumes } from './volumes.ts';

const RETRY_MS = 1_000;

/**
 * Runs a pod on this node, from its binding to its end.
 *
 * Invariants:
 * - Its processes live only between `run` and the moment `run` resolves. Then its object, if it was deleted, is removed from the
 *   API.
 * - Status writes are sequential; the last one has the last state. A write for a pod that was replaced under its name changes
 *   nothing.
 */
export class PodRunner {
  readonly #context: NodeContext;
  readonly #api: ResourceApi<Pod>;
  readonly #addresses: PodAddresses;
  readonly #hostIP: string;
  readonly #stopping = new AbortController();
  readonly #startTime: string;
  #pod: Observed<Pod>;
  #address: PodAddress | undefined;
  #init: ContainerRunner[] = [];
  #containers: ContainerRunner[] = [];
  #blocked: { reason: string; message: string } | undefined;
  #graceMs: number | undefined;
  #written = '';
  #writing: Promise<void> | undefined;
  #dirty = false;

  constructor(options: {
    context: NodeContext;
    api: ResourceApi<Pod>;
    addresses: PodAddresses;
    hostIP: string;
    pod: Observed<Pod>;
  }) {
    this.#context = options.context;
    this.#api = options.api;
    this.#addresses = options.addresses;
    this.#hostIP = options.hostIP;
    this.#pod = options.pod;
    this.#startTime = options.pod.status?.startTime ?? toSeconds(options.context.clock.now());
  }

  get pod(): Observed<Pod> {
    return this.#pod;
  }

  container(name: string): ContainerRunner | undefined {
    return [...this.#init, ...this.#containers].find(({ status }) => status.name === name);
  }

  /** Call it when the object changed: the pod may be terminating, an image may differ, a readiness gate may be true. */
  update(pod: Observed<Pod>): void {
    const before = this.#pod;
    this.#pod = this.#addressed(pod);
    if (isDeleting(pod)) this.stop((pod.metadata.deletionGracePeriodSeconds ?? 30) * 1000);
    for (const { name, image } of pod.spec?.containers ?? []) {
      const had = before.spec?.containers.find((each) => each.name === name);
      if (had && had.image !== image) this.container(name)?.restart(`Container ${name} definition changed, will be restarted`);
    }
    this.#changed();
  }

  /** Ends its containers within `graceMs`; an earlier, shorter grace period stays. */
  stop(graceMs: number): void {
    this.#graceMs = Math.min(graceMs, this.#graceMs ?? Infinity);
    this.#stopping.abort(new Error('the pod ends'));
    for (const runner of [...this.#init, ...this.#containers]) runner.stop(this.#graceMs);
  }

  /** Resolves when it has no living process and its last status is written. */
  async run(): Promise<void> {
    this.#containers = (this.#pod.spec?.containers ?? []).map((container) => this.#runner(container, false));
    this.#init = (this.#pod.spec?.initContainers ?? []).map((container) => this.#runner(container, true));
    if (await this.#begin()) await this.#runContainers();
    await this.#settled();
    this.#addresses.release(this.#pod.metadata.uid);
  }

  /** Removes the deleted object from the API, and its directory. */
  async finish(): Promise<void> {
    rmSync(this.#folder, { recursive: true, force: true });
    const { uid } = this.#pod.metadata;
    await this.#api.delete(keyOf(this.#pod), { uid, gracePeriodSeconds: 0 }).catch((error: unknown) => {
      if (!isConflict(error)) throw error; // Another pod has the name by now.
    });
  }

  get #folder(): string {
    return join(paths(this.#context.stateDirectory).pods, this.#pod.metadata.uid);
  }

  #runner(container: ConstructorParameters<typeof ContainerRunner>[0]['container'], isInit: boolean): ContainerRunner {
    const statuses = isInit ? this.#pod.status?.initContainerStatuses : this.#pod.status?.containerStatuses;
    return new ContainerRunner({
      context: this.#context,
      container,
      pod: () => this.#pod,
      address: () => this.#address ?? { ip: this.#hostIP, ports: {} },
      folder: this.#folder,
      isInit,
      previous: statuses?.find(({ name }) => name === container.name),
      onChange: () => this.#changed(),
    });
  }

  /** Provides address and volumes. Returns false if the pod was stopped before it had them. */
  async #begin(): Promise<boolean> {
    const { clock, settings } = this.#context;
    while (!this.#stopping.signal.aborted) {
      try {
        this.#address ??= await this.#takeAddress();
        this.#pod = this.#addressed(this.#pod);
        await makeVolumes(this.#pod, this.#folder, settings(this.#pod.metadata.namespace ?? ''));
        this.#blocked = undefined;
        return true;
      } catch (error) {
        this.#blocked = {
          reason: error instanceof NotStartable ? error.reason : 'CreatePodSandboxError',
          message: messageOf(error),
        };
        this.#context.recordEvent(this.#pod, { type: 'Warning', action: 'Run', ...this.#blocked });
        this.#changed();
        await clock.sleep(RETRY_MS, this.#stopping.signal).catch(() => {});
      }
    }
    return false;
  }

  /** Returns the pod with the address that its containers get, even if the watch has not delivered it yet. */
  #addressed(pod: Observed<Pod>): Observed<Pod> {
    return this.#address ? { ...pod, status: { ...pod.status, podIP: this.#address.ip, hostIP: this.#hostIP } } : pod;
  }

  async #takeAddress(): Promise<PodAddress> {
    const address = await this.#addresses.assign(this.#pod);
    if (!address) throw new NotStartable('CreatePodSandboxError', 'every address of the node is in use by a pod');
    const ports = Object.keys(address.ports).length === 0 ? null : JSON.stringify(address.ports);
    if (ports !== (this.#pod.metadata.annotations?.[PORTS_ANNOTATION] ?? null)) {
      await this.#api.patch(keyOf(this.#pod), { metadata: { annotations: { [PORTS_ANNOTATION]: ports } } });
    }
    return address;
  }

  async #runContainers(): Promise<void> {
    for (const runner of this.#init) {
      await runner.run();
      if (runner.status.state?.terminated?.exitCode !== 0) return;
    }
    await Promise.all(this.#containers.map((runner) => runner.run()));
  }

  #changed(): void {
    this.#dirty = true;
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  async #settled(): Promise<void> {
    this.#changed();
    while (this.#writing) await this.#writing;
  }

  async #write(): Promise<void> {
    while (this.#dirty) {
      this.#dirty = false;
      const status = this.#status();
      const text = JSON.stringify(status);
      if (text === this.#written) continue;
      try {
        const { uid, name, namespace = '' } = this.#pod.metadata;
        const written = await this.#api.patch({ namespace, name }, { metadata: { uid }, status }, { subresource: 'status' });
        this.#written = text;
        this.#pod = this.#addressed({ ...this.#pod, status: written.status ?? {} });
      } catch (error) {
        if (isNotFound(error) || isConflict(error)) return; // Deleted, or another pod has the name.
        if (this.#context.stopping.aborted) return;
        this.#context.log.warn({ err: error, pod: this.#pod.metadata.name }, 'a pod status is not written yet');
        this.#dirty = true;
        await this.#context.clock.sleep(RETRY_MS);
      }
    }
  }

  #status(): PodStatus {
    const view = {
      pod: this.#pod,
      hostIP: this.#hostIP,
      podIP: this.#address?.ip,
      startTime: this.#startTime,
      init: this.#init.map(({ status }) => status),
      containers: this.#containers.map(({ status }) => status),
      blocked: this.#blocked,
    };
    return podStatus(view, this.#context.clock.now());
  }
}
