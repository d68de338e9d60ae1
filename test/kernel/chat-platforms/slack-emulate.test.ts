// Against `emulate`, which others have written: whether Slack's Web API is called as it is described. It has no streams, no Socket Mode
// and no buttons, and its events cannot be sent to an address from a test.
import { createHmac } from 'node:crypto'
import { createEmulator } from 'emulate'
import { expect, it, onTestFinished } from 'vitest'
import type { ChannelRequest } from '../../../src/contracts/index.ts'
import { slackTokens } from '../../stand-ins/chat-platforms/slack.ts'
import { answer, everybody, firstMessage, slackStage } from './slack-stage.ts'

interface Said {
  readonly ts: string
  readonly user: string
  readonly text: string
  readonly blocks?: readonly { readonly type: string; readonly text: unknown }[]
}

async function openEmulate() {
  const scopes = ['chat:write', 'channels:history', 'groups:history', 'users:read', 'files:read', 'files:write']
  const oauth = {
    client_id: '1.2',
    client_secret: 's',
    app_id: 'A1',
    name: 'Troupe',
    redirect_uris: [],
    bot_user_id: 'UBOT',
    bot_id: 'BBOT',
  }
  const emulator = await createEmulator({
    service: 'slack',
    port: 0,
    seed: {
      tokens: { [slackTokens.bot]: { login: 'UBOT', scopes }, 'xoxp-person': { login: 'U000000001', scopes } },
      slack: { users: [{ name: 'ada' }], oauth_apps: [{ ...oauth, scopes }] },
    },
  })
  onTestFinished(() => emulator.close())
  const call = async (method: string, input: object): Promise<{ readonly [name: string]: never }> => {
    const headers = { authorization: 'Bearer xoxp-person', 'content-type': 'application/json' }
    const response = await fetch(`${emulator.url}/api/${method}`, { method: 'POST', headers, body: JSON.stringify(input) })
    return response.json() as never
  }
  return { url: emulator.url, call }
}

it('answers, cards, notices and files arrive', async () => {
  const emulate = await openEmulate()
  const stage = await slackStage({ mode: 'webhooks', apiUrl: `${emulate.url}/api/`, config: everybody })
  const channel = 'C000000001'
  await emulate.call('conversations.invite', { channel, users: 'UBOT' })
  const { ts, message } = (await emulate.call('chat.postMessage', { channel, text: '<@UBOT> What is new?' })) as unknown as {
    ts: string
    message: object
  }
  const event = { ...message, type: 'app_mention', channel, ts, team: 'T000000001' }
  const body = JSON.stringify({ type: 'event_callback', event, event_id: 'Ev1', team_id: 'T000000001' })
  const at = String(Math.floor(Date.now() / 1_000))
  const signature = `v0=${createHmac('sha256', slackTokens.signingSecret).update(`v0:${at}:${body}`).digest('hex')}`
  const headers = { 'content-type': 'application/json', 'x-slack-request-timestamp': at, 'x-slack-signature': signature }
  expect((await fetch(stage.webhookUrl, { method: 'POST', headers, body })).status).toBe(200)
  const { userId, text } = await firstMessage(stage)
  expect({ userId, text }).toEqual({ userId: `slack:${channel}:${ts}`, text: 'What is new?' })

  const { extension } = stage
  extension.streamToUser(userId, { id: 'm1', speaker: 'orchestrator', text: 'Noth' })
  await extension.sendToUser(userId, answer('m1', 'Nothing **new**.'))
  const request: ChannelRequest = {
    id: 'r1',
    kind: 'approval',
    title: 'Run shell?',
    tool: 'shell',
    input: [{ name: 'command', value: 'ls' }],
  }
  await extension.sendToUser(userId, { id: 'r1', kind: 'question', text: '', speaker: 'orchestrator', request })
  await extension.closeRequest(userId, { id: 'r1', outcome: 'denied', by: 'Ada' })
  const read = async () => Buffer.from('12345')
  await extension.sendToUser(userId, { ...answer('m2', ''), files: [{ name: 'a.txt', mediaType: 'text/plain', bytes: 5, read }] })
  const replies = (await emulate.call('conversations.replies', { channel, ts })) as unknown as { messages: readonly Said[] }
  const [, first, card, file] = replies.messages
  expect(first?.blocks).toMatchObject([{ type: 'markdown', text: 'Nothing **new**.' }, { type: 'actions' }])
  expect(card?.blocks).toMatchObject([
    { type: 'section', text: { text: 'Run shell?' } },
    { type: 'markdown', text: expect.stringContaining('Denied by Ada') },
  ])
  expect(file).toMatchObject({ files: [{ name: 'a.txt', size: 5 }] })
})
