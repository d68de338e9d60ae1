export { openExporter } from './exporter.ts'
export { serverMetrics } from './metrics.ts'
export { observedStore } from './observed-store.ts'
export { SessionSpans } from './spans.ts'
