// Answers every request with so many bytes of JSON: its argument.
import { createServer } from 'node:http';
import process from 'node:process';

const body = Buffer.from(`"${'x'.repeat(Math.max(0, Number(process.argv[2]) - 2))}"`);
const server = createServer((_, response) => {
  response.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': body.length });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.send?.(address.port);
});
process.once('disconnect', () => process.exit());
