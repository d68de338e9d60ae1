import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readSettings } from '../../../extensions/chat_platforms/settings.ts'
import { splitText } from '../../../extensions/chat_platforms/split-text.ts'
import { ChatState } from '../../../extensions/chat_platforms/state/chat-state.ts'
import { openDatabase } from '../../../extensions/chat_platforms/state/open-database.ts'
import type { JsonObject } from '../../../src/contracts/index.ts'
import { temporaryFolder } from '../extension-context.ts'

it('a rule for everybody in Telegram says so in so many words', () => {
  const settings =
    (rules: readonly JsonObject[], platform = 'telegram') =>
    () =>
      readSettings({ platforms: { [platform]: {} }, rules })
  const [open, deny, named] = [{ platform: 'telegram' }, { deny: true }, { person: '*' }]
  expect(settings([named, open])).toThrow('`extensions.chat_platforms.rules[1]` lets everybody in the world write')
  for (const rule of [{}, { channel: '*' }, { channel: 'dm' }]) expect(settings([rule])).toThrow('rules[0]')
  for (const rules of [[named], [deny], [{ channel: 'C1' }], [{ platform: 'slack' }]]) expect(settings(rules)).not.toThrow()
  expect(settings([{}], 'slack')).not.toThrow()
})

describe('a long text', () => {
  it('is cut at paragraphs, then lines, then spaces', () => {
    expect(splitText('a'.repeat(150), 200)).toEqual(['a'.repeat(150)])
    const [paragraph, line] = ['p'.repeat(90), 'l'.repeat(90)]
    expect(splitText(`${paragraph}\n\n${line}\n${paragraph} ${line}`, 200)).toEqual(
      [paragraph, `${line}\n${paragraph} ${line}`].flatMap((part) => splitText(part, 200)),
    )
    expect(splitText('x'.repeat(300), 200).map((part) => part.length)).toEqual([120, 180])
  })

  it('with a block of code is closed and opened again', () => {
    const text = `Before\n\`\`\`ts\n${Array.from({ length: 40 }, (_, at) => `line ${at}`).join('\n')}\n\`\`\`\nAfter`
    const parts = splitText(text, 250)
    expect(parts.length).toBeGreaterThan(1)
    for (const part of parts) expect([...part.matchAll(/^```/gm)].length % 2).toBe(0)
    expect(parts.slice(1).every((part) => part.startsWith('```ts\n') || part.startsWith('line') || part.startsWith('After'))).toBe(true)
    expect(parts.join('\n').match(/line \d+/g)).toHaveLength(40)
  })

  it('loses nothing, keeps the limit, and leaves the parts before the last one as they are when it grows', () => {
    const texts = fc.array(fc.constantFrom('word ', '\n\n', '\n', 'x'.repeat(70), '👩‍🚀', '```\n'), { maxLength: 120 })
    fc.assert(
      fc.property(texts, texts, (one, two) => {
        const [before, whole] = [one.join(''), one.join('') + two.join('')]
        const parts = splitText(whole, 300)
        for (const part of parts) expect(part.length).toBeLessThanOrEqual(300)
        expect(parts.join('').replace(/[\s`]/g, '')).toBe(whole.replace(/[\s`]/g, ''))
        const early = splitText(before, 300).slice(0, -1)
        expect(parts.slice(0, early.length)).toEqual(early)
      }),
    )
  })
})

describe('the state of Chat SDK', () => {
  function open() {
    const folder = temporaryFolder()
    let now = 1_000
    const state = (): ChatState => {
      const database = openDatabase(folder, now)
      onTestFinished(() => database.close())
      return new ChatState(database, () => now)
    }
    const pass = (ms: number): void => {
      now += ms
    }
    return { state, pass }
  }

  it('outlives a restart, and forgets what has expired', async () => {
    const { state, pass } = open()
    const first = state()
    await first.set('a', { b: 1 })
    await first.set('short', 1, 100)
    await first.subscribe('t1')
    await first.appendToList('list', 1, { maxLength: 2, ttlMs: 500 })
    for (const value of [2, 3]) await first.appendToList('list', value, { maxLength: 2, ttlMs: 500 })
    const second = state()
    expect(await second.get('a')).toEqual({ b: 1 })
    expect(await second.isSubscribed('t1')).toBe(true)
    expect(await second.getList('list')).toEqual([2, 3])
    expect(await second.get('short')).toBe(1)
    pass(100)
    expect(await second.get('short')).toBeNull()
    expect(await second.setIfNotExists('short', 2)).toBe(true)
    expect(await second.setIfNotExists('short', 3)).toBe(false)
    pass(500)
    expect(await second.getList('list')).toEqual([])
    await second.unsubscribe('t1')
    await second.delete('a')
    expect([await second.isSubscribed('t1'), await second.get('a')]).toEqual([false, null])
  })

  it('has locks that one holder has', async () => {
    const { state, pass } = open()
    const [one, two] = [state(), state()]
    const lock = await one.acquireLock('t', 100)
    expect(await two.acquireLock('t', 100)).toBeNull()
    expect(await one.extendLock(lock!, 200)).toBe(true)
    pass(150)
    expect(await two.acquireLock('t', 100)).toBeNull()
    pass(100)
    const taken = await two.acquireLock('t', 100)
    expect(taken).not.toBeNull()
    expect(await one.extendLock(lock!, 100)).toBe(false)
    await one.releaseLock(lock!)
    expect(await one.acquireLock('t', 100)).toBeNull()
    await one.forceReleaseLock('t')
    expect(await one.acquireLock('t', 100)).not.toBeNull()
  })
})
