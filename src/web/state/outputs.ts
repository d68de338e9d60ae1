import type { InputPart } from '../../contracts/index.ts'
import { toBase64 } from '../../util/encode-bytes.ts'
import { attempt } from './actions.ts'
import type { Page } from './page.ts'

// Bytes that a session has stored: attachments of messages, and outputs of calls.

const stored = 'blob:'

export const loadOutput = ({ http }: Pick<Page, 'http'>, sessionId: string, handle: string): Promise<Blob> =>
  http.blob(`/v1/sessions/${sessionId}/outputs/${encodeURIComponent(handle)}`)

/** The handle of a part whose bytes are stored. */
export const handleOf = ({ data }: { readonly data: string }): string | undefined =>
  data.startsWith(stored) ? data.slice(stored.length) : undefined

/** Parts as they are sent: stored bytes are loaded. */
export const partsWithData = (page: Page, sessionId: string, parts: readonly InputPart[]): Promise<readonly InputPart[]> =>
  Promise.all(
    parts.map(async (part) => {
      const handle = part.type === 'text' ? undefined : handleOf(part)
      if (part.type === 'text' || handle === undefined) return part
      const { bytes: _, ...rest } = part
      return { ...rest, data: await base64Of(await loadOutput(page, sessionId, handle)) }
    }),
  )

const base64Of = async (blob: Blob): Promise<string> => toBase64(new Uint8Array(await blob.arrayBuffer()))

/** Saves stored bytes as a file. */
export const saveOutput = (
  page: Page,
  sessionId: string,
  { handle, name }: { readonly handle: string; readonly name: string },
): Promise<boolean> =>
  attempt(page, async () => {
    download(await loadOutput(page, sessionId, handle), name)
  })

/** Saves bytes as a file. */
export function download(blob: Blob, name: string): void {
  const href = URL.createObjectURL(blob)
  Object.assign(document.createElement('a'), { href, download: name }).click()
  // The browser reads it after this task.
  setTimeout(() => URL.revokeObjectURL(href), 60_000)
}
