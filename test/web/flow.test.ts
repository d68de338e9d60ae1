import { afterAll, expect, test } from 'vitest'
import type { ApprovalKey, Tool } from '../../src/contracts/index.ts'
import { handoffTool, returnControlTool } from '../../src/kernel/handoff/handoff-tool.ts'
import { gate } from '../../src/testing/index.ts'
import { openBrowser } from '../browser.ts'
import { type Chat, openChat, openTab } from './chat-page.ts'
import { answersIn, journalOf, startSession, statusOf } from './journal.ts'
import type { Stories } from './story-model.ts'
import { tripAgents, tripStories, tripTools, webScene } from './web-scene.ts'

// One story in one browser. The model waits at gates, so that nothing depends on time.

const browser = await openBrowser()
const gates = { words: gate(), answer: gate(), stop: gate(), rest: gate() }
/** The sandbox stops it. */
const stopped: Tool = {
  name: 'fetch_map',
  description: 'Fetches a map.',
  inputSchema: { type: 'object' },
  execute: (_, { confinement }) =>
    confinement.kind === 'none' ? 'A map.' : { ok: false, error: { class: 'sandbox', message: 'The sandbox has no network.' } },
}
/** It ignores its signal. */
const deaf: Tool = {
  name: 'deaf',
  description: 'Never ends.',
  inputSchema: { type: 'object' },
  graceMs: 60_000,
  execute: () => new Promise(() => {}),
}
const booking = { tool: 'book_room', input: { city: 'Oslo', nights: 2, reason: 'Two nights' } }
const granted: ApprovalKey[] = []
const scene = await webScene({
  stories: stories(),
  agents: [
    ...tripAgents.map((agent) => (agent.name === 'trip' ? { ...agent, agents: ['weather', 'trains', 'coach'] } : agent)),
    { name: 'coach', description: 'Talks', prompt: 'You are coach.', model: 'test/story', tools: ['return_control'] },
  ],
  tools: [
    ...tripTools,
    handoffTool({
      agent: 'coach',
      description: 'Talks.',
      limits: { maxTurns: 5, maxTokensPerInvocation: 50_000, timeBudgetMs: 60_000, idleMs: 1_800_000 },
    }),
    returnControlTool,
    stopped,
    deaf,
  ],
  sandbox: { confinement: { kind: 'sandbox', name: 'test' } },
  grants: { list: () => granted, add: async (keys) => void granted.push(...keys) },
})
const chat = await openChat(browser, scene)
afterAll(async () => {
  await browser.close()
  await scene.close()
})

function stories(): Stories {
  const { trip, ...children } = tripStories(0)
  return {
    ...children,
    coach: [
      { when: /ten/, steps: [{ calls: [{ tool: 'return_control', input: { report: 'Ten.' } }] }] },
      { steps: [{ text: 'How far do you walk?' }] },
    ],
    trip: [
      { when: /window seat/, steps: [{ text: 'Then a window seat on the 17:05.' }] },
      { when: /Tell me everything/, steps: [{ pieces: ['There is much to tell. ', gates.stop.promise] }, { text: 'In short: go.' }] },
      { when: /for ever/, steps: [{ text: 'Half of the answer.', calls: [{ tool: 'deaf' }] }] },
      { when: /^First wish/, steps: [{ text: 'One is granted.' }] },
      { when: /^Second wish/, steps: [{ text: 'Two are granted.' }] },
      { when: /By bus/, steps: [{ text: 'The bus leaves at noon.' }] },
      { when: /long way/, steps: [{ pieces: ['The first half of it, ', gates.rest.promise, 'and the second half.'] }] },
      { when: /map/, steps: [{ calls: [{ tool: 'fetch_map' }] }, { text: 'Here is the map.' }] },
      { when: /pictures/, steps: [{ text: 'Two pictures and a file.' }] },
      {
        when: /coach/,
        steps: [{ calls: [{ tool: 'agent__coach', input: { task: 'Ask how far' } }] }, { text: 'Ten kilometres, then.' }],
      },
      { when: /Book again/, steps: [{ calls: [booking] }, { text: 'It is still not booked.' }] },
      {
        steps: [
          {
            reasoning: 'Both questions are independent.',
            pieces: ['Let me ask ', gates.words.promise, 'two others.'],
            calls: [
              { tool: 'agent__weather', input: { prompt: 'Oslo on Saturday', reason: 'Rain?' } },
              { tool: 'agent__trains', input: { prompt: 'Gothenburg to Oslo', reason: 'Which train?' } },
            ],
          },
          { text: 'Now a room.', calls: [booking] },
          { pieces: ['One more look. ', gates.answer.promise], calls: [{ tool: 'look_up_trains', input: { from: 'Oslo', to: 'Bergen' } }] },
        ],
      },
      ...(trip ?? []),
    ],
  }
}

test('ask, and read the answer while it is written', async () => {
  await chat.send('A weekend in Oslo')
  await chat.says('Let me ask')
  expect(await chat.conversation.getByText('two others.').count()).toBe(0)
  gates.words.open()
  await chat.says('Let me ask two others.')
})

test('children are in the timeline, and in the conversation', async () => {
  for (const name of [/weather/, /trains/, /look_up_weather/, /look_up_trains/]) await chat.rows.filter({ hasText: name }).first().waitFor()
  await chat.says(/weather/)
})

test('approve: the call runs, and its failure is visible', async () => {
  await chat.says('Book 2 nights in Oslo')
  expect(await chat.page.title()).toMatch(/^\(1\)/)
  await chat.conversation
    .getByText(/"?nights"?/)
    .first()
    .waitFor()
  await chat.button('Allow once').click()
  await chat.button('Allow once').waitFor({ state: 'detached' })
  await chat.rows.filter({ hasText: 'book_room' }).filter({ hasText: 'network' }).first().waitFor()
  await expect.poll(() => chat.page.title()).not.toMatch(/^\(/)
})

test('steer: a message enters the turn that runs', async () => {
  await chat.says('One more look.')
  await chat.message.fill('I want a window seat')
  await chat.message.press('Alt+Enter')
  await chat.says('I want a window seat')
  await expect
    .poll(async () =>
      (await journalOf(scene, await chat.id())).some((event) => event.type === 'interaction.input.accepted' && event.mode === 'steer'),
    )
    .toBe(true)
  gates.answer.open()
  await chat.says('Then a window seat on the 17:05.')
  const events = await journalOf(scene, await chat.id())
  expect(events.filter(({ type }) => type === 'interaction.turn.started').length).toBe(3)
})

test('finish with a short answer', async () => {
  await chat.send('Tell me everything')
  await chat.says('There is much to tell.')
  await chat.button('Other ways to stop').click()
  await chat.page.getByRole('menuitem', { name: 'Finish with a short answer' }).click()
  await expect
    .poll(async () => (await journalOf(scene, await chat.id())).some(({ type }) => type === 'interaction.cancel.requested'))
    .toBe(true)
  gates.stop.open()
  await chat.button('Send').waitFor()
  await expect.poll(async () => statusOf(scene, await chat.id())).not.toBe('running')
})

test('stop: the turn ends, what was said stays, and what was not read is held until it is sent', async () => {
  await chat.send('Talk for ever')
  await chat.says('Half of the answer.')
  await chat.callRow('deaf').getByRole('img', { name: 'running' }).waitFor()
  await chat.send('First wish')
  await chat.message.fill('Second wish')
  await chat.message.press('Alt+Enter')
  await chat.conversation.getByText('steers the next step').waitFor()
  await chat.button('Stop').click()
  await chat.button('Stop').waitFor({ state: 'detached' })
  for (const isLater of [false, true]) {
    if (isLater) await chat.page.reload()
    await chat.says('Half of the answer.')
    await chat.conversation.getByText('held: sent before your next message').nth(1).waitFor()
    await chat.conversation.getByText('Stopped', { exact: true }).waitFor()
    await chat.callRow('deaf').getByRole('img', { name: 'stopped' }).waitFor()
    await chat.rows.first().getByRole('img', { name: 'stopped' }).waitFor()
    expect(await chat.page.getByRole('img', { name: 'running' }).count()).toBe(0)
  }
  expect(await chat.exported('HTML')).toContain('Half of the answer.')
  const ended = await journalOf(scene, await chat.id())
  const [asked, end] = ['cancel.requested', 'turn.interrupted'].map(
    (name) => ended.findLast(({ type }) => type === `interaction.${name}`)?.at,
  )
  expect((end ?? 0) - (asked ?? 0)).toBeLessThan(2_000)

  await chat.button('Send now').click()
  await chat.button('Send now').waitFor({ state: 'detached' })
  await chat.button('Stop').waitFor({ state: 'detached' })
  await expect
    .poll(async () => answersIn(await journalOf(scene, await chat.id()), await chat.id()).slice(-2))
    .toEqual(['One is granted.', 'Two are granted.'])
  expect(await chat.conversation.getByText('steered the agent').count()).toBe(1)
  await agreesWithJournal(chat)
})

test('branch: an edited message continues in a copy', async () => {
  const before = await chat.id()
  const message = chat.conversation.getByText('A weekend in Oslo', { exact: true }).last()
  await message.hover()
  await chat.button('Edit').first().click()
  const field = chat.conversation.getByRole('textbox').first()
  await field.fill('By bus, then')
  await field.press('Enter')
  await chat.page.waitForURL((url) => !url.href.includes(before))
  await chat.says('The bus leaves at noon.')
  expect(await chat.conversation.getByText('Let me ask two others.').count()).toBe(0)
  await chat.show(before)
  await chat.says('Then a window seat on the 17:05.')
})

test('a reload in mid run continues exactly', async () => {
  await chat.send('Tell me of the long way')
  await chat.says('The first half of it,')
  await chat.page.reload()
  await chat.says('The first half of it,')
  expect(await chat.conversation.getByText('and the second half').count()).toBe(0)
  gates.rest.open()
  await chat.says('The first half of it, and the second half.')
  await chat.button('Stop').waitFor({ state: 'detached' })
  await agreesWithJournal(chat)
})

test('two tabs agree', async () => {
  const other = await openTab(chat, scene, await chat.id())
  await other.says('The first half of it, and the second half.')
  await chat.send('Book again')
  await Promise.all([chat.button('Allow once').waitFor(), other.button('Allow once').waitFor()])
  await other.button('Allow once').click()
  await chat.button('Allow once').waitFor({ state: 'detached' })
  await Promise.all([chat.says('It is still not booked.'), other.says('It is still not booked.')])
  await Promise.all([chat, other].map((each) => each.button('Stop').waitFor({ state: 'detached' })))
  await agreesWithJournal(other)
  expect(other.problems).toEqual([])
  await other.close()
})

test('files that are dropped and pasted; who speaks in a handoff; permission for the project, and outside the sandbox', async () => {
  const picture = { name: 'fjord.png', type: 'image/png', bytes: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] }
  await drop('drop', [picture, { name: 'plan.pdf', type: 'application/pdf', bytes: [1] }])
  await drop('paste', [{ ...picture, name: 'image.png' }])
  const attached = chat.page.getByRole('list', { name: 'Attachments' }).getByRole('listitem')
  await attached.nth(2).waitFor()
  await drop('drop', [{ name: 'film.mov', type: 'video/mp4', bytes: 30_000_000 }])
  await chat.page.getByText('film.mov was not attached').waitFor()
  await chat.send('Some pictures')
  await chat.says('Two pictures and a file.')
  const accepted = (await journalOf(scene, await chat.id())).findLast((event) => event.type === 'interaction.input.accepted')
  expect(accepted?.parts.map(({ type }) => type)).toEqual(['text', 'image', 'file', 'image'])

  await chat.send('Call the coach')
  await chat.says('coach talks to you')
  await chat.says('How far do you walk?')
  await chat.rows.filter({ hasText: 'coach' }).getByRole('img', { name: 'waiting' }).first().waitFor()
  await chat.message.and(chat.page.getByPlaceholder('Message coach')).fill('About ten kilometres')
  await chat.message.press('Enter')
  await chat.says('Ten kilometres, then.')

  await chat.send('Book again')
  await chat.button('Always allow…').click()
  await chat.page.getByRole('menuitem', { name: 'For this project, until revoked: rooms in Oslo' }).click()
  await chat.button('Stop').waitFor({ state: 'detached' })
  expect(granted).toEqual([{ key: 'room:Oslo', label: 'rooms in Oslo' }])
  await chat.show(await startSession(scene, 'Book again'))
  await chat.says('It is still not booked.')

  await chat.send('And a map')
  await chat.says(/^Outside the sandbox it has all permissions/)
  await chat.button('Allow once').click()
  await chat.says('Here is the map.')
})

interface DroppedFile {
  readonly name: string
  readonly type: string
  /** Or how many. */
  readonly bytes: readonly number[] | number
}

/** As a person does with files of the system. */
const drop = (kind: 'drop' | 'paste', files: readonly DroppedFile[]): Promise<unknown> =>
  chat.page.evaluate(`(() => {
    const data = new DataTransfer()
    for (const { name, type, bytes } of ${JSON.stringify(files)}) data.items.add(new File([new Uint8Array(bytes)], name, { type }))
    const Kind = { drop: DragEvent, paste: ClipboardEvent }.${kind}
    const area = document.querySelector('textarea[aria-label=Message]')
    area.dispatchEvent(new Kind('${kind}', { dataTransfer: data, clipboardData: data, bubbles: true, cancelable: true }))
  })()`)

test('export as JSON and as HTML', async () => {
  const id = await chat.id()
  const document = JSON.parse(await chat.exported('JSON')) as { readonly format: string; readonly events: readonly unknown[] }
  expect(document.format).toBe('troupe.session')
  expect(document.events).toEqual(await journalOf(scene, id))
  const html = await chat.exported('HTML')
  expect(html).toContain('It is still not booked.')
  expect(html).not.toMatch(/<script|https?:\/\/(?!127)/)
  expect(chat.problems).toEqual([])
})

/** Every answer of the journal is shown, once. */
async function agreesWithJournal({ conversation, id: shown }: Chat): Promise<void> {
  const id = await shown()
  const answers = answersIn(await journalOf(scene, id), id)
  for (const answer of answers) expect(await conversation.getByText(answer, { exact: true }).count(), answer).toBe(1)
}
