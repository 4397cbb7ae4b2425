import { createHash } from 'node:crypto';
import { z } from 'zod';
import { SHARE_DOWNLOAD_SECONDS, SHARE_PASS_SECONDS } from '../../api/lifetimes.ts';
import type { Clock } from '../../runtime/clock.ts';
import { SealError, type Sealer } from '../../runtime/sealing.ts';
import type { OpenShare } from './shares.sql.ts';

/** `until` in milliseconds since the epoch; `password` identifies the password (generationOf). */
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

  /** Returns a proof for a counted download: it admits the later ranges for 24 hours. */
  ofDownload(share: OpenShare): string {
    return this.#seal(share, true, SHARE_DOWNLOAD_SECONDS);
  }

  /** Returns a proof of the password alone, for a download that begins within a minute. */
  ofPassword(share: OpenShare): string {
    return this.#seal(share, false, SHARE_PASS_SECONDS);
  }

  /** Returns the first valid proof of a counted download, or else the first valid proof. */
  find(share: OpenShare, texts: readonly (string | undefined)[]): { readonly counted: boolean } | undefined {
    const proofs = texts.flatMap((text) => (text === undefined ? [] : (this.#open(share, text) ?? [])));
    return proofs.find(({ counted }) => counted) ?? proofs[0];
  }

  #seal(share: OpenShare, counted: boolean, seconds: number): string {
    const until = this.#clock.now().getTime() + seconds * 1000;
    const proof: Proof = { checksum: share.checksum, password: generationOf(share), counted, until };
    return this.#sealer.seal(JSON.stringify(proof), this.#associatedData(share));
  }

  #open(share: OpenShare, text: string): Proof | undefined {
    try {
      const { data: proof } = Proof.safeParse(JSON.parse(this.#sealer.open(text, this.#associatedData(share))));
      if (!proof || proof.until <= this.#clock.now().getTime()) return undefined;
      return proof.checksum === share.checksum && proof.password === generationOf(share) ? proof : undefined;
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }

  #associatedData({ uuid }: OpenShare): string[] {
    return [this.#tenantId, 'shares', uuid, 'download'];
  }
}

/** Identifies a password by its salted hash. */
const generationOf = ({ passwordHash }: OpenShare): string =>
  createHash('sha256')
    .update(passwordHash ?? '')
    .digest('base64url')
    .slice(0, 22);

const COOKIE = 'carrel_download';

/** The cookie that holds the proof of a download: limited to the URLs of one link, and hidden from scripts. */
export class ShareCookie {
  readonly #basePath: string;
  readonly #isSecure: boolean;

  /** `secure`: the tenant's address is https. */
  constructor(options: { basePath: string; secure: boolean }) {
    this.#basePath = options.basePath;
    this.#isSecure = options.secure;
  }

  /** Returns the value of a `Set-Cookie` header. */
  set(token: string, proof: string): string {
    const path = `${this.#basePath}/s/${token}/download`;
    return `${this.#name}=${proof}; Path=${path}; Max-Age=${SHARE_DOWNLOAD_SECONDS}; HttpOnly; SameSite=Lax${this.#isSecure ? '; Secure' : ''}`;
  }

  read(header: string | undefined): string | undefined {
    const pairs = header?.split(';').map((pair) => pair.trim()) ?? [];
    return pairs.find((pair) => pair.startsWith(`${this.#name}=`))?.slice(this.#name.length + 1);
  }

  get #name(): string {
    return this.#isSecure ? `__Secure-${COOKIE}` : COOKIE;
  }
}
