import { spawnSync } from 'node:child_process'
import { closeSync, ftruncateSync, openSync, readdirSync, readFileSync, symlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { actor, ground, lay, recordsIn, told, yes } from './acting-support.ts'
import { bounded, journalOf, until } from './support.ts'

vi.setConfig({ testTimeout: 60_000 })

const patch = (...lines: readonly string[]) => ({
  tool: 'apply_patch',
  input: { patch: ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n') },
})

describe('a patch that does not apply', () => {
  test('changes no file, reports where it failed and the actual text, and the next patch may succeed', async () => {
    const wrong = patch(
      '*** Update File: a.txt',
      '-one',
      '+ONE',
      '*** Add File: new/c.txt',
      '+c',
      '*** Update File: b.txt',
      '-nowhere',
      '+x',
    )
    const right = patch('*** Update File: a.txt', '-one', '+ONE', '*** Add File: new/c.txt', '+c', '*** Update File: b.txt', '-two', '+TWO')
    const made = actor({
      files: { 'a.txt': 'one\n', 'b.txt': 'two\n' },
      decide: () => yes('session', 'tool:apply_patch'),
      steps: [
        { calls: [wrong] },
        (request) => {
          // As it was, before the right one comes.
          expect([made.read('a.txt'), made.read('b.txt'), readdirSync(made.workspace).toSorted()]).toEqual([
            'one\n',
            'two\n',
            ['.git', 'a.txt', 'b.txt'],
          ])
          expect(JSON.stringify(request.messages.at(-1))).toMatch(/b\.txt[\s\S]*nowhere/)
          return { calls: [right] }
        },
        { text: 'Done.' },
      ],
    })
    const outcome = await bounded(made.runtime.run('go'), 'the run', 50_000)
    expect(outcome.status).toBe('completed')
    expect([made.read('a.txt'), made.read('b.txt'), made.read('new/c.txt')]).toEqual(['ONE\n', 'TWO\n', 'c\n'])
    const records = recordsIn(await journalOf(made.store, outcome.sessionId))
    expect(records.map(({ type, status }) => `${type} ${status}`)).toEqual(['file_change failed', 'file_change completed'])
  })

  test.each([
    ['is no patch at all', 'please change a.txt'],
    ['is empty', '*** Begin Patch\n*** End Patch\n'],
    ['breaks off', '*** Begin Patch\n*** Update File: a.txt\n-one'],
    ['leaves the workspace', '*** Begin Patch\n*** Add File: ../out.txt\n+x\n*** End Patch\n'],
    ['moves out of the workspace', '*** Begin Patch\n*** Update File: a.txt\n*** Move to: ../out.txt\n-one\n+x\n*** End Patch\n'],
    ['adds what is there', '*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch\n'],
    ['deletes what is not there', '*** Begin Patch\n*** Delete File: z.txt\n*** End Patch\n'],
    ['writes to git', '*** Begin Patch\n*** Update File: .git/HEAD\n-ref: refs/heads/main\n+ref: refs/heads/evil\n*** End Patch\n'],
  ])('one that %s is refused or asked about by itself, and nothing has changed', async (_, text) => {
    const made = actor({
      files: { 'a.txt': 'one\n' },
      // Whoever is asked about a protected file says no; the rest is granted.
      decide: ({ keys }) => (JSON.stringify(keys).includes('.git') ? { kind: 'deny' } : yes()),
      steps: [{ calls: [{ tool: 'apply_patch', input: { patch: text } }] }, { text: 'Done.' }],
    })
    expect(await bounded(made.runtime.run('go'), 'the run', 50_000)).toMatchObject({ status: 'completed' })
    expect(told(made).map(({ ok }) => ok)).toEqual([false])
    expect(made.read('a.txt')).toBe('one\n')
    expect(made.read('.git/HEAD')).toBe('ref: refs/heads/main\n')
    expect(readdirSync(made.base).toSorted()).toEqual(['home', 'project'])
  })
})

describe('a file that one reply changes and reads', () => {
  const read = (path: string) => ({ tool: 'read_file', input: { path } })
  const calls = [{ tool: 'write_file', input: { path: 'a.txt', content: 'new\n' } }, read('./a.txt'), read('b.txt')]
  const files = { 'a.txt': 'old\n', 'b.txt': 'other\n' }

  test('is read after the change, also while that waits for approval; others are read meanwhile', async () => {
    const made = actor({ files, decide: () => 'wait', steps: [{ calls }, { text: 'Done.' }] })
    const handle = made.runtime.stream('go')
    const contents = async () => recordsIn(await journalOf(made.store, handle.sessionId)).map(({ content }) => content)
    await until('the other file is read', async () => (await contents()).length > 0)
    expect(await contents()).toEqual([expect.stringContaining('other')])
    await handle.approve(made.asked[0]?.id ?? '', yes())
    await bounded(handle.outcome, 'the run', 50_000)
    expect(told(made)[1]?.content).toContain('new')
  })

  test('is read after a change that needs no approval, and before a later one', async () => {
    const later = [read('a.txt'), ...calls.slice(0, 2)]
    const rules = { name: 'test', rules: [{ allow: ['write_file'] }] }
    const made = actor({ files, config: { approvals: rules }, steps: [{ calls: later }, { text: 'Done.' }] })
    await bounded(made.runtime.run('go'), 'the run', 50_000)
    const [before, , after] = told(made)
    expect([before?.content, after?.content]).toEqual([expect.stringContaining('old'), expect.stringContaining('new')])
  })
})

describe('files that are no texts, or far too large', () => {
  test('are reported by kind, quickly and within limits, and are not damaged', async () => {
    const place = ground({ 'picture.png': Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), 'small.txt': 'needle\n' })
    const huge = openSync(place.at('huge.log'), 'w')
    writeSync(huge, 'first line\n')
    ftruncateSync(huge, 3_000_000_000)
    closeSync(huge)
    lay(place.workspace, { 'long.txt': 'x'.repeat(3_000_000) })
    spawnSync('mkfifo', [place.at('pipe')])
    const calls = [
      ...['picture.png', 'huge.log', 'long.txt', 'pipe', '.'].map((path) => ({ tool: 'read_file', input: { path } })),
      ...['picture.png', 'huge.log', 'pipe'].map((path) => ({ tool: 'edit_file', input: { path, old: 'first', new: 'FIRST' } })),
      { tool: 'search_files', input: { pattern: 'needle', glob: '*.{txt,png}' } },
      { tool: 'write_file', input: { path: 'pipe', content: 'x' } },
    ]
    const made = actor({ ground: place, decide: () => yes(), steps: [{ calls }, { text: 'Done.' }] })
    const before = process.memoryUsage().rss
    expect(await bounded(made.runtime.run('go'), 'the run', 50_000)).toMatchObject({ status: 'completed' })
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000)
    const results = told(made)
    for (const { content } of results) expect(Buffer.byteLength(content)).toBeLessThan(40_000)
    const ok = results.map((result) => result.ok)
    // A picture is told, not shown; the rest of the reading says what it could, editing refuses, searching finds.
    expect(results[0]?.content).toMatch(/binary|PNG|image/i)
    expect([ok[3], ok[4], ...ok.slice(5)]).toEqual([false, false, false, false, false, true, false])
    expect(results[8]?.content).toContain('small.txt')
    expect(readFileSync(place.at('picture.png')).toString('hex')).toBe('89504e470d0a1a0a0000000d49484452')
  })
})

describe('ways out of the workspace, with a person who says yes to everything', () => {
  const ways = [
    '../secret.txt',
    'sub/../../secret.txt',
    '/etc/hostname',
    'link-out/secret.txt',
    'link-file',
    'link-link/secret.txt',
    '/proc/self/root/etc/hostname',
    'sub/..\u0000/../secret.txt',
  ]
  test.each(ways)('%j is neither read, listed, searched, written, edited nor patched', async (path) => {
    const place = ground({ 'sub/a.txt': 'a\n' })
    lay(place.base, { 'secret.txt': 'SECRET\n', 'home/secret.txt': 'SECRET\n' })
    symlinkSync('..', place.at('link-out'))
    symlinkSync('../secret.txt', place.at('link-file'))
    symlinkSync('link-out', place.at('link-link'))
    const made = actor({
      ground: place,
      decide: () => yes(),
      steps: [
        {
          calls: [
            { tool: 'read_file', input: { path } },
            { tool: 'list_files', input: { path } },
            { tool: 'search_files', input: { pattern: 'SECRET', path } },
            { tool: 'write_file', input: { path, content: 'STOLEN' } },
            { tool: 'edit_file', input: { path, old: 'SECRET', new: 'STOLEN' } },
            patch(`*** Delete File: ${path}`),
            patch(`*** Update File: ${path}`, '-SECRET', '+STOLEN'),
          ],
        },
        { text: 'Done.' },
      ],
    })
    expect(await bounded(made.runtime.run('go'), 'the run', 50_000)).toMatchObject({ status: 'completed' })
    const results = told(made)
    expect(results).toHaveLength(7)
    expect(results.filter(({ ok }) => ok)).toEqual([])
    expect(results.map(({ content }) => content).join('\n')).not.toMatch(/^ *\d+\tSECRET/m)
    expect([readFileSync(join(place.base, 'secret.txt'), 'utf8'), readFileSync(join(place.home, 'secret.txt'), 'utf8')]).toEqual([
      'SECRET\n',
      'SECRET\n',
    ])
    expect(readdirSync(place.base).toSorted()).toEqual(['home', 'project', 'secret.txt'])
  })
})
