import { type NativeStream, type PlatformOptions, StreamEnded } from '../platform.ts'
import type { DurableSlackAdapter } from './slack-adapter.ts'
import { buttonBlocks, safeMarkdown, shown } from './slack-blocks.ts'
import { slackErrorOf } from './slack-errors.ts'

/** Slack cannot stream there: the message is posted and edited. */
const unsupported = new Set([
  'unknown_method',
  'feature_not_enabled',
  'method_deprecated',
  'missing_recipient_user_id',
  'missing_recipient_team_id',
])
const over = new Set(['message_not_in_streaming_state', 'message_not_found', 'streaming_state_conflict', 'msg_too_long'])

/** The Web API itself, because the stream of Chat SDK says only at its end which message it writes, and always begins a new one. */
export function slackStream(adapter: DurableSlackAdapter, lastNote: PlatformOptions['lastNote']): NativeStream {
  const call = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      if (over.has(slackErrorOf(error) ?? '')) throw new StreamEnded(slackErrorOf(error))
      throw error
    }
  }
  const chunks = (text: string) => [{ type: 'markdown_text' as const, text: safeMarkdown(text) }]
  // The piece before may end with `<`.
  const nextChunks = (text: string) => chunks(text.replace(/^!/, '\u200b!'))
  return {
    async begin(threadId, text) {
      const { channel, threadTs } = adapter.decodeThreadId(threadId)
      const { user, team } = (await lastNote(threadId)) ?? {}
      const recipient = {
        ...(typeof user === 'string' && { recipient_user_id: user }),
        ...(typeof team === 'string' && { recipient_team_id: team }),
      }
      try {
        const { ts } = await adapter.webClient.chat.startStream({ channel, thread_ts: threadTs, ...recipient, chunks: chunks(text) })
        if (ts !== undefined) return ts
      } catch (error) {
        if (!unsupported.has(slackErrorOf(error) ?? '')) throw error
      }
      const posted = await adapter.webClient.chat.postMessage({ channel, thread_ts: threadTs, ...shown({ text }) })
      return posted.ts ?? ''
    },
    async append(threadId, ts, text) {
      const { channel } = adapter.decodeThreadId(threadId)
      await call(() => adapter.webClient.chat.appendStream({ channel, ts, chunks: nextChunks(text) }))
    },
    async end(threadId, ts, { text = '', buttons = [] }) {
      const { channel } = adapter.decodeThreadId(threadId)
      const blocks = buttons.length > 0 ? { blocks: buttonBlocks(buttons) as never } : {}
      await call(() => adapter.webClient.chat.stopStream({ channel, ts, ...(text !== '' && { chunks: nextChunks(text) }), ...blocks }))
    },
  }
}
