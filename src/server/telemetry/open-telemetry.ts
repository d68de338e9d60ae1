import type { DeliveryCounts, TelemetrySettings } from '../../project/index.ts'
import type { RuntimeObserver } from '../../runtime/index.ts'
import type { AccessEntry, TurnPlaces } from '../http/index.ts'
import { openExporter } from './exporter.ts'
import { serverMetrics } from './metrics.ts'
import { SessionSpans } from './spans.ts'

export interface Telemetry {
  readonly observer: RuntimeObserver
  request(entry: AccessEntry): void
  metrics(): Promise<string>
  /** Sends the spans that are left. */
  close(): Promise<void>
}

interface TelemetryOptions {
  readonly settings: TelemetrySettings
  readonly version: string
  places(): Pick<TurnPlaces, 'running' | 'waiting'> | undefined
  deliveries(): DeliveryCounts
}

/** Counters always; spans if `telemetry.endpoint` is set. */
export async function openTelemetry({ settings, version, places, deliveries }: TelemetryOptions): Promise<Telemetry> {
  const { endpoint, headers, content = false } = settings
  const metrics = serverMetrics(places, deliveries)
  const exporter = endpoint === undefined ? undefined : await openExporter({ endpoint, version, ...(headers && { headers }) })
  const spans = exporter && new SessionSpans({ tracer: exporter.tracer, content })
  return {
    observer: {
      stored(event) {
        metrics.stored(event)
        spans?.stored(event)
      },
      continued(session) {
        metrics.continued(session)
        spans?.continued(session)
      },
    },
    request: (entry) => metrics.request(entry),
    metrics: () => metrics.text(),
    close: async () => exporter?.close().catch(() => {}),
  }
}
