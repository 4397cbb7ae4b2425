/**
 * A webhook receiver as a program: takes everything, and tells its parent how many it has taken so far whenever that is asked.
 */
import { createServer } from 'node:http';

let taken = 0;
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    taken += 1;
    response.writeHead(204).end();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(Number(process.env.PORT), '127.0.0.1', () => process.send?.('ready'));
process.on('message', () => process.send?.(taken));
