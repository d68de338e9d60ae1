export { type ExporterSettings, openExporter, type SpanExport } from './exporter.ts'
export { type ServerMetrics, serverMetrics } from './metrics.ts'
export { openTelemetry, type Telemetry } from './open-telemetry.ts'
export { SessionSpans, type SpanOptions } from './spans.ts'
