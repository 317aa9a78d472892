// node --conditions=source --import tsx leader-process.ts URL: takes the lock of the leader, says so, and keeps it until it ends.
import { argv, exit } from 'node:process';
import { Database } from '#drivers/store/database.js';
import { LeaderLock } from '#drivers/store/write/locks.js';
import { systemClock } from '#kernel/clock.js';

const database = await Database.open({ url: argv[2]! }, { clock: systemClock });
const options = { everyMs: 1000, deadAfterMs: 4000 };
const lock = await LeaderLock.take(database, systemClock, options, new AbortController().signal);
if (lock === null) exit(1);
lock.lost.addEventListener('abort', () => console.log('lost'));
console.log('leads');
