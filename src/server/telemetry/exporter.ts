import type { Tracer } from '@opentelemetry/api'
import { TroupeError } from '../../contracts/index.ts'

interface ExporterSettings {
  /** `http://localhost:4318/v1/traces`. */
  readonly endpoint: string
  readonly headers?: { readonly [name: string]: string }
  readonly version: string
}

interface SpanExport {
  readonly tracer: Tracer
  /** Sends what is left. */
  close(): Promise<void>
}

/** The packages of the exporter are optional: they are loaded when an endpoint is configured. */
export async function openExporter({ endpoint, headers, version }: ExporterSettings): Promise<SpanExport> {
  const [sdk, otlp, resources] = await Promise.all([
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]).catch((cause: unknown) => {
    throw new TroupeError('config_invalid', 'telemetry.endpoint is set, but the packages of the exporter are not installed.', {
      remedy: 'Install them: npm install @opentelemetry/sdk-trace @opentelemetry/exporter-trace-otlp-http @opentelemetry/resources',
      cause,
    })
  })
  const exporter = new otlp.OTLPTraceExporter({ url: endpoint, ...(headers && { headers: { ...headers } }) })
  const provider = new sdk.TracerProvider({
    resource: resources.resourceFromAttributes({ 'service.name': 'troupe', 'service.version': version }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
  })
  return { tracer: provider.getTracer('troupe', version), close: () => provider.shutdown() }
}
