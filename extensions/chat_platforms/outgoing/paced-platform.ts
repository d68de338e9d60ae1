import type { Content, NativeStream, Platform, PlatformProblem } from '../platform.ts'

/** A shorter wait is part of the call. The kernel gives a call ten seconds. */
const shortMs = 3_000

/** The platform has limited the rate: nothing was done. */
export class TooFast extends Error {
  readonly waitMs: number
  readonly isTemporary = true

  constructor(title: string, waitMs: number) {
    super(`${title} limits the rate of calls. The next one may be made in ${Math.ceil(waitMs / 1_000)} s.`)
    this.waitMs = waitMs
  }
}

export interface PacedPlatform extends Pick<Platform, 'post' | 'edit'> {
  readonly stream?: NativeStream
  upload(threadId: string, file: { readonly name: string; readonly mediaType: string; readonly data: Buffer }): Promise<void>
  remove(threadId: string, messageId: string): Promise<void>
}

interface PaceOptions {
  readonly platform: Platform
  now(): number
  /** What the last call has shown. Undefined: it worked. */
  learn(problem: PlatformProblem | undefined): void
}

/** Makes no call of a kind before the time that the platform has named. @throws TooFast instead. */
export function pacedPlatform({ platform, now, learn }: PaceOptions): PacedPlatform {
  const { adapter, stream, title } = platform
  const notBefore = new Map<string, number>()
  const paced = async <T>(kind: string, call: () => Promise<T>): Promise<T> => {
    const waitMs = (notBefore.get(kind) ?? 0) - now()
    if (waitMs > shortMs) throw new TooFast(title, waitMs)
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    try {
      const result = await call()
      learn(undefined)
      return result
    } catch (error) {
      const problem = platform.problemOf?.(error)
      if (problem) learn(problem)
      const retryMs = platform.retryAfterMs(error)
      if (retryMs === undefined) throw error
      notBefore.set(kind, now() + retryMs)
      if (retryMs > shortMs || waitMs > 0) throw new TooFast(title, retryMs)
      return paced(kind, call)
    }
  }
  return {
    post: (threadId: string, content: Content) => paced('post', () => platform.post(threadId, content)),
    edit: (threadId, messageId, content) => paced('edit', () => platform.edit(threadId, messageId, content)),
    remove: (threadId, messageId) => paced('remove', () => adapter.deleteMessage(threadId, messageId)),
    upload: (threadId, { name, mediaType, data }) => {
      const file = { filename: name, mimeType: mediaType, data }
      return paced('upload', async () => void (await adapter.postMessage(threadId, { markdown: '', files: [file] })))
    },
    ...(stream && {
      stream: {
        begin: (threadId, text) => paced('begin', () => stream.begin(threadId, text)),
        append: (threadId, messageId, text) => paced('append', () => stream.append(threadId, messageId, text)),
        end: (threadId, messageId, last) => paced('end', () => stream.end(threadId, messageId, last)),
      },
    }),
  }
}
