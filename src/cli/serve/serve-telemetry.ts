import type { Store } from '../../contracts/index.ts'
import type { Project } from '../../project/index.ts'
import type { AccessEntry, Admission } from '../../server/http/index.ts'
import { observedStore, openExporter, SessionSpans, serverMetrics } from '../../server/telemetry/index.ts'

interface ServeTelemetry {
  /** The same store, whose events are counted and traced. */
  observe(store: Store): Store
  request(entry: AccessEntry): void
  metrics(): Promise<string>
  /** Sends the spans that are left. */
  close(): Promise<void>
}

interface TelemetryOptions {
  readonly settings: Project['telemetry']
  readonly version: string
  admission(): Pick<Admission, 'running' | 'waiting'> | undefined
}

/** Counters always; spans if `telemetry.endpoint` is set. */
export async function openTelemetry({ settings, version, admission }: TelemetryOptions): Promise<ServeTelemetry> {
  const { endpoint, headers, content = false } = settings
  const metrics = serverMetrics(admission)
  const exporter = endpoint === undefined ? undefined : await openExporter({ endpoint, version, ...(headers && { headers }) })
  const spans = exporter && new SessionSpans({ tracer: exporter.tracer, content })
  return {
    observe: (store) =>
      observedStore(store, {
        observe(events) {
          metrics.observe(events)
          spans?.observe(events)
        },
        learn(event) {
          metrics.observe([event])
          spans?.learn(event)
        },
      }),
    request: (entry) => metrics.request(entry),
    metrics: () => metrics.text(),
    close: async () => exporter?.close().catch(() => {}),
  }
}
