import type { Attachment } from 'chat'
import type { JsonObject } from 'troupe/extension'
import type { DurableSlackAdapter } from './slack-adapter.ts'

interface SlackFileOptions {
  readonly ref: JsonObject
  readonly signal: AbortSignal
  /** Of the configuration. */
  readonly apiUrl: unknown
}

/** As the adapter has it. Slack says before how long a file is: this is for one that is longer. */
const mostBytes = 25 * 1024 * 1024

/** The adapter reads files from public HTTPS addresses only. Those of a configured API are read from there. */
export async function slackFile(adapter: DurableSlackAdapter, { ref, signal, apiUrl }: SlackFileOptions): Promise<Uint8Array> {
  const attachment = ref as unknown as Attachment
  const url = attachment.fetchMetadata?.url ?? attachment.url ?? ''
  if (typeof apiUrl === 'string' && URL.parse(url)?.origin === URL.parse(apiUrl)?.origin) {
    const response = await fetch(url, { headers: { authorization: `Bearer ${adapter.webClient.token}` }, signal })
    if (!response.ok) throw new Error(`Slack answered ${response.status} for the file.`)
    return readAtMost(mostBytes, response)
  }
  // With the id of a team, the adapter looks for the token of an app that is installed in several.
  const { fetchData } = adapter.rehydrateAttachment({ ...attachment, fetchMetadata: { url } })
  if (!fetchData) throw new Error('Slack named no address for the file.')
  signal.throwIfAborted()
  return new Uint8Array(await fetchData())
}

async function readAtMost(limit: number, { body }: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > limit) throw new Error(`Slack sent more than ${limit} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
