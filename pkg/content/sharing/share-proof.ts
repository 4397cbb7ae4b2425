import { createHash } from 'node:crypto';
import { z } from 'zod';
import { SHARE_DOWNLOAD_SECONDS, SHARE_PASS_SECONDS } from '../../api/lifetimes.ts';
import type { Clock } from '../../runtime/clock.ts';
import { SealError, type Sealer } from '../../runtime/sealing.ts';
import type { OpenShare } from './open-shares.sql.ts';

type Link = Pick<OpenShare, 'uuid' | 'passwordHash'>;

/** `until` in milliseconds since the epoch; `password` identifies the password (passwordGeneration), `checksum` the content. */
const Proof = z.object({ checksum: z.string(), password: z.string(), counted: z.boolean(), until: z.int() });
type Proof = z.output<typeof Proof>;

/**
 * Proofs that a client gave a link's password, or that its download was counted.
 *
 * Invariants:
 * - A proof applies to one link, one password and one content: a new password or a new version invalidates it.
 * - It is sealed under the tenant's data key, so nobody can forge one.
 */
export class ShareProofs {
  readonly #sealer: Sealer;
  readonly #clock: Clock;
  readonly #tenantId: string;

  constructor(deps: { sealer: Sealer; clock: Clock; tenantId: string }) {
    this.#sealer = deps.sealer;
    this.#clock = deps.clock;
    this.#tenantId = deps.tenantId;
  }

  /** Returns a proof of a counted download, which admits further ranges of it for 24 hours. */
  proveDownload(share: Link, content: string): string {
    return this.#seal(share, content, true, SHARE_DOWNLOAD_SECONDS);
  }

  /** Returns a proof of the password alone, for a download that begins within a minute. */
  provePassword(share: Link, content: string): string {
    return this.#seal(share, content, false, SHARE_PASS_SECONDS);
  }

  /** Returns the first valid proof of a counted download, or else the first valid proof. Undefined `content` matches any. */
  find(
    share: Link,
    content: string | undefined,
    texts: readonly (string | undefined)[],
  ): { readonly counted: boolean } | undefined {
    const proofs = texts.flatMap((text) => (text === undefined ? [] : (this.#open(share, content, text) ?? [])));
    return proofs.find(({ counted }) => counted) ?? proofs[0];
  }

  #seal(share: Link, content: string, counted: boolean, seconds: number): string {
    const until = this.#clock.now().getTime() + seconds * 1000;
    const proof: Proof = { checksum: content, password: passwordGeneration(share), counted, until };
    return this.#sealer.seal(JSON.stringify(proof), this.#associatedData(share));
  }

  #open(share: Link, content: string | undefined, text: string): Proof | undefined {
    try {
      const { data: proof } = Proof.safeParse(JSON.parse(this.#sealer.open(text, this.#associatedData(share))));
      if (!proof || proof.until <= this.#clock.now().getTime()) return undefined;
      const isOfContent = content === undefined || proof.checksum === content;
      return isOfContent && proof.password === passwordGeneration(share) ? proof : undefined;
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }

  #associatedData({ uuid }: Link): string[] {
    return [this.#tenantId, 'shares', uuid, 'download'];
  }
}

/** Identifies a password by its salted hash. */
export const passwordGeneration = ({ passwordHash }: Link): string =>
  createHash('sha256')
    .update(passwordHash ?? '')
    .digest('base64url')
    .slice(0, 22);

/** A cookie of a share link. Its path is limited to the link, and scripts cannot read it. */
export class ShareCookie {
  readonly #ownName: string;
  readonly #basePath: string;
  readonly #isSecure: boolean;

  /** `secure`: the tenant is served over https. */
  constructor(options: { name: 'carrel_download' | 'carrel_share'; basePath: string; secure: boolean }) {
    this.#ownName = options.name;
    this.#basePath = options.basePath;
    this.#isSecure = options.secure;
  }

  /** Returns the value of a `Set-Cookie` header. `path` is relative to the path of all links. */
  set(path: string, proof: string): string {
    const secure = this.#isSecure ? '; Secure' : '';
    return (
      `${this.#name}=${proof}; Path=${this.#basePath}/s/${path}; Max-Age=${SHARE_DOWNLOAD_SECONDS}; HttpOnly; ` +
      `SameSite=Lax${secure}`
    );
  }

  read(header: string | undefined): string | undefined {
    const pairs = header?.split(';').map((pair) => pair.trim()) ?? [];
    return pairs.find((pair) => pair.startsWith(`${this.#name}=`))?.slice(this.#name.length + 1);
  }

  get #name(): string {
    return this.#isSecure ? `__Secure-${this.#ownName}` : this.#ownName;
  }
}
