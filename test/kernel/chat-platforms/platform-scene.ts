// `troupe up` with the extension `chat_platforms`, whose platform is a stand-in of the test. The person has set it up.
import type { ChatPlatform } from '../../stand-ins/chat-platforms/chat-platform.ts'
import { DiscordStandIn, discordToken } from '../../stand-ins/chat-platforms/discord.ts'
import { SlackStandIn, slackTokens } from '../../stand-ins/chat-platforms/slack.ts'
import { TelegramStandIn, telegramToken } from '../../stand-ins/chat-platforms/telegram.ts'
import { type Assistant, manifest, startAssistant } from '../acceptance/assistant.ts'
import type { Asked, Reply } from '../acceptance/scripted-provider.ts'

export interface PlatformKind {
  readonly name: string
  open(webhookUrl: () => string): Promise<ChatPlatform>
  /** What `troupe extensions setup` gets: settings, and lines with secrets. */
  readonly setup: readonly string[]
  readonly secrets: string
  /** `platforms.NAME` of the configuration. */
  readonly settings: object
}

const slack = {
  secrets: `SLACK_BOT_TOKEN=${slackTokens.bot}\nSLACK_APP_TOKEN=${slackTokens.app}\nSLACK_SIGNING_SECRET=${slackTokens.signingSecret}\n`,
}
export const slackKinds: readonly PlatformKind[] = [
  { ...slack, name: 'Slack over Socket Mode', open: () => SlackStandIn.open(), setup: ['slack=socket'], settings: { mode: 'socket' } },
  {
    ...{ ...slack, name: 'Slack over webhooks', setup: ['slack=webhooks'], settings: { mode: 'webhooks' } },
    open: (webhookUrl) => SlackStandIn.open({ webhookUrl }),
  },
]
export const telegramKinds: readonly PlatformKind[] = [
  {
    ...{ name: 'Telegram over polling', setup: ['slack=off', 'telegram=polling'], settings: { mode: 'polling' } },
    ...{ open: () => TelegramStandIn.open(), secrets: `TELEGRAM_BOT_TOKEN=${telegramToken}\n` },
  },
  {
    ...{ name: 'Telegram over webhooks', setup: ['slack=off', 'telegram=webhooks'], settings: { mode: 'webhooks' } },
    ...{ open: () => TelegramStandIn.open(), secrets: `TELEGRAM_BOT_TOKEN=${telegramToken}\n` },
  },
]
export const discordKinds: readonly PlatformKind[] = [
  {
    ...{ name: 'Discord', setup: ['slack=off', 'discord=on', 'discord_application_id=900'], settings: { applicationId: '900' } },
    ...{ open: () => DiscordStandIn.open(), secrets: `DISCORD_BOT_TOKEN=${discordToken}\n` },
  },
]

export interface PlatformScene {
  readonly platform: ChatPlatform
  readonly assistant: Assistant
  /** How often the model was asked something that has this text. */
  asked(text: string): number
  /** The last text of a person that the model was asked. */
  lastAsked(): string
  /** Ends the kernel as a crash does. Resolves when the next one runs. */
  kill(): Promise<void>
}

const toolCode = `export class Main {
  getTools() {
    return [{
      name: 'erase', description: 'Erase everything.', inputSchema: { type: 'object', properties: { what: { type: 'string' } } },
      effect: 'write', approval: ({ what }) => ({ action: 'erase', target: what }), execute: ({ what }) => 'erased ' + what,
    }, {
      name: 'wait', description: 'Wait for ever.', inputSchema: { type: 'object' }, effect: 'read',
      execute: (input, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    }]
  }
}`

export async function openPlatform(kind: PlatformKind, answer: (asked: Asked) => Reply): Promise<PlatformScene> {
  let url = (): string => ''
  const platform = await kind.open(() => `${url()}/channels/chat_platforms/${platform.name}`)
  const { ada, bob } = platform.people
  const person = (id: string): string => `${platform.name}:${id}`
  const chat_platforms = {
    platforms: { [platform.name]: { ...kind.settings, apiUrl: platform.apiUrl } },
    rules: [{ person: person(ada) }, { person: person(bob) }],
    approvers: [person(ada)],
  }
  const assistant = await startAssistant({
    script: answer,
    config: { extensions: { chat_platforms } },
    extensions: { 'eraser/manifest.yaml': manifest('eraser', { entrypoint: 'main:Main' }), 'eraser/main.js': toolCode },
    async before(place) {
      const settings = kind.setup.flatMap((setting) => ['--set', setting])
      const { code, stderr } = await place.troupe(['extensions', 'setup', 'chat_platforms', ...settings, '--secrets'], kind.secrets)
      if (code !== 0) throw new Error(stderr)
    },
  })
  url = assistant.url
  return {
    platform,
    assistant,
    asked: (text) => assistant.provider.asked.filter(({ users }) => users.at(-1)?.includes(text)).length,
    lastAsked: () => assistant.provider.asked.at(-1)?.users.at(-1) ?? '',
    async kill() {
      const times = assistant.kernels()
      process.kill(assistant.pid(), 'SIGKILL')
      await assistant.started(times + 1)
    },
  }
}
