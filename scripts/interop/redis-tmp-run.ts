import { CheckReport } from './check-report.js';
import { checkRedis } from './redis-checks.js';

const report = new CheckReport((l) => console.log(l));
await checkRedis(report);
console.log(report.summary);
