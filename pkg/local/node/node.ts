import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isConflict, isNotFound } from '../../kube/errors.ts';
import { EventRecorder } from '../../kube/events.ts';
import { informer } from '../../kube/informer.ts';
import { CONFIG_MAP, POD, type Pod, SECRET } from '../../kube/kinds.ts';
import { isDeleting, keyOf, keyText, type Observed } from '../../kube/object.ts';
import { ResourceApi } from '../../kube/resource.ts';
import type { Change } from '../../kube/store.ts';
import type { KubeClient } from '../../kube/transport.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { closeServer } from '../../runtime/ops-server.ts';
import type { Random } from '../../runtime/random.ts';
import { paths, type StateDirectory } from '../state-directory.ts';
import { BINARIES } from '../binaries/binaries.ts';
import { endAll, processesOf } from '../processes.ts';
import { PodAddresses } from './addresses.ts';
import type { NodeContext } from './container.ts';
import { startKubelet } from './kubelet.ts';
import { PodRunner } from './pod.ts';
import { keepHeartbeat, NODE_NAME, register } from './registration.ts';

interface RunningNode {
  /** Ends all containers and the node's own work. The pods stay in the API, for the next start. */
  stop(): Promise<void>;
}

interface NodeOptions {
  readonly stateDirectory: StateDirectory;
  /** The checkout that images `carrel:*` stand for. */
  readonly root: string;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** The grace period of containers when the node stops, whatever their pods specify: a supervisor waits for it. */
const STOP_GRACE_MS = 8_000;
const LEFTOVER_GRACE_MS = 5_000;
const BIND_RETRY_MS = 1_000;

/**
 * Starts the process node: registers Node `local`, binds pending pods to it, and runs each pod's containers as child processes.
 * It first ends the containers that an earlier node of this platform left running, so that none runs twice.
 */
export async function startNode(options: NodeOptions): Promise<RunningNode> {
  const { stateDirectory, client, clock, log } = options;
  const stopping = new AbortController();
  const left = processesOf(stateDirectory.path).filter(({ program }) => program === 'container');
  await endAll(
    left.map(({ pid }) => pid),
    LEFTOVER_GRACE_MS,
  );
  const { address, ports } = stateDirectory.settings;
  const registration = {
    client,
    clock,
    log,
    address,
    kubeletPort: ports.kubelet,
    version: `v${BINARIES['kube-apiserver'].version}`,
  };
  await register(registration, stopping.signal);
  const events = new EventRecorder({
    client,
    controller: 'carrel.dev/process-node',
    instance: NODE_NAME,
    clock,
    log,
    metrics: options.metrics,
  });
  const node = new ProcessNode(options, events);
  const pods = informer<Pod>({ client, kind: POD, log, clock, metrics: options.metrics });
  const work = [pods.run(stopping.signal), events.run(stopping.signal), keepHeartbeat(registration, stopping.signal)];
  await pods.store.waitForSync(stopping.signal);
  node.forgetAllBut(new Set(pods.store.list().map(({ metadata }) => metadata.uid)));
  pods.store.onChange((change) => node.onPod(change));
  const kubelet = await startKubelet({ stateDirectory: stateDirectory.path, address, port: ports.kubelet, view: node });
  log.info({ address }, 'the node is ready');
  return {
    stop: async () => {
      await node.stop();
      stopping.abort(new Error('the node stops'));
      kubelet.closeAllConnections();
      await Promise.all([...work, closeServer(kubelet)]);
    },
  };
}

class ProcessNode {
  readonly #options: NodeOptions;
  readonly #context: NodeContext;
  readonly #api: ResourceApi<Pod>;
  readonly #addresses: PodAddresses;
  /** Running pods by uid. */
  readonly #runners = new Map<string, { runner: PodRunner; ended: Promise<void> }>();
  readonly #binding = new Set<string>();
  readonly #stopping = new AbortController();

  constructor(options: NodeOptions, events: EventRecorder) {
    const { stateDirectory, root, client, clock, random, log } = options;
    this.#options = options;
    this.#api = new ResourceApi(client, POD);
    this.#addresses = new PodAddresses(stateDirectory.settings.podNetwork, stateDirectory.settings.address);
    const secrets = new ResourceApi(client, SECRET);
    const configMaps = new ResourceApi(client, CONFIG_MAP);
    this.#context = {
      stateDirectory: stateDirectory.path,
      root,
      clock,
      random,
      log,
      stopping: this.#stopping.signal,
      settings: (namespace) => ({
        secret: (name) => secrets.find({ namespace, name }),
        configMap: (name) => configMaps.find({ namespace, name }),
      }),
      recordEvent: (pod, occurrence) => events.record(pod as Observed<Pod>, POD, occurrence),
    };
  }

  /** Removes the folders of pods that were deleted while no node was running. */
  forgetAllBut(uids: ReadonlySet<string>): void {
    const folder = paths(this.#options.stateDirectory.path).pods;
    for (const uid of readdirSync(folder)) if (!uids.has(uid)) rmSync(join(folder, uid), { recursive: true, force: true });
  }

  onPod({ type, object: pod }: Change<Pod>): void {
    if (this.#stopping.signal.aborted) return;
    const known = this.#runners.get(pod.metadata.uid);
    if (type === 'deleted') known?.runner.stop(0); // The deletion was forced: there is no object left to be graceful for.
    else if (known) known.runner.update(pod);
    else if (pod.spec?.nodeName === NODE_NAME) this.#start(pod);
    else if (!pod.spec?.nodeName && !isDeleting(pod)) void this.#bind(pod);
  }

  container(namespace: string, pod: string, container: string) {
    const found = [...this.#runners.values()].find(({ runner }) => keyText(keyOf(runner.pod)) === `${namespace}/${pod}`);
    return found?.runner.container(container);
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the node stops'));
    for (const { runner } of this.#runners.values()) runner.stop(STOP_GRACE_MS);
    await Promise.all([...this.#runners.values()].map(({ ended }) => ended));
  }

  #start(pod: Observed<Pod>): void {
    const isOver = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
    if (isOver && !isDeleting(pod)) return;
    const { stateDirectory, log } = this.#options;
    const runner = new PodRunner({
      context: this.#context,
      api: this.#api,
      addresses: this.#addresses,
      hostIP: stateDirectory.settings.address,
      pod,
    });
    // A pod that was terminating when the node started has no process any longer.
    const ended = (isDeleting(pod) ? this.#remove(runner) : this.#run(runner)).catch((error: unknown) =>
      log.error({ err: error, pod: keyText(keyOf(pod)) }, 'a pod failed'),
    );
    this.#runners.set(pod.metadata.uid, { runner, ended });
  }

  async #run(runner: PodRunner): Promise<void> {
    await runner.run();
    await this.#remove(runner);
  }

  async #remove(runner: PodRunner): Promise<void> {
    const { clock, log } = this.#options;
    while (isDeleting(runner.pod)) {
      try {
        await runner.finish();
        break;
      } catch (error) {
        log.warn({ err: error }, 'a deleted pod is not released yet');
        await clock.sleep(BIND_RETRY_MS);
        if (this.#stopping.signal.aborted) break;
      }
    }
    this.#runners.delete(runner.pod.metadata.uid);
  }

  /** Binds a pod. There is only one node, so there is nothing to schedule. */
  async #bind(pod: Observed<Pod>): Promise<void> {
    const { uid, name, namespace } = pod.metadata;
    if (this.#binding.has(uid)) return;
    this.#binding.add(uid);
    const body = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, uid },
      target: { apiVersion: 'v1', kind: 'Node', name: NODE_NAME },
    };
    try {
      while (!this.#stopping.signal.aborted) {
        try {
          await this.#options.client.request({
            method: 'POST',
            path: `/api/v1/namespaces/${namespace}/pods/${name}/binding`,
            body,
          });
          return;
        } catch (error) {
          if (isNotFound(error) || isConflict(error)) return; // Deleted, or bound by another scheduler.
          this.#options.log.warn({ err: error, pod: name }, 'a pod is not bound yet');
          await this.#options.clock.sleep(BIND_RETRY_MS);
        }
      }
    } finally {
      this.#binding.delete(uid);
    }
  }
}
