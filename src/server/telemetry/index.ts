export { openExporter } from './exporter.ts'
export { serverMetrics } from './metrics.ts'
export { openTelemetry, type Telemetry } from './open-telemetry.ts'
export { SessionSpans } from './spans.ts'
