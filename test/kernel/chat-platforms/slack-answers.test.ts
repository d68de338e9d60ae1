import { describe, expect, it, vi } from 'vitest'
import { answer, firstMessage, type SlackStage, slackStage } from './slack-stage.ts'

/** A thread in which somebody has written. */
async function thread(stage: SlackStage): Promise<{ readonly place: string; readonly userId: string }> {
  const asked = stage.slack.write({ person: 'U1', text: 'Hi' })
  await asked.deliver()
  const { userId } = await firstMessage(stage)
  return { place: asked.place, userId }
}
const piece = (id: string, text: string) => ({ id, text, speaker: 'orchestrator' })

describe('an answer', () => {
  it('is shown within a second after its first piece, and streams into one message', async () => {
    const stage = await slackStage()
    const { slack, extension } = stage
    const { place, userId } = await thread(stage)
    const began = performance.now()
    extension.streamToUser(userId, piece('m1', 'Once upon'))
    const shown = await slack.posts.untilOne(place, ({ text }) => text !== '', 'first text')
    expect((shown.firstTextAt ?? Infinity) - began).toBeLessThan(1_000)
    extension.streamToUser(userId, piece('m1', ' a time'))
    await slack.posts.untilOne(place, ({ text }) => text === 'Once upon a time', 'second piece')
    await extension.sendToUser(userId, { ...answer('m1', 'Once upon a time, there was'), streamed: true })
    const [post, ...others] = slack.posts.in(place)
    expect(others).toEqual([])
    expect(post).toMatchObject({
      text: 'Once upon a time, there was',
      raw: { streaming: false, recipient_user_id: 'U1', recipient_team_id: 'T1' },
    })
    expect(post?.buttons.map(({ label }) => label)).toEqual(['Retry', 'Details', 'JSON'])
    // Again, as after a crash before the kernel knew.
    await extension.sendToUser(userId, answer('m1', 'Once upon a time, there was'))
    expect(slack.posts.in(place)).toHaveLength(1)
  })

  it('that is long can be stopped, also if nothing but text happens', async () => {
    const stage = await slackStage()
    const { place, userId } = await thread(stage)
    await stage.extension.showProgress(userId, { id: 't1', state: 'working', tasks: [] })
    stage.extension.streamToUser(userId, piece('m1', 'Once upon'))
    await stage.slack.posts.untilOne(place, ({ buttons }) => buttons.some(({ label }) => label === 'Stop'), 'button')
  })

  it('that is different at its end is corrected', async () => {
    const stage = await slackStage()
    const { place, userId } = await thread(stage)
    stage.extension.streamToUser(userId, piece('m1', 'The key is 1234'))
    await stage.slack.posts.untilOne(place, ({ text }) => text !== '', 'first text')
    await stage.extension.sendToUser(userId, answer('m1', 'The key is [hidden]'))
    expect(stage.slack.posts.in(place).map(({ text }) => text)).toEqual(['The key is [hidden]'])
  })

  it.each(['m1', 'm1:2'])('that a crash has left half written is finished in the same message by %s', async (id) => {
    const stage = await slackStage()
    const { slack } = stage
    const { place, userId } = await thread(stage)
    stage.extension.streamToUser(userId, piece('m1', 'Half an'))
    await slack.posts.untilOne(place, ({ text }) => text !== '', 'first text')
    const next = await stage.restart()
    next.streamToUser(userId, piece(id, 'A whole'))
    await slack.posts.untilOne(place, ({ text }) => text === 'A whole', 'text of the second process')
    await next.sendToUser(userId, answer(id, 'A whole answer'))
    expect(slack.posts.in(place).map(({ text }) => text)).toEqual(['A whole answer'])
  })

  it('that a crash has left half written is finished there, also if somebody writes before, or Slack sends their message again', async () => {
    const stage = await slackStage()
    const { slack } = stage
    const asked = slack.write({ person: 'U1', text: 'Hi' })
    await asked.deliver()
    const { userId } = await firstMessage(stage)
    stage.extension.streamToUser(userId, { ...piece('m1', 'Half an'), turnId: 't1' })
    await slack.posts.untilOne(asked.place, ({ text }) => text !== '', 'first text')
    await stage.extension.stop()
    const next = await stage.restart()
    await asked.deliver()
    await slack.write({ person: 'U2', text: 'Hello?', place: asked.place }).deliver()
    await next.sendToUser(userId, { ...answer('m1:2', 'A whole answer'), turnId: 't1' })
    await next.sendToUser(userId, { ...answer('m2', 'Hello'), turnId: 't2' })
    expect(slack.posts.in(asked.place).map(({ text }) => text)).toEqual(['A whole answer', 'Hello'])
  })

  it('of another turn is a message of its own', async () => {
    const stage = await slackStage()
    const { place, userId } = await thread(stage)
    stage.extension.streamToUser(userId, { ...piece('m1', 'Half an'), turnId: 't1' })
    await stage.slack.posts.untilOne(place, ({ text }) => text !== '', 'first text')
    await stage.extension.sendToUser(userId, { ...answer('m2', 'Another'), turnId: 't2' })
    expect(stage.slack.posts.in(place).map(({ text }) => text)).toEqual(['Half an', 'Another'])
  })

  it('whose post was not confirmed is not posted again', async () => {
    const stage = await slackStage()
    const { slack } = stage
    const { place, userId } = await thread(stage)
    const release = slack.api.lose(/chat\.postMessage/)
    await expect(stage.extension.sendToUser(userId, answer('m1', 'Here'))).rejects.toThrow()
    release()
    expect(slack.posts.in(place)).toHaveLength(1)
    const next = await stage.restart()
    await next.sendToUser(userId, answer('m1', 'Here'))
    expect(slack.posts.in(place).map(({ text }) => text)).toEqual(['Here'])
  })

  it('of 40,000 characters is split on paragraphs, also while it streams', async () => {
    const stage = await slackStage()
    const { slack, extension } = stage
    const { place, userId } = await thread(stage)
    const paragraphs = Array.from({ length: 400 }, (_, index) => `Paragraph ${index} ${'x'.repeat(85)}`)
    const text = paragraphs.join('\n\n')
    for (let at = 0; at < text.length; at += 5_000) {
      extension.streamToUser(userId, piece('m1', text.slice(at, at + 5_000)))
      if (at === 15_000) await slack.posts.untilOne(place, (post) => post.text.includes('Paragraph 150 '), 'second part')
    }
    await extension.sendToUser(userId, answer('m1', text))
    const posts = slack.posts.in(place)
    expect(posts.flatMap((post) => post.text.split('\n\n'))).toEqual(paragraphs)
    expect(posts).toHaveLength(4)
    expect(posts.map(({ buttons }) => buttons.length)).toEqual([0, 0, 0, 3])
  })

  it('waits as long as Slack says, and is lost neither then nor while Slack is down', async () => {
    const stage = await slackStage()
    const { slack, extension } = stage
    const { place, userId } = await thread(stage)
    slack.api.limit(/chat\.postMessage/, { seconds: 30 })
    await expect(extension.sendToUser(userId, answer('m1', 'One'))).rejects.toThrow('limits the rate')
    // Before its time, Slack is not asked.
    await expect(extension.sendToUser(userId, answer('m1', 'One'))).rejects.toThrow('limits the rate')
    const calls = slack.api.calls.value.filter(({ method }) => method === 'chat.postMessage')
    expect(calls.map(({ status }) => status)).toEqual([429])
    const next = await stage.restart()
    slack.api.goDown()
    slack.socket.cut()
    await expect(next.sendToUser(userId, answer('m1', 'One'))).rejects.toThrow()
    await vi.waitUntil(() => next.healthCheck().healthy === false)
    slack.api.comeBack()
    await next.sendToUser(userId, answer('m1', 'One'))
    expect(slack.posts.in(place).map(({ text }) => text)).toEqual(['One'])
    await vi.waitUntil(() => next.healthCheck().healthy, { timeout: 10_000 })
  })

  it('does not notify everybody', async () => {
    const stage = await slackStage()
    const { place, userId } = await thread(stage)
    await stage.extension.sendToUser(userId, { ...answer('m1', 'Hello <!channel>'), kind: 'notice' })
    expect(stage.slack.posts.in(place)[0]?.text).not.toContain('<!channel>')
    // In two pieces.
    stage.extension.streamToUser(userId, piece('m2', 'Hello <'))
    await stage.slack.posts.untilOne(place, ({ text }) => text.startsWith('Hello <'), 'first piece')
    stage.extension.streamToUser(userId, piece('m2', '!channel>'))
    const streamed = await stage.slack.posts.untilOne(
      place,
      ({ text }) => text.endsWith('channel>') && text.startsWith('Hello'),
      'second piece',
    )
    expect(streamed.text).not.toContain('<!channel>')
  })

  it('comes with its files, and a file above the limit is a link', async () => {
    const stage = await slackStage({ conversations: { link: () => 'https://web.example/s/1' } })
    const { place, userId } = await thread(stage)
    const file = (name: string, bytes: number) => ({
      name,
      mediaType: 'text/plain',
      bytes,
      read: async () => Buffer.alloc(bytes % 1_000, 'x'),
    })
    const message = { ...answer('m1', 'See'), files: [file('small.txt', 5), file('large.bin', 1_000_000_000)] }
    await stage.extension.sendToUser(userId, message)
    await stage.extension.sendToUser(userId, message)
    const posts = stage.slack.posts.in(place)
    expect(posts.flatMap(({ files }) => files)).toEqual([{ name: 'small.txt', bytes: 5 }])
    expect(posts.filter(({ text }) => text.includes('large.bin')).map(({ text }) => text)).toEqual([
      '📎 large.bin is too large for Slack (1000000000 bytes). [Open it in the web chat](https://web.example/s/1).',
    ])
  })
})
