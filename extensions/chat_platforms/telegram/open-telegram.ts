import { createHash } from 'node:crypto'
import type { TelegramCallbackQuery, TelegramMessage } from '@chat-adapter/telegram'
import { parseMarkdown } from 'chat'
import { chatLogger } from '../chat-logger.ts'
import { contentText, isPublicLink } from '../plain-content.ts'
import { type Content, type Platform, type PlatformModule, type PlatformOptions, PlatformProblem } from '../platform.ts'
import { DurableTelegramAdapter } from './telegram-adapter.ts'

/** Of what people see: marks of formatting do not count. */
const longestText = 4096
/** Formatting makes tables longer. */
const textLimit = 3500
const longestUpload = 50_000_000
/** In a chat, Telegram takes one message in a second. */
const pieceMs = 1_100
const setup = 'troupe extensions setup chat_platforms'

export const telegram: PlatformModule = {
  adapter: '@chat-adapter/telegram',
  open: async (options) => telegramPlatform(openAdapter(options)),
}

function openAdapter({ settings, secret, logger, webhookUrl }: PlatformOptions): DurableTelegramAdapter {
  const { mode = 'polling', apiUrl = 'https://api.telegram.org', publicUrl } = settings
  if (mode !== 'polling' && mode !== 'webhooks')
    throw new PlatformProblem('`platforms.telegram.mode` must be "polling" or "webhooks".', `Run: ${setup}`)
  const botToken = secret('TELEGRAM_BOT_TOKEN')
  if (botToken === undefined)
    throw new PlatformProblem('Telegram needs TELEGRAM_BOT_TOKEN.', `Get a token from @BotFather, and run: ${setup}`)
  return new DurableTelegramAdapter({
    apiUrl: String(apiUrl),
    botToken,
    secretToken: createHash('sha256').update(`webhooks of ${botToken}`).digest('hex'),
    webhookUrl:
      mode === 'webhooks' ? () => (publicUrl === undefined ? webhookUrl() : `${publicUrl}/channels/chat_platforms/telegram`) : undefined,
    logger: chatLogger(logger, 'telegram'),
  })
}

function telegramPlatform(adapter: DurableTelegramAdapter): Platform {
  const send = async (
    method: string,
    threadId: string,
    { message_id, ...content }: Content & { readonly message_id?: number },
  ): Promise<TelegramMessage> => {
    const markdown = contentText(content, textLimit)
    const plain = {
      ...adapter.target(threadId),
      ...(message_id !== undefined && { message_id }),
      text: markdown,
      link_preview_options: { is_disabled: true },
      reply_markup: { inline_keyboard: keyboard(content.buttons) },
    }
    const text = adapter.renderFormatted(parseMarkdown(markdown))
    if (text.replaceAll(/\\(.)/g, '$1').length > longestText) return adapter.call(method, plain)
    return adapter.call<TelegramMessage>(method, { ...plain, text, parse_mode: 'MarkdownV2' }).catch((error: unknown) => {
      if (!/can't parse/i.test(String(error))) throw error
      return adapter.call<TelegramMessage>(method, plain)
    })
  }
  return {
    name: 'telegram',
    title: 'Telegram',
    adapter,
    limits: { text: textLimit, upload: longestUpload, pieceMs },
    async check() {
      await adapter.call('getMe', {}).catch((error: unknown) => {
        if (!['AUTH_FAILED', 'NOT_FOUND'].includes(codeOf(error))) throw error
        throw new PlatformProblem('Telegram refuses TELEGRAM_BOT_TOKEN.', `Get the token with /token from @BotFather, and run: ${setup}`)
      })
    },
    health: () => (adapter.problem === undefined ? { healthy: true } : { healthy: false, message: adapter.problem }),
    threadOf: (threadId) => threadId,
    async post(threadId, content) {
      const { message_id } = await send('sendMessage', threadId, content)
      return adapter.messageId(threadId, message_id)
    },
    async edit(threadId, messageId, content) {
      const message_id = adapter.messageNumber(threadId, messageId)
      await send('editMessageText', threadId, { ...content, message_id }).catch((error: unknown) => {
        // Or somebody has deleted it.
        if (!/message is not modified|message to edit not found/.test(String(error))) throw error
      })
    },
    retryAfterMs: (error) =>
      codeOf(error) === 'RATE_LIMITED' ? ((error as { readonly retryAfter?: number }).retryAfter ?? 1) * 1_000 : undefined,
    isRefusal: (error) => !['', 'NETWORK_ERROR'].includes(codeOf(error)),
    async tell({ thread, raw }, text) {
      if (isButton(raw) && text.length < longestAlert) await adapter.alert(raw, text)
      else await send('sendMessage', thread, { text })
    },
  }
}

/** Longer texts are messages. */
const longestAlert = 200

/** One in a row: Telegram cuts labels. */
const keyboard = (buttons: Content['buttons'] = []): readonly (readonly object[])[] =>
  buttons.flatMap((button): readonly object[][] => {
    if (button.type === 'button')
      return [[{ text: button.label, callback_data: button.value ? `${button.id} ${button.value}` : button.id }]]
    return button.type === 'link-button' && isPublicLink(button) ? [[{ text: button.label, url: button.url }]] : []
  })

const isButton = (raw: unknown): raw is TelegramCallbackQuery => typeof raw === 'object' && raw !== null && 'chat_instance' in raw

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')
