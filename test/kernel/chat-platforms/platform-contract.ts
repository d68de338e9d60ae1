// What people see on each platform: Chat SDK and its adapters, the extension, supervisor and kernel are real. Stand-ins play the
// platforms, and a script plays the model. Each test has a conversation of its own; those of one platform share an assistant.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Growing } from '../../growing.ts'
import type { Post } from '../../stand-ins/chat-platforms/posts.ts'
import { endAssistants } from '../acceptance/assistant.ts'
import type { Asked, Reply } from '../acceptance/scripted-provider.ts'
import { openPlatform, type PlatformKind, type PlatformScene } from './platform-scene.ts'

const paragraphs = Array.from({ length: 400 }, (_, index) => `Paragraph ${index} ${'x'.repeat(86)}`)

const hasButton =
  (label: string) =>
  ({ buttons }: Post): boolean =>
    buttons.some((button) => button.label === label)

/** What a model writes, piece by piece. */
class Stream {
  readonly #pieces = new Growing<readonly string[]>([])
  #isEnded = false

  write(text: string): void {
    this.#pieces.set([...this.#pieces.value, text])
  }

  end(text: string): void {
    this.#isEnded = true
    this.write(text)
  }

  async *pieces(): AsyncIterable<string> {
    for (let at = 0; ; at++) {
      const piece = await this.#pieces.until((all) => all[at], 'piece').catch(() => undefined)
      // Of a request that a crash has ended.
      if (piece === undefined) return
      yield piece
      if (this.#isEnded && at === this.#pieces.value.length - 1) return
    }
  }
}

/** For every kind of one platform. Tests of what does not depend on the way of arrival run for the first one. */
export function platformContract(kinds: readonly PlatformKind[]): void {
  afterAll(endAssistants)
  describe.each(kinds)('$name', (kind) => contractOf(kind, kind === kinds[0]))
}

function contractOf(kind: PlatformKind, isFirst: boolean): void {
  let scene: PlatformScene
  /** What the model writes at each request for something slow. */
  const streams: Stream[] = []
  const next = (): Stream => streams[streams.push(new Stream()) - 1] as Stream

  function answer({ users, results }: Asked): Reply {
    const said = users.at(-1) ?? ''
    if (results.length > 0) return { text: `The tool said: ${results.at(-1)}` }
    if (said.includes('erase')) return { calls: [{ name: 'eraser__erase', input: { what: said.match(/erase (\w+)/)?.[1] ?? '' } }] }
    if (said.includes('for ever')) return { calls: [{ name: 'eraser__wait', input: {} }] }
    if (said.includes('long')) return { text: paragraphs.join('\n\n') }
    const stream = said.includes('slow') ? streams.shift() : undefined
    if (stream) return { pieces: stream.pieces() }
    return { text: `Answer to ${said.match(/question \w+/)?.[0] ?? said}` }
  }

  /** Somebody begins a conversation, or goes on with one. Resolves when it is stored. */
  async function says(text: string, place?: string, person = scene.platform.people.ada): Promise<string> {
    const event = scene.platform.write({ person, text, ...(place !== undefined && { place }) })
    await event.deliver()
    return event.place
  }
  const sees = (place: string, text: string): Promise<Post> =>
    scene.platform.posts.untilOne(place, (post) => post.text.includes(text), text)
  const answersIn = (place: string): readonly string[] =>
    scene.platform.posts.in(place).flatMap(({ text }) => (text.includes('Answer to') ? [text] : []))
  /** What one person is told: an ephemeral message, or an alert. */
  const told = (text: RegExp): Promise<unknown> =>
    scene.platform.posts.until(
      (posts) => scene.platform.alerts.find((alert) => text.test(alert)) ?? posts.find((post) => text.test(post.text)),
      String(text),
    )
  /** What follows: then nothing more came before it. */
  async function nothingElse(place: string): Promise<void> {
    await says('question last', place)
    await sees(place, 'Answer to question last')
  }

  beforeAll(async () => {
    scene = await openPlatform(kind, answer)
  })
  afterAll(() => scene.platform.close())

  it('a message begins a conversation, and the answer streams into one message', async () => {
    const stream = next()
    const place = await says('slow question one')
    stream.write('It begins\n\n')
    const first = await sees(place, 'It begins')
    stream.end('and ends.')
    const whole = await sees(place, 'and ends.')
    expect(whole.id).toBe(first.id)
    expect(whole.states.length).toBeGreaterThan(1)
    await nothingElse(place)
    expect(scene.asked('slow question one')).toBe(1)
    expect(scene.platform.posts.in(place).filter(({ text }) => text.includes('It begins'))).toHaveLength(1)
  })

  it('an event that is delivered twice is taken once, also after a crash', async () => {
    const event = scene.platform.write({ person: scene.platform.people.ada, text: 'question twice' })
    await Promise.all([event.deliver(), event.deliver()])
    await sees(event.place, 'Answer to question twice')
    await says('question between', event.place)
    await sees(event.place, 'Answer to question between')
    await scene.kill()
    await event.deliver()
    await nothingElse(event.place)
    expect(scene.asked('question twice')).toBe(1)
    expect(answersIn(event.place).filter((text) => text.includes('twice'))).toHaveLength(1)
  })

  it.runIf(isFirst)('events that come in another order are all answered', async () => {
    const { platform } = scene
    const { ada } = platform.people
    const first = platform.write({ person: ada, text: 'question begin' })
    await first.deliver()
    const [second, third] = ['second', 'third'].map((text) => platform.write({ person: ada, text: `question ${text}`, place: first.place }))
    await third?.deliver()
    await second?.deliver()
    for (const text of ['begin', 'second', 'third']) await sees(first.place, text)
  })

  it('what bots write, edits and deletions are ignored', async () => {
    const { platform } = scene
    const { ada } = platform.people
    const place = await says('question before')
    await sees(place, 'Answer to question before')
    const [said] = [platform.write({ person: ada, text: 'question said', place })]
    await said.deliver()
    await sees(place, 'Answer to question said')
    await platform.write({ person: 'other', text: 'question bot', place, kind: 'bot' }).deliver()
    await platform.write({ person: ada, text: 'question edited', place, kind: 'edit', of: said.id }).deliver()
    await platform.write({ person: ada, text: 'question deleted', place, kind: 'delete', of: said.id }).deliver()
    await nothingElse(place)
    expect(['bot', 'edited', 'deleted'].map((text) => scene.asked(`question ${text}`))).toEqual([0, 0, 0])
  })

  it.runIf(isFirst)('unknown people are denied', async () => {
    const place = await says('question of eve', undefined, scene.platform.people.eve)
    await sees(place, 'may not')
    await nothingElse(await says('question of ada'))
    expect(scene.asked('question of eve')).toBe(0)
  })

  it.runIf(isFirst)('an answer of 40,000 characters is split, and complete', async () => {
    const place = await says('something long')
    await sees(place, 'Paragraph 399 ')
    const { posts, longestText } = scene.platform
    const texts = posts.in(place).filter(({ text }) => text.includes('Paragraph'))
    expect(Math.max(...texts.map(({ text }) => text.length))).toBeLessThanOrEqual(longestText)
    expect(texts.flatMap(({ text }) => text.match(/Paragraph \d+/g) ?? [])).toEqual(
      paragraphs.map((text) => text.match(/Paragraph \d+/)?.[0]),
    )
  })

  it.runIf(isFirst)('an answer that a crash has left half written is finished in its message', async () => {
    const [before, after] = [next(), next()]
    const place = await says('slow question crash')
    before.write('Half of it\n\n')
    const half = await sees(place, 'Half of it')
    before.write('A little more\n\n')
    await sees(place, 'A little more')
    await scene.kill()
    after.end('Half of it\n\nand the rest.')
    const whole = await sees(place, 'and the rest.')
    expect(whole.id).toBe(half.id)
    await nothingElse(place)
    expect(scene.platform.posts.in(place).filter(({ text }) => text.includes('Half of it'))).toHaveLength(1)
  })

  it.runIf(isFirst)('an approver approves with a button, others cannot, and a second press does nothing', async () => {
    const { platform } = scene
    const { ada, bob } = platform.people
    const place = await says('erase one')
    const card = await platform.posts.untilOne(place, hasButton('Approve'), 'request')
    await platform.press(bob, card, 'Approve').deliver()
    await told(/may not approve/)
    const press = platform.press(ada, card, 'Approve')
    await Promise.all([press.deliver(), press.deliver(), platform.press(ada, card, 'Approve').deliver()])
    await sees(place, 'The tool said: erased one')
    await platform.press(ada, card, 'Approve').deliver()
    await told(/Approved/)
    await platform.posts.untilOne(place, ({ id, buttons }) => id === card.id && buttons.length === 0, 'closed request')
    await nothingElse(place)
    expect(platform.posts.in(place).filter(({ text }) => text.includes('The tool said'))).toHaveLength(1)
  })

  it.runIf(isFirst)('a request is denied with a reason, also by others', async () => {
    const { platform } = scene
    const place = await says('erase two')
    await platform.posts.untilOne(place, hasButton('Deny'), 'request')
    await says('no, not today', place, platform.people.bob)
    expect((await sees(place, 'The tool said')).text).toContain('not today')
  })

  it.runIf(isFirst)('a running task is stopped with a button', async () => {
    const { platform } = scene
    const place = await says('wait for ever')
    const progress = await platform.posts.untilOne(place, hasButton('Stop'), 'progress')
    await platform.press(platform.people.ada, progress, 'Stop').deliver()
    await platform.posts.untilOne(place, ({ id, buttons }) => id === progress.id && buttons.every(({ label }) => label !== 'Stop'), 'end')
    await nothingElse(place)
  })

  it.runIf(isFirst)('a file reaches the model, and one above the limit becomes a line of text', async () => {
    const { platform } = scene
    const { ada } = platform.people
    const file = { name: 'notes.txt', mediaType: 'text/plain', content: Buffer.from('written in a file') }
    const event = platform.write({ person: ada, text: 'question file', files: [file] })
    await event.deliver()
    await sees(event.place, 'Answer to question file')
    expect(scene.lastAsked()).toContain('written in a file')
    const large = { ...file, name: 'large.txt', bytes: 1_000_000_000 }
    await platform.write({ person: ada, text: 'question large', place: event.place, files: [large] }).deliver()
    await sees(event.place, 'Answer to question large')
    expect(scene.lastAsked()).toContain('large.txt')
  })

  it.runIf(isFirst)('limits of the platform are respected, and nothing is lost while it is down', async () => {
    const { api, posts } = scene.platform
    const place = await says('question calm')
    await sees(place, 'Answer to question calm')
    const isPost = /postMessage|sendMessage|POST .*messages$|startStream/
    api.limit(isPost, { seconds: 1 })
    await says('question hurry', place)
    await sees(place, 'Answer to question hurry')
    const [limited, again] = await api.calls.until((calls) => {
      const posted = calls.slice(calls.findIndex(({ status }) => status === 429)).filter(({ method }) => isPost.test(method))
      return posted.length > 1 ? posted : undefined
    }, 'second call')
    expect((again?.at ?? 0) - (limited?.at ?? 0)).toBeGreaterThan(950)
    const stream = next()
    await says('slow question down', place)
    api.goDown()
    stream.end('Answer to question down')
    await api.calls.until((calls) => calls.find(({ status, method }) => status === 0 && isPost.test(method)), 'failed call')
    api.comeBack()
    await sees(place, 'Answer to question down')
    await nothingElse(place)
    expect(posts.in(place).filter(({ text }) => text.includes('down'))).toHaveLength(1)
  })

  it.runIf(kind.name.includes('webhooks'))('webhooks with a wrong signature or an old time are refused', async () => {
    const { platform } = scene
    const forged = platform.write({ person: platform.people.ada, text: 'question forged' })
    expect(await forged.forge('signature')).toBe(401)
    // Telegram sends no time.
    if (platform.name === 'slack') expect(await forged.forge('timestamp')).toBe(401)
    await nothingElse(await says('question honest'))
    expect(scene.asked('question forged')).toBe(0)
  })
}
