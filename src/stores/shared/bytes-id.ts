import type { BlobId } from '../../contracts/index.ts'
import { configError } from '../../util/option-problems.ts'

// The id of bytes contains their media type: `b` and a hash, `.image.png`. So a file with that name can be opened by other
// programs. Ids of texts have no dot.

/** The media type is part of a file name. */
const namedType = /^[a-z0-9-]{1,20}\/[a-z0-9][a-z0-9.+_-]{0,79}$/
const bytesIdForm = /^b[0-9a-f]{32}\.([a-z0-9-]{1,20})\.([a-z0-9][a-z0-9.+_-]{0,79})$/

export function bytesId(hash: string, mediaType: string): BlobId {
  if (!namedType.test(mediaType) || mediaType.endsWith('.'))
    throw configError([
      {
        place: 'putBytes',
        message: `"${mediaType}" is not a media type`,
        remedy: 'Use a type in lower case without parameters: image/png.',
      },
    ])
  return `b${hash}.${mediaType.replace('/', '.')}` as BlobId
}

/** The media type in the id of bytes; `undefined` for other ids. */
export function mediaTypeOf(id: string): string | undefined {
  const [, type, subtype] = bytesIdForm.exec(id) ?? []
  return type === undefined ? undefined : `${type}/${subtype}`
}
