import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { agentText, type ModelReply, type Served, serveScene } from './serve-scene.ts'

// What a running server says and does when its store fails: real processes, files, locks and limits.

const scene = await serveScene()
await scene.put('clerk.ai', agentText('You answer.'))
const folder = join(scene.folder, 'data')
const file = join(folder, 'troupe.db')
const remove = (path: string): void => rmSync(path)
const files = [file, `${file}-wal`, `${file}-shm`]

async function serve(): Promise<Served> {
  const served = await scene.serve(['--data-dir', folder])
  onTestFinished(async () => {
    served.process.kill('SIGTERM')
    expect(await served.ended).toMatchObject({ code: 143 })
    rmSync(folder, { recursive: true, force: true })
  })
  return served
}

const ready = async (served: Served) => {
  const response = await fetch(`${served.url}/ready`)
  const { problems } = (await response.json()) as { problems?: readonly string[] }
  return { status: response.status, ...(problems && { problems }) }
}
const statusOf = async (response: Promise<Response>): Promise<number> => (await response).status
const start = (served: Served) => served.fetch('/v1/sessions', { json: { agent: 'clerk', input: 'Hello' } })
const linesWith = (served: Served, text: string) =>
  served
    .log()
    .split('\n')
    .filter((line) => line.includes('"warn"') && line.includes(text))

/** Every surface names the problem. */
async function expectRefused(served: Served, problem: unknown): Promise<void> {
  expect(await ready(served)).toEqual({ status: 503, problems: [problem] })
  expect(await statusOf(served.fetch('/health'))).toBe(200)
  const refused = await start(served)
  expect([refused.status, await refused.json()]).toMatchObject([503, { error: { code: 'store_failed', message: problem } }])
  const chat = await served.fetch('/v1/chat/completions', { json: { model: 'clerk', messages: [{ role: 'user', content: 'Hi' }] } })
  expect([chat.status, await chat.json()]).toMatchObject([503, { error: { type: 'server_error', code: 'store_failed', message: problem } }])
  // What is there can be read.
  expect(await statusOf(served.fetch('/v1/sessions'))).toBe(200)
  expect(await (await served.fetch('/v1/status')).json()).toMatchObject({ warnings: [problem] })
}

async function expectRecovered(served: Served): Promise<void> {
  await expect.poll(async () => (await ready(served)).status, { timeout: 10_000 }).toBe(200)
  await expect.poll(() => served.log()).toContain('The store works again.')
  expect(await statusOf(served.fetch('/v1/clerk?q=Hello'))).toBe(200)
}

/** The model is asked, and answers when the test says so. */
function heldModel() {
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<ModelReply>()
  let requests = 0
  scene.reply = () => {
    requests++
    asked.resolve()
    return answer.promise
  }
  onTestFinished(() => {
    answer.resolve({ text: 'too late' })
    scene.reply = () => ({ text: 'Hello.' })
  })
  return { asked: asked.promise, requests: () => requests, answer: () => answer.resolve({ text: 'Done.' }) }
}

// Linux names the process that holds a lock, and can limit files of a process that runs.
const onLinux = test.runIf(process.platform === 'linux')

onLinux('a store that another process locks: work is refused while the lock is held, and what waits is done after it', async () => {
  const served = await serve()
  expect(await ready(served)).toMatchObject({ status: 200 })
  const other = new DatabaseSync(file)
  onTestFinished(() => other.close())
  other.exec('BEGIN EXCLUSIVE')
  const waiting = start(served)
  await served.after(async () => {}, 'holds its lock')
  await expectRefused(served, expect.stringMatching(`^Cannot write to the store: process ${process.pid} holds its lock. Wait for `))
  other.exec('ROLLBACK')
  expect((await waiting).status).toBe(201)
  await expectRecovered(served)
  expect(linesWith(served, 'holds its lock')).toHaveLength(1)
})

onLinux('a full disk: the turn that runs and new work get 503 with the reason, until there is space again', async () => {
  const served = await serve()
  const limit = (bytes: string): void =>
    void execFileSync('prlimit', ['--pid', String(served.process.pid), `--fsize=${bytes}:`], { stdio: 'inherit' })
  const model = heldModel()
  const running = served.fetch('/v1/clerk?q=Hello')
  await model.asked
  // What is written beyond it fails as on a full disk.
  limit('4096')
  model.answer()
  const cut = await running
  const { error } = (await cut.clone().json()) as { error: { sessionId: string } }
  expect([cut.status, await cut.json()]).toMatchObject([
    503,
    { error: { code: 'store_failed', message: expect.stringMatching(/^Cannot write/) } },
  ])
  await expectRefused(served, expect.stringMatching(/^Cannot write to the store: .*space/))
  limit('unlimited')
  await expectRecovered(served)
  // The turn continues from what was stored.
  const { sessionId } = error
  const sessions = async () => (await (await served.fetch(`/v1/sessions/${sessionId}`)).json()) as { session: { status: string } }
  await expect.poll(async () => (await sessions()).session.status).toBe('completed')
  expect(linesWith(served, 'Cannot write to the store')).toHaveLength(1)
})

test('deleted files are noticed without a request; nothing is acknowledged, and a restart begins anew', async () => {
  const served = await serve()
  const model = heldModel()
  const running = [served.fetch('/v1/clerk?q=Hello'), served.fetch('/v1/responses', { json: { model: 'clerk', input: 'Hello' } })]
  await expect.poll(model.requests).toBe(2)
  await served.after(async () => files.forEach(remove), 'troupe.db of the store was deleted')
  model.answer()
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual([503, 503])
  await expectRefused(served, expect.stringMatching(/^troupe.db of the store was deleted while it was in use. .*restart/))
  expect(linesWith(served, 'deleted')).toEqual([expect.stringContaining(folder)])
  expect(files.filter(existsSync)).toEqual([])
  served.process.kill('SIGTERM')
  await served.ended
  const next = await scene.serve(['--data-dir', folder])
  expect(await ready(next)).toMatchObject({ status: 200 })
  next.process.kill('SIGTERM')
  await next.ended
})

test('a write that follows the deletion immediately is not acknowledged', async () => {
  const served = await serve()
  files.forEach(remove)
  const refused = await start(served)
  expect([refused.status, await refused.json()]).toMatchObject([
    503,
    { error: { code: 'store_failed', message: expect.stringMatching(/deleted/) } },
  ])
})

test.each([
  ['troupe.db', file],
  ['troupe.db-wal', `${file}-wal`],
])('%s that was replaced by another file is not used', async (name, path) => {
  const served = await serve()
  copyFileSync(path, `${path}.copy`)
  renameSync(`${path}.copy`, path)
  await expectRefused(served, expect.stringMatching(`^${name} of the store was replaced while it was in use. .*restart`))
})

test('a damaged search index is 503 with its remedy, which works beside the server; turns go on', async () => {
  const served = await serve()
  const ask = (words: string) => statusOf(served.fetch(`/v1/clerk?q=${encodeURIComponent(words)}`))
  expect(await ask('A weekend in Oslo')).toBe(200)
  const reindex = () => scene.start(['store', 'reindex', '--data-dir', folder]).ended
  expect(await reindex()).toMatchObject({ code: 0, stdout: `Indexed 1 turn of 1 session in ${folder}.\n` })
  const database = new DatabaseSync(file)
  database.enableDefensive(false)
  const table = database.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'search_index%_data'").get()?.name
  database.exec(`UPDATE ${table} SET block = x'00ff00ff00ff'`)
  database.close()
  const search = async () => {
    const response = await served.fetch('/v1/sessions?search=oslo')
    return [response.status, await response.json()]
  }
  expect(await search()).toMatchObject([503, { error: { code: 'index_damaged', remedy: expect.stringContaining('troupe store reindex') } }])
  expect(await ask('A day in Oslo')).toBe(200)
  expect(await reindex()).toMatchObject({ code: 0 })
  expect(await search()).toMatchObject([200, { sessions: [{ match: { snippet: expect.stringContaining('Oslo') } }, {}] }])
  expect(await (await served.fetch('/v1/usage?by=person')).json()).toMatchObject({ groups: [{ key: 'local', turns: 2 }] })
})
