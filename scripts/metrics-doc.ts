// npm run docs:metrics: writes docs/metrics.md from the metrics that the code registers.
import { writeFileSync } from 'node:fs';
import { collectMetrics, metricsPage } from '#test/docs/metrics-page.js';

writeFileSync('docs/metrics.md', metricsPage(collectMetrics()));
