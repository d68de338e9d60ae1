import type { Attachment } from 'chat'
import type { IncomingFile, JsonObject } from 'troupe/extension'
import type { Platform } from '../platform.ts'

const mediaTypes = { image: 'image/png', video: 'video/mp4', audio: 'audio/mpeg', file: 'application/octet-stream' }

/** References to the files of a message. Their bytes are read when the message is sent to its agent. */
export function incomingFiles(platform: Platform, attachments: readonly Attachment[]): readonly IncomingFile[] {
  return attachments.map(({ type, name, mimeType, size, url, fetchMetadata }) => {
    const kept = { type, name, mimeType, url, fetchMetadata }
    return {
      name: name ?? type,
      mediaType: mimeType ?? mediaTypes[type],
      ...(size !== undefined && { bytes: size }),
      ref: JSON.stringify({ platform: platform.name, file: kept }),
    }
  })
}

export const platformOfFile = ({ ref }: IncomingFile): string => JSON.parse(ref).platform

/** @throws if the platform does not have it any more, or it is too large. */
export async function readIncomingFile(platform: Platform, { name, ref }: IncomingFile, signal: AbortSignal): Promise<Uint8Array> {
  const file = JSON.parse(ref).file as JsonObject
  if (platform.readFile) return platform.readFile(file, signal)
  const { adapter } = platform
  const attachment = file as unknown as Attachment
  const fetchData = (adapter.rehydrateAttachment?.(attachment) ?? attachment).fetchData
  if (!fetchData) throw new Error(`${platform.title} has no file ${name} any more.`)
  signal.throwIfAborted()
  return new Uint8Array(await fetchData())
}
