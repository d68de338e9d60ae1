// What people see on each platform: Chat SDK and its adapters, the extension, supervisor and kernel are real. Stand-ins play the
// platforms, and a script plays the model. Each test has a conversation of its own; those of one kind share an assistant.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Post } from '../../stand-ins/chat-platforms/posts.ts'
import { endAssistants } from '../acceptance/assistant.ts'
import type { PlatformKind } from './platform-scene.ts'
import { PlatformTalk, paragraphs } from './platform-talk.ts'

/** For every kind of one platform. What does not depend on the way in which events arrive is tested with the first one. */
export function platformContract(kinds: readonly PlatformKind[]): void {
  afterAll(endAssistants)
  describe.each(kinds)('$name', (kind) => {
    const talk = new PlatformTalk(kind)
    beforeAll(() => talk.open())
    afterAll(() => talk.close())
    arrivals(talk, kind.name.includes('webhooks'))
    if (kind !== kinds[0]) return
    people(talk)
    answers(talk)
    requests(talk)
  })
}

const hasButton =
  (label: string) =>
  ({ buttons }: Post): boolean =>
    buttons.some((button) => button.label === label)

function arrivals(talk: PlatformTalk, webhooks: boolean): void {
  it('a message begins a conversation, and the answer streams into one message', async () => {
    const stream = talk.next()
    const place = await talk.says('slow question one')
    stream.write('It begins\n\n')
    const first = await talk.sees(place, 'It begins')
    stream.end('and ends.')
    const whole = await talk.sees(place, 'and ends.')
    expect(whole.id).toBe(first.id)
    expect(whole.states.length).toBeGreaterThan(1)
    await talk.nothingElse(place)
    expect(talk.asked('slow question one')).toBe(1)
    expect(talk.platform.posts.in(place).filter(({ text }) => text.includes('It begins'))).toHaveLength(1)
  })

  it('an event that is delivered twice is taken once, also after a crash', async () => {
    const event = talk.platform.write({ person: talk.platform.people.ada, text: 'question twice' })
    await Promise.all([event.deliver(), event.deliver()])
    await talk.sees(event.place, 'Answer to question twice')
    await talk.says('question between', event.place)
    await talk.sees(event.place, 'Answer to question between')
    await talk.kill()
    await event.deliver()
    await talk.nothingElse(event.place)
    expect(talk.asked('question twice')).toBe(1)
    expect(talk.answersIn(event.place).filter((text) => text.includes('twice'))).toHaveLength(1)
  })

  it('what bots write, edits and deletions are ignored', async () => {
    const { platform } = talk
    const { ada } = platform.people
    const place = await talk.says('question before')
    await talk.sees(place, 'Answer to question before')
    const [said] = [platform.write({ person: ada, text: 'question said', place })]
    await said.deliver()
    await talk.sees(place, 'Answer to question said')
    await platform.write({ person: 'other', text: 'question bot', place, kind: 'bot' }).deliver()
    await platform.write({ person: ada, text: 'question edited', place, kind: 'edit', of: said.id }).deliver()
    await platform.write({ person: ada, text: 'question deleted', place, kind: 'delete', of: said.id }).deliver()
    await talk.nothingElse(place)
    expect(['bot', 'edited', 'deleted'].map((text) => talk.asked(`question ${text}`))).toEqual([0, 0, 0])
  })

  it.runIf(webhooks)('webhooks with a wrong signature or an old time are refused', async () => {
    const { platform } = talk
    const forged = platform.write({ person: platform.people.ada, text: 'question forged' })
    expect(await forged.forge('signature')).toBe(401)
    // Telegram sends no time.
    if (platform.name === 'slack') expect(await forged.forge('timestamp')).toBe(401)
    await talk.nothingElse(await talk.says('question honest'))
    expect(talk.asked('question forged')).toBe(0)
  })
}

function people(talk: PlatformTalk): void {
  it('events that come in another order are all answered', async () => {
    const { platform } = talk
    const { ada } = platform.people
    const first = platform.write({ person: ada, text: 'question begin' })
    await first.deliver()
    const [second, third] = ['second', 'third'].map((text) => platform.write({ person: ada, text: `question ${text}`, place: first.place }))
    await third?.deliver()
    await second?.deliver()
    for (const text of ['begin', 'second', 'third']) await talk.sees(first.place, text)
  })

  it('unknown people are denied', async () => {
    const place = await talk.says('question of eve', undefined, talk.platform.people.eve)
    await talk.sees(place, 'may not')
    await talk.nothingElse(await talk.says('question of ada'))
    expect(talk.asked('question of eve')).toBe(0)
  })

  it('a file reaches the model, and one above the limit becomes a line of text', async () => {
    const { platform } = talk
    const { ada } = platform.people
    const file = { name: 'notes.txt', mediaType: 'text/plain', content: Buffer.from('written in a file') }
    const event = platform.write({ person: ada, text: 'question file', files: [file] })
    await event.deliver()
    await talk.sees(event.place, 'Answer to question file')
    expect(talk.lastAsked()).toContain('written in a file')
    const large = { ...file, name: 'large.txt', bytes: 1_000_000_000 }
    await platform.write({ person: ada, text: 'question large', place: event.place, files: [large] }).deliver()
    await talk.sees(event.place, 'Answer to question large')
    expect(talk.lastAsked()).toContain('large.txt')
  })
}

function answers(talk: PlatformTalk): void {
  it('an answer of 40,000 characters is split, and complete', async () => {
    const place = await talk.says('something long')
    await talk.sees(place, 'Paragraph 399 ')
    const { posts, longestText } = talk.platform
    const texts = posts.in(place).filter(({ text }) => text.includes('Paragraph'))
    expect(Math.max(...texts.map(({ text }) => text.length))).toBeLessThanOrEqual(longestText)
    expect(texts.flatMap(({ text }) => text.match(/Paragraph \d+/g) ?? [])).toEqual(
      paragraphs.map((text) => text.match(/Paragraph \d+/)?.[0]),
    )
  })

  it('an answer that a crash has left half written is finished in its message', async () => {
    const [before, after] = [talk.next(), talk.next()]
    const place = await talk.says('slow question crash')
    before.write('Half of it\n\n')
    const half = await talk.sees(place, 'Half of it')
    before.write('A little more\n\n')
    await talk.sees(place, 'A little more')
    await talk.kill()
    after.end('Half of it\n\nand the rest.')
    const whole = await talk.sees(place, 'and the rest.')
    expect(whole.id).toBe(half.id)
    await talk.nothingElse(place)
    expect(talk.platform.posts.in(place).filter(({ text }) => text.includes('Half of it'))).toHaveLength(1)
  })

  it('limits of the platform are respected, and nothing is lost while it is down', async () => {
    const { api, posts } = talk.platform
    const place = await talk.says('question calm')
    await talk.sees(place, 'Answer to question calm')
    const isPost = /postMessage|sendMessage|POST .*messages$|startStream/
    api.limit(isPost, { seconds: 1 })
    await talk.says('question hurry', place)
    await talk.sees(place, 'Answer to question hurry')
    const [limited, again] = await api.calls.until((calls) => {
      const posted = calls.slice(calls.findIndex(({ status }) => status === 429)).filter(({ method }) => isPost.test(method))
      return posted.length > 1 ? posted : undefined
    }, 'second call')
    expect((again?.at ?? 0) - (limited?.at ?? 0)).toBeGreaterThan(950)
    const stream = talk.next()
    await talk.says('slow question down', place)
    api.goDown()
    stream.end('Answer to question down')
    await api.calls.until((calls) => calls.find(({ status, method }) => status === 0 && isPost.test(method)), 'failed call')
    api.comeBack()
    await talk.sees(place, 'Answer to question down')
    await talk.nothingElse(place)
    expect(posts.in(place).filter(({ text }) => text.includes('down'))).toHaveLength(1)
  })
}

function requests(talk: PlatformTalk): void {
  it('an approver approves with a button, others cannot, and a second press does nothing', async () => {
    const { platform } = talk
    const { ada, bob } = platform.people
    const place = await talk.says('erase one')
    const card = await platform.posts.untilOne(place, hasButton('Approve'), 'request')
    await platform.press(bob, card, 'Approve').deliver()
    await talk.told(/may not approve/)
    const press = platform.press(ada, card, 'Approve')
    await Promise.all([press.deliver(), press.deliver(), platform.press(ada, card, 'Approve').deliver()])
    await talk.sees(place, 'The tool said: erased one')
    await platform.press(ada, card, 'Approve').deliver()
    await talk.told(/Approved/)
    await platform.posts.untilOne(place, ({ id, buttons }) => id === card.id && buttons.length === 0, 'closed request')
    await talk.nothingElse(place)
    expect(platform.posts.in(place).filter(({ text }) => text.includes('The tool said'))).toHaveLength(1)
  })

  it('a request is denied with a reason, also by others', async () => {
    const { platform } = talk
    const place = await talk.says('erase two')
    await platform.posts.untilOne(place, hasButton('Deny'), 'request')
    await talk.says('no, not today', place, platform.people.bob)
    expect((await talk.sees(place, 'The tool said')).text).toContain('not today')
  })

  it('a running task is stopped with a button', async () => {
    const { platform } = talk
    const place = await talk.says('wait for ever')
    const progress = await platform.posts.untilOne(place, hasButton('Stop'), 'progress')
    await platform.press(platform.people.ada, progress, 'Stop').deliver()
    await platform.posts.untilOne(place, ({ id, buttons }) => id === progress.id && buttons.every(({ label }) => label !== 'Stop'), 'end')
    await talk.nothingElse(place)
  })
}
