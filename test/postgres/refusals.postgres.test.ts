import { expect, inject, it } from 'vitest'
import { migratePostgres, postgresStore } from '../../src/stores/postgres/index.ts'
import { testDatabase } from './postgres-fixture.ts'
import { run, withDatabase } from './server.ts'

const changed = (url: string, change: (url: URL) => void): string => {
  const parsed = new URL(url)
  change(parsed)
  return parsed.href
}

async function refusal(url: string): Promise<{ readonly code: string; readonly text: string }> {
  const error = await postgresStore({ url }).then(
    (store) => store.close(),
    (error: unknown) => error as Error & { code: string; remedy: string },
  )
  expect(error).toBeInstanceOf(Error)
  if (!error) throw new Error('it was opened')
  const text = `${error.message} ${error.remedy}`
  expect(text).not.toContain('secret')
  return { code: error.code, text }
}

it('names what is wrong with a connection, and never the password', async () => {
  const { url } = await testDatabase()
  const { host } = new URL(url)
  const wrong = changed(url, (given) => {
    given.password = 'secret'
  })
  expect(await refusal(wrong)).toEqual({
    code: 'store_failed',
    text: `Cannot use the store postgres://${host}${new URL(url).pathname}: password authentication failed for user "troupe". Check the user and the password of the store URL.`,
  })
  expect((await refusal(withDatabase(url, 'nowhere'))).text).toContain('database "nowhere" does not exist. Create the database')
  const nobody = changed(url, (given) => {
    given.port = '1'
  })
  expect((await refusal(nobody)).text).toContain('Check that the server runs')
  expect((await refusal(`${url}?sslmode=require`)).text).toContain('does not support SSL')
})

it.each([
  ['postgres://u:secret@h/d?sslmode=maybe', 'unknown sslmode `maybe`'],
  ['postgres://u:secret@h/d?ssl=true', 'unknown parameter `ssl`'],
  ['postgres://u:sec%ret@h/d', 'Write a % in a password as %25'],
  ['postgres://u:secret@h:port/d', 'is not valid'],
  ['postgres://u:secret@h/d?sslmode=verify-full&sslrootcert=/nowhere/ca.pem', 'cannot be read: /nowhere/ca.pem'],
])('refuses a wrong URL without showing it', async (url, expected) => {
  const { code, text } = await refusal(url)
  expect(code).toBe('config_invalid')
  expect(text).toContain(expected)
})

it('says which privilege is missing', async () => {
  const { url } = await testDatabase()
  await run(url, `CREATE ROLE reader_${process.pid} LOGIN PASSWORD 'pw'`)
  const asReader = changed(url, (given) => {
    given.username = `reader_${process.pid}`
    given.password = 'pw'
  })
  try {
    expect((await refusal(asReader)).text).toContain('Grant the user CREATE on the database')
    await migratePostgres({ url })
    expect((await refusal(asReader)).text).toContain('permission denied')
  } finally {
    await run(url, `DROP ROLE reader_${process.pid}`)
  }
})

it('refuses another schema: an older one names the command, a newer one the version', async () => {
  const { url } = await testDatabase()
  expect(await migratePostgres({ url })).toEqual({ from: 0, to: 1 })
  expect(await migratePostgres({ url })).toEqual({ from: 1, to: 1 })
  await run(url, 'UPDATE troupe.meta SET version = 0')
  expect(await refusal(url)).toEqual({
    code: 'store_invalid',
    text: 'the database has schema version 0; this version of Troupe needs 1 stop all processes of Troupe that use it, then run `troupe store migrate`',
  })
  await run(url, 'UPDATE troupe.meta SET version = 9')
  const newer = 'the database has schema version 9; this version of Troupe knows 1'
  expect((await refusal(url)).text).toContain(newer)
  await expect(migratePostgres({ url })).rejects.toMatchObject({ code: 'store_invalid', message: newer })
})

it('refuses a database of another encoding', async () => {
  const server = inject('postgresServer')
  const name = `troupe_latin_${process.pid}`
  await run(server ?? '', `CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`)
  try {
    expect((await refusal(withDatabase(server ?? '', name))).text).toContain('has the encoding LATIN1; Troupe needs UTF8')
  } finally {
    await run(server ?? '', `DROP DATABASE ${name} WITH (FORCE)`)
  }
})

it('creates the tables once if many processes start with an empty database', async () => {
  const { open } = await testDatabase()
  const stores = await Promise.all(Array.from({ length: 5 }, () => open()))
  expect(await stores[4]?.trees.list()).toEqual([])
})
