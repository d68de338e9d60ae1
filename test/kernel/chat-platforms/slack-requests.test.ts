import { describe, expect, it, vi } from 'vitest'
import type { ChannelRequest, IncomingMessage, OutgoingMessage } from '../../../src/contracts/index.ts'
import { firstMessage, type SlackStage, slackStage } from './slack-stage.ts'

const approval: ChannelRequest = {
  id: 'r1',
  kind: 'approval',
  title: 'Run shell?',
  tool: 'shell',
  input: [
    { name: 'command', value: 'rm -rf build `date`' },
    { name: 'script', value: 'line 1\n```\n<!channel>' },
  ],
  reason: 'The build is stale.',
  breadths: ['once', 'session', 'project'],
}
const question = (request: ChannelRequest): OutgoingMessage => ({
  id: request.id,
  kind: 'question',
  text: request.title,
  speaker: 'orchestrator',
  request,
})

async function asked(request: ChannelRequest, stage?: SlackStage) {
  const open = stage ?? (await slackStage())
  const written = open.slack.write({ person: 'U1', text: 'Go' })
  await written.deliver()
  const { userId } = await firstMessage(open)
  await open.extension.sendToUser(userId, question(request))
  const card = await open.slack.posts.untilOne(written.place, ({ text }) => text.includes(request.title), 'card')
  const press = (person: string, label: string) => open.slack.press(person, card, label).deliver()
  const notice = (person: string) =>
    open.slack.posts.until((posts) => posts.find(({ onlyFor }) => onlyFor === person || onlyFor === 'the person'), 'notice')
  const answered = (): Promise<IncomingMessage> => firstMessage(open, ({ answer }) => answer !== undefined)
  return { ...open, userId, card, place: written.place, press, notice, answered }
}

describe('an approval', () => {
  it('is a card with the arguments, and an approver allows it for as long as they choose', async () => {
    const { card, press, answered, extension, userId, slack } = await asked(approval)
    for (const text of ['Run shell?', '`shell`', 'The build is stale.', '`` rm -rf build `date` ``', '````\nline 1\n```\n'])
      expect(card.text).toContain(text)
    expect(card.text).not.toContain('<!channel>')
    expect(card.buttons.map(({ label }) => label)).toEqual([
      ...['Approve', 'Approve for this conversation', 'Approve for this project', 'Deny', 'Deny with a reason…'],
    ])
    await press('UBOSS', 'Approve for this conversation')
    expect(await answered()).toMatchObject({
      ...{ userId, personId: 'slack:UBOSS', mayApprove: true, text: '' },
      answer: { requestId: 'r1', kind: 'allow', breadth: 'session' },
    })
    await extension.closeRequest(userId, { id: 'r1', outcome: 'approved', by: 'Boss' })
    const closed = slack.posts.value.find(({ id }) => id === card.id)
    expect(closed?.buttons).toEqual([])
    expect(closed?.text).toContain('Approved by Boss')
    expect(closed?.text).toContain('rm -rf build')
  })

  it('is refused to others, who can deny it', async () => {
    const { press, notice, answered, messages } = await asked(approval)
    await press('U1', 'Approve')
    expect((await notice('U1')).text).toContain('You may not approve here')
    expect(messages.value.filter(({ answer }) => answer !== undefined)).toEqual([])
    await press('U1', 'Deny')
    expect((await answered()).answer).toEqual({ requestId: 'r1', kind: 'deny' })
  })

  it('is denied with a reason from a form', async () => {
    const { slack, press, answered } = await asked(approval)
    await press('U1', 'Deny with a reason…')
    const [view] = [...slack.views.keys()]
    await slack.submit('U1', view ?? '', { reason: 'Ask me tomorrow' }).deliver()
    expect((await answered()).answer).toEqual({ requestId: 'r1', kind: 'deny', reason: 'Ask me tomorrow' })
  })

  it('that was answered elsewhere says so to who presses late, also after a restart', async () => {
    const stage = await slackStage()
    const { card, extension, userId, slack, messages } = await asked(approval, stage)
    await extension.closeRequest(userId, { id: 'r1', outcome: 'denied', by: 'Boss' })
    await extension.stop()
    await stage.restart()
    await slack.press('UBOSS', card, 'Approve').deliver()
    await slack.posts.until(
      (posts) => posts.find(({ onlyFor, text }) => onlyFor !== undefined && text.includes('Denied by Boss')),
      'notice',
    )
    expect(messages.value.filter(({ answer }) => answer !== undefined)).toEqual([])
  })
})

it('a card that a crash has left unconfirmed is closed when its request has ended', async () => {
  const stage = await slackStage()
  const { slack } = stage
  const written = slack.write({ person: 'U1', text: 'Go' })
  await written.deliver()
  const { userId } = await firstMessage(stage)
  const release = slack.api.lose(/chat\.postMessage/)
  await expect(stage.extension.sendToUser(userId, question(approval))).rejects.toThrow()
  release()
  const next = await stage.restart()
  await next.closeRequest(userId, { id: 'r1', outcome: 'ended' })
  const [card, ...others] = slack.posts.in(written.place)
  expect([card?.buttons, others]).toEqual([[], []])
  expect(card?.text).toContain('Ended without an answer')
})

describe('a question', () => {
  it('is answered by one of its options', async () => {
    const { press, answered } = await asked({ id: 'q1', kind: 'question', title: 'Which one?', options: ['Red', 'Green'] })
    await press('U1', 'Green')
    expect((await answered()).answer).toEqual({ requestId: 'q1', kind: 'answer', text: 'Green' })
  })

  it('with fields is a form', async () => {
    const form = {
      type: 'object',
      properties: {
        city: { type: 'string', title: 'City' },
        days: { type: 'integer', minimum: 1 },
        hotel: { type: 'boolean' },
        class: { enum: ['first', 'second'] },
        note: { type: 'string' },
      },
      required: ['city'],
    }
    const { slack, press, answered } = await asked({ id: 'f1', kind: 'form', title: 'Where to go in the long summer?', form })
    await press('U1', 'Fill in…')
    const [[id, view] = []] = [...slack.views]
    expect(view).toMatchObject({ title: { text: 'Where to go in the long…' } })
    await slack.submit('U1', id ?? '', { city: 'Rome', days: '3', hotel: 'yes', class: 'second', note: '' }).deliver()
    expect((await answered()).answer).toMatchObject({
      ...{ requestId: 'f1', kind: 'answer' },
      content: { city: 'Rome', days: 3, hotel: true, class: 'second' },
    })
  })

  it('that cannot be stored leaves its form open', async () => {
    let isBroken = false
    const stage = await slackStage({
      store: async () => {
        if (isBroken) throw new Error('The store is busy')
      },
    })
    const { slack, press } = await asked(
      { id: 'f1', kind: 'form', title: 'Where?', form: { type: 'object', properties: { city: {} } } },
      stage,
    )
    await press('U1', 'Fill in…')
    isBroken = true
    const [id = ''] = [...slack.views.keys()]
    await slack.submit('U1', id, { city: 'Rome' }).deliver()
    expect([...slack.socket.answers.values()].at(-1)).toEqual({
      response_action: 'errors',
      errors: { city: 'This was not stored. Try again.' },
    })
  })
})

describe('buttons of a conversation', () => {
  it('stop, repeat, explain and export it as the person who pressed', async () => {
    const file = { name: 'session.json', mediaType: 'application/json', bytes: 2, read: async () => Buffer.from('{}') }
    const conversations = {
      stop: vi.fn(async () => false),
      retry: vi.fn(async () => true),
      details: vi.fn(async () => `shell ✓\n${'call\n'.repeat(100)}the last one`),
      export: vi.fn(async () => file),
    }
    const stage = await slackStage({ conversations })
    const { slack, extension } = stage
    const written = slack.write({ person: 'U1', text: 'Go' })
    await written.deliver()
    const { userId } = await firstMessage(stage)
    await extension.showProgress(userId, { id: 't1', state: 'working', tasks: [{ id: 'c1', title: 'Search', state: 'running' }] })
    const shown = await slack.posts.untilOne(written.place, ({ buttons }) => buttons.length > 0, 'progress')
    await slack.press('U2', shown, 'Stop').deliver()
    expect(conversations.stop).toHaveBeenCalledWith({ userId, by: 'slack:U2' })
    await slack.posts.until((posts) => posts.find(({ text }) => text === 'Nothing is running.'), 'notice')
    await extension.showProgress(userId, {
      ...{ id: 't1', state: 'completed' },
      tasks: [
        { id: 'c1', title: 'Search', state: 'completed', detail: '3 results' },
        { id: 'c2', parentId: 'c1', title: 'Fetch', state: 'failed', detail: 'no host' },
      ],
    })
    const ended = await slack.posts.untilOne(written.place, ({ buttons }) => buttons.length === 3, 'end of the turn')
    expect(ended.id).toBe(shown.id)
    expect((ended.raw as { blocks: unknown[] }).blocks[0]).toMatchObject({
      ...{ type: 'plan', title: 'Done' },
      tasks: [
        { task_id: 'c1', title: 'Search', status: 'complete' },
        { task_id: 'c2', title: '› Fetch', status: 'error' },
      ],
    })
    for (const label of ['Retry', 'Details', 'JSON']) await slack.press('U1', ended, label).deliver()
    expect(conversations.retry).toHaveBeenCalledWith({ userId, by: 'slack:U1' })
    const details = await slack.posts.until((posts) => posts.find(({ text }) => text.includes('shell ✓')), 'details')
    expect(details.text).toContain('the last one')
    expect(slack.posts.in(written.place).flatMap(({ files }) => files)).toEqual([{ name: 'session.json', bytes: 2 }])
  })
})

it('the home tab has open requests, which can be answered there, and what runs', async () => {
  const userId = 'slack:C1:1.2'
  const open = vi.fn(async () => [{ userId, title: 'Plan the trip', agent: 'orchestrator', state: 'waiting' as const, request: approval }])
  const stage = await slackStage({ conversations: { open } })
  const { slack } = stage
  await slack.openHome('UBOSS').deliver()
  expect(open).toHaveBeenCalledWith('slack:UBOSS')
  const view = JSON.stringify(slack.views.get('UBOSS'))
  for (const text of ['Waiting for you', 'Run shell?', 'Running', 'Plan the trip', 'allow-once', '"stop"']) expect(view).toContain(text)
  await slack.pressHome('UBOSS', 'Approve').deliver()
  expect(await firstMessage(stage)).toMatchObject({ userId, personId: 'slack:UBOSS', answer: { kind: 'allow', breadth: 'once' } })
  expect(JSON.stringify(slack.views.get('UBOSS'))).not.toContain('Run shell?')
})

it('the home tab of a person who is denied is empty', async () => {
  const open = vi.fn(async () => [
    { userId: 'slack:C1:1.2', title: 'Plan', agent: 'orchestrator', state: 'waiting' as const, request: approval },
  ])
  const { slack } = await slackStage({ conversations: { open }, config: { rules: [{ person: 'slack:UBOSS' }] } })
  for (const person of ['UBOSS', 'U1']) await slack.openHome(person).deliver()
  const [boss, denied] = ['UBOSS', 'U1'].map((person) => JSON.stringify(slack.views.get(person)))
  expect([boss?.includes('Plan'), denied?.includes('Plan')]).toEqual([true, false])
})
