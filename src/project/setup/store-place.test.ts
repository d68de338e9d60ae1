// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import { expect, test } from 'vitest'
import { configOf } from '../../../test/fixtures/memory-files.ts'
import { storeName, storePlaceOf } from './store-place.ts'

const user = '/home/.ai-agent/.ai-agent.json'
const home = { HOME: '/home', XDG_STATE_HOME: '/state' }

async function placeOf(store: object | undefined, { dataDir, ...env }: { readonly [name: string]: string } = {}) {
  const config = await configOf(store === undefined ? {} : { [user]: { store } })
  return storePlaceOf({ config, environment: { ...home, ...env }, cwd: '/here', dataDir })
}

test('the flag, the variable and the configuration name the store, in this order', async () => {
  const store = { path: '/own', url: 'postgres://db/own', pool: 5 }
  const variable = { TROUPE_STORE: 'postgres://db/variable' }
  expect(await placeOf(undefined)).toEqual({ folder: '/state/troupe' })
  expect(await placeOf({ path: '/own' })).toEqual({ folder: '/own' })
  expect(await placeOf(store)).toEqual({ folder: '/own', database: { url: 'postgres://db/own', pool: 5 } })
  expect(await placeOf(store, variable)).toEqual({ folder: '/own', database: { url: 'postgres://db/variable' } })
  expect(await placeOf(store, { TROUPE_STORE: 'sqlite:there' })).toEqual({ folder: '/here/there' })
  expect(await placeOf(store, { ...variable, dataDir: 'data' })).toEqual({ folder: '/here/data' })
  expect(await placeOf(store, { TROUPE_STORE: '' })).toMatchObject({ database: { url: 'postgres://db/own' } })
})

test('a variable in an address may have any characters', async () => {
  const variables = { PASSWORD: 'p@ss/w:rd%41#', DATABASE_URL: 'postgres://u:p%40@db/x' }
  expect(await placeOf({ url: 'postgres://u:${PASSWORD}@db/x', listenUrl: '${DATABASE_URL}' }, variables)).toMatchObject({
    database: { url: 'postgres://u:p%40ss%2Fw%3Ard%2541%23@db/x', listenUrl: 'postgres://u:p%40@db/x' },
  })
  await expect(placeOf({ url: 'postgres://u:${MISSING}@db/x' })).rejects.toMatchObject({ code: 'config_invalid' })
})

test('another store is refused without being shown', async () => {
  await expect(placeOf(undefined, { TROUPE_STORE: 'mysql://u:secret@db/x' })).rejects.toMatchObject({
    code: 'config_invalid',
    message: 'The store that --store or TROUPE_STORE names is unknown.',
    remedy: 'Use sqlite:DIR or postgres://USER@HOST/DATABASE.',
  })
})

test('the name of a store has no password', () => {
  const named = (url: string): string => storeName({ folder: '/own', database: { url } })
  expect(named('postgres://u:p@db:5432/x?sslmode=require')).toBe('postgres://db:5432/x')
  expect(named('postgres://u:p@ss/word?@db/x')).toBe('postgres://db/x')
  expect(named('postgres://db/x')).toBe('postgres://db/x')
  expect(storeName({ folder: '/own' })).toBe('/own')
})
