import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { freePort } from '../backends/ports.ts';

/** A span as it arrived, with what its process says of itself. */
export interface GatheredSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: the root of its trace. */
  readonly parentSpanId: string;
  readonly name: string;
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly hasFailed: boolean;
  readonly service: string;
}

export interface TraceReceiver {
  /** The value for OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint: string;
  readonly spans: readonly GatheredSpan[];
  /** Requests that came, answered or not. */
  readonly requests: number;
  /** From now on: answers, refuses all, or never answers. */
  behave(as: 'answering' | 'refusing' | 'silent'): void;
  close(): Promise<void>;
}

/** Takes traces by OTLP over HTTP in protobuf, as a collector does (opentelemetry-proto, trace_service.proto). */
export async function startTraceReceiver(): Promise<TraceReceiver> {
  const spans: GatheredSpan[] = [];
  let requests = 0;
  let behaviour: 'answering' | 'refusing' | 'silent' = 'answering';
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requests += 1;
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    if (behaviour === 'silent') return;
    const isTraces = request.url === '/v1/traces' && request.headers['content-type'] === 'application/x-protobuf';
    if (isTraces && behaviour === 'answering') spans.push(...spansOf(Buffer.concat(chunks)));
    response
      .writeHead(!isTraces ? 404 : behaviour === 'answering' ? 200 : 400, { 'content-type': 'application/x-protobuf' })
      .end();
  };
  const server = createServer((request, response) => void take(request, response).catch(() => response.destroy()));
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${port}`,
    spans,
    get requests() {
      return requests;
    },
    behave: (as) => void (behaviour = as),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A field of a protobuf message: a number, or bytes. */
interface Field {
  readonly number: number;
  readonly value: number | Buffer;
}

function spansOf(message: Buffer): GatheredSpan[] {
  return bytesOf(message, 1).flatMap((resourceSpans) => {
    const [resource = Buffer.alloc(0)] = bytesOf(resourceSpans, 1);
    const service = String(attributesOf(resource, 1)['service.name']);
    return bytesOf(resourceSpans, 2).flatMap((scopeSpans) => bytesOf(scopeSpans, 2).map((span) => spanOf(span, service)));
  });
}

function spanOf(message: Buffer, service: string): GatheredSpan {
  const hex = (number: number): string => bytesOf(message, number)[0]?.toString('hex') ?? '';
  const [status = Buffer.alloc(0)] = bytesOf(message, 15);
  const numberOf = (of: Buffer, number: number): number =>
    Number(fieldsOf(of).find((field) => field.number === number)?.value ?? 0);
  return {
    traceId: hex(1),
    spanId: hex(2),
    parentSpanId: hex(4),
    name: bytesOf(message, 5)[0]?.toString('utf8') ?? '',
    kind: numberOf(message, 6),
    attributes: attributesOf(message, 9),
    hasFailed: numberOf(status, 3) === 2,
    service,
  };
}

/** Returns the strings and whole numbers of KeyValue messages. */
const attributesOf = (message: Buffer, number: number): Record<string, string | number> =>
  Object.fromEntries(
    bytesOf(message, number).map((pair) => {
      const [key = Buffer.alloc(0), value = Buffer.alloc(0)] = [...bytesOf(pair, 1), ...bytesOf(pair, 2)];
      const [first] = fieldsOf(value);
      return [key.toString('utf8'), Buffer.isBuffer(first?.value) ? first.value.toString('utf8') : (first?.value ?? '')];
    }),
  );

const bytesOf = (message: Buffer, number: number): Buffer[] =>
  fieldsOf(message).flatMap((field) => (field.number === number && Buffer.isBuffer(field.value) ? [field.value] : []));

/** Protocol Buffers, Encoding: varints, 8 bytes, bytes with their length, 4 bytes. */
function fieldsOf(message: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = message.readUInt8(at);
      at += 1;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  const bytes = (length: number): Buffer => message.subarray(at, (at += length));
  while (at < message.length) {
    const tag = varint();
    const type = tag & 7;
    if (type !== 0 && type !== 1 && type !== 2 && type !== 5) throw new TypeError(`wire type ${type}`);
    const value = type === 0 ? varint() : bytes(type === 1 ? 8 : type === 5 ? 4 : varint());
    fields.push({ number: tag >> 3, value });
  }
  return fields;
}
