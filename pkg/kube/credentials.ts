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

/** The part of a KubeConfig that a client needs. */
export type KubeAccess = Pick<KubeConfig, 'getCurrentCluster' | 'getCurrentUser' | 'applyToHTTPSOptions'>;

type TokenFile = { config?: { tokenFile?: string } };

/** The kubelet replaces a token file well before the token expires, so this interval is short enough. */
const REFRESH_MS = 30_000;

/**
 * Reads the caller's credentials from a KubeConfig: client certificate, token, in-cluster token file, exec plugin.
 * They are read again every 30 s, and at once after `discard` (a 401).
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
    // KubeConfig caches the contents of a token file for a minute, even through a 401.
    const tokenFile = (this.#kubeConfig.getCurrentUser()?.authProvider as TokenFile | undefined)?.config?.tokenFile;
    if (tokenFile) headers['authorization'] = `Bearer ${(await readFile(tokenFile, 'utf8')).trim()}`;
    const { ca, cert, key, servername, rejectUnauthorized } = options;
    const tls = Object.fromEntries(
      Object.entries({ ca, cert, key, servername, rejectUnauthorized }).filter(([, value]) => value != null),
    );
    return { headers, tls };
  }
}

/** Returns true if two connections would be opened in the same way. */
export const sameTls = (a: Tls, b: Tls): boolean =>
  (['ca', 'cert', 'key', 'servername', 'rejectUnauthorized'] as const).every(
    (name) => String(a[name] ?? '') === String(b[name] ?? ''),
  );
