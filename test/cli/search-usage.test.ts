import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { localPrincipal, type Model } from '../../src/contracts/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { openStore } from '../../src/stores/index.ts'
import { echoModel } from '../server/support.ts'
import { workbench } from './troupe.ts'

const { troupe, start, folder } = await workbench()
const data = join(folder, 'data')
const troupeIn = (...words: readonly string[]) => troupe([...words, '--data-dir', data])
const ids: { [title: string]: string } = {}

/** Sessions of a program in the folder: each request costs a cent, or has no price. */
beforeAll(async () => {
  const store = await openStore(`sqlite:${data}`)
  const priced: Model = { ...echoModel('test/priced'), costOf: () => 0.01 }
  const agent = { description: 'Repeats.', prompt: 'Repeat.', tools: [] }
  const runtime = createAgentRuntime({
    config: {
      agents: [
        { ...agent, name: 'clerk', model: 'test/priced' },
        { ...agent, name: 'free', model: 'test/free' },
      ],
    },
    adapter: { resolve: (name) => (name === 'test/priced' ? priced : echoModel('test/free')) },
    store,
    origin: { workspace: folder },
  })
  const say = async (input: string, name: string): Promise<string> => {
    const id = await runtime.sessions.start(input, { agent: name, principal: localPrincipal })
    await runtime.sessions.outcome(id)
    return id
  }
  ids.oslo = await say('A weekend in Oslo 🛶', 'clerk')
  ids.bergen = await say('100% rain in Bergen', 'free')
  await runtime.close()
  await store.close()
})

interface Listed {
  readonly sessionId: string
  readonly cost?: number
  readonly match?: object
}
const listed = async (...filter: readonly string[]): Promise<readonly Listed[]> => {
  const { code, stdout } = await troupeIn('sessions', 'list', '--json', ...filter)
  expect(code).toBe(0)
  return JSON.parse(stdout).sessions
}

describe('sessions list', () => {
  test('shows what matches, and the cost', async () => {
    const { code, stdout, stderr } = await troupeIn('sessions', 'list', '--search', 'oslo WEEK')
    expect([
      code,
      stdout
        .replace(/\d{4}-.* UTC/, 'THEN')
        .split('\n')
        .slice(0, 3),
    ]).toEqual([
      0,
      [`${ids.oslo}  clerk  completed`, '  a program · THEN · $0.01 · “A weekend in Oslo 🛶”', '  answer: A weekend in Oslo 🛶'],
    ])
    expect(stderr).not.toContain('older version')
    expect(await listed('--search', 'oslo')).toMatchObject([
      { sessionId: ids.oslo, cost: 0.01, match: { kind: 'answer', ranges: [[13, 17]] } },
    ])
  })

  test('filters by cost and time', async () => {
    expect((await listed('--min-cost', '0.01')).map(({ sessionId }) => sessionId)).toEqual([ids.oslo])
    expect(await listed('--max-cost', '0.009')).toEqual([])
    expect(await listed('--since', '1h')).toHaveLength(2)
    expect(await listed('--until', '2026-01-01')).toEqual([])
  })

  test('in another project, the command that lists all repeats the filters', async () => {
    const elsewhere = join(folder, 'elsewhere')
    await mkdir(join(elsewhere, '.git'), { recursive: true })
    const filters = ['--search', "oslo week's end", '--label=-a', '--since', '7d', '--max-cost', '1']
    const listAs = async (...words: readonly string[]) =>
      (await troupe(['sessions', 'list', ...words, '--data-dir', data], { cwd: elsewhere })).stderr
    expect(await listAs('--search', 'oslo week', '--status', 'completed', '--since', '7d', '--min-cost', '0.01')).toContain(
      `1 more matching session of other projects: troupe sessions list --everywhere --status completed --search 'oslo week' --since 7d --min-cost 0.01 --data-dir ${data}\n`,
    )
    expect(await listAs(...filters)).not.toContain('more matching')
  })

  test.each([['%'], ['🛶'], ['"rain'], ['OR'], ['*'], ["'; DROP TABLE trees"], ['a'.repeat(10_000)]])('searches %j', async (words) => {
    const found = { '%': [ids.bergen], '🛶': [ids.oslo], '"rain': [ids.bergen] }[words] ?? []
    expect((await listed('--search', words)).map(({ sessionId }) => sessionId)).toEqual(found)
  })

  test('refuses wrong values together, each with its place', async () => {
    const wrong = ['--since', 'yesterday', '--until', '2026-02-30', '--min-cost', 'cheap', '--max-cost', '-1']
    const { code, stdout, stderr } = await troupeIn('sessions', 'list', '--json', ...wrong.slice(0, 6))
    expect([code, stderr]).toEqual([2, expect.any(String)])
    expect(JSON.parse(stdout).error.problems.map(({ place }: { readonly place: string }) => place)).toEqual([
      '--since',
      '--until',
      '--min-cost',
    ])
    expect(await troupeIn('sessions', 'list', ...wrong.slice(6))).toMatchObject({ code: 2 })
    for (const words of ['a'.repeat(10_001), '   '])
      expect(await troupeIn('sessions', 'list', '--search', words)).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/--search {2}Expected words, at most 10000 characters/),
      })
    expect((await troupeIn('sessions', 'list', '--since', '1h', '--until', '2h')).stderr).toMatch(
      /--until {2}Expected a time after --since, .*Z, not .*Z\.?\n +→ Write a later --until/,
    )
    expect((await troupeIn('sessions', 'list', '--min-cost', '2', '--max-cost', '0.5')).stderr).toMatch(
      /--max-cost {2}Expected at least --min-cost, 2, not 0\.5\.?\n +→ Raise --max-cost, or lower --min-cost\./,
    )
    expect((await troupeIn('sessions', 'prune', '--keep', '9', '--min-cost', '1')).stderr).toContain('Only list has this flag.')
  })
})

describe('usage', () => {
  test('is a table by day; requests without a price are named', async () => {
    const { code, stdout, stderr } = await troupeIn('usage')
    const today = new Date().toISOString().slice(0, 10)
    const lines = stdout.replaceAll(/ +[\d.]+ m?s$/gm, '  TIME').split('\n')
    expect([code, lines]).toEqual([
      0,
      [
        'day          cost   tokens  turns  TIME'.replace('TIME', 'p95'),
        `${today}  $0.01  20 → 10      2  TIME`,
        'total       $0.01  20 → 10      2  TIME',
        '',
      ].map((line, i) => (i === 0 ? expect.stringMatching(/^day +cost +tokens +turns +p95$/) : line)),
    ])
    expect(stderr).toBe('1 request without a price is not in the cost.\n')
  })

  test('groups, as JSON', async () => {
    const by = async (group: string, ...more: readonly string[]) =>
      JSON.parse((await troupeIn('usage', '--by', group, '--json', ...more)).stdout)
    expect(await by('agent')).toMatchObject({
      ok: true,
      by: 'agent',
      since: expect.any(String),
      groups: [{ key: 'clerk' }, { key: 'free', unpriced: 1 }],
    })
    expect((await by('model')).groups.map(({ key }: { readonly key: string }) => key)).toEqual(['test/priced', 'test/free'])
    expect((await by('person', '--since', '7d')).groups).toMatchObject([{ key: 'local', turns: 2, requests: 2 }])
    expect(await by('day', '--until', '2020-01-01')).toMatchObject({ groups: [], total: { turns: 0 }, exitCode: 0 })
    expect(await troupeIn('usage', '--until', '2020-01-01')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('No turn has ended before'),
    })
    expect(await troupeIn('usage', '--by', 'colour')).toMatchObject({ code: 2, stderr: expect.stringContaining('--by agent') })
    expect((await troupe(['usage', '--data-dir', join(folder, 'none')])).code).toBe(0)
  })

  test('keeps the rows of a deleted session, and counts a copy once', async () => {
    const before = JSON.parse((await troupeIn('usage', '--json')).stdout)
    const fork = (await troupeIn('sessions', 'fork', ids.bergen ?? '')).stdout.trim()
    expect((await listed('--search', 'bergen')).map(({ sessionId }) => sessionId).toSorted()).toEqual([fork, ids.bergen].toSorted())
    expect((await troupeIn('sessions', 'delete', ids.bergen ?? '')).code).toBe(0)
    expect((await listed('--search', 'bergen')).map(({ sessionId }) => sessionId)).toEqual([fork])
    expect(JSON.parse((await troupeIn('usage', '--json')).stdout)).toEqual(before)
  })
})

describe('store reindex', () => {
  const change = (sql: string, ...values: readonly string[]) => {
    const database = new DatabaseSync(join(data, 'troupe.db'))
    database.enableDefensive(false)
    const { changes } = database.prepare(sql).run(...values)
    database.close()
    return changes
  }

  test('repairs a damaged index, which is named', async () => {
    // A few texts need no index: it is built here.
    expect((await troupeIn('store', 'reindex')).code).toBe(0)
    const database = new DatabaseSync(join(data, 'troupe.db'))
    const table = database.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'search_index%_data'").get()?.name
    database.close()
    expect(change(`UPDATE ${table} SET block = x'00ff00ff00ff'`)).toBeGreaterThan(0)
    const damaged = await troupeIn('sessions', 'list', '--search', 'oslo')
    expect(damaged).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(`troupe store reindex --data-dir ${data}`) })
    expect((await troupeIn('sessions', 'list')).code).toBe(0)
    const usage = (await troupeIn('usage', '--json')).stdout
    const repaired = await start(['store', 'reindex', '--data-dir', data]).ended
    expect(repaired).toMatchObject({ code: 0, stdout: `Indexed 2 turns of 2 sessions in ${data}.\n`, stderr: '' })
    expect((await listed('--search', 'oslo')).map(({ sessionId }) => sessionId)).toEqual([ids.oslo])
    expect((await troupeIn('usage', '--json')).stdout).toBe(usage)
  })

  test('adds sessions of an older version', async () => {
    const old = join(folder, 'old')
    await mkdir(old)
    await writeFile(join(old, 'troupe.db'), gunzipSync(await readFile(new URL('../stores/schema-1.db.gz', import.meta.url))))
    const search = () => troupe(['sessions', 'list', '--everywhere', '--search', 'go', '--data-dir', old])
    expect((await search()).stderr).toMatch(/\d sessions? of an older version (is|are) not searched\. To include \w+: troupe store reindex/)
    expect((await troupe(['sessions', 'list', '--min-cost', '0', '--data-dir', old])).stderr).toMatch(
      /The cost of \d sessions? of an older version is unknown\. To include \w+: troupe store reindex/,
    )
    expect((await troupe(['usage', '--data-dir', old])).stderr).toContain('not counted')
    expect(JSON.parse((await troupe(['store', 'reindex', '--json', '--data-dir', old])).stdout)).toMatchObject({
      ok: true,
      sessions: 2,
      skipped: [],
      exitCode: 0,
    })
    expect((await search()).stderr).not.toContain('older version')
  })

  test('names a session whose journal is damaged, and works beside a server', async () => {
    expect(
      change("UPDATE journal SET events = events || ' ' WHERE tree = (SELECT key FROM trees WHERE id = ?)", ids.oslo ?? ''),
    ).toBeGreaterThan(0)
    const { code, stdout, stderr } = await troupeIn('store', 'reindex')
    expect([code, stdout]).toEqual([1, `Indexed 1 turn of 1 session in ${data}.\n`])
    expect(stderr).toContain(`Not indexed: session ${ids.oslo}: `)
    expect(await troupe(['store', 'reindex', '--data-dir', join(folder, 'none')])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('0 sessions'),
    })
    expect(await troupeIn('store', 'vacuum')).toMatchObject({ code: 2 })
  })
})
