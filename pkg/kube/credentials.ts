import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Clock } from '../runtime/clock.ts';

export interface Tls {
  ca?: string | Buffer;
  cert?: string | Buffer;
  key?: string | Buffer;
  servername?: string;
  rejectUnauthorized?: boolean;
}

export interface Credentials {
  readonly headers: Record<string, string>;
  readonly tls: Tls;
}

/** What a client asks of a KubeConfig. */
export type KubeAccess = Pick<KubeConfig, 'getCurrentCluster' | 'getCurrentUser' | 'applyToHTTPSOptions'>;

type TokenFile = { config?: { tokenFile?: string } };

/** A token in a file is replaced by the kubelet well before it ends; reading it this often is often enough. */
const REFRESH_MS = 30_000;

/**
 * What a KubeConfig says about the caller: client certificate, token, in-cluster token file, exec plugin.
 * Read again every 30 s, and at once after `forget` (a 401).
 */
export class CredentialSource {
  readonly #kubeConfig: KubeAccess;
  readonly #clock: Clock;
  #current: Promise<Credentials> | undefined;
  #readAt = 0;

  constructor(kubeConfig: KubeAccess, clock: Clock) {
    this.#kubeConfig = kubeConfig;
    this.#clock = clock;
  }

  get(): Promise<Credentials> {
    if (!this.#current || this.#clock.monotonic() - this.#readAt > REFRESH_MS) {
      this.#readAt = this.#clock.monotonic();
      const reading = this.#read();
      this.#current = reading;
      reading.catch(() => this.discard());
    }
    return this.#current;
  }

  discard(): void {
    this.#current = undefined;
  }

  async #read(): Promise<Credentials> {
    const options: RequestOptions = {};
    await this.#kubeConfig.applyToHTTPSOptions(options);
    const headers = Object.fromEntries(
      Object.entries(options.headers ?? {}).flatMap(([name, value]) =>
        value === undefined ? [] : [[name.toLowerCase(), String(value).trim()]],
      ),
    );
    if (options.auth) headers['authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
    // KubeConfig keeps what it read of a token file for a minute, through a 401 too.
    const tokenFile = (this.#kubeConfig.getCurrentUser()?.authProvider as TokenFile | undefined)?.config?.tokenFile;
    if (tokenFile) headers['authorization'] = `Bearer ${(await readFile(tokenFile, 'utf8')).trim()}`;
    const { ca, cert, key, servername, rejectUnauthorized } = options;
    const tls = Object.fromEntries(
      Object.entries({ ca, cert, key, servername, rejectUnauthorized }).filter(([, value]) => value != null),
    );
    return { headers, tls };
  }
}

/** Whether two connections would be made the same way. */
export const sameTls = (a: Tls, b: Tls): boolean =>
  (['ca', 'cert', 'key', 'servername', 'rejectUnauthorized'] as const).every(
    (name) => String(a[name] ?? '') === String(b[name] ?? ''),
  );
