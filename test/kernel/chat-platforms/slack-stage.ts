// The extension with the real adapter of Chat SDK against a stand-in for Slack. The kernel is played by the test.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { ChatPlatforms } from '../../../extensions/chat_platforms/main.ts'
import type { Conversations, ExtensionContext, IncomingMessage, JsonObject } from '../../../src/contracts/index.ts'
import { Growing } from '../../growing.ts'
import { SlackStandIn, slackTokens } from '../../stand-ins/chat-platforms/slack.ts'
import { extensionContext, temporaryFolder } from '../extension-context.ts'

export interface StageOptions {
  readonly mode?: 'socket' | 'webhooks'
  readonly config?: JsonObject
  readonly secrets?: { readonly [name: string]: string }
  readonly conversations?: Partial<Conversations>
  /** What storing a message does. Default: it is recorded. */
  readonly store?: (message: IncomingMessage) => Promise<void>
  /** Of another stand-in. */
  readonly apiUrl?: string
}

export interface SlackStage {
  readonly slack: SlackStandIn
  readonly extension: ChatPlatforms
  readonly messages: Growing<readonly IncomingMessage[]>
  readonly log: readonly { readonly level: string; readonly message: string }[]
  readonly webhookUrl: string
  /** What the next process has: the same data folder, and nothing else. */
  restart(): Promise<ChatPlatforms>
}

export const everybody = { rules: [{ person: '*' }], approvers: ['slack:UBOSS'] }

/** Addresses of extensions on a server. */
async function openRoutes() {
  const routes = new Map<string, (request: Request) => Response | Promise<Response>>()
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as [string, string])
    const asked = new Request(`http://test${request.url}`, { method: request.method ?? 'GET', headers, body: new Uint8Array(body) })
    const answer = (await routes.get(request.url ?? '')?.(asked)) ?? new Response('', { status: 404 })
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const route: NonNullable<ExtensionContext['http']>['route'] = (path, handler) => {
    routes.set(path, handler)
    return () => routes.delete(path)
  }
  return { url, route }
}

export async function slackStage(options: StageOptions = {}): Promise<SlackStage> {
  const { mode = 'socket', config = everybody } = options
  const http = await openRoutes()
  const webhooks = mode === 'webhooks' ? { webhookUrl: () => `${http.url}/slack` } : {}
  const slack = await SlackStandIn.open(webhooks)
  onTestFinished(() => slack.close())
  const secrets = options.secrets ?? {
    SLACK_BOT_TOKEN: slackTokens.bot,
    SLACK_APP_TOKEN: slackTokens.app,
    SLACK_SIGNING_SECRET: slackTokens.signingSecret,
  }
  const messages = new Growing<readonly IncomingMessage[]>([])
  const dataDir = temporaryFolder()
  const log: { readonly level: string; readonly message: string }[] = []
  const open = async (): Promise<ChatPlatforms> => {
    const platforms = { slack: { mode, apiUrl: options.apiUrl ?? slack.apiUrl } }
    const { context } = extensionContext({ id: 'chat_platforms', config: { platforms, ...config }, secrets, dataDir })
    const store = options.store ?? (async () => {})
    const given: ExtensionContext = {
      ...context,
      now: () => Date.now(),
      http,
      logger: Object.fromEntries(
        (['debug', 'info', 'warn', 'error'] as const).map((level) => [level, (message: string) => void log.push({ level, message })]),
      ) as unknown as ExtensionContext['logger'],
      onUserMessage: async (message) => {
        await store(message)
        messages.set([...messages.value, message])
      },
      ...(options.conversations && {
        conversations: { link: () => undefined, open: async () => [], ...options.conversations } as Conversations,
      }),
    }
    const extension = new ChatPlatforms()
    await extension.initialize(given)
    await extension.start()
    onTestFinished(async () => {
      await extension.stop()
      extension.destroy()
    })
    return extension
  }
  const extension = await open()
  return { slack, extension, messages, log, restart: open, webhookUrl: `${http.url}/slack` }
}

/** The first message that was handed in. */
export const firstMessage = (stage: SlackStage, find: (message: IncomingMessage) => boolean = () => true): Promise<IncomingMessage> =>
  stage.messages.until((all) => all.find(find), 'message')

export const answer = (id: string, text: string) => ({ id, kind: 'answer', text, speaker: 'orchestrator' }) as const
