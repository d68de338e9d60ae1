export { type ExporterSettings, openExporter, type SpanExport } from './exporter.ts'
export { type ServerMetrics, serverMetrics } from './metrics.ts'
export { observedStore } from './observed-store.ts'
export { SessionSpans, type SpanOptions } from './spans.ts'
