// Where the sources run, not the build: a worker thread does not inherit the TypeScript loader of the process.
import { workerData } from 'node:worker_threads';
import { register } from 'tsx/esm/api';

register();
await import(workerData.entry);
