import type { S3Client } from '@aws-sdk/client-s3';
import { inSpan, type SpanFacts } from '../../runtime/traces.ts';

/** The facts of one operation of the S3 API, without the key of the object. */
const facts = (operation: string, bucket: string): SpanFacts => ({
  kind: 'client',
  attributes: { 'rpc.system.name': 'aws-api', 'rpc.service': 'S3', 'rpc.method': operation, 'aws.s3.bucket': bucket },
});

/** Records an operation, including its second attempt, as a span. */
export const asOperation = <T>(operation: string, bucket: string, work: () => Promise<T>): Promise<T> =>
  inSpan(`S3.${operation}`, facts(operation, bucket), work);

/** Records each command of an SDK client in the same way. */
export const traceCommands = (client: S3Client): void =>
  client.middlewareStack.add(
    (next, command) => (args) => {
      const operation = (command.commandName ?? 'Command').replace(/Command$/, '');
      return asOperation(operation, (args.input as { Bucket?: string }).Bucket ?? '', () => next(args));
    },
    { step: 'initialize', name: 'traceCommands' },
  );
