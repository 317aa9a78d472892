// A thread that verifies state files.
import { FileSource } from '#drivers/state-files/byte-source.js';
import { stateFilesErrors } from '#drivers/state-files/errors.js';
import { openStateFile } from '#drivers/state-files/state-file.js';
import { verifyStateFile } from '#drivers/state-files/verify-file.js';
import type { VerifyThreadContract } from '#drivers/state-files/verify-protocol.js';
import { WorkerSide } from '#kernel/worker-side.js';

const side = new WorkerSide<VerifyThreadContract>({
  unexpected: (problem, cause) => stateFilesErrors.unexpected({ problem }, cause),
});

void side.serve(async () => ({
  ready: undefined,
  methods: {
    verify: ({ path, hashBytes, folder }) => {
      const source = new FileSource(path);
      try {
        const onProgress = (share: number): void => side.notify.progress(share);
        return verifyStateFile(openStateFile(source), { hashBytes, folder, onProgress });
      } finally {
        source.close();
      }
    },
  },
}));
