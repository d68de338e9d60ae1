import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, it } from 'vitest'
import { TemplateClass as Channel } from '../../extensions-template/channel/main.ts'
import { TemplateClass as Scheduled } from '../../extensions-template/schedule/main.ts'
import { TemplateClass as Service } from '../../extensions-template/service/main.ts'
import { TemplateClass as Tools } from '../../extensions-template/tool/main.ts'
import { createExtension, templateKinds } from '../../src/kernel/extension-template.ts'
import { findExtensions } from '../../src/kernel/index.ts'
import { FakeClock } from '../../src/testing/index.ts'
import { callTool, extensionContext, temporaryFolder } from './extension-context.ts'

it('has a folder for each kind', () => {
  expect(readdirSync(join(import.meta.dirname, '../../extensions-template')).toSorted()).toEqual([...templateKinds].toSorted())
})

it.each(templateKinds)('creates a valid %s', async (kind) => {
  const place = join(temporaryFolder(), 'extensions')
  const files = await createExtension({ kind, id: 'news_reader-2', place })
  expect(files.map((file) => relative(place, file))).toContain('news_reader-2/manifest.yaml')
  const [found] = await findExtensions({ places: [{ folder: place, source: 'project' }], workspace: place, trusted: 'everything' })
  expect(found?.problems).toEqual([])
  expect(found?.manifest).toMatchObject({ id: 'news_reader-2', name: 'News Reader 2' })
  const texts = files.map((file) => readFileSync(file, 'utf8')).join('\n')
  expect(texts).not.toMatch(/template/i)
  if (kind !== 'agent') {
    expect(found?.manifest?.entrypoint).toEqual({ file: 'main', className: 'NewsReader2' })
    expect(texts).toContain('export class NewsReader2 ')
  }
})

it('refuses a wrong id and a folder that exists', async () => {
  const place = temporaryFolder()
  await expect(createExtension({ kind: 'tool', id: '../up', place })).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining('"../up"'),
  })
  mkdirSync(join(place, 'taken'))
  await expect(createExtension({ kind: 'tool', id: 'taken', place })).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining('exists'),
  })
  expect(readdirSync(join(place, 'taken'))).toEqual([])
})

it('makes a tool that works', async () => {
  const tools = new Tools().getTools()
  expect(await callTool(tools, 'count_words', { text: ' one two ' })).toEqual({ ok: true, content: '2 words' })
  expect(await callTool(tools, 'count_words', { text: ' ' })).toMatchObject({ ok: false })
})

it('makes a channel that works', async () => {
  const { context } = extensionContext()
  const received: string[] = []
  const both = Promise.withResolvers<void>()
  const channel = new Channel()
  channel.initialize({
    ...context,
    onUserMessage: async ({ text }) => {
      if (received.push(text) === 2) both.resolve()
    },
  })
  writeFileSync(join(context.dataDir, 'inbox.txt'), 'Hello\n\nAgain\n')
  channel.start()
  await both.promise
  await channel.stop()
  expect(received).toEqual(['Hello', 'Again'])
  await channel.sendToUser('local', { id: 'm1', kind: 'answer', text: 'Hi!', speaker: 'orchestrator' })
  expect(readFileSync(join(context.dataDir, 'outbox.txt'), 'utf8')).toBe('orchestrator to local: Hi!\n')
  expect(readdirSync(context.dataDir)).toEqual(['outbox.txt'])
})

it('makes a service that works, and ends with its signal', async () => {
  const { context, recorded } = extensionContext({ config: { file: 'today.md', seconds: 0.001 } })
  const controller = new AbortController()
  const noticed = Promise.withResolvers<void>()
  const service = new Service()
  service.initialize({ ...context, notifyUser: async (text) => context.notifyUser(text).then(noticed.resolve) })
  const running = service.runBackground(controller.signal)
  writeFileSync(join(context.dataDir, 'today.md'), '')
  await noticed.promise
  controller.abort()
  await running
  expect(recorded.notices).toEqual([{ text: 'There is a new file: today.md' }])
})

it('makes a schedule that works', () => {
  const config = { cron: '0 8 * * *', time_zone: 'Asia/Tokyo', birthdays: { Ada: '12-10', Bo: '12-10', Cy: '12-09' } }
  const { context, clock } = extensionContext({ config, clock: new FakeClock(Date.UTC(2026, 11, 9, 15)) })
  const scheduled = new Scheduled()
  scheduled.initialize(context)
  expect(scheduled.getSchedule()).toEqual({ cron: '0 8 * * *', timeZone: 'Asia/Tokyo' })
  expect(scheduled.execute()).toEqual({ text: 'It is the birthday of Ada and Bo.' })
  clock.advance(24 * 60 * 60 * 1000)
  expect(scheduled.execute()).toBeUndefined()
})
