// Answers requests with JSON of the sizes of its argument, in bytes with commas between them, in turn.
import { createServer } from 'node:http';
import process from 'node:process';

const sizes = (process.argv[2] ?? '').split(',').map((size) => Math.max(2, Number(size)));
const longest = Buffer.alloc(Math.max(...sizes), ' ').fill('""', 0, 2);
let turn = 0;
const server = createServer((_, response) => {
  const body = longest.subarray(0, sizes[turn++ % sizes.length]);
  response.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': body.length });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.send?.(address.port);
});
process.once('disconnect', () => process.exit());
