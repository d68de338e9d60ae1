import type { Attachment } from 'chat'
import type { JsonObject } from 'troupe/extension'
import type { DurableSlackAdapter } from './slack-adapter.ts'

interface SlackFileOptions {
  readonly ref: JsonObject
  readonly signal: AbortSignal
  /** Of the configuration. */
  readonly apiUrl: unknown
}

/** The adapter reads files from public HTTPS addresses only. Those of a configured API are read from there. */
export async function slackFile(adapter: DurableSlackAdapter, { ref, signal, apiUrl }: SlackFileOptions): Promise<Uint8Array> {
  const attachment = ref as unknown as Attachment
  const url = attachment.fetchMetadata?.url ?? attachment.url ?? ''
  if (typeof apiUrl === 'string' && URL.parse(url)?.origin === URL.parse(apiUrl)?.origin) {
    const response = await fetch(url, { headers: { authorization: `Bearer ${adapter.webClient.token}` }, signal })
    if (!response.ok) throw new Error(`Slack answered ${response.status} for the file.`)
    return new Uint8Array(await response.arrayBuffer())
  }
  const { fetchData } = adapter.rehydrateAttachment(attachment)
  if (!fetchData) throw new Error('Slack named no address for the file.')
  signal.throwIfAborted()
  return new Uint8Array(await fetchData())
}
