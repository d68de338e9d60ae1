import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, it } from 'vitest'
import { workbench } from './troupe.ts'

const schema = readFileSync(join(import.meta.dirname, '..', '..', 'schemas', 'session.schema.json'), 'utf8')
const isSession = new Ajv2020({ strict: false }).compile(JSON.parse(schema))

/** Changes one letter of what was stored; what is left is JSON. */
function damage(file: string): { readonly sessionId: string; readonly seq: number } {
  const database = new DatabaseSync(file)
  try {
    const row = database.prepare("SELECT rowid AS id, seq FROM journal WHERE events LIKE '%Second answer%' ORDER BY last LIMIT 1").get()
    const change = "UPDATE journal SET events = replace(events, 'Second answer', 'Second-answer') WHERE rowid = ?"
    expect(database.prepare(change).run(Number(row?.id)).changes).toBe(1)
    return { sessionId: String(database.prepare('SELECT id FROM trees').get()?.id), seq: Number(row?.seq) }
  } finally {
    database.close()
  }
}

it('a session with a damaged journal is shown up to the damage, and is not continued', async () => {
  const { folder, agent, troupe } = await workbench()
  const file = await agent('talk', 'steps:\n  - text: First answer.\n  - text: Second answer.\n  - text: Third answer.\n')
  expect(await troupe(['run', file, 'One', '--data-dir', 'data'])).toMatchObject({ code: 0 })
  const journal = join(folder, 'data', 'troupe.db')
  const id = String(lookUp(journal))
  expect(await troupe(['run', file, 'Two', '--resume', id, '--data-dir', 'data'])).toMatchObject({ code: 0, stdout: 'Second answer.\n' })
  const { sessionId, seq } = damage(journal)
  const said = `event ${seq} of session ${sessionId} in ${journal} is not what was stored: its checksum differs`

  const shown = await troupe(['sessions', 'show', sessionId, '--data-dir', 'data'])
  expect(shown).toMatchObject({ code: 1, stdout: expect.stringContaining('First answer.'), stderr: expect.stringContaining(said) })
  expect(shown.stdout).not.toMatch(/Second.answer/)
  expect(shown.stdout).toMatch(new RegExp(`^${sessionId}  talk  damaged: its journal cannot be read from event ${seq} on\n`))
  expect(shown.stdout).not.toContain('--resume')
  expect(shown.stderr).toContain(`Events 1 to ${seq - 1} can still be read`)

  const { code, stdout } = await troupe(['sessions', 'show', sessionId, '--data-dir', 'data', '--json'])
  const document: unknown = JSON.parse(stdout)
  expect([code, document]).toMatchObject([
    1,
    { ok: false, sessionId, standing: { kind: 'damaged', seq }, damage: { seq, message: said }, exitCode: 1 },
  ])
  expect(document).not.toHaveProperty('goOn')
  expect(isSession(document) || isSession.errors).toBe(true)

  const before = rows(journal)
  const resumed = await troupe(['run', file, 'Three', '--resume', sessionId, '--data-dir', 'data'])
  expect(resumed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(said) })
  expect(rows(journal)).toBe(before)
})

it('one damaged session hides no other: lists mark it, and have no command that resumes it', async () => {
  const { folder, agent, troupe } = await workbench()
  const script = 'steps:\n  - calls: [{ tool: write_file, input: { path: a.txt, content: x } }]\n  - text: Done.\n'
  const file = await agent('write', script, 'description: A test\nmodels: script/write.yaml\ntools: [write_file]')
  const ids: string[] = []
  for (const prompt of ['head', 'rest', 'sound']) {
    const { code, stdout } = await troupe(['run', file, prompt, '--json', '-q', '--data-dir', 'data'])
    expect(code).toBe(6)
    ids.push((JSON.parse(stdout) as { readonly sessionId: string }).sessionId)
  }
  const [head = '', rest = '', sound = ''] = ids
  const journal = join(folder, 'data', 'troupe.db')
  const seqs = [head, rest].map((id, i) => damageRow(journal, id, i === 0 ? 'ASC' : 'DESC'))
  expect(seqs).toEqual([1, expect.toSatisfy((seq: number) => seq > 1)])
  const standings = [head, rest].map((sessionId, i) => ({ sessionId, standing: { kind: 'damaged', seq: seqs[i] } }))

  const list = async (what: string): Promise<{ readonly [key: string]: readonly { readonly goOn?: string }[] }> => {
    const { code, stdout } = await troupe([what, 'list', '--json', '--data-dir', 'data'])
    expect(code).toBe(0)
    return JSON.parse(stdout)
  }
  const { sessions = [] } = await list('sessions')
  expect(sessions).toMatchObject([{ sessionId: sound, standing: { kind: 'waiting', open: 1 } }, ...standings.toReversed()])
  expect(sessions.map(({ goOn }) => goOn !== undefined)).toEqual([true, false, false])
  expect(await list('approvals')).toMatchObject({ waiting: [{ sessionId: sound }], damaged: standings.toReversed() })

  for (const what of ['sessions', 'approvals']) {
    const { code, stdout } = await troupe([what, 'list', '--data-dir', 'data'])
    expect([code, stdout]).toEqual([0, expect.stringContaining(`--resume ${sound}`)])
    for (const [i, id] of [head, rest].entries()) {
      expect(stdout).toContain(`${id}  write  damaged: its journal cannot be read from event ${seqs[i]} on`)
      expect(stdout).not.toContain(`--resume ${id}`)
    }
  }
})

/** Changes the first or the last row of a session; answers the first event in it. */
function damageRow(file: string, sessionId: string, order: 'ASC' | 'DESC'): number {
  const database = new DatabaseSync(file)
  try {
    const rowOf = `SELECT j.rowid AS id, seq FROM journal j JOIN trees t ON t.key = j.tree WHERE t.id = ? ORDER BY seq ${order}`
    const row = database.prepare(rowOf).get(sessionId)
    expect(database.prepare("UPDATE journal SET events = events || ' ' WHERE rowid = ?").run(Number(row?.id)).changes).toBe(1)
    return Number(row?.seq)
  } finally {
    database.close()
  }
}

function ask(file: string, sql: string): unknown {
  const database = new DatabaseSync(file)
  try {
    return Object.values(database.prepare(sql).get() ?? {})[0]
  } finally {
    database.close()
  }
}
const lookUp = (file: string): unknown => ask(file, 'SELECT id FROM trees')
const rows = (file: string): unknown => ask(file, 'SELECT count(*) FROM journal')
