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
  expect(shown.stderr).toContain(`events 1 to ${seq - 1} can still be read`)

  const { code, stdout } = await troupe(['sessions', 'show', sessionId, '--data-dir', 'data', '--json'])
  const document: unknown = JSON.parse(stdout)
  expect([code, document]).toMatchObject([1, { ok: false, sessionId, damage: { seq, message: said }, exitCode: 1 }])
  expect(isSession(document) || isSession.errors).toBe(true)

  const before = rows(journal)
  const resumed = await troupe(['run', file, 'Three', '--resume', sessionId, '--data-dir', 'data'])
  expect(resumed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(said) })
  expect(rows(journal)).toBe(before)
})

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
