import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openStore } from '../../stores/index.ts'
import { memoryStore } from '../../stores/memory/index.ts'
import { FakeClock } from '../../testing/index.ts'
import { createToken, hashToken, listTokens, revokeToken, storedTokens } from './tokens.ts'

function stage() {
  const clock = new FakeClock()
  const { records } = memoryStore()
  return { clock, records, tokens: storedTokens(records, { clock, localToken: 'local-secret' }) }
}

it('finds the caller with everything that was set', async () => {
  const { clock, records, tokens } = stage()
  const settings = { scopes: ['run'], agents: ['a*'], budget: { costUsdPerDay: 5 }, rates: { requestsPerMinute: 2 } } as const
  const token = await createToken(records, { name: 'ci.main-1', ...settings }, { clock })
  expect(token).toMatch(/^trp_ci\.main-1_[\w-]{32}$/)
  expect(await tokens.find(token)).toEqual({ principal: { id: 'token:ci.main-1', kind: 'token', name: 'ci.main-1' }, ...settings })
})

it('finds the local user, who may do everything', async () => {
  const { tokens } = stage()
  expect(await tokens.find('local-secret')).toMatchObject({ principal: { id: 'local' }, scopes: expect.arrayContaining(['admin']) })
})

it('finds nobody for tokens that are wrong in any part', async () => {
  const { clock, records, tokens } = stage()
  const token = await createToken(records, { name: 'ci', scopes: ['run'] }, { clock, random: () => new Uint8Array(24) })
  expect(await tokens.find(token)).toBeDefined()
  const wrong = [
    `${token}x`,
    token.slice(0, -1),
    token.replace('_ci_', '_cd_'),
    token.replace('trp_', 'TRP_'),
    token.toUpperCase(),
    `trp_ci_`,
    'trp_',
    '',
    'local-secre',
    hashToken(token),
    `trp_${'x'.repeat(300)}_${'y'.repeat(100)}`,
    'trp_../token_x',
  ]
  for (const each of wrong) expect([each, await tokens.find(each)]).toEqual([each, undefined])
})

it('has no local token unless one is given', async () => {
  const { records } = memoryStore()
  expect(await storedTokens(records, { clock: new FakeClock() }).find('')).toBeUndefined()
})

it('ends at its time', async () => {
  const { clock, records, tokens } = stage()
  const token = await createToken(records, { name: 'ci', scopes: ['run'], expiresAt: clock.now() + 1000 }, { clock })
  clock.advance(999)
  expect(await tokens.find(token)).toBeDefined()
  clock.advance(1)
  expect(await tokens.find(token)).toBeUndefined()
})

it('ends with its revocation by another process', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-tokens-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const url = `sqlite:${join(folder, 'troupe.db')}`
  const [here, there] = [await openStore(url), await openStore(url)]
  onTestFinished(async () => {
    await here.close()
    await there.close()
  })
  const clock = new FakeClock()
  const token = await createToken(there.records, { name: 'ci', scopes: ['run'] }, { clock })
  const tokens = storedTokens(here.records, { clock })
  expect(await tokens.find(token)).toBeDefined()
  expect(await revokeToken(there.records, 'ci')).toBe(true)
  expect(await tokens.find(token)).toBeUndefined()
  expect(await revokeToken(here.records, 'ci')).toBe(false)
})

it('has one name once, and keeps the first', async () => {
  const { clock, records, tokens } = stage()
  const first = await createToken(records, { name: 'ci', scopes: ['read'] }, { clock })
  await expect(createToken(records, { name: 'ci', scopes: ['admin'] }, { clock })).rejects.toMatchObject({ code: 'usage' })
  expect(await tokens.find(first)).toMatchObject({ scopes: ['read'] })
})

it.each(['', 'CI', 'a_b', '-a', 'a b', 'a/b', 'ä', 'x'.repeat(64)])('refuses the name "%s"', async (name) => {
  const { clock, records } = stage()
  await expect(createToken(records, { name, scopes: ['run'] }, { clock })).rejects.toMatchObject({ code: 'usage' })
  expect(await listTokens(records)).toEqual([])
})

it('stores no secret', async () => {
  const { clock, records } = stage()
  const token = await createToken(records, { name: 'ci', scopes: ['run'] }, { clock })
  expect(await listTokens(records)).toEqual([{ name: 'ci', scopes: ['run'], hash: hashToken(token), createdAt: clock.now() }])
})

it('lists all of many tokens', async () => {
  const { clock, records } = stage()
  for (let n = 0; n < 150; n++) await createToken(records, { name: `t${n}`, scopes: ['run'] }, { clock })
  expect(await listTokens(records)).toHaveLength(150)
})
