// What the thread of `echo-worker.ts` runs.
import process from 'node:process';
import { transfer } from '#kernel/worker-channel.js';
import { forwardedLogger, WorkerSide } from '#kernel/worker-side.js';
import { type EchoContract, echoErrors, unexpected } from '#test/support/echo-worker.js';

const side = new WorkerSide<EchoContract>({ unexpected });
void side.serve(async () => {
  if (side.start.fails) throw echoErrors.refused({ what: 'the start' });
  return {
    ready: side.start.greeting,
    methods: {
      echo: (value) => value,
      reversed: (bytes) => transfer(bytes.reverse(), [bytes.buffer as ArrayBuffer]),
      refuse: (what) => {
        throw echoErrors.refused({ what }).within('field');
      },
      fail: () => {
        throw new RangeError('out of range');
      },
      doubled: (value) => side.host.double(value),
      loop: () => {
        for (;;);
      },
      exit: (code) => process.exit(code),
      warn: () => process.emitWarning('too many', 'TestWarning'),
      writeLog: () => forwardedLogger(side.notify).warn('a line', { number: 1 }),
    },
  };
});
