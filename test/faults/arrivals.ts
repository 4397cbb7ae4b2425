import type { EventName } from '../../pkg/events/catalogue.ts';
import { verifiesStandard } from '../../pkg/local/demo/standard-webhooks.ts';
import { type Receiver, verifiesHex } from '../support/fakes/receiver.ts';

export interface ArrivedEvent {
  readonly id: string;
  readonly event: EventName;
  readonly body: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Checks deliveries when they arrive, since `webhook-timestamp` is valid for only 5 minutes. */
export class Arrivals {
  /** A sentence for each arrival that is not as it must be. */
  readonly faults: string[] = [];
  /** Events that were answered with 2xx, by webhook-id. */
  readonly taken = new Map<string, ArrivedEvent>();
  /** Taken more than once. */
  twice = 0;
  readonly #receiver: Receiver;
  readonly #secret: string;
  readonly #bytes = new Map<string, string>();
  #seen = 0;

  constructor(receiver: Receiver, secret: string) {
    this.#receiver = receiver;
    this.#secret = secret;
  }

  look(): void {
    for (; this.#seen < this.#receiver.received.length; this.#seen += 1) {
      const each = this.#receiver.received[this.#seen];
      if (!each) return;
      const { id, body, event, data, taken } = each;
      const name = `${event} ${id}`;
      if (!verifiesHex(each, this.#secret)) this.faults.push(`${name}: X-Carrel-Signature does not verify`);
      if (!verifiesStandard(each, `whsec_${Buffer.from(this.#secret).toString('base64')}`)) {
        this.faults.push(`${name}: webhook-signature does not verify`);
      }
      if ((this.#bytes.get(id) ?? body) !== body) this.faults.push(`${name}: came again with other bytes`);
      this.#bytes.set(id, body);
      if (!taken) continue;
      if (this.taken.has(id)) this.twice += 1;
      this.taken.set(id, { id, event: event as EventName, body, data });
    }
  }
}
