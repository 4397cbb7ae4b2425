import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Postgres behind a proxy that loses replies. */
export interface LostReplies {
  /** `url` through the proxy. */
  through(url: string): string;
  /** The next statement with this text is done, and its connection ends in place of the reply. */
  loseReplyTo(text: string): void;
  /** The number of lost replies. */
  readonly lost: number;
  close(): void;
}

/** `url`: of the Postgres behind. */
export async function lostReplies(url: string): Promise<LostReplies> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let wanted: string | undefined;
  let lost = 0;
  const server = createServer((client) => {
    const onward = connect(Number(port), hostname);
    let isDone = false;
    client.on('data', (chunk) => {
      if (wanted !== undefined && chunk.includes(wanted)) [wanted, isDone] = [undefined, true];
      onward.write(chunk);
    });
    // Postgres sends nothing of a short reply before the commit.
    onward.on('data', (chunk) => {
      if (!isDone) return void client.write(chunk);
      lost += 1;
      client.destroy();
    });
    for (const [socket, other] of [
      [client, onward],
      [onward, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => (sockets.delete(socket), other.destroy()));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    through: (to) => Object.assign(new URL(to), { host: `127.0.0.1:${(server.address() as AddressInfo).port}` }).href,
    loseReplyTo: (text) => (wanted = text),
    get lost() {
      return lost;
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
